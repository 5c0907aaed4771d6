use crate::math::greedy::g_inverse;
use crate::math::root::{Bracket, newton};
use crate::page::{Belief, BeliefError};
use crate::value::signals::{Cycle, SignalModel};

/// Below this, squares are not far from underflow, and a copy is as good as always fresh.
const TINY: f64 = 1e-290;

/// How often something is fetched, and the share of time for which its copy is fresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// Fetches per unit of time.
    pub rate: f64,
    /// Share of time, in \[0, 1\].
    pub freshness: f64,
}

impl Visit {
    /// Never fetched; fresh only if it never changes.
    fn never(change_rate: f64) -> Self {
        Self { rate: 0.0, freshness: if change_rate == 0.0 { 1.0 } else { 0.0 } }
    }

    /// Time shared between two ways of visiting: a share `of_first` of it as the first.
    pub(crate) fn mix(first: Self, second: Self, of_first: f64) -> Self {
        let blend = |a: f64, b: f64| if a == b { a } else { of_first * a + (1.0 - of_first) * b };
        Self { rate: blend(first.rate, second.rate), freshness: blend(first.freshness, second.freshness) }
    }
}

/// Something that competes for the budget and knows its own answer to every price.
pub trait Candidate: Sync {
    /// What it remembers from the last price to answer the next one faster.
    type Hint: Copy + Default + Send + Sync;

    /// Its weight in the objective.
    fn importance(&self) -> f64;

    /// The price at and above which it is fetched no more than it must be.
    fn ceiling(&self) -> f64;

    /// How it is visited at this price: the rate never rises with the price.
    fn visit(&self, price: f64, hint: &mut Self::Hint) -> Visit;

    /// The best way to visit it at this rate.
    fn at_rate(&self, rate: f64) -> Visit;

    /// The least and the greatest rate it may get.
    fn bounds(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
}

/// A page without signals: fetched every 1/ξ, it is fresh for (ξ/Δ)(1 - e^{-Δ/ξ}) of the time.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    change_rate: f64,
    importance: f64,
}

impl Page {
    /// A page with this change rate and importance.
    ///
    /// # Errors
    /// If one is negative, infinite or not a number.
    pub fn new(change_rate: f64, importance: f64) -> Result<Self, BeliefError> {
        Belief::new(change_rate, importance).map(|belief| Self::of(&belief))
    }

    /// The same, from numbers that are known to be finite and not negative.
    pub(super) const fn trusted(change_rate: f64, importance: f64) -> Self {
        Self { change_rate, importance }
    }

    /// Δ: changes per unit of time.
    pub fn change_rate(&self) -> f64 {
        self.change_rate
    }

    /// The page of a belief, its signals ignored.
    pub fn of(belief: &Belief) -> Self {
        Self { change_rate: belief.change_rate(), importance: belief.importance() }
    }
}

impl Candidate for Page {
    type Hint = ();

    fn importance(&self) -> f64 {
        self.importance
    }

    fn ceiling(&self) -> f64 {
        if self.change_rate == 0.0 { 0.0 } else { self.importance / self.change_rate }
    }

    #[inline]
    fn visit(&self, price: f64, _hint: &mut ()) -> Visit {
        let Self { change_rate, importance } = *self;
        let y = price / importance * change_rate;
        // The ceiling decides, whatever rounding makes of y: who looks for a price relies on it.
        if price >= self.ceiling() || y >= 1.0 {
            return Visit::never(change_rate);
        }
        if y < TINY {
            // y ≈ x²/2 may underflow, x does not.
            let rate = change_rate.sqrt() / (2.0 * (price / importance)).sqrt();
            return Visit { rate, freshness: 1.0 };
        }
        let x = g_inverse(y);
        // (1 - e^{-x})/x with e^{-x} = (1-y)/(1+x), which is known already.
        Visit { rate: change_rate / x, freshness: (1.0 + y / x) / (1.0 + x) }
    }

    fn at_rate(&self, rate: f64) -> Visit {
        if rate == 0.0 || self.change_rate == 0.0 {
            return Visit { rate, ..Visit::never(self.change_rate) };
        }
        let x = self.change_rate / rate;
        Visit { rate, freshness: if x == 0.0 { 1.0 } else { -(-x).exp_m1() / x } }
    }
}

/// A page with signals: fetched when its exponent reaches a threshold.
///
/// Kept as the belief alone: the model that follows from it is three times as large, and quick to make.
#[derive(Clone, Copy, Debug)]
pub struct SignalPage(Belief);

impl SignalPage {
    /// The page of a belief.
    pub fn of(belief: &Belief) -> Self {
        Self(*belief)
    }

    fn model(&self) -> SignalModel {
        SignalModel::of(&self.0)
    }

