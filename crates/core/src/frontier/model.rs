//! How the values of pages are known.

use std::f64::consts::E;

use super::HostId;
use super::race::Look;
use crate::estimate::Observation;
use crate::page::{Belief, BeliefError, SinceFetch};
use crate::time::{Span, Time};
use crate::value::signals::SignalModel;
use crate::value::{CrawlValue, ValueFunction};

/// Where values come from: beliefs that are given, beliefs that are learned, or a rule that has none.
pub trait Model {
    /// What the value of a page needs: read at every look, so it should be small.
    type Page: Clone;
    /// What else is remembered of a page, for its next observation.
    type Past: Clone + Default;

    /// What a fetch now is worth. Between two calls for the same page it may only have grown, unless the page was observed
    /// or changed.
    fn value(&self, page: &Self::Page, since: &SinceFetch, now: Time) -> f64;

    /// A moment not after the one at which the value reaches `level` if no signal comes; [`Time::MAX`] if it never does. A
    /// `near` one is wanted close, others may be a few percent early. The value is below the level now.
    fn reaches(&self, page: &Self::Page, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time;

    /// The value now, and the most that it grows per second from now until some moment, without a signal.
    fn look(&self, page: &Self::Page, since: &SinceFetch, now: Time) -> Look;

    /// How much sooner one more signal makes the page reach any level; `None` if that depends.
    fn sooner(&self, page: &Self::Page) -> Option<Span>;

    /// Whether two pages have the same value whenever the same has happened since their last fetches. It is never wrong to say no,
    /// and slow to do so where thousands are.
    fn are_alike(&self, _one: &Self::Page, _other: &Self::Page) -> bool {
        false
    }

    /// How often a page is believed to change per second, if anything is learned of that.
    fn change_rate(&self, _page: &Self::Page, _past: &Self::Past) -> Option<f64> {
        None
    }

    /// A fetch saw this, now.
    fn observe(
        &mut self,
        page: &mut Self::Page,
        past: &mut Self::Past,
        host: HostId,
        now: Time,
        seen: &Observation,
    );

    /// Believes of a page what follows from what was learned since its last fetch, of others and from its own signals. Whether that
    /// is worth the trouble: of a page that was seen often nothing new follows.
    fn refresh(
        &mut self,
        _page: &mut Self::Page,
        _past: &mut Self::Past,
        _host: HostId,
        _since: &SinceFetch,
        _now: Time,
    ) -> bool {
        false
    }

    /// The longest that may be waited for the next fetch of a page of which little is known, if that is shorter than its value
    /// would wait at this price.
    fn careful(&self, _page: &Self::Page, _past: &Self::Past, _price: f64) -> Option<Span> {
        None
    }

    /// A fetch failed.
    fn fail(&mut self, _past: &mut Self::Past) {}

    /// The page is gone: what was learned from it about others counts no more.
    fn forget(&mut self, _page: &Self::Page, _past: &Self::Past, _host: HostId) {}
}

/// A page that was seen so often knows itself: what is learned of others does not change its belief.
pub(super) const SEEN_ENOUGH: u32 = 64;

/// For how much longer a look holds, as a share of the age.
pub(super) const AHEAD: f64 = 1.0 / 64.0;

/// Until when a look holds.
pub(super) fn ahead(since: &SinceFetch, now: Time) -> Time {
    now + Span::from_nanos((since.elapsed(now).as_nanos() as f64 * AHEAD) as u64)
}

/// An importance is finite and not negative.
pub(super) fn check_importance(importance: f32) -> Result<(), BeliefError> {
    if importance.is_finite() && importance >= 0.0 {
        return Ok(());
    }
    Err(BeliefError::NotARate { name: "importance", value: f64::from(importance) })
}

/// The most that any value grows per second: x e^{-x} is at most 1/e.
pub(super) fn steepest(importance: f64) -> f64 {
    importance / E * (1.0 + 1e-9)
}

/// How much more a value grows with every second that grows like this at some age, if growth per age only falls: as V'(τ)/τ does where
/// changes come by chance, at a rate that is known or not.
pub(super) fn bend(growth: f64, elapsed: f64) -> f64 {
    if elapsed > 0.0 { growth / elapsed } else { f64::INFINITY }
}

/// A moment `elapsed` seconds after a fetch, surely not too late, [`Time::LAST`] if that is beyond all; [`Time::MAX`] if there is none,
/// whatever signals come.
pub(super) fn not_after(fetched: Time, elapsed: Option<f64>) -> Time {
    // Earlier by what the inverse of a value may be off, and down to a whole nanosecond.
    let early = |elapsed: f64| Span::from_nanos((elapsed * (1e9 * (1.0 - 4e-9))) as u64);
    elapsed.map_or(Time::MAX, |elapsed| fetched.later(early(elapsed)))
}

/// A look at a page with signals, its value averaged over a few weighted possibilities. V' = μ α e^{-q} ψ: the chance of a fresh copy
/// falls, and ψ, the length of a cycle, grows by no more than time does.
pub(super) fn look_at(importance: f64, points: &[(f64, SignalModel)], since: &SinceFetch, now: Time) -> Look {
    let elapsed = since.elapsed(now).as_secs();
    let (mut value, mut slope, mut bends) = (0.0, 0.0, 0.0);
    for (weight, model) in points {
        let at = model.value_and_cycle(elapsed, since.signals());
        let falls = weight * model.unsignalled_rate() * at.fresh;
        value += weight * at.value;
        slope += falls * at.length;
        bends += falls;
    }
    let more = bends * AHEAD * elapsed;
    Look {
        value: importance * value,
        growth: importance * (slope + more) * (1.0 + 1e-9),
        until: ahead(since, now),
        bend: importance * bends * (1.0 + 1e-9),
        tight: more < 0.2 * slope,
        concave_from: 0.0,
    }
}

/// Beliefs that are given, and a value function: the papers' policies.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    function: ValueFunction,
}

