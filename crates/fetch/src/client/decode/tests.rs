use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use std::io::Write;

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn undo(coding: Coding, input: &[u8], limit: usize) -> Result<(Vec<u8>, bool), String> {
    coding.undo(input, limit, false).map_err(|why| why.to_string())
}

/// "hello" in Brotli, as `brotli` of the reference implementation writes it.
const HELLO_BROTLI: &[u8] = &[0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];

#[test]
fn every_coding_is_undone() {
    let hello = Ok((b"hello".to_vec(), false));
    assert_eq!(undo(Coding::Gzip, &gzipped(b"hello"), 100), hello);
    assert_eq!(undo(Coding::Brotli, HELLO_BROTLI, 100), hello);
    assert_eq!(undo(Coding::Zstd, &zstd::encode_all(&b"hello"[..], 1).expect("memory"), 100), hello);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(b"hello").expect("memory");
    assert_eq!(undo(Coding::Deflate, &zlib.finish().expect("memory"), 100), hello);
    let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
    bare.write_all(b"hello").expect("memory");
    assert_eq!(undo(Coding::Deflate, &bare.finish().expect("memory"), 100), hello);
}

#[test]
fn members_are_joined_and_garbage_after_them_is_ignored() {
    let mut two = gzipped(b"hel");
    two.extend(gzipped(b"lo"));
    two.extend(b"\0\0junk");
    assert_eq!(undo(Coding::Gzip, &two, 100), Ok((b"hello".to_vec(), false)));
}

#[test]
fn what_is_too_large_is_cut_off() {
    let bomb = gzipped(&vec![0; 1 << 24]);
    assert!(bomb.len() < 1 << 20);
    assert_eq!(undo(Coding::Gzip, &bomb, 1000), Ok((vec![0; 1000], true)));
    assert_eq!(undo(Coding::Gzip, &gzipped(b"hello"), 5), Ok((b"hello".to_vec(), false)));
}

#[test]
fn lies_are_errors_unless_the_input_was_cut() {
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
        assert!(undo(coding, b"<html>plain text</html>", 100).is_err(), "{coding:?}");
    }
    let text: Vec<u8> = (0..50_000u32).flat_map(|number| (number * number).to_le_bytes()).collect();
    let whole = gzipped(&text);
    let half = &whole[..whole.len() / 2];
    assert!(undo(Coding::Gzip, half, 1 << 20).is_err());
    let (kept, cut) = Coding::Gzip.undo(half, 1 << 20, true).expect("forgiven");
    assert!(cut && !kept.is_empty() && text.starts_with(&kept));
    assert!(undo(Coding::Brotli, &HELLO_BROTLI[..5], 100).is_err());
    let frame = zstd::encode_all(&text[..], 1).expect("memory");
    assert!(undo(Coding::Zstd, &frame[..frame.len() / 2], 1 << 20).is_err());
}

#[test]
fn names_of_codings() {
    let mut headers = HeaderMap::new();
    headers.append(CONTENT_ENCODING, "GZip, utf-8".parse().expect("a value"));
    headers.append(CONTENT_ENCODING, "br".parse().expect("a value"));
    assert_eq!(codings(&headers), [Coding::Gzip, Coding::Brotli]);
}

#[test]
fn codings_upon_codings_are_refused() {
    let raw = || Raw { bytes: Bytes::from(gzipped(&gzipped(b"hello"))), truncated: false };
    let twice = undone(&[Coding::Gzip; 2], &raw(), 100).expect("two are fine");
    assert_eq!(twice.0, "hello");
    let refused = undone(&[Coding::Gzip; 4], &raw(), 100).expect_err("four are not").to_string();
    assert_eq!(refused, "the body is not proper gzip: it is wrapped in more than 3 codings");
}

proptest! {
    #[test]
    fn no_input_panics_or_exceeds_the_limit(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in any::<bool>(),
        limit in 0usize..50,
    ) {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            if let Ok((output, _)) = coding.undo(&bytes, limit, cut) {
                prop_assert!(output.len() <= limit);
            }
        }
    }
}
