//! What others would have made of the same fetches, at the same moments. They are let off politeness, and nothing of theirs fails.

use super::truth::Fetches;
use super::world::World;

/// How others decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// Every page equally often.
    Uniform,
    /// Every page has an interval: a change makes it shorter by a fifth, none makes it longer by two. It begins as long as the
    /// budget allows for all.
    Nutch,
}

impl Rival {
    pub(crate) const ALL: [Self; 2] = [Self::Uniform, Self::Nutch];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "every page equally often",
            Self::Nutch => "Nutch-like intervals",
        }
    }

    /// The fetches that it would have made, one at each of these moments.
    pub(crate) fn fetches(self, world: &World, moments: &[f64], rate: f64) -> Fetches {
        let allowed: Vec<usize> =
            (0..world.pages.len()).filter(|page| !world.pages[*page].forbidden).collect();
        let mut fetches: Fetches = vec![Vec::new(); world.pages.len()];
        let even = allowed.len() as f64 / rate;
        let mut intervals = vec![even; world.pages.len()];
        let mut due: Vec<f64> = vec![f64::NEG_INFINITY; world.pages.len()];
        for moment in moments.iter().copied() {
            // Whoever is due first, the first of them; if nobody is, whoever would be next.
            let next = allowed.iter().copied().min_by(|a, b| due[*a].total_cmp(&due[*b]));
            let Some(page) = next else { break };
            let before = fetches[page].last().copied();
            let changed = before.is_some_and(|before| world.pages[page].next_change(before) <= moment);
            if before.is_some() && self == Self::Nutch {
                intervals[page] *= if changed { 0.8 } else { 1.4 };
            }
            due[page] = moment + intervals[page];
            fetches[page].push(moment);
        }
        fetches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fetches_are_used_and_the_forbidden_left_alone() {
        let world = World::new(5, 60.0);
        let moments: Vec<f64> = (0..600).map(|k| f64::from(k) / 10.0).collect();
        for rival in Rival::ALL {
            let fetches = rival.fetches(&world, &moments, 10.0);
            let even = 600 / world.pages.iter().filter(|page| !page.forbidden).count();
            assert_eq!(fetches.iter().map(Vec::len).sum::<usize>(), 600);
            for (page, fetches) in world.pages.iter().zip(&fetches) {
                assert_eq!(fetches.is_empty(), page.forbidden);
                if rival == Rival::Uniform && !page.forbidden {
                    assert!((even..=even + 1).contains(&fetches.len()), "{}", fetches.len());
                }
            }
        }
    }
}
