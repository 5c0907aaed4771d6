//! How far signals can be believed.

use refrain_core::estimate::signals::likelihood::{Changed, Fit, SignalScore};
use refrain_core::estimate::signals::pool::SignalPool;
use refrain_core::estimate::signals::quality::Quality;
use refrain_core::estimate::signals::trust::{SignalPrior, Trust};
use refrain_core::estimate::{Confidence, Observation};

use crate::input::Intervals;

/// Precision and recall, by maximum likelihood and as Refrain believes them.
pub(super) struct SignalFindings {
    /// By maximum likelihood; nothing if there were no signals.
    pub(super) likeliest: Option<(Quality, Fit)>,
    /// Drawn towards what is usual.
    pub(super) believed: Quality,
    /// The interval of the believed precision.
    pub(super) precision: (f64, f64),
    pub(super) signals: f64,
}

/// What all pages of a file say about signals.
#[derive(Clone, Copy)]
pub(super) struct Pool {
    trust: Trust,
}

impl Pool {
    /// No other pages: nothing is known beforehand.
    pub(super) const ALONE: Self = Self { trust: Trust::START };

    /// From all intervals. `change_rate` is what is believed of a page without its signals.
    pub(super) fn new(intervals: &Intervals, change_rate: impl Fn(&[Observation]) -> f64) -> Self {
        let mut pool = SignalPool::default();
        for page in &intervals.pages {
            let change_rate = change_rate(&page.seen);
            for seen in &page.seen {
                pool.observe(change_rate * seen.elapsed(), seen.signals(), seen.changed());
            }
        }
        Self { trust: pool.trust(Trust::START) }
    }

    pub(super) fn findings(
        &self,
        seen: &[Observation],
        change_rate: f64,
        confidence: Confidence,
    ) -> SignalFindings {
        let changed: Vec<Changed> = seen
            .iter()
            .filter(|interval| interval.changed())
            .map(|interval| Changed {
                length: interval.elapsed(),
                signals: f64::from(interval.signals()),
                weight: 1.0,
            })
            .collect();
        let quiet = || seen.iter().filter(|interval| !interval.changed());
        let score = SignalScore {
            unchanged_time: quiet().map(Observation::elapsed).sum(),
            unchanged_signals: quiet().map(|interval| f64::from(interval.signals())).sum(),
            silent_changes: 0.0,
            true_signals: 0.0,
            changed: &changed,
        };
        let time: f64 = seen.iter().map(Observation::elapsed).sum();
        let signals: f64 = seen.iter().map(|interval| f64::from(interval.signals())).sum();
        let under = |prior: &SignalPrior| {
            let fit = prior.on(&score)?;
            let quality = Quality::new(fit.alpha, fit.nats, prior.signal_rate(signals, time)).ok()?;
            Some((quality, fit))
        };
        let likeliest = under(&SignalPrior::NONE);
        let believed = under(&SignalPrior::new(self.trust, change_rate));
        let (believed, precision) = believed.map_or_else(
            || (Quality::default(), (0.0, 1.0)),
            |(quality, fit)| (quality, precision_interval(&fit, confidence)),
        );
        SignalFindings { likeliest, believed, precision, signals }
    }
}

/// Normal in the log odds of the precision, ln(e^b - 1), whose slope in b is 1/precision.
fn precision_interval(fit: &Fit, confidence: Confidence) -> (f64, f64) {
    let Some(variance) = fit.nats_variance else { return (0.0, 1.0) };
    let precision = -(-fit.nats).exp_m1();
    let odds = fit.nats.exp_m1();
    let half = confidence.deviations() * variance.sqrt() / precision;
    let share = |odds: f64| if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 };
    (share(odds * (-half).exp()), share(odds * half.exp()))
}
