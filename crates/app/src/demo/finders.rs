//! New articles: who found them, and what that was worth.

use super::explorers::Explorer;
use super::profit::{Finds, earned};
use super::serve::Site;
use super::truth::curve;

/// New articles, and what became of them.
pub(crate) struct News {
    pub(crate) articles: usize,
    /// Fetches on hosts with news, of whatever was there.
    pub(crate) fetches: usize,
    /// Refrain first, then the others.
    pub(crate) finders: Vec<Finder>,
    /// What all articles were worth when they were new, over time, as a share of what it came to.
    pub(crate) possible: Vec<(f64, f64)>,
}

/// Somebody who looked for new articles.
pub(crate) struct Finder {
    pub(crate) name: &'static str,
    pub(crate) found: usize,
    /// Of what was possible in the end, over time.
    pub(crate) curve: Vec<(f64, f64)>,
}

impl Finder {
    /// The share of the possible profit.
    pub(crate) fn share(&self) -> f64 {
        self.curve.last().map_or(0.0, |(_, share)| *share)
    }
}

impl News {
    pub(crate) fn new(site: &Site, seconds: f64) -> Self {
        let (world, moments) = (&site.world, site.news_moments());
        let possible = world.possible_profit(seconds);
        let share = |profit: f64| if possible > 0.0 { profit / possible } else { 0.0 };
        let finder = |name, finds: &Finds| Finder {
            name,
            found: finds.iter().flatten().count(),
            curve: curve(seconds, |time| share(earned(world, finds, time))),
        };
        let mut finders = vec![finder("Refrain", &site.finds())];
        for explorer in Explorer::ALL {
            finders.push(finder(explorer.name(), &explorer.finds(world, &moments)));
        }
        Self {
            articles: world.articles.iter().filter(|article| article.born <= seconds).count(),
            fetches: moments.len(),
            finders,
            possible: curve(seconds, |time| share(world.possible_profit(time))),
        }
    }
}
