//! The attributes that matter, of the tag at hand.

/// No URL is longer, and no list of words needs to be.
const LONGEST: usize = 8 * crate::url::LONGEST;

const NAMES: [&[u8]; 7] = [b"href", b"rel", b"type", b"name", b"content", b"charset", b"http-equiv"];
const LONGEST_NAME: usize = b"http-equiv".len();

/// The attributes of a tag, as far as anybody here asks for them; of several with one name, the first.
#[derive(Default)]
pub(crate) struct Attributes {
    name: Vec<u8>,
    /// Which of [`NAMES`] is being read.
    at: Option<usize>,
    values: [Vec<u8>; NAMES.len()],
    seen: [bool; NAMES.len()],
}

impl Attributes {
    /// The value of an attribute that the tag has, without spaces around it; `None` also for what is too long to mean anything.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let at = NAMES.iter().position(|known| *known == name.as_bytes())?;
        let value = &self.values[at];
        (self.seen[at] && value.len() <= LONGEST).then(|| std::str::from_utf8(value).unwrap_or("").trim())
    }

    /// Another tag begins.
    pub(super) fn clear(&mut self) {
        self.name.clear();
        (self.at, self.seen) = (None, [false; NAMES.len()]);
    }

    /// Another attribute begins.
    pub(super) fn next(&mut self) {
        self.settle();
        self.name.clear();
        self.at = None;
    }

    pub(super) fn push_name(&mut self, piece: &[u8]) {
        // Longer names are none of ours; one letter more is enough to tell.
        let room = (LONGEST_NAME + 1).saturating_sub(self.name.len());
        self.name.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    pub(super) fn push_value(&mut self, piece: &[u8]) {
        self.settle();
        let Some(at) = self.at else { return };
        let room = (LONGEST + 1).saturating_sub(self.values[at].len());
        self.values[at].extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// The name is complete.
    pub(super) fn settle(&mut self) {
        if self.at.is_some() || self.name.is_empty() {
            return;
        }
        self.at = NAMES.iter().position(|known| *known == self.name).filter(|at| !self.seen[*at]);
        if let Some(at) = self.at {
            self.seen[at] = true;
            self.values[at].clear();
        }
        self.name.clear();
    }
}
