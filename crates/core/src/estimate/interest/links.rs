//! λ_h: new links per unit of time on a hub, from its last visits.

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
}
