//! λ_h: new links per unit of time on a hub: from its last visits, as the ephemeral-content paper has it, or from all of them.

use crate::estimate::bytes::{self, Reading};

/// The last `K` visits to a hub: how long after the one before, how many new links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkHistory<const K: usize = 7> {
    visits: [Visit; K],
    next: u8,
    count: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Visit {
    elapsed: f32,
    links: u32,
}

impl<const K: usize> Default for LinkHistory<K> {
    fn default() -> Self {
        const { assert!(K > 0 && K < 256, "a history of 1 to 255 visits") };
        Self { visits: [Visit::default(); K], next: 0, count: 0 }
    }
}

impl<const K: usize> LinkHistory<K> {
    /// A visit found so many new links, `elapsed` after the one before. A length that is not a positive, finite number
    /// says nothing and is passed over; whether it was counted is returned.
    pub fn visit(&mut self, elapsed: f64, links: u32) -> bool {
        let elapsed = elapsed as f32;
        if !(elapsed > 0.0 && elapsed.is_finite()) {
            return false;
        }
        self.visits[usize::from(self.next)] = Visit { elapsed, links };
        self.next = (self.next + 1) % K as u8;
        self.count = (self.count + 1).min(K as u8);
        true
    }

    /// How many visits count.
    pub fn visits(&self) -> u32 {
        u32::from(self.count)
    }

    /// New links per unit of time, leaning on a prior rate as if one more visit of mean length had seen that.
    pub fn rate(&self, prior: f64) -> f64 {
        if self.count == 0 {
            return prior;
        }
        let seen = &self.visits[..usize::from(self.count)];
        let time: f64 = seen.iter().map(|visit| f64::from(visit.elapsed)).sum();
        let links: f64 = seen.iter().map(|visit| f64::from(visit.links)).sum();
        let extra = time / f64::from(self.count);
        (links + extra * prior) / (time + extra)
    }
}

/// All visits to a hub: how many links in how much time. Who has shown many is forgotten as new ones come, so that a hub that
/// changes is followed; who has shown few is not, however often it is visited. (The last few visits of a hub that is visited too
/// often say next to nothing.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkCounts {
    links: f64,
    time: f64,
    /// How much the prior counts, in links. It is forgotten with the rest: of a hub that shows a hundred times as many links as
    /// others do it would take more than half away, for ever.
    leans: f64,
}

impl Default for LinkCounts {
    fn default() -> Self {
        Self { links: 0.0, time: 0.0, leans: SHAPE }
    }
}

/// So many links are remembered.
const MEMORY: f64 = 32.0;
/// How much the prior counts at first: the shape of a Gamma distribution. Hubs differ by orders of magnitude.
const SHAPE: f64 = 0.5;

impl LinkCounts {
    /// A visit found so many new links, `elapsed` after the one before. A length that is not a positive, finite number
    /// says nothing and is passed over; whether it was counted is returned.
    pub fn visit(&mut self, elapsed: f64, links: u32) -> bool {
        if !(elapsed > 0.0 && elapsed.is_finite()) {
            return false;
        }
        self.links += f64::from(links);
        self.time = (self.time + elapsed).min(f64::MAX);
        if self.links > MEMORY {
            let kept = MEMORY / self.links;
            (self.links, self.time, self.leans) = (MEMORY, self.time * kept, self.leans * kept);
        }
        true
    }

    /// As bytes, to be kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut kept = Vec::with_capacity(12);
        bytes::write(&mut kept, &[self.links, self.time, self.leans].map(|number| number as f32));
        kept
    }

    /// What was kept, if it can be that.
    pub fn from_bytes(kept: &[u8]) -> Option<Self> {
        let mut from = Reading::new(kept);
        let mut amount = || from.amount().map(f64::from);
        let counts = Self { links: amount()?, time: amount()?, leans: amount()? };
        from.is_over().then_some(counts)
    }

    /// New links per unit of time, leaning on a prior rate as if half a link had been seen at that rate, at first.
    pub fn rate(&self, prior: f64) -> f64 {
        if self.time == 0.0 {
            return prior;
        }
        // A prior of 0 counts for nothing against a link that was seen.
        let (links, time) = if prior > 0.0 { (self.leans, self.leans / prior) } else { (0.0, 0.0) };
        let rate = (self.links + links) / (self.time + time);
        rate.min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_visits_count() {
        let mut hub = LinkHistory::<3>::default();
        assert_eq!(hub.rate(0.5), 0.5);
        for links in [100, 2, 4, 6] {
            assert!(hub.visit(2.0, links));
        }
        assert!(!hub.visit(0.0, 9) && !hub.visit(f64::NAN, 9) && !hub.visit(-1.0, 9));
        assert_eq!(hub.visits(), 3);
        // 12 links in 6, and a visit of 2 at the prior's rate.
        assert_eq!(hub.rate(0.0), 12.0 / 8.0);
        assert_eq!(hub.rate(2.0), 2.0);
    }

    #[test]
    fn silence_counts_as_long_as_it_lasts() {
        let mut hub = LinkCounts::default();
        assert_eq!(hub.rate(0.5), 0.5);
        assert!(!hub.visit(0.0, 9) && !hub.visit(f64::NAN, 9) && !hub.visit(f64::INFINITY, 9));
        // However often it is looked at.
        for _ in 0..1000 {
            assert!(hub.visit(0.1, 0));
        }
        assert!((hub.rate(0.5) - 0.5 / 101.0).abs() < 1e-12);
        assert_eq!(hub.rate(0.0), 0.0);
        assert!(hub.visit(1.0, 1) && hub.rate(0.0) > 0.0);
        // Then it wakes up: a few times as many links as are remembered, and the silence is forgotten.
        for _ in 0..250 {
            hub.visit(0.1, 1);
        }
        assert!((hub.rate(0.5) - 10.0).abs() < 0.5, "{}", hub.rate(0.5));
        let back = LinkCounts::from_bytes(&hub.to_bytes()).unwrap();
        assert!((back.rate(0.5) / hub.rate(0.5) - 1.0).abs() < 1e-6);
        assert!(LinkCounts::from_bytes(&[0; 11]).is_none() && LinkCounts::from_bytes(&[0xff; 12]).is_none());
        // The largest numbers are numbers.
        hub.visit(f64::MIN_POSITIVE, u32::MAX);
        hub.visit(f64::MAX, u32::MAX);
        hub.visit(f64::MAX, u32::MAX);
        assert!(hub.rate(1.0).is_finite());
    }
}
