use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

fn read(bytes: &[u8], piece: usize, limit: u64, label: Option<&str>) -> (String, Option<Cut>) {
    let mut inflow = Inflow::new(limit, label);
    let mut all = String::new();
    let mut take = |text: &str, _: bool| {
        all.push_str(text);
        text.len()
    };
    for chunk in bytes.chunks(piece.max(1)) {
        inflow.push(chunk, &mut take);
    }
    inflow.finish(&mut take);
    (all, inflow.cut())
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

#[test]
fn the_encoding_is_found() {
    assert_eq!(read(b"\xef\xbb\xbf<a>\xc3\xa9", 1, 99, Some("latin1")).0, "<a>é");
    assert_eq!(read(b"<a>\xe9", 1, 99, Some("latin1")).0, "<a>é");
    assert_eq!(
        read(b"<?xml encoding='windows-1251' ?>\xe0", 7, 99, None).0,
        "<?xml encoding='windows-1251' ?>а"
    );
    assert_eq!(read(b"\xff\xfe<\0a\0", 1, 99, None).0, "<a");
    assert_eq!(read(b"\0<\0a", 3, 99, None).0, "<a");
    assert_eq!(read(b"<?xml encoding='utf-16'?>\xc3\xa9", 3, 99, None).0, "<?xml encoding='utf-16'?>é");
    assert_eq!(read(b"", 1, 99, None), (String::new(), None));
    assert_eq!(read(b"a", 1, 99, None).0, "a");
}

#[test]
fn a_bomb_is_cut_off() {
    let bomb = gzipped(&vec![b' '; 20 << 20]);
    let (text, cut) = read(&bomb, 1000, 1 << 20, None);
    assert_eq!((text.len(), cut), (1 << 20, Some(Cut::Size)));
}

#[test]
fn members_of_nothing_are_not_counted_for_ever() {
    let empty = gzipped(b"").repeat(2 * MOST_MEMBERS as usize);
    assert_eq!(read(&empty, 1000, 99, None), (String::new(), Some(Cut::Gzip)));
}

#[test]
fn members_follow_each_other_and_may_break_off() {
    let two = [gzipped(b"one "), gzipped(b"two")].concat();
    assert_eq!(read(&two, 5, 99, None), ("one two".into(), None));
    let long = gzipped("a long text that is not all there ".repeat(100).as_bytes());
    let (text, cut) = read(&long[..long.len() / 2], 7, 9999, None);
    assert!(text.starts_with("a long text") && cut == Some(Cut::Gzip));
    let (text, cut) = read(&[gzipped(b"one"), b"\0\0\0garbage after it".to_vec()].concat(), 100, 99, None);
    assert_eq!((text.as_str(), cut), ("one", None));
    let mut wrong = gzipped(b"one");
    let sum = wrong.len() - 8;
    wrong[sum] ^= 1;
    assert_eq!(read(&wrong, 100, 99, None), ("one".into(), Some(Cut::Gzip)));
    assert_eq!(read(&[wrong, gzipped(b"two")].concat(), 100, 99, None), ("one".into(), Some(Cut::Gzip)));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(text in "\\PC{0,300}", repeat in 1usize..300, piece in 1usize..5000) {
        let text = text.repeat(repeat);
        let plain = read(text.as_bytes(), piece, 1 << 30, Some("utf-8"));
        // A mark at the start is not text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        prop_assert_eq!(plain.0.as_str(), text);
        let unzipped = read(&gzipped(text.as_bytes()), piece, 1 << 30, Some("utf-8"));
        prop_assert_eq!(unzipped.0.as_str(), text);
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1usize..50) {
        let _ = read(&bytes, piece, 1000, None);
        let mut compressed = gzipped(&bytes);
        let at = bytes.len() % compressed.len();
        compressed[at] ^= 0x55;
        let _ = read(&compressed, piece, 1000, None);
    }
}
