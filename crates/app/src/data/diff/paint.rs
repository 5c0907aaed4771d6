//! Colours, where there are eyes.

use crate::data::harmless::harmless;

/// How lines are shown: with colours on a terminal, without them elsewhere; what strangers wrote never does anything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    colours: bool,
}

const RESET: &str = "\u{1b}[0m";
const BOLD: &str = "\u{1b}[1m";
const CYAN: &str = "\u{1b}[36m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const REVERSED: &str = "\u{1b}[7m";
const UPRIGHT: &str = "\u{1b}[27m";

impl Paint {
    pub(super) fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// What is compared.
    pub(super) fn title(self, line: &str) -> String {
        self.painted(BOLD, &harmless(line))
    }

    /// Where in the page.
    pub(super) fn place(self, line: &str) -> String {
        self.painted(CYAN, line)
    }

    /// A line with its mark; `parts` are its pieces, and whether each differs from the other version.
    pub(super) fn line(self, mark: char, parts: &[(bool, String)]) -> String {
        let mut text = String::from(mark);
        for (differs, part) in parts {
            let part = harmless(part);
            if self.colours && *differs {
                text.push_str(REVERSED);
                text.push_str(&part);
                text.push_str(UPRIGHT);
            } else {
                text.push_str(&part);
            }
        }
        match mark {
            '-' => self.painted(RED, &text),
            '+' => self.painted(GREEN, &text),
            _ => text,
        }
    }

    fn painted(self, colour: &str, text: &str) -> String {
        if self.colours { format!("{colour}{text}{RESET}") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_escapes_are_sent() {
        let parts = [(false, "a\u{1b}[0m".to_owned()), (true, "b".to_owned())];
        assert_eq!(Paint::new(false).line('+', &parts), "+a\\u{1b}[0mb");
        assert_eq!(Paint::new(true).line('+', &parts), "\u{1b}[32m+a\\u{1b}[0m\u{1b}[7mb\u{1b}[27m\u{1b}[0m");
        assert_eq!(Paint::new(true).line(' ', &parts[..1]), " a\\u{1b}[0m");
    }
}
