//! Content codings, undone: bounded in memory and in output, whatever the ratio.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use http::header::{CONTENT_ENCODING, HeaderMap};

use super::allowance::{Claim, Hold, MEDIUM, SMALL};
use super::body::Raw;
use crate::error::FetchError;

/// What is asked for. `deflate` is understood but not asked for: servers disagree about what it is.
pub(super) const ACCEPTED: &str = "gzip, br, zstd";

/// Codings upon codings are an attack or a mistake; nobody needs more.
const MOST_CODINGS: usize = 3;

/// Larger bodies, and all in other codings than gzip, are decoded on threads of their own, so that connections do not wait for it.
const LARGE: usize = 64 * 1024;

/// Decoded bytes come in pieces of this size at most.
const PIECE: usize = 16 * 1024;

/// So many times its size is what reading a decoded body takes at most: its text (three times as long where bytes are no letters), the blocks of
/// that, and what is archived.
const READING: usize = 9;

/// RFC 9659: no more than 8 MiB of window in content codings.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A body as it came and as it is meant.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) raw: Bytes,
    pub(super) bytes: Bytes,
    pub(super) truncated: bool,
    pub(super) coded: Coded,
    pub(super) hold: Hold,
}

/// The content codings of a body that was left as it came, in the order in which they were applied.
#[derive(Clone, Debug, Default)]
pub struct Coded(Vec<Coding>);

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings that the head names, in the order in which they were applied. Names that are none (`utf-8`, `none`) are
/// ignored, as browsers do.
pub(super) fn codings(headers: &HeaderMap) -> Vec<Coding> {
    let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase());
    names
        .filter_map(|name| match name.as_str() {
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            "br" => Some(Coding::Brotli),
            "zstd" => Some(Coding::Zstd),
            _ => None,
        })
        .take(MOST_CODINGS + 1)
        .collect()
}

/// The room that a body of up to `most` bytes may come to need, as it was sent, decoded and read.
pub(super) fn need(codings: &[Coding], most: usize, limit: usize) -> usize {
    if codings.is_empty() {
        READING.saturating_mul(most)
    } else {
        READING.saturating_mul(limit).saturating_add(most)
    }
}

/// The body as it came.
pub(super) fn left(codings: Vec<Coding>, raw: Raw, claim: Claim<'_>) -> Decoded {
    let hold = claim.settle(raw.bytes.len());
    let coded = Coded(if raw.bytes.is_empty() { Vec::new() } else { codings });
    Decoded { bytes: raw.bytes.clone(), raw: raw.bytes, truncated: raw.truncated, coded, hold }
}

/// The body without its codings, cut off at `limit` bytes. It is decoded as far as there is room for it, and then again with more room.
pub(super) async fn decoded(
    codings: Vec<Coding>,
    raw: Raw,
    limit: usize,
    mut claim: Claim<'_>,
) -> Result<Decoded, FetchError> {
    let codings: Arc<[Coding]> = codings.into();
    let (mut bytes, mut truncated) = (raw.bytes.clone(), raw.truncated);
    // Answers without a body name codings all the same.
    if !codings.is_empty() && !raw.bytes.is_empty() {
        for room in [SMALL, MEDIUM, limit] {
            let room = room.min(limit);
            claim.reserve(room, need(&codings, raw.bytes.len(), limit)).await?;
            let is_quick = codings[..] == [Coding::Gzip] && raw.bytes.len() < LARGE && room <= SMALL;
            let (codings, input) = (Arc::clone(&codings), raw.clone());
            let undo = move || undone(&codings, &input, room);
            let (output, cut) = if is_quick { undo()? } else { claim.decode(undo).await? };
            if !cut || room == limit {
                (bytes, truncated) = (output, cut || raw.truncated);
                break;
            }
        }
    }
    claim.reserve(bytes.len(), READING * bytes.len()).await?;
    let hold = claim.settle(raw.bytes.len() + READING * bytes.len());
    Ok(Decoded { raw: raw.bytes, bytes, truncated, coded: Coded::default(), hold })
}

/// What all codings but for the last to be undone come to is kept, up to this size.
const MOST_BETWEEN: usize = 4 << 20;

