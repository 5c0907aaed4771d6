//! The words of a block of text, as hashes.

use xxhash_rust::xxh3::xxh3_64;

/// Beyond so many words, the rest of a block counts as one.
pub(super) const MOST: usize = 4096;
/// Marks that part words even without a space: what is joined by them changes separately.
const PARTING: &str = "/|;=&()[]{}<>\"#?·•";

/// The words of a block: spaces and parting marks lie between them; a mark is a word of its own.
pub(super) fn words(block: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for run in block.split(char::is_whitespace) {
        let mut start = 0;
        for (at, mark) in run.match_indices(|letter| PARTING.contains(letter)) {
            if start < at {
                words.push(&run[start..at]);
            }
            words.push(mark);
            start = at + mark.len();
        }
        if start < run.len() {
            words.push(&run[start..]);
        }
    }
    words
}

/// Hashes of the words of a block, at most [`MOST`]; `digits` says whether digits count.
pub(super) fn hashes(block: &str, digits: bool) -> Vec<u32> {
    let mut hashes: Vec<u32> = words(block).into_iter().map(|word| hash(word, digits)).collect();
    if hashes.len() > MOST {
        let rest = hashes.split_off(MOST - 1);
        let bytes: Vec<u8> = rest.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        hashes.push(xxh3_64(&bytes) as u32);
    }
    hashes
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
        assert_eq!(words("a=1&b=2"), ["a", "=", "1", "&", "b", "=", "2"]);
        assert_eq!(words(""), Vec::<&str>::new());
    }

    #[test]
    fn long_blocks_have_bounded_words() {
        let long = "x ".repeat(2 * MOST);
        let other = format!("{long}y");
        assert_eq!(hashes(&long, true).len(), MOST);
        assert_ne!(hashes(&long, true), hashes(&other, true));
    }
}
