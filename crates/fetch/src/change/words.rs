//! The words of a block of text, as hashes.

use xxhash_rust::xxh3::xxh3_64;

/// Beyond so many words, the rest of a block counts as one.
pub(super) const MOST: usize = 4096;

/// The words of a block: runs of letters and digits. A mark is a word of its own, so what is joined by marks changes separately.
pub(super) fn words(block: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, mark) in block.char_indices() {
        if mark.is_alphanumeric() || joins(mark, &block[start..at], &block[at..]) {
            continue;
        }
        words.extend((start < at).then(|| &block[start..at]));
        start = at + mark.len_utf8();
        words.extend((!mark.is_whitespace()).then(|| &block[at..start]));
    }
    words.extend((start < block.len()).then(|| &block[start..]));
    words
}

/// Whether a mark belongs to the word around it: `14:05:33` and `1,234,567` are one word each.
fn joins(mark: char, before: &str, rest: &str) -> bool {
    let wanted = match mark {
        ':' => 2,
        ',' => 3,
        _ => return false,
    };
    let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
    let front = before.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_number = front.is_empty() || front.ends_with([mark, 'T']);
    is_number && (1..=wanted).contains(&(before.len() - front.len())) && digits == wanted
}

/// Words and their hashes.
#[derive(Debug)]
pub(super) struct Words<'a> {
    /// At most [`MOST`].
    pub(super) hashes: Vec<u32>,
    texts: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// The words of a block; `digits` says whether digits count.
    pub(super) fn new(block: &'a str, digits: bool) -> Self {
        let texts = words(block);
        let mut hashes: Vec<u32> = texts.iter().map(|word| hash(word, digits)).collect();
        if hashes.len() > MOST {
            let rest = hashes.split_off(MOST - 1);
            let bytes: Vec<u8> = rest.iter().flat_map(|hash| hash.to_le_bytes()).collect();
            hashes.push(xxh3_64(&bytes) as u32);
        }
        Self { hashes, texts }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(super) fn text(&self, at: usize) -> &'a str {
        self.texts[at]
    }

    /// Returns true for what reads like a random token: letters and digits that alternate.
    pub(super) fn is_token(&self, at: usize) -> bool {
        let text = self.texts[at].as_bytes();
        let turns = text.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
        text.len() >= 6 && turns.count() >= 2
    }
}

/// The hash of a text. Without `digits`, all numbers are alike.
pub(super) fn hash(text: &str, digits: bool) -> u32 {
    if digits || !text.contains(char::is_numeric) {
        return xxh3_64(text.as_bytes()) as u32;
    }
    // `9` and `10` are both numbers.
    let mut masked = String::with_capacity(text.len());
    for letter in text.chars() {
        if !letter.is_numeric() {
            masked.push(letter);
        } else if !masked.ends_with('\0') {
            masked.push('\0');
        }
    }
    xxh3_64(masked.as_bytes()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_part_at_spaces_and_marks() {
        assert_eq!(words("Order 17/a8f3 at 14:05:33"), ["Order", "17", "/", "a8f3", "at", "14:05:33"]);
        assert_eq!(words("build-17_a8:b 1.2"), ["build", "-", "17", "_", "a8", ":", "b", "1", ".", "2"]);
        assert_eq!(words("1,234,567 of 1,2"), ["1,234,567", "of", "1", ",", "2"]);
        assert_eq!(
            words("T08:30:00Z 17:123 a3:17 été"),
            ["T08:30:00Z", "17", ":", "123", "a3", ":", "17", "été"]
        );
        assert_eq!(words("a=1&b=2"), ["a", "=", "1", "&", "b", "=", "2"]);
        assert_eq!(words(""), Vec::<&str>::new());
    }

    #[test]
    fn long_blocks_have_bounded_words() {
        let long = "x ".repeat(2 * MOST);
        let other = format!("{long}y");
        assert_eq!(Words::new(&long, true).len(), MOST);
        assert_ne!(Words::new(&long, true).hashes, Words::new(&other, true).hashes);
    }
}
