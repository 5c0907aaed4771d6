//! What budgets buy, from a sample of pages.

use refrain_core::optimum::{CurvePoint, Group, LearnedPage, allocate, curve, polite_curve};
use refrain_core::time::Span;
use refrain_engine::Sample;
use serde_json::json;

/// So many pages stand for all.
pub(super) const SAMPLE: usize = 20_000;
/// From so many times less than the budget to so many times more.
const REACH: f64 = 32.0;
/// So many budgets are computed; between them the curve is straight.
const POINTS: usize = 64;

/// What budgets buy.
#[derive(Clone, Debug)]
pub(in super::super) struct Outlook {
    /// How many pages there are, and how many this was computed from.
    pub(super) pages: usize,
    pub(super) sample: usize,
    /// The share of those whose changes are announced, as far as that says something.
    pub(super) heard: f64,
    /// The share of those that were looked at twice: of the others it is only known that they are like them.
    pub(in super::super) seen: f64,
    /// Requests per second, each the same multiple of the one before,
    pub(super) rates: Vec<f64>,
    /// the share of fresh copies that they buy at best,
    pub(super) best: Vec<f64>,
    /// and if no host is asked too often.
    pub(super) polite: Vec<f64>,
    /// The standard error of these shares, at the budget of now, as pages were chosen by chance.
    pub(super) error: f64,
    /// More requests per second than this cannot be spent politely; `None` if there is no such limit.
    pub(super) most: Option<f64>,
}

impl Outlook {
    /// `None` if there are no pages.
    pub(super) fn new(sample: &Sample, budget: f64) -> Option<Self> {
        let mut groups: Vec<Group<LearnedPage>> = sample
            .hosts
            .iter()
            .map(|host| {
                let most = if host.gap > Span::ZERO { 1.0 / host.gap.as_secs() } else { f64::INFINITY };
                Group { candidates: Vec::new(), most }
            })
            .collect();
        let mut pages = Vec::with_capacity(sample.pages.len());
        let (mut heard, mut seen) = (0, 0);
        for own in &sample.pages {
            let Some(page) = own.candidate() else { continue };
            pages.push(page);
            heard += usize::from(own.signals.is_some());
            seen += usize::from(own.is_seen);
            groups.get_mut(own.host as usize)?.candidates.push(page);
        }
        if pages.is_empty() || !(budget > 0.0) {
            return None;
        }
        let of = sample.of.max(pages.len());
        let share = pages.len() as f64 / of as f64;
        let limits: f64 = groups.iter().map(|group| group.most).sum();
        // A host of which some pages are in the sample has that share of its requests for them.
        for (group, host) in groups.iter_mut().zip(&sample.hosts) {
            let all = (host.pages as usize).max(group.candidates.len()).max(1);
            group.most *= group.candidates.len() as f64 / all as f64;
        }
        let budget_here = budget * share;
        let (few, many) = (budget_here / REACH, budget_here * REACH);
        let highest = allocate(&pages, few).ok()?.price;
        let lowest = allocate(&pages, many).ok()?.price.max(1e-9 * highest);
        let prices: Vec<f64> = (0..POINTS)
            .map(|place| highest * (lowest / highest).powf(place as f64 / (POINTS - 1) as f64))
            .collect();
        let best = curve(&pages, prices.iter().copied(), || {});
        let polite = polite_curve(&groups, &prices);
        let rates: Vec<f64> = (0..POINTS)
            .map(|place| few / share * (REACH * REACH).powf(place as f64 / (POINTS - 1) as f64))
            .collect();
        let on = |curve: &[CurvePoint]| rates.iter().map(|rate| between(curve, rate * share)).collect();
        Some(Self {
            pages: of,
            sample: pages.len(),
            heard: heard as f64 / pages.len() as f64,
            seen: seen as f64 / pages.len() as f64,
            best: on(&best),
            polite: on(&polite),
            error: error(&pages, budget_here, share),
            most: (limits.is_finite() && limits < budget * REACH).then_some(limits),
            rates,
        })
    }

    pub(in super::super) fn best_at(&self, rate: f64) -> f64 {
        self.at(&self.best, rate)
    }

    pub(in super::super) fn polite_at(&self, rate: f64) -> f64 {
        self.at(&self.polite, rate)
    }

    fn at(&self, values: &[f64], rate: f64) -> f64 {
        let place = self.rates.partition_point(|own| *own < rate);
        match place {
            0 => values[0],
            place if place == self.rates.len() => values[place - 1],
            place => {
                let share = (rate - self.rates[place - 1]) / (self.rates[place] - self.rates[place - 1]);
                values[place - 1] + share * (values[place] - values[place - 1])
            }
        }
    }

    /// Where a budget is on the slider, from 0 to 1, and which budget is at a place.
    pub(super) fn place(&self, rate: f64) -> f64 {
        let (few, many) = (self.rates[0], self.rates[self.rates.len() - 1]);
        ((rate / few).ln() / (many / few).ln()).clamp(0.0, 1.0)
    }

    pub(super) fn rate_at(&self, place: f64) -> f64 {
        let (few, many) = (self.rates[0], self.rates[self.rates.len() - 1]);
        few * (many / few).powf(place)
    }

    /// The curve, for the slider.
    pub(super) fn json(&self) -> String {
        let short =
            |values: &[f64]| values.iter().map(|value| (1e5 * value).round() / 1e5).collect::<Vec<f64>>();
        let rates: Vec<f64> =
            self.rates.iter().map(|rate| format!("{rate:.4e}").parse().unwrap_or(*rate)).collect();
        json!({ "rates": rates, "best": short(&self.best), "polite": short(&self.polite) }).to_string()
    }
}