    /// The threshold at this price, as the time a page without any signal waits: `None` if it is not fetched, or
    /// only at a signal.
    pub fn longest_wait(&self, price: f64) -> Option<f64> {
        self.model().moment(price / self.0.importance(), 0)
    }

    fn as_visit(cycle: Cycle) -> Visit {
        Visit { rate: cycle.rate(), freshness: cycle.freshness() }
    }
}

impl Candidate for SignalPage {
    /// The last threshold.
    type Hint = f64;

    fn importance(&self) -> f64 {
        self.0.importance()
    }

    fn ceiling(&self) -> f64 {
        Page::of(&self.0).ceiling()
    }

    fn visit(&self, price: f64, hint: &mut f64) -> Visit {
        if price >= self.ceiling() {
            return Visit::never(self.0.change_rate());
        }
        let model = self.model();
        // At a price of 0 even the faintest signal is worth a fetch, but none is made before there is one.
        let value = (price / self.0.importance()).max(f64::MIN_POSITIVE);
        let Some(threshold) = model.threshold_near(value, *hint) else {
            return Visit::never(self.0.change_rate());
        };
        *hint = threshold;
        Self::as_visit(model.cycle(threshold))
    }

    fn at_rate(&self, rate: f64) -> Visit {
        let model = self.model();
        if rate == 0.0 || model.change_rate() == 0.0 {
            return Visit { rate, ..Visit::never(model.change_rate()) };
        }
        // More fetches than signals, where signals tell all.
        if rate >= self.bounds().1 {
            return Visit { rate, ..self.visit(0.0, &mut 0.0) };
        }
        // Fewer fetches than signals that prove a change: some of those are passed over.
        let patient = Self::as_visit(model.cycle(f64::INFINITY));
        if patient.rate >= rate {
            return Visit::mix(patient, Visit::never(1.0), rate / patient.rate);
        }
        // ψ lies between ι/(1+γβ) and (ι+β)/(1+γβ), and never above ι.
        let drift = model.unsignalled_rate() + model.signal_rate() * model.nats_per_signal();
        let high = if drift.is_finite() { drift / rate } else { f64::INFINITY };
        let bracket = Bracket { low: model.unsignalled_rate() / rate, high: high * (1.0 + 1e-9) };
        let length = |threshold: f64| model.cycle(threshold).length * rate - 1.0;
        let threshold = newton(bracket, bracket.low, 1e-9, |q| {
            let here = length(q);
            (here, (length(q * (1.0 + 1e-6)) - here) / (q * 1e-6))
        });
        // Where the rate jumps (signals alone count), the two sides of the jump share the time.
        let below = Self::as_visit(model.cycle(threshold * (1.0 - 1e-9)));
        let above = Self::as_visit(model.cycle(threshold * (1.0 + 1e-9)));
        let share =
            if below.rate > above.rate { (rate - above.rate) / (below.rate - above.rate) } else { 1.0 };
        Visit { rate, ..Visit::mix(below, above, share.clamp(0.0, 1.0)) }
    }

    /// Where every change is signalled, more fetches than signals are of no use.
    fn bounds(&self) -> (f64, f64) {
        let model = self.model();
        (0.0, if model.unsignalled_rate() == 0.0 { model.signal_rate() } else { f64::INFINITY })
    }
}

/// A candidate with a least and a greatest rate.
#[derive(Clone, Copy, Debug)]
pub struct Bounded<C> {
    inner: C,
    least: f64,
    most: f64,
}

impl<C: Candidate> Bounded<C> {
    /// `inner`, fetched at `least` at the least and at `most` at the most. `None` unless 0 ≤ least ≤ most and the
    /// least is finite.
    pub fn new(inner: C, least: f64, most: f64) -> Option<Self> {
        (0.0 <= least && least <= most && least.is_finite()).then_some(Self { inner, least, most })
    }
}

impl<C: Candidate> Candidate for Bounded<C> {
    type Hint = C::Hint;

    fn importance(&self) -> f64 {
        self.inner.importance()
    }

    fn ceiling(&self) -> f64 {
        self.inner.ceiling()
    }

    fn visit(&self, price: f64, hint: &mut C::Hint) -> Visit {
        let free = self.inner.visit(price, hint);
        if free.rate < self.least {
            self.inner.at_rate(self.least)
        } else if free.rate > self.most {
            self.inner.at_rate(self.most)
        } else {
            free
        }
    }

    fn at_rate(&self, rate: f64) -> Visit {
        self.inner.at_rate(rate)
    }

    fn bounds(&self) -> (f64, f64) {
        (self.least, self.most.min(self.inner.bounds().1).max(self.least))
    }
}
