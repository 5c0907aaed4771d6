//! From the bytes of a body to text, piece by piece: gzip undone where the first bytes say so, the encoding found, both bounded.

use std::io::Write;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::write::GzDecoder;

/// So much must have come before the encoding is decided, unless there is no more.
const START: usize = 1024;

/// Text is handed on in windows of about this size.
const WINDOW: usize = 32 * 1024;

/// Compressed bytes are taken in so small portions that what comes of one, a thousand times as much at most, is small as well.
const PORTION: usize = 256;

pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Takes text from the front of a window, and says how many bytes; at the end of the body (`true`), it takes all.
pub(super) type Take<'a> = dyn FnMut(&str, bool) -> usize + 'a;

/// Why a body is not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It holds more bytes than are read.
    Size,
    /// It names more than is listened to.
    Entries,
    /// Its elements are nested deeper than is followed.
    Depth,
    /// It is compressed, and broken.
    Gzip,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Size => "it is larger than allowed",
            Self::Entries => "it holds more entries than allowed",
            Self::Depth => "it is nested deeper than allowed",
            Self::Gzip => "its gzip is broken",
        })
    }
}

/// A body on its way to become text.
#[derive(Debug)]
pub(super) struct Inflow {
    stage: Stage,
    text: Text,
    cut: Option<Cut>,
}

#[derive(Debug)]
enum Stage {
    /// Too few bytes to know.
    Unknown(Vec<u8>),
    Plain,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// A member is over; with these bytes another begins, if they are the right ones.
    Between(Vec<u8>),
    /// What follows the last member and is none is ignored, as everybody does.
    Over,
}

#[derive(Debug)]
struct Text {
    label: Option<&'static Encoding>,
    /// The first bytes, until the encoding is known.
    start: Vec<u8>,
    decoder: Option<Decoder>,
    window: String,
    /// What was left of the last window: nobody is asked again before there is much more, or tiny pieces would cost much work.
    left: usize,
    room: u64,
}

impl Inflow {
    /// At most `limit` bytes are read, as they are without compression. `label` is the encoding that the head of the answer names.
    pub(super) fn new(limit: u64, label: Option<&str>) -> Self {
        let label = label.and_then(|label| Encoding::for_label(label.as_bytes()));
        let text =
            Text { label, start: Vec::new(), decoder: None, window: String::new(), left: 0, room: limit };
        Self { stage: Stage::Unknown(Vec::new()), text, cut: None }
    }

    /// Why it stopped before the end, if it did.
    pub(super) fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Takes a piece of the body, and hands on what text comes of it.
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut Take<'_>) {
        if self.cut.is_some() {
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() && self.cut.is_none() {
            let taken = match &mut self.stage {
                Stage::Plain => {
                    self.text.add(rest, take).unwrap_or_else(|cut| self.cut = Some(cut));
                    rest.len()
                }
                Stage::Gzip(_) => self.unzip(&rest[..rest.len().min(PORTION)], take),
                Stage::Unknown(first) | Stage::Between(first) => {
                    let taken = rest.len().min(GZIP.len() - first.len());
                    first.extend_from_slice(&rest[..taken]);
                    if first.len() == GZIP.len() {
                        self.begin(take);
                    }
                    taken
                }
                Stage::Over => rest.len(),
            };
            rest = &rest[taken..];
        }
    }

