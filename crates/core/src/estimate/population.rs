//! The prior, learned from the crawl itself (empirical Bayes).
//!
//! A group of pages (all, a host's, those of one URL shape) is taken as draws from one Gamma distribution of rates. Its
//! likeliest parameters, given what is believed of each page, have the mean of the pages' mean rates and the mean of
//! their mean log rates (the M-step of EM). Both are sums, so a page whose belief changes takes its old share out and puts
//! its new one in: the fit is always up to date, and each fetch costs the same.
//!
//! Beliefs lean on the prior, so that EM, which asks them, is slow where pages have shown little. Two things help: beliefs are
//! refreshed now and then though their pages were not fetched, and steps are made longer.
//!
//! A group with few pages leans on its parent: mean and shape are drawn towards the parent's (in logarithms, so that a
//! parent that is a hundred times off is soon overruled).

use super::posterior::Posterior;
use super::prior::Prior;
use crate::math::polygamma::{digamma, trigamma};

/// How many pages of its own a group needs to count as much as its parent.
const PARENT_PAGES: f64 = 8.0;
/// A prior is never surer than so many changes: pages are not all alike.
const SUREST: f64 = 8.0;
const LEAST_SURE: f64 = 0.05;
/// Never further than so many steps of EM at once.
const LONGEST_STRIDE: f64 = 2.0;
/// And never by more than this factor (its logarithm) beyond the mean of what is believed.
const FURTHEST: f64 = std::f64::consts::LN_2;
/// Refitted after this share of the pages, and an update.
const REFIT_SHARE: f64 = 1.0 / 32.0;

/// A group of pages.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    pages: f64,
    rates: f64,
    logs: f64,
    updates: f64,
    /// Of the last updates, about one of each page: the logarithm of the prior's mean, the rate believed, and how much of it would
    /// follow the prior.
    told: Recent,
    /// The prior, and the parent's that it leans on.
    fitted: Option<(Prior, Prior)>,
}

impl Default for Population {
    fn default() -> Self {
        Self { pages: 0.0, rates: 0.0, logs: 0.0, updates: 0.0, told: Recent::default(), fitted: None }
    }
}

/// What one page adds to the sums of its groups.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    rate: f64,
    log: f64,
    /// The mean of the prior that it was believed under, and how much of the rate follows that.
    prior: f64,
    clings: f64,
}

impl From<&Posterior> for Share {
    fn from(belief: &Posterior) -> Self {
        Self { rate: belief.mean(), log: belief.mean_log(), prior: belief.mean(), clings: 0.0 }
    }
}

impl Share {
    /// A belief, and the prior it came from.
    pub fn under(belief: &Posterior, prior: &Prior) -> Self {
        match *prior {
            Prior::Gamma { shape, rate } => {
                let clings = (rate / belief.rate()).min(1.0);
                Self { prior: shape / rate, clings, ..Self::from(belief) }
            }
            Prior::Intervals { .. } => Self::from(belief),
        }
    }
}

/// Means over the last updates.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    updates: f64,
    log_prior: f64,
    rate: f64,
    clinging: f64,
}

impl Recent {
    fn add(&mut self, share: &Share, pages: f64) {
        self.updates = (self.updates + 1.0).min(pages);
        let step = 1.0 / self.updates;
        self.log_prior += step * (share.prior.ln() - self.log_prior);
        self.rate += step * (share.rate - self.rate);
        self.clinging += step * (share.rate * share.clings - self.clinging);
    }

    /// Where EM, whose next step leads to this mean, is going. Pages of which little is known follow the prior, and hold it back: the
    /// step is made longer by as much.
    fn onwards(&self, mean: f64) -> f64 {
        let holds_back = if self.rate > 0.0 { self.clinging / self.rate } else { 0.0 };
        let stride = (1.0 - holds_back).recip().clamp(1.0, LONGEST_STRIDE);
        let further = (stride - 1.0) * (mean.ln() - self.log_prior);
        mean * further.clamp(-FURTHEST, FURTHEST).exp()
    }
}

impl Population {
    /// The belief about a page is new: `before` is what the group was told last, if anything.
    pub fn replace(&mut self, before: Option<Share>, after: Share) {
        if let Some(before) = before {
            self.remove(before);
        }
        self.told.add(&after, self.pages + 1.0);
        self.pages += 1.0;
        self.rates += after.rate;
        self.logs += after.log;
        self.updates += 1.0;
    }