impl Coded {
    /// Hands out what `bytes` are without their codings, up to `limit` bytes, piece by piece, until a piece is refused. Returns whether there was
    /// more.
    pub(super) fn pieces(
        &self,
        bytes: &Bytes,
        (limit, input_cut): (usize, bool),
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, FetchError> {
        let mut output = Output { room: limit, forgive: input_cut, each };
        let Some((first, others)) = self.0.split_first() else {
            let cut = bytes.len() > limit;
            let _ = bytes[..bytes.len().min(limit)].chunks(PIECE).all(|piece| (output.each)(piece));
            return Ok(cut);
        };
        check(&self.0)?;
        let raw = Raw { bytes: bytes.clone(), truncated: input_cut };
        let (input, cut) = undone(others, &raw, MOST_BETWEEN.min(limit))?;
        output.forgive |= cut;
        first.undo_into(&input, &mut output).map(|more| more || cut).map_err(|why| first.failed(&why))
    }
}

fn check(codings: &[Coding]) -> Result<(), FetchError> {
    if let [first, ..] = codings
        && codings.len() > MOST_CODINGS
    {
        let why = format!("it is wrapped in more than {MOST_CODINGS} codings");
        return Err(FetchError::Encoding { coding: first.name(), why });
    }
    Ok(())
}

/// The body without its codings, and whether it was cut off at `limit` bytes, on the way or at the end.
fn undone(codings: &[Coding], raw: &Raw, limit: usize) -> Result<(Bytes, bool), FetchError> {
    check(codings)?;
    let (mut bytes, mut is_cut) = (raw.bytes.clone(), false);
    for coding in codings.iter().rev() {
        let (output, cut) =
            coding.undo(&bytes, limit, raw.truncated || is_cut).map_err(|why| coding.failed(&why))?;
        is_cut |= cut;
        bytes = output.into();
    }
    Ok((bytes, is_cut))
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    fn failed(self, why: &io::Error) -> FetchError {
        FetchError::Encoding { coding: self.name(), why: why.to_string() }
    }

    /// The output up to `limit` bytes, and whether there was more. An input that was cut off may end anywhere.
    fn undo(self, input: &[u8], limit: usize, input_cut: bool) -> io::Result<(Vec<u8>, bool)> {
        let mut bytes = Vec::new();
        let mut each = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            true
        };
        let mut output = Output { room: limit, forgive: input_cut, each: &mut each };
        let more = self.undo_into(input, &mut output)?;
        Ok((bytes, more))
    }

    fn undo_into(self, input: &[u8], output: &mut Output<'_>) -> io::Result<bool> {
        match self {
            Self::Gzip => gzip(input, output),
            // Said to be zlib's format, and often sent without its frame.
            Self::Deflate if is_zlib(input) => output.fill(ZlibDecoder::new(input)),
            Self::Deflate => output.fill(DeflateDecoder::new(input)),
            Self::Brotli => output.fill(brotli_decompressor::Decompressor::new(input, 4096)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                output.fill(decoder)
            }
        }
    }
}

/// Whether the frame of zlib is there: its first bytes decode to something.
fn is_zlib(input: &[u8]) -> bool {
    input.is_empty() || matches!(ZlibDecoder::new(input).read(&mut [0; 1]), Ok(1))
}

/// Members one after the other; what follows the last and is none is ignored, as everybody does.
fn gzip(mut input: &[u8], output: &mut Output<'_>) -> io::Result<bool> {
    loop {
        let mut decoder = GzDecoder::new(input);
        if output.fill(&mut decoder)? {
            return Ok(true);
        }
        input = decoder.into_inner();
        if !input.starts_with(&[0x1f, 0x8b]) {
            return Ok(false);
        }
    }
}

/// Takes what a decoder gives, piece by piece.
struct Output<'a> {
    /// So much more is taken.
    room: usize,
    forgive: bool,
    each: &'a mut dyn FnMut(&[u8]) -> bool,
}

impl Output<'_> {
    /// Takes what the decoder gives; true if it has more than there is room for.
    fn fill(&mut self, mut decoder: impl Read) -> io::Result<bool> {
        let mut piece = [0; PIECE];
        loop {
            let count = match decoder.read(&mut piece) {
                Ok(0) => return Ok(false),
                Ok(count) => count,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) if self.forgive => return Ok(true),
                Err(why) => return Err(why),
            };
            let taken = count.min(self.room);
            self.room -= taken;
            if !(self.each)(&piece[..taken]) || count > taken {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests;
