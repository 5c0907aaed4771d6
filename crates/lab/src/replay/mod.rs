//! A recorded history, crawled anew: a policy sees what a crawler sees, and must learn the rest.
//!
//! The copy at a page's first moment is free. There is one slot for a fetch every 1/R; one that nobody can use is lost. A fetch sees
//! all changes up to its moment. Pages of a source in an outage are not fetched and not scored, and their clocks stand still.

mod clairvoyant;
mod drive;
mod ears;
mod estimated;
mod events;
mod own_pace;
mod planned;
mod replayed;
mod score;
mod siblings;
mod sweep;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use refrain_core::frontier::{
    Attentive, Budget, Frontier, Hourly, Known, Model, Refined, Rules, Settings, Shares,
};
use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};
use refrain_core::value::ValueFunction;

use crate::policy::Policy;
use crate::simulate::SimulationError;
use crate::trace::{Trace, TracePage};
use drive::Drive;
use estimated::Estimated;
use planned::Planned;
use replayed::Learns;
pub use score::Score;
pub use sweep::{Curve, Needed};

/// How a trace is crawled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Fetches per second.
    pub rate: f64,
    /// Whether a fetch says when the page was last changed.
    pub dated: bool,
    /// Whether policies that have intervals of their own keep to those, whatever that costs.
    pub own_pace: bool,
    /// No page waits longer than this for a fetch, if the budget allows.
    pub floor: Option<Span>,
    /// For the delay-aware policy: signals so soon after a fetch do not count.
    pub delay: Span,
}

/// Crawls a trace: the fetches that a policy makes, moments and places of pages.
///
/// # Errors
/// If the rate is none.
pub fn fetches(
    policy: Policy,
    trace: &Trace,
    setting: &Setting,
) -> Result<Vec<(Time, u32)>, SimulationError> {
    // Slots are given by the clock; the frontier, a hair faster, is always ready for the next.
    let rate = Budget::Rate(setting.rate * (1.0 + 1e-9));
    let settings = Settings {
        ignore_signals_within: if policy == Policy::Delayed { setting.delay } else { Span::ZERO },
        ..Settings::default()
    };
    let mut drive = Drive {
        trace,
        period: 1.0 / setting.rate,
        dated: setting.dated,
        floor: setting.floor,
        affinity: policy == Policy::Affinity,
    };
    let start = drive.start();
    match policy {
        Policy::Value(function) => estimated(&drive, Known::new(function), rate, settings),
        Policy::Delayed => estimated(&drive, Known::new(ValueFunction::GreedyNcis), rate, settings),
        Policy::Shares(share) => estimated(&drive, Shares::new(share), rate, settings),
        Policy::LowDiscrepancy => {
            let frontier = Frontier::new(Planned::new(setting.rate, start), rate, settings, start)?;
            drive.run(frontier, |model, host, page| Ok(model.page(host, page.importance, page.first)))
        }
        Policy::Rule(rule) if setting.own_pace => Ok(own_pace::fetches(rule, trace)),
        Policy::Rule(rule) => {
            // By their own rules they know when a page was changed.
            drive.dated = true;
            let frontier = Frontier::new(Rules::new(rule), rate, settings, start)?;
            drive.run(frontier, |rules, _, page| Ok(rules.page(page.importance as f32)))
        }
        Policy::Refrain | Policy::Affinity => {
            learned(&drive, Hourly::new(Attentive::default()), rate, settings)
        }
        Policy::WithoutHours => learned(&drive, Attentive::default(), rate, settings),
        Policy::Refined(refinement) => learned(&drive, Hourly::new(Refined::new(refinement)), rate, settings),
        Policy::Informed => {
            let truth = truth(trace);
            let frontier = Frontier::new(Known::new(ValueFunction::GreedyNcis), rate, settings, start)?;
            let places: HashMap<u32, usize> =
                trace.pages.iter().enumerate().map(|(place, page)| (page.number, place)).collect();
            drive.run(frontier, |_, _, page| Ok(truth[places[&page.number]]))
        }
        Policy::Clairvoyant => {
            let seconds = 1.0 / setting.rate;
            let count = (trace.seconds() / seconds) as usize;
            let slots: Vec<Time> =
                (0..count).map(|slot| drive::slot_at(start, seconds, slot as u64 + 1)).collect();
            Ok(clairvoyant::fetches(trace, &slots))
        }
    }
}

/// A policy that learns by itself.
fn learned<M: Learns>(
    drive: &Drive<'_>,
    model: M,
    rate: Budget,
    settings: Settings,
) -> Result<Vec<(Time, u32)>, SimulationError> {
    let frontier = Frontier::new(model, rate, settings, drive.start())?;
    drive.run(frontier, |model, host, page| model.unheard(host, page.importance as f32))
}

/// A policy for known parameters, with learned ones in their place.
fn estimated<M: Model<Page = Belief, Past = ()>>(
    drive: &Drive<'_>,
    model: M,
    rate: Budget,
    settings: Settings,
) -> Result<Vec<(Time, u32)>, SimulationError> {
    let frontier = Frontier::new(Estimated::new(model), rate, settings, drive.start())?;
    drive.run(frontier, |model, host, page| model.page(host, page.importance))
}

/// The freshness (by importance) that no policy exceeds with so many fetches.
pub fn bound(trace: &Trace, fetches: usize) -> f64 {
    clairvoyant::bound(trace, fetches)
}

/// The mean rates of pages over their lives, and how good their signals were.
fn truth(trace: &Trace) -> Vec<Belief> {
    let mut told = vec![(0.0, 0.0); trace.pages.len()];
    for announcement in &trace.announcements {
        let (right, wrong) = &mut told[announcement.page as usize];
        *(if announcement.is_change { right } else { wrong }) += 1.0;
    }
    let of = |page: &TracePage, (right, wrong): (f64, f64)| {
        let (time, changes) = (trace.alive(page).max(1.0), page.changes.len() as f64);
        let recall = if changes > 0.0 { (right / changes).min(1.0) } else { 0.0 };
        let belief = Belief::new(changes / time, page.importance);
        belief.and_then(|belief| belief.with_signals(recall, wrong / time)).unwrap_or_default()
    };
    trace.pages.iter().zip(told).map(|(page, told)| of(page, told)).collect()
}
