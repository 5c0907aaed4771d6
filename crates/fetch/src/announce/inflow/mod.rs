//! From the bytes of a body to text, piece by piece: gzip undone where the first bytes say so, the encoding found, both bounded.

mod text;

use std::io::Write;

use flate2::write::GzDecoder;

use text::Text;

/// Compressed bytes are taken in so small portions that what comes of one, a thousand times as much at most, is small as well.
const PORTION: usize = 256;

/// Members of nothing cost work and give no text: nobody needs more of them.
const MOST_MEMBERS: u32 = 1000;

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
    members: u32,
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

impl Inflow {
    /// At most `limit` bytes are read, as they are without compression. `label` is the encoding that the head of the answer names.
    pub(super) fn new(limit: u64, label: Option<&str>) -> Self {
        Self { stage: Stage::Unknown(Vec::new()), text: Text::new(limit, label), members: 0, cut: None }
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
                self.members += 1;
                if self.members > MOST_MEMBERS {
                    self.cut = Some(Cut::Gzip);
                    return;
                }
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

#[cfg(test)]
mod tests;