/// The freshness for a rate, on a curve whose rates rise.
fn between(curve: &[CurvePoint], rate: f64) -> f64 {
    let place = curve.partition_point(|point| point.rate < rate);
    match (place.checked_sub(1).map(|before| curve[before]), curve.get(place)) {
        (Some(before), Some(after)) if after.rate > before.rate => {
            before.freshness
                + (rate - before.rate) / (after.rate - before.rate) * (after.freshness - before.freshness)
        }
        // Below the first point it goes on to nothing at all.
        (None, Some(first)) if first.rate > 0.0 => first.freshness * (rate / first.rate).min(1.0),
        (_, Some(point)) => point.freshness,
        (Some(last), None) => last.freshness,
        (None, None) => 0.0,
    }
}

/// The standard error of the weighted mean of freshness over pages that were drawn by chance: as of a ratio, smaller the more of all pages were drawn.
fn error(pages: &[LearnedPage], budget: f64, share: f64) -> f64 {
    use refrain_core::optimum::Candidate as _;
    let Ok(best) = allocate(pages, budget) else { return 0.0 };
    let (mut squares, mut weight) = (0.0, 0.0);
    for (page, visit) in pages.iter().zip(&best.visits) {
        let off = page.importance() * (visit.freshness - best.freshness);
        squares += off * off;
        weight += page.importance();
    }
    if weight > 0.0 { squares.sqrt() / weight * (1.0 - share).max(0.0).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use refrain_core::estimate::Posterior;
    use refrain_core::estimate::signals::quality::Quality;
    use refrain_engine::{HostShare, SampledPage};

    use super::*;

    fn sample(count: usize, of: usize, gap: Span) -> Sample {
        let hosts = 10;
        let page = |n: usize| {
            let (mean, shape) = (1e-4 * (1 + n % 7) as f64, 0.5 + (n % 5) as f64);
            SampledPage {
                changes: Posterior::new(shape, shape / mean).unwrap(),
                signals: None,
                importance: 1.0 + (n % 3) as f64,
                is_seen: n.is_multiple_of(2),
                host: (n % hosts) as u32,
            }
        };
        Sample {
            pages: (0..count).map(page).collect(),
            of,
            hosts: vec![HostShare { gap, pages: (of / hosts) as u32 }; hosts],
        }
    }

    #[test]
    fn a_sample_stands_for_all() {
        let all = Outlook::new(&sample(1000, 1000, Span::ZERO), 0.5).unwrap();
        let some = Outlook::new(&sample(1000, 10_000, Span::ZERO), 5.0).unwrap();
        assert!((all.best_at(0.5) - some.best_at(5.0)).abs() < 1e-9);
        assert_eq!((all.error, all.most, all.seen), (0.0, None, 0.5));
        assert!(some.error > 0.0 && some.error < 0.05);
        let sample = sample(1000, 1000, Span::ZERO);
        let pages: Vec<LearnedPage> = sample.pages.iter().filter_map(SampledPage::candidate).collect();
        let exact = allocate(&pages, 0.5);
        assert!((all.best_at(0.5) - exact.unwrap().freshness).abs() < 2e-3);
        assert!(all.best_at(0.25) < all.best_at(0.5) && all.best_at(0.5) < all.best_at(1.0));
        assert!((all.polite_at(0.5) - all.best_at(0.5)).abs() < 1e-9, "nobody asks for a gap");
        assert!((all.rate_at(all.place(0.7)) - 0.7).abs() < 1e-9);
    }

    #[test]
    fn gaps_limit_what_can_be_bought() {
        // Ten hosts with a request each ten seconds: no more than one a second.
        let few = Outlook::new(&sample(1000, 1000, Span::from_whole_secs(10)), 2.0).unwrap();
        assert!((few.most.unwrap() - 1.0).abs() < 1e-9);
        assert!((few.polite_at(0.3) - few.best_at(0.3)).abs() < 0.02, "enough for all");
        assert!(few.polite_at(30.0) < few.best_at(30.0) - 0.05);
        assert!((few.polite_at(30.0) - few.polite_at(2.0)).abs() < 1e-6);
        assert!(few.polite.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9));
    }

    #[test]
    fn what_is_announced_is_worth_more() {
        let silent = sample(1000, 1000, Span::from_whole_secs(10));
        let mut heard = silent.clone();
        for page in &mut heard.pages {
            // Nine changes of ten are announced, and nothing else.
            let rate = page.changes.mean();
            page.signals = Some(Quality::new(0.1 * rate, 20.0, 0.9 * rate).unwrap());
        }
        let (without, with) = (Outlook::new(&silent, 0.5).unwrap(), Outlook::new(&heard, 0.5).unwrap());
        assert_eq!((without.heard, with.heard), (0.0, 1.0));
        for rate in [0.1, 0.5, 5.0] {
            assert!(with.best_at(rate) > without.best_at(rate), "{rate}");
            assert!(with.polite_at(rate) > without.polite_at(rate), "{rate}");
        }
        assert!(
            with.best_at(0.5) > without.best_at(0.5) + 0.1,
            "{} {}",
            with.best_at(0.5),
            without.best_at(0.5)
        );
    }

    #[test]
    fn without_pages_there_is_nothing_to_buy() {
        assert!(Outlook::new(&Sample::default(), 1.0).is_none());
    }
}