    /// A page is gone.
    pub fn remove(&mut self, last: Share) {
        self.pages -= 1.0;
        self.rates -= last.rate;
        self.logs -= last.log;
    }

    /// Whether nothing has been heard yet.
    pub fn is_new(&self) -> bool {
        self.pages < 0.5
    }

    /// How many pages have been heard of.
    pub fn pages(&self) -> f64 {
        self.pages
    }

    /// The prior of this group: refitted now and then, leaning on its parent's.
    pub fn prior(&mut self, parent: &Prior) -> Prior {
        let due = self.updates >= 1.0 + REFIT_SHARE * self.pages;
        if let Some((fitted, leant_on)) = self.fitted
            && !due
            && leant_on.is_near(parent)
        {
            return fitted;
        }
        self.updates = 0.0;
        let fitted = self.fit(parent);
        self.fitted = Some((fitted, *parent));
        fitted
    }

    /// The prior as it is now.
    pub fn fit(&self, parent: &Prior) -> Prior {
        // A parent of another form has no say in a Gamma fit: its own best Gamma takes its place.
        let parent = match *parent {
            Prior::Gamma { shape, rate } => Posterior::new(shape, rate),
            Prior::Intervals { .. } => Ok(Posterior::of(&super::history::History::default(), parent)),
        };
        let Ok(parent) = parent else { return Prior::BROAD };
        let mean = self.rates / self.pages;
        if !(self.pages > 0.5 && mean > 0.0) {
            return Prior::Gamma { shape: parent.shape(), rate: parent.rate() };
        }
        let shape = gamma_shape(mean.ln() - self.logs / self.pages).clamp(LEAST_SURE, SUREST);
        let own = self.pages / (self.pages + PARENT_PAGES);
        let lean = |own_value: f64, parent: f64| (own * own_value.ln() + (1.0 - own) * parent.ln()).exp();
        let shape = lean(shape, parent.shape());
        let rate = shape / lean(self.told.onwards(mean), parent.mean());
        if rate.is_finite() && rate > 0.0 { Prior::Gamma { shape, rate } } else { Prior::BROAD }
    }
}

/// The shape a at which ln a - ψ(a) = `excess`: the likeliest Gamma for a mean and a mean logarithm so far apart.
fn gamma_shape(excess: f64) -> f64 {
    if !(excess > 1e-6) {
        return SUREST;
    }
    // Minka's start and Newton's steps in 1/a: a few do.
    let mut a = (3.0 - excess + ((excess - 3.0).powi(2) + 24.0 * excess).sqrt()) / (12.0 * excess);
    for _ in 0..4 {
        let miss = a.ln() - digamma(a) - excess;
        a = (1.0 / a + miss / (a * a * (1.0 / a - trigamma(a)))).recip();
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_found() {
        for a in [0.06f64, 0.3, 1.0, 2.5, 7.0] {
            let found = gamma_shape(a.ln() - digamma(a));
            assert!((found / a - 1.0).abs() < 1e-6, "{a} {found}");
        }
        assert_eq!(gamma_shape(0.0), SUREST);
    }

    #[test]
    fn few_pages_lean_on_the_parent() {
        let parent = Prior::gamma(0.5, 100.0).unwrap();
        let mut group = Population::default();
        let Prior::Gamma { shape, rate } = group.fit(&parent) else { panic!("a Gamma") };
        assert!((shape - 0.5).abs() < 1e-6 && (rate - 100.0).abs() < 1e-3);
        let fast = Posterior::new(20.0, 20.0).unwrap();
        group.replace(None, (&fast).into());
        let mean = |prior: Prior| match prior {
            Prior::Gamma { shape, rate } => shape / rate,
            Prior::Intervals { .. } => panic!("a Gamma"),
        };
        assert!(mean(group.fit(&parent)) < 0.2);
        (0..200).for_each(|_| group.replace(None, (&fast).into()));
        assert!(mean(group.fit(&parent)) > 0.75);
        // Taking out what was put in leaves nothing.
        let other = Posterior::new(3.0, 70.0).unwrap();
        let before = group;
        group.replace(None, (&other).into());
        group.remove((&other).into());
        assert!((mean(group.fit(&parent)) / mean(before.fit(&parent)) - 1.0).abs() < 1e-12);
    }
}
