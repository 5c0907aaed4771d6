//! Hash maps by numbers that we gave out ourselves: no stranger chooses them, so a multiplication is hash enough, and the
//! same on every run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by ids.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Multiplies and folds. Not for what strangers choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        self.write_u64(u64::from(id));
    }

    fn write_u64(&mut self, id: u64) {
        // The golden ratio spreads neighbours over the high bits; the fold brings them down to where tables look.
        let spread = (self.0 ^ id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    #[test]
    fn neighbours_are_spread() {
        let hash = BuildHasherDefault::<IdHasher>::default();
        let mut low = vec![0u32; 1024];
        let mut high = vec![0u32; 128];
        for id in 0..102_400u32 {
            let hashed = hash.hash_one(id);
            low[hashed as usize % 1024] += 1;
            high[(hashed >> 57) as usize] += 1;
        }
        assert!(low.iter().all(|count| (25..250).contains(count)), "{low:?}");
        assert!(high.iter().all(|count| (600..1000).contains(count)), "{high:?}");
    }
}
