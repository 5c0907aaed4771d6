//! What strangers wrote, made safe to show.

use std::borrow::Cow;

/// Text in which nothing moves the cursor, rings a bell, changes colours, or turns the order of letters round: such characters
/// are spelled out, as in `\u{1b}`. Tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_harmful(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Control characters; what sets the direction of text; what ends lines in some programs only; what cannot be seen at all.
fn is_harmful(letter: char) -> bool {
    (letter.is_control() && letter != '\t')
        || matches!(letter,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_something_is_spelled_out() {
        for (text, shown) in [
            ("plain, ünïcode, 日本語\t", "plain, ünïcode, 日本語\t"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("a\r\nb\u{9b}31m\u{7f}", "a\\u{d}\\u{a}b\\u{9b}31m\\u{7f}"),
            ("\u{202e}txt.exe\u{2066}\u{feff}", "\\u{202e}txt.exe\\u{2066}\\u{feff}"),
        ] {
            assert_eq!(harmless(text), shown, "{text:?}");
        }
    }
}
