//! From bytes to windows of text.

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{Cut, Take};
use crate::charset;

/// So much must have come before the encoding is decided, unless there is no more.
const START: usize = 1024;

/// Text is handed on in windows of about this size.
const WINDOW: usize = 32 * 1024;

/// Bytes on their way to become text.
#[derive(Debug)]
pub(super) struct Text {
    label: Option<&'static Encoding>,
    /// The first bytes, until the encoding is known.
    start: Vec<u8>,
    decoder: Option<Decoder>,
    window: String,
    /// What was left of the last window: nobody is asked again before there is much more, or tiny pieces would cost much work.
    left: usize,
    room: u64,
}

impl Text {
    /// At most `room` bytes are read. `label` is the encoding that the head of the answer names.
    pub(super) fn new(room: u64, label: Option<&str>) -> Self {
        let label = label.and_then(|label| Encoding::for_label(label.as_bytes()));
        Self { label, start: Vec::new(), decoder: None, window: String::new(), left: 0, room }
    }

    pub(super) fn add(&mut self, bytes: &[u8], take: &mut Take<'_>) -> Result<(), Cut> {
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

    pub(super) fn finish(&mut self, take: &mut Take<'_>) {
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

/// The mark at the start is the decoder's business: it beats what is found here. Two bytes a letter beat what the head says.
fn encoding(start: &[u8], label: Option<&'static Encoding>) -> &'static Encoding {
    let declared = charset::declared_in_xml(&start[..start.len().min(START)]);
    let wide = declared.filter(|encoding| *encoding == UTF_16BE || *encoding == UTF_16LE);
    wide.or(label).or(declared).unwrap_or(UTF_8)
}
