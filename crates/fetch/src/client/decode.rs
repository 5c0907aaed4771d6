//! Content codings, undone: bounded in memory and in output, whatever the ratio.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use http::header::{CONTENT_ENCODING, HeaderMap};

use super::body::Raw;
use crate::error::FetchError;

/// What is asked for. `deflate` is understood but not asked for: servers disagree about what it is.
pub(super) const ACCEPTED: &str = "gzip, br, zstd";

/// Codings upon codings are an attack or a mistake; nobody needs more.
const MOST_CODINGS: usize = 3;

/// Larger bodies are decoded on a thread of their own, so that connections do not wait for it.
const LARGE: usize = 64 * 1024;

/// RFC 9659: no more than 8 MiB of window in content codings.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A body as it came and as it is meant.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) raw: Bytes,
    pub(super) bytes: Bytes,
    pub(super) truncated: bool,
}

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

/// The body without its codings, cut off at `limit` bytes.
pub(super) async fn decoded(codings: Vec<Coding>, raw: Raw, limit: usize) -> Result<Decoded, FetchError> {
    // Answers without a body name codings all the same.
    if codings.is_empty() || raw.bytes.is_empty() {
        return Ok(Decoded { bytes: raw.bytes.clone(), raw: raw.bytes, truncated: raw.truncated });
    }
    if raw.bytes.len() < LARGE {
        return undone(&codings, raw, limit);
    }
    tokio::task::spawn_blocking(move || undone(&codings, raw, limit))
        .await
        .unwrap_or_else(|why| Err(FetchError::Body(why.to_string())))
}

fn undone(codings: &[Coding], raw: Raw, limit: usize) -> Result<Decoded, FetchError> {
    if let [first, ..] = codings
        && codings.len() > MOST_CODINGS
    {
        let why = format!("it is wrapped in more than {MOST_CODINGS} codings");
        return Err(FetchError::Encoding { coding: first.name(), why });
    }
    let mut truncated = raw.truncated;
    let mut bytes = raw.bytes.clone();
    for coding in codings.iter().rev() {
        let (output, cut) = coding
            .undo(&bytes, limit, truncated)
            .map_err(|why| FetchError::Encoding { coding: coding.name(), why: why.to_string() })?;
        truncated |= cut;
        bytes = output.into();
    }
    Ok(Decoded { raw: raw.bytes, bytes, truncated })
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

    /// The output up to `limit` bytes, and whether there was more. An input that was cut off may end anywhere.
    fn undo(self, input: &[u8], limit: usize, input_cut: bool) -> io::Result<(Vec<u8>, bool)> {
        let mut output = Output { bytes: Vec::new(), limit, forgive: input_cut };
        let more = match self {
            Self::Gzip => gzip(input, &mut output)?,
            // Said to be zlib's format, and often sent without its frame.
            Self::Deflate => match output.fill(ZlibDecoder::new(input)) {
                Ok(more) if !output.bytes.is_empty() || input.is_empty() => more,
                _ => {
                    output.bytes.clear();
                    output.fill(DeflateDecoder::new(input))?
                }
            },
            Self::Brotli => output.fill(brotli_decompressor::Decompressor::new(input, 4096))?,
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                output.fill(decoder)?
            }
        };
        Ok((output.bytes, more))
    }
}

/// Members one after the other; what follows the last and is none is ignored, as everybody does.
fn gzip(mut input: &[u8], output: &mut Output) -> io::Result<bool> {
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

struct Output {
    bytes: Vec<u8>,
    limit: usize,
    forgive: bool,
}

impl Output {
    /// Takes what the decoder gives; true if it has more than there is room for.
    fn fill(&mut self, mut decoder: impl Read) -> io::Result<bool> {
        let mut piece = [0; 16 * 1024];
        loop {
            let count = match decoder.read(&mut piece) {
                Ok(0) => return Ok(false),
                Ok(count) => count,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) if self.forgive => return Ok(true),
                Err(why) => return Err(why),
            };
            let room = self.limit - self.bytes.len();
            self.bytes.extend_from_slice(&piece[..count.min(room)]);
            if count > room {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests;
