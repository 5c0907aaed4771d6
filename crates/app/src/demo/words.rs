//! What pages of a small web say: words that mean nothing.

use crate::synthetic::Synthetic;

/// The name of a page, by its number.
pub(super) fn slug(host: &str, page: u32) -> String {
    const WORDS: [&str; 12] = [
        "harbour", "orchard", "meridian", "lantern", "granite", "willow", "compass", "ember", "harvest",
        "quarry", "signal", "tide",
    ];
    let word = |number: u32| WORDS[number as usize % WORDS.len()];
    format!("{}-{}-{host}-{}", word(page), word(page / 12 + 5), page + 1)
}

/// As many words in a row.
pub(super) fn sentence(random: &mut Synthetic, length: usize) -> String {
    const WORDS: [&str; 32] = [
        "the", "ferry", "left", "before", "noon", "with", "seven", "letters", "about", "rain", "and",
        "prices", "of", "copper", "while", "bakers", "argued", "over", "salt", "nobody", "expected", "an",
        "answer", "from", "old", "clocks", "that", "children", "painted", "blue", "last", "spring",
    ];
    let words: Vec<&str> = (0..length).map(|_| WORDS[(random.uniform() * 32.0) as usize % 32]).collect();
    words.join(" ")
}
