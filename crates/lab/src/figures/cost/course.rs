//! A page that changes by chance, and someone who looks at it: after intervals that are known to be right, or that follow from what was seen so far.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::estimate::posterior::Posterior;
use refrain_core::estimate::prior::Prior;
use refrain_core::estimate::risk::VeryStale;
use refrain_core::estimate::score::Weighted;

use super::MEAN;

/// Chance for the run of this number: a stream of its own.
pub(super) fn chance(seed: u64, run: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(run);
    rng
}

/// When the page changes, in hours, until `horizon`; the mean time between changes is [`MEAN`].
pub(super) fn changes(rng: &mut impl Rng, horizon: f64) -> Vec<f64> {
    let mut changes = Vec::with_capacity((1.5 * horizon / MEAN) as usize + 8);
    let mut now = 0.0;
    loop {
        // 1 - u is never 0.
        now -= MEAN * (1.0 - rng.random::<f64>()).ln();
        if now > horizon {
            return changes;
        }
        changes.push(now);
    }
}

/// When to look again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// After this fraction of the true mean time between changes.
    Known(f64),
    /// After this fraction of the estimated one.
    Estimated(f64),
    /// The same, but never so late that the copy is very stale with more than this chance.
    Careful(f64, f64),
}

/// One look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// Hours from the start, and since the look before.
    pub(super) at: f64,
    pub(super) interval: f64,
    /// The first change since the look before, if there was one.
    pub(super) changed: Option<f64>,
}

impl Look {
    /// Hours for which the copy was stale.
    pub(super) fn stale(&self) -> f64 {
        self.changed.map_or(0.0, |changed| self.at - changed)
    }
}

/// What was seen of the page: changed intervals, with room for the prior's at the end, and time without change.
struct Seen {
    changed: Vec<Weighted>,
    unchanged: f64,
    prior: Prior,
}

impl Seen {
    fn new() -> Self {
        Self {
            changed: vec![Weighted { length: 0.0, weight: 0.0 }],
            unchanged: 0.0,
            // The paper's two made-up observations, in hours.
            prior: Prior::GRIMES.in_units_of(3600.0),
        }
    }

    fn add(&mut self, look: &Look) {
        if look.changed.is_none() {
            self.unchanged += look.interval;
            return;
        }
        if let Some(room) = self.changed.last_mut() {
            *room = Weighted { length: look.interval, weight: 1.0 };
        }
        self.changed.push(Weighted { length: 0.0, weight: 0.0 });
    }

    fn belief(&mut self) -> Posterior {
        Posterior::from_intervals(&mut self.changed, self.unchanged, &self.prior)
    }
}

/// All looks until `horizon`, and as the last one what is open then: a look that is not made any more.
pub(super) fn looks(changes: &[f64], rule: Rule, horizon: f64) -> (Vec<Look>, Look) {
    let mut seen = Seen::new();
    let mut looks: Vec<Look> = Vec::new();
    let (mut before, mut next_change) = (0.0, 0);
    loop {
        let interval = match rule {
            Rule::Known(fraction) => fraction * MEAN,
            Rule::Estimated(fraction) => fraction / seen.belief().mean(),
            Rule::Careful(fraction, chance) => {
                let belief = seen.belief();
                belief.careful_interval(fraction / belief.mean(), VeryStale::AfterChanges(fraction), chance)
            }
        };
        let at: f64 = before + interval;
        let changed = changes.get(next_change).copied().filter(|change| *change <= at.min(horizon));
        if at > horizon {
            return (looks, Look { at: horizon, interval: horizon - before, changed });
        }
        let look = Look { at, interval, changed };
        seen.add(&look);
        looks.push(look);
        before = at;
        while changes.get(next_change).is_some_and(|change| *change <= at) {
            next_change += 1;
        }
    }
}

/// What looks and stale hours have cost until each of these times, if each costs 1.
pub(super) fn costs(looks: &[Look], open: &Look, times: &[f64]) -> Vec<f64> {
    let (mut before, mut next) = (0.0, 0);
    let cost = |time: f64| {
        while let Some(look) = looks.get(next).filter(|look| look.at <= time) {
            before += 1.0 + look.stale();
            next += 1;
        }
        let stale_since = looks.get(next).unwrap_or(open).changed;
        before + stale_since.map_or(0.0, |since| (time - since).max(0.0))
    };
    times.iter().copied().map(cost).collect()
}

/// The cost per hour of a rule, until `horizon`.
pub(super) fn cost_rate(changes: &[f64], rule: Rule, horizon: f64) -> f64 {
    let (looks, open) = looks(changes, rule, horizon);
    costs(&looks, &open, &[horizon])[0] / horizon
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_see_the_first_change_and_cost_what_they_cost() {
        let changes = [3.0, 5.0, 20.0];
        let (looks, open) = looks(&changes, Rule::Known(1.0 / 3.0), 22.0);
        let expected = [
            Look { at: 8.0, interval: 8.0, changed: Some(3.0) },
            Look { at: 16.0, interval: 8.0, changed: None },
        ];
        assert_eq!(
            (looks.as_slice(), open),
            (expected.as_slice(), Look { at: 22.0, interval: 6.0, changed: Some(20.0) })
        );
        // Stale from 3 to 8, a look, nothing, a look, stale from 20 on.
        assert_eq!(costs(&looks, &open, &[1.0, 4.0, 8.0, 15.0, 19.0, 22.0]), [0.0, 1.0, 6.0, 6.0, 7.0, 9.0]);
    }

    #[test]
    fn who_does_not_know_starts_with_the_prior_and_learns() {
        let mut rng = chance(1, 0);
        let changes = changes(&mut rng, 30_000.0);
        let (looks, _) = looks(&changes, Rule::Estimated(1.0 / 3.0), 30_000.0);
        assert!((looks[0].interval - 1.0 / (3.0 * (58.0 / 57.0_f64).ln())).abs() < 1e-9, "{:?}", looks[0]);
        let last = looks[looks.len() - 1].interval;
        assert!((last - 8.0).abs() < 1.0, "{last}");
    }

    #[test]
    fn who_is_careful_looks_sooner() {
        let changes = changes(&mut chance(1, 1), 1000.0);
        let first = |rule| looks(&changes, rule, 1000.0).0[0].interval;
        assert!(first(Rule::Careful(1.0 / 3.0, 0.02)) < first(Rule::Estimated(1.0 / 3.0)));
    }
}
