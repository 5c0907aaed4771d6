//! What others would have found in the news with the same fetches, at the same moments. They know every front page from the start, and are
//! spared what is of no interest.

use std::collections::VecDeque;

use super::profit::Finds;
use super::world::World;

/// How others look for new articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explorer {
    /// New articles in the order in which they were found; then the front page that was visited least recently.
    BreadthFirst,
    /// Every second fetch is for the next front page; the others are for new articles, the last found first.
    FixedQuota,
}

impl Explorer {
    pub(crate) const ALL: [Self; 2] = [Self::BreadthFirst, Self::FixedQuota];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "breadth-first",
            Self::FixedQuota => "fixed quota",
        }
    }

    /// When it would have fetched each article first, with a fetch at each of these moments.
    pub(crate) fn finds(self, world: &World, moments: &[f64]) -> Finds {
        let mut finds: Finds = vec![None; world.articles.len()];
        let mut known = vec![false; world.articles.len()];
        let mut waiting: VecDeque<usize> = VecDeque::new();
        let mut fronts: VecDeque<usize> =
            (0..world.hosts.len()).filter(|host| world.hosts[*host].has_news()).collect();
        for (slot, time) in moments.iter().copied().enumerate() {
            let next = match self {
                Self::BreadthFirst => waiting.pop_front(),
                Self::FixedQuota if slot % 2 == 0 => None,
                Self::FixedQuota => waiting.pop_back(),
            };
            if let Some(article) = next {
                finds[article] = Some(time);
                continue;
            }
            // To take turns is to visit the one that was visited least recently.
            let Some(front) = fronts.pop_front() else { break };
            fronts.push_back(front);
            let mut shown = world.latest(front, time);
            if self == Self::FixedQuota {
                // Whoever takes the last first wants the latest last.
                shown.reverse();
            }
            waiting
                .extend(shown.into_iter().filter(|article| !std::mem::replace(&mut known[*article], true)));
        }
        finds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::profit::share;

    #[test]
    fn nobody_finds_what_is_not_shown() {
        let world = World::new(2, 60.0);
        let moments: Vec<f64> = (0..120).map(|k| f64::from(k) / 2.0).collect();
        for explorer in Explorer::ALL {
            let finds = explorer.finds(&world, &moments);
            let found = finds.iter().flatten().count();
            assert!((30..100).contains(&found), "{explorer:?} {found}");
            for (article, time) in world.articles.iter().zip(&finds) {
                assert!(time.is_none_or(|time| time > article.born));
            }
        }
    }

    #[test]
    fn more_fetches_find_more() {
        let world = World::new(2, 60.0);
        for explorer in Explorer::ALL {
            let earns = |each_second: u32| {
                let moments: Vec<f64> =
                    (0..60 * each_second).map(|k| f64::from(k) / f64::from(each_second)).collect();
                share(&world, &explorer.finds(&world, &moments), 60.0)
            };
            assert!(earns(1) < earns(20) && earns(20) > 0.8, "{explorer:?} {} {}", earns(1), earns(20));
        }
    }
}
