//! A sketch of a text in 64 bits: similar texts have similar sketches.
//!
//! Each run of three words votes on every bit; the majority counts (Charikar 2002; Manku, Jain and Das Sarma 2007 find a
//! distance of 3 good for web pages).

use xxhash_rust::xxh3::xxh3_64;

/// Words per shingle.
const SHINGLE: usize = 3;

/// The sketch of these blocks. Shingles do not reach over blocks; a block of fewer words is a shingle of its own.
pub(super) fn simhash<'a>(blocks: impl Iterator<Item = &'a str>) -> u64 {
    let mut votes = [0i32; 64];
    let mut words = Vec::new();
    for block in blocks {
        words.clear();
        words.extend(block.split(' ').map(|word| xxh3_64(word.as_bytes())));
        if words.len() < SHINGLE {
            vote(&mut votes, shingle(&words));
        }
        for run in words.windows(SHINGLE) {
            vote(&mut votes, shingle(run));
        }
    }
    votes.iter().enumerate().filter(|(_, vote)| **vote > 0).fold(0, |sketch, (bit, _)| sketch | (1 << bit))
}

fn shingle(words: &[u64]) -> u64 {
    let mut bytes = [0; 8 * SHINGLE];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    xxh3_64(&bytes)
}

/// Without branches, so that many bits are counted at once. No page has words enough for an overflow: see the client's
/// bound on bodies, and wrapping would only spoil a sketch.
fn vote(votes: &mut [i32; 64], hash: u64) {
    for (bit, vote) in votes.iter_mut().enumerate() {
        *vote = vote.wrapping_add(((hash >> bit) & 1) as i32 * 2 - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_texts_have_similar_sketches() {
        let text: Vec<String> = (0..400).map(|number| format!("word{}", number * number % 331)).collect();
        let sketch = |words: &[String]| simhash(std::iter::once(words.join(" ").as_str()));
        let mut edited = text.clone();
        edited[200] = "another".into();
        let mut sorted = text.clone();
        sorted.sort();
        assert!((sketch(&text) ^ sketch(&edited)).count_ones() <= 5);
        assert!((sketch(&text) ^ sketch(&sorted)).count_ones() >= 15);
        assert_eq!(simhash(std::iter::empty()), 0);
    }
}
