//! A sketch of a text in 64 bits: similar texts have similar sketches.
//!
//! Each run of three words votes on every bit; the majority counts (Charikar 2002; Manku, Jain and Das Sarma 2007 find a
//! distance of 3 good for web pages).

use xxhash_rust::xxh3::xxh3_64;

/// Words per shingle.
const SHINGLE: usize = 3;

/// The sketch of these blocks. Shingles do not reach over blocks; a block of fewer words is a shingle of its own.
pub(super) fn simhash<'a>(blocks: impl Iterator<Item = &'a str>) -> u64 {
    let mut votes = Votes::default();
    let mut words = Vec::new();
    for block in blocks {
        words.clear();
        words.extend(block.split(' ').map(|word| xxh3_64(word.as_bytes())));
        if words.len() < SHINGLE {
            votes.add(shingle(&words));
        }
        for run in words.windows(SHINGLE) {
            votes.add(shingle(run));
        }
    }
    votes.majority()
}

fn shingle(words: &[u64]) -> u64 {
    let mut bytes = [0; 8 * SHINGLE];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    xxh3_64(&bytes)
}

/// How many voted for each bit. The counts of all bits are added to at once: the first plane holds the lowest digit of each, the second
/// the next one, and so on; a carry rarely goes far.
#[derive(Default)]
struct Votes {
    planes: Vec<u64>,
    all: u64,
}

impl Votes {
    fn add(&mut self, hash: u64) {
        self.all += 1;
        let mut carry = hash;
        for plane in &mut self.planes {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
        if carry != 0 {
            self.planes.push(carry);
        }
    }

    /// The bits that more than half voted for.
    fn majority(&self) -> u64 {
        (0..64).filter(|bit| 2 * self.count(*bit) > self.all).fold(0, |sketch, bit| sketch | (1 << bit))
    }

    fn count(&self, bit: u32) -> u64 {
        self.planes.iter().enumerate().map(|(digit, plane)| (plane >> bit & 1) << digit).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_are_counted_bit_by_bit() {
        let mut votes = Votes::default();
        let mut counts = [0u64; 64];
        for number in 0..10_000u64 {
            let hash = xxh3_64(&number.to_le_bytes()) | 1;
            votes.add(hash);
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += hash >> bit & 1;
            }
        }
        for (bit, count) in counts.into_iter().enumerate() {
            assert_eq!(votes.count(bit as u32), count);
            assert_eq!(votes.majority() >> bit & 1 == 1, 2 * count > 10_000);
        }
    }

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