    /// The first two bytes of a body or of what follows a member are there.
    fn begin(&mut self, take: &mut Take<'_>) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Unknown(first) | Stage::Between(first) if first == GZIP => {
                self.stage = Stage::Gzip(Box::new(GzDecoder::new(Vec::new())));
                self.unzip(&first, take);
            }
            Stage::Unknown(first) => {
                self.stage = Stage::Plain;
                self.text.add(&first, take).unwrap_or_else(|cut| self.cut = Some(cut));
            }
            _ => {}
        }
    }

    /// Takes a portion of a member, and gives how much of it belongs to the member.
    fn unzip(&mut self, portion: &[u8], take: &mut Take<'_>) -> usize {
        let Stage::Gzip(decoder) = &mut self.stage else { return 0 };
        let mut taken = 0;
        let mut written = Ok(());
        while taken < portion.len() {
            match decoder.write(&portion[taken..]) {
                Ok(0) => break,
                Ok(count) => taken += count,
                Err(_) => {
                    written = Err(Cut::Gzip);
                    break;
                }
            }
        }
        let is_over = written.is_ok() && taken < portion.len();
        if is_over {
            written = decoder.try_finish().map_err(|_| Cut::Gzip);
        }
        // What came before a mistake is good.
        let added = self.text.add(decoder.get_ref(), take);
        decoder.get_mut().clear();
        self.cut = self.cut.or(added.and(written).err());
        if is_over {
            self.stage = Stage::Between(Vec::new());
        }
        taken
    }

    /// The end of the body: hands on the rest.
    pub(super) fn finish(&mut self, take: &mut Take<'_>) {
        match &mut self.stage {
            // A body of a single byte.
            Stage::Unknown(first) => self.text.add(first, take).unwrap_or_else(|cut| self.cut = Some(cut)),
            Stage::Gzip(decoder) if self.cut.is_none() => {
                let finished = decoder.try_finish().map_err(|_| Cut::Gzip);
                self.cut = self.text.add(decoder.get_ref(), take).and(finished).err();
            }
            _ => {}
        }
        self.text.finish(take);
    }
}

impl Text {
    fn add(&mut self, bytes: &[u8], take: &mut Take<'_>) -> Result<(), Cut> {
        let fits = usize::try_from(self.room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.room -= fits as u64;
        let (bytes, beyond) = bytes.split_at(fits);
        if self.decoder.is_none() {
            self.start.extend_from_slice(bytes);
            if self.start.len() >= START {
                let start = std::mem::take(&mut self.start);
                self.decode(&start, false, take);
            }
        } else {
            self.decode(bytes, false, take);
        }
        if beyond.is_empty() { Ok(()) } else { Err(Cut::Size) }
    }

    fn finish(&mut self, take: &mut Take<'_>) {
        let start = std::mem::take(&mut self.start);
        self.decode(&start, true, take);
        take(&self.window, true);
        self.window.clear();
    }

    fn decode(&mut self, bytes: &[u8], last: bool, take: &mut Take<'_>) {
        let label = self.label;
        let decoder = self.decoder.get_or_insert_with(|| encoding(bytes, label).new_decoder());
        // Portions: what the decoder may need is reserved beforehand, and is three times as much.
        let mut portions = bytes.chunks(WINDOW).peekable();
        loop {
            let portion = portions.next().unwrap_or_default();
            let is_last = portions.peek().is_none();
            let needed = decoder.max_utf8_buffer_length(portion.len()).unwrap_or(4 * WINDOW);
            self.window.reserve(needed);
            let _ = decoder.decode_to_string(portion, &mut self.window, last && is_last);
            if self.window.len() >= self.left + WINDOW {
                let taken = take(&self.window, false);
                self.window.drain(..taken);
                self.left = self.window.len();
            }
            if is_last {
                return;
            }
        }
    }
}

/// The mark at the start is the decoder's business: it beats what is found here.
fn encoding(start: &[u8], label: Option<&'static Encoding>) -> &'static Encoding {
    match start {
        // Wide characters without a mark.
        [0, b'<', 0, ..] => UTF_16BE,
        [b'<', 0, _, 0, ..] => UTF_16LE,
        _ => label.or_else(|| declared(start)).unwrap_or(UTF_8),
    }
}

/// `<?xml version="1.0" encoding="windows-1251"?>`
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    let start = start[..start.len().min(START)].trim_ascii_start().strip_prefix(b"<?xml")?;
    let line = &start[..memchr::memmem::find(start, b"?>")?];
    let value = &line[memchr::memmem::find(line, b"encoding")? + b"encoding".len()..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let end = value.iter().position(|byte| byte == quote)?;
    let encoding = Encoding::for_label(&value[..end])?;
    // What could be read as far as here is not wide.
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

#[cfg(test)]
mod tests {
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
    fn members_follow_each_other_and_may_break_off() {
        let two = [gzipped(b"one "), gzipped(b"two")].concat();
        assert_eq!(read(&two, 5, 99, None), ("one two".into(), None));
        let long = gzipped("a long text that is not all there ".repeat(100).as_bytes());
        let (text, cut) = read(&long[..long.len() / 2], 7, 9999, None);
        assert!(text.starts_with("a long text") && cut == Some(Cut::Gzip));
        let (text, cut) =
            read(&[gzipped(b"one"), b"\0\0\0garbage after it".to_vec()].concat(), 100, 99, None);
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
}