impl Known {
    /// With this value function.
    pub fn new(function: ValueFunction) -> Self {
        Self { function }
    }
}

impl Model for Known {
    type Page = Belief;
    type Past = ();

    fn value(&self, page: &Belief, since: &SinceFetch, now: Time) -> f64 {
        self.function.of(page).value(since.elapsed(now).as_secs(), since.signals())
    }

    fn reaches(&self, page: &Belief, since: &SinceFetch, _now: Time, level: f64, near: bool) -> Time {
        let moment = if self.function == ValueFunction::GreedyNcis && level > 0.0 {
            let tolerance = if near { 1e-3 } else { 1e-2 };
            SignalModel::of(page).moment_early(level / page.importance(), since.signals(), tolerance)
        } else {
            self.function.of(page).moment(level, since.signals())
        };
        not_after(since.fetched(), moment)
    }

    /// V' = μ α e^{-αι} ψ(ι). Where ψ, the length of a cycle, is not at hand: it is no longer than ι, so that V' is at most
    /// μ q e^{-q} with q = ατ + nb, which grows up to q = 1, and by no more than its argument.
    fn look(&self, page: &Belief, since: &SinceFetch, now: Time) -> Look {
        let elapsed = since.elapsed(now).as_secs();
        let importance = page.importance();
        if self.function == ValueFunction::GreedyNcis {
            let model = SignalModel::of(page);
            return look_at(importance, &[(1.0, model)], since, now);
        }
        let value = self.function.of(page).value(elapsed, since.signals());
        let loose = Look { value, growth: steepest(importance), until: Time::MAX, ..Look::NOTHING };
        let greedy = self.function == ValueFunction::Greedy;
        if !greedy && since.signals() > 0 {
            return loose;
        }
        let silent = if greedy { 1.0 } else { 1.0 - page.recall() };
        let x = silent * page.change_rate() * elapsed;
        let growth = (importance * x * (-x).exp() * (1.0 + AHEAD)).min(loose.growth);
        let concave_from = if greedy { elapsed } else { 0.0 };
        let bend = bend(growth, concave_from);
        Look { value, growth, until: ahead(since, now), bend, tight: greedy, concave_from }
    }

    fn sooner(&self, page: &Belief) -> Option<Span> {
        match self.function {
            ValueFunction::Greedy => Some(Span::ZERO),
            ValueFunction::GreedyNcis | ValueFunction::Approximate(_) => {
                let (signalled, silent) =
                    (page.recall() * page.change_rate(), (1.0 - page.recall()) * page.change_rate());
                // β = b/α; a little more, for rounding.
                let sooner = (signalled / page.false_rate()).ln_1p() / silent;
                if sooner.is_finite() { Some(Span::from_secs_ceil(sooner * (1.0 + 1e-9))) } else { None }
            }
            _ => None,
        }
    }

    fn are_alike(&self, one: &Belief, other: &Belief) -> bool {
        one == other
    }

    fn observe(
        &mut self,
        _page: &mut Belief,
        _past: &mut (),
        _host: HostId,
        _now: Time,
        _seen: &Observation,
    ) {
    }
}
