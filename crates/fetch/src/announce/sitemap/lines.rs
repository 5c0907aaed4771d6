//! Plain lists: a URL on each line.

use super::{Announced, Each, Ledger, Page};
use crate::announce::trimmed;
use crate::url::LONGEST;

/// Reads lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The rest of a line that is too long, to be passed over.
    in_monster: bool,
}

impl Lines {
    /// Takes whole lines from the front of a window.
    pub(super) fn read(&mut self, text: &str, last: bool, ledger: &mut Ledger, each: &mut Each<'_>) -> usize {
        let mut at = 0;
        while at < text.len() && ledger.tally.cut.is_none() {
            let rest = &text[at..];
            let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes());
            match end {
                Some(end) => at += end + 1,
                None if last || self.in_monster || rest.len() > LONGEST => at = text.len(),
                None => return at,
            }
            if !self.in_monster {
                line(&rest[..end.unwrap_or(rest.len())], ledger, each);
            }
            self.in_monster = end.is_none();
        }
        at
    }
}

fn line(text: &str, ledger: &mut Ledger, each: &mut Each<'_>) {
    let text = trimmed(text);
    if text.is_empty() || text.starts_with('#') || !ledger.has_room() {
        return;
    }
    match ledger.place(text) {
        Ok((url, scope)) => {
            let page =
                Page { url, scope, last_modified: None, change_frequency: None, priority: None, news: None };
            ledger.hand_out(Announced::Page(page), each);
        }
        Err(why) => ledger.bad(why),
    }
}
