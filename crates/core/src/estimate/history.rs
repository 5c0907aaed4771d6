//! What is remembered of a page: 64 bytes, however often it is fetched.
//!
//! Enough for every estimator, now and after switching to another one: counts and times for the counting ones, the
//! iterates of SA and SAM (per rate of fetches, which is not known while learning), the lengths of changed intervals in
//! three nodes for the likelihood, two moments of the unchanged ones. Numbers are kept in single precision: seven digits
//! of figures that are percents off by nature.
//!
//! Forgetting is gentle: when [`WINDOW`] intervals are full, all that was counted counts half. Until then nothing is
//! forgotten, afterwards the last one to two thousand fetches decide. When what is seen refutes what was seen before, all
//! but the weight of a few intervals is forgotten at once.
//!
//! Where a server says when a page changed last, what counts is in which eighth of the interval that was: a change counts as two intervals,
//! that eighth with the change, and all that came after it without. The likelihood is then that of a last change there,
//! (1 - e^{-Δτ/8}) e^{-Δs}, instead of 1 - e^{-Δτ}: it tells ten changes from one. (Nearly Δe^{-Δs} of a date that is exact; but one that
//! is always "just now" cannot make a page infinitely fast.) A server whose dates contradict what fetches saw is not believed again.

use super::bytes::{self, Reading};
use super::counts::Counts;
use super::drift::Drift;
use super::lengths::Lengths;
use super::moments::{Intervals, Survivors};
use super::observation::{Answer, Observation};
use super::posterior::Posterior;
use super::prior::Prior;
use super::sa::{Sa, Step};
use super::sam::{Momentum, Sam};
use super::score::Weighted;

/// So many intervals count in full.
pub const WINDOW: f32 = 2048.0;
/// Fewer intervals have nothing to be refuted.
const ENOUGH: f32 = 8.0;
/// What is left of a history that was refuted, in intervals.
const LEFT_AFTER_DRIFT: f32 = 4.0;
/// Of an interval with a date it is known in which of so many equal parts the page changed last.
const PARTS: f64 = 8.0;
/// Beside the number of failures: dates of this page do not hold.
const WRONG_DATES: u16 = 1 << 15;

/// A page's history: one line of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub struct History {
    /// All intervals ever: the step sizes of SA and SAM depend on it.
    seen: u32,
    not_modified: u16,
    /// Failures, and whether dates are wrong.
    failed: u16,
    drift: Drift,
    changed: f32,
    unchanged: f32,
    unchanged_span: f32,
    unchanged_square: f32,
    lengths: Lengths<3>,
    sa: f32,
    sam: f32,
    sam_before: f32,
}

impl History {
    /// How many bytes it takes.
    pub const BYTES: usize = 64;

    /// As bytes, after what is there.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.seen.to_le_bytes());
        to.extend(self.not_modified.to_le_bytes());
        to.extend(self.failed.to_le_bytes());
        to.extend(self.drift.to_bytes());
        bytes::write(to, &[self.changed, self.unchanged, self.unchanged_span, self.unchanged_square]);
        self.lengths.write(to);
        bytes::write(to, &[self.sa, self.sam, self.sam_before]);
    }

    pub(crate) fn read(from: &mut Reading<'_>) -> Option<Self> {
        Some(Self {
            seen: from.int()?,
            not_modified: from.short()?,
            failed: from.short()?,
            drift: Drift::read(from)?,
            changed: from.amount()?,
            unchanged: from.amount()?,
            unchanged_span: from.amount()?,
            unchanged_square: from.amount()?,
            lengths: Lengths::read(from)?,
            sa: from.number()?,
            sam: from.number()?,
            sam_before: from.number()?,
        })
    }

    /// One more interval.
    pub fn observe(&mut self, seen: &Observation) {
        let quiet = self.quiet_since(seen);
        self.notice_drift(seen, quiet);
        self.add(seen, quiet);
    }

    /// One more interval of a page whose rate is taken to be steady: nothing is forgotten before the window is full.
    pub fn observe_steady(&mut self, seen: &Observation) {
        let quiet = self.quiet_since(seen);
        self.add(seen, quiet);
    }

    /// How long nothing changed after the last change, if the page changed, its server says when, and has said nothing wrong so far: that
    /// it changed when it did not, or did not when it did.
    fn quiet_since(&mut self, seen: &Observation) -> Option<f64> {
        let (age, elapsed) = (seen.content_age()?, seen.elapsed());
        let part = elapsed / PARTS;
        let holds = if seen.changed() { age <= elapsed + part } else { age >= elapsed - part };
        if !holds {
            self.failed |= WRONG_DATES;
        }
        let parts = (age / part).floor().min(PARTS - 1.0);
        (seen.changed() && self.failed & WRONG_DATES == 0).then_some(parts * part)
    }

    /// `quiet` is how long nothing changed after the last change, if that is known.
    fn add(&mut self, seen: &Observation, quiet: Option<f64>) {
        if self.changed + self.unchanged >= WINDOW {
            self.fade(0.5);
        }
        let changed = seen.changed();
        self.iterate(changed);
        self.seen = self.seen.saturating_add(1);
        if seen.answer() == Answer::NotModified {
            self.not_modified = self.not_modified.saturating_add(1);
        }
        let elapsed = seen.elapsed();
        if let Some(quiet) = quiet.or((!changed).then_some(elapsed)) {
            self.unchanged += 1.0;
            self.unchanged_span += quiet as f32;
            self.unchanged_square += (quiet * quiet) as f32;
        }
        if changed {
            self.changed += 1.0;
            let length = quiet.map_or(elapsed, |_| elapsed / PARTS);
            let scale = self.scale(length);
            self.lengths.add(length, scale);
        }
    }

    /// Forgets most of the past if this interval proves that it does not hold any more.
    fn notice_drift(&mut self, seen: &Observation, quiet: Option<f64>) {
        let counts = self.counts();
        if counts.all < f64::from(ENOUGH) {
            return;
        }
        // What is three times off shows at a percent, too.
        let belief = Posterior::of_within(self, &Prior::around(counts.span / counts.all), 0.05);
        let refuted = match quiet {
            // The middle of the part it fell into.
            Some(quiet) => self.drift.refutes_dated(&belief, quiet + 0.5 * seen.elapsed() / PARTS),
            None => self.drift.refutes(&belief, seen.elapsed(), seen.changed()),
        };
        if refuted {
            self.fade(LEFT_AFTER_DRIFT / counts.all as f32);
        }
    }

    /// A fetch that failed: it says nothing about changes.
    pub fn fail(&mut self) {
        if self.failed() < WRONG_DATES - 1 {
            self.failed += 1;
        }
    }

    fn fade(&mut self, share: f32) {
        self.changed *= share;
        self.unchanged *= share;
        self.unchanged_span *= share;
        self.unchanged_square *= share;
        self.lengths.fade(share);
    }

    fn iterate(&mut self, changed: bool) {
        let (mut sa, mut sam) = (self.sa(), self.sam());
        // Both take the same step.
        let eta = Step::USUAL.at(f64::from(self.seen));
        sa.move_by(changed, eta);
        sam.move_by(changed, Momentum::USUAL, eta);
        (self.sa, self.sam, self.sam_before) = (sa.iterate as f32, sam.iterate as f32, sam.before as f32);
    }

    /// A rough rate, for the lengths to be exact near: twice the geometric mean of LLN, which is too high for regular
    /// fetches, and of Cho's, which is too low for random ones.
    fn scale(&self, elapsed: f64) -> f64 {
        let unchanged = f64::from(self.unchanged) + 0.5;
        let changed = f64::from(self.changed) + 0.5;
        let span = f64::from(self.unchanged_span) + self.lengths.span() + elapsed;
        let by_chance = changed / unchanged;
        let by_clock = ((unchanged + changed) / unchanged).ln();
        2.0 * (by_chance * by_clock).sqrt() * (unchanged + changed) / span
    }

    /// Intervals seen, ever.
    pub fn seen(&self) -> u32 {
        self.seen
    }

    /// How many of them ended with "not modified" (at most 65,535 are counted).
    pub fn not_modified(&self) -> u16 {
        self.not_modified
    }

    /// Fetches that failed (at most 32,767 are counted).
    pub fn failed(&self) -> u16 {
        self.failed & !WRONG_DATES
    }

    /// The intervals that count.
    pub fn counts(&self) -> Counts {
        Counts {
            changed: f64::from(self.changed),
            all: f64::from(self.changed + self.unchanged),
            span: f64::from(self.unchanged_span) + self.lengths.span(),
        }
    }

    /// The iterate of SA with the usual steps.
    pub fn sa(&self) -> Sa {
        Sa { seen: f64::from(self.seen), iterate: f64::from(self.sa) }
    }

    /// The iterate of SAM with the usual steps.
    pub fn sam(&self) -> Sam {
        Sam { seen: f64::from(self.seen), iterate: f64::from(self.sam), before: f64::from(self.sam_before) }
    }

    /// The lengths of the changed intervals, nearly.
    pub fn changed_lengths(&self) -> [Weighted; 3] {
        self.lengths.weighted()
    }

    /// The total length of the unchanged intervals.
    pub fn unchanged_span(&self) -> f64 {
        f64::from(self.unchanged_span)
    }

    /// How many intervals were unchanged.
    pub fn unchanged(&self) -> f64 {
        f64::from(self.unchanged)
    }
}

impl<'a> FromIterator<&'a Observation> for History {
    fn from_iter<I: IntoIterator<Item = &'a Observation>>(seen: I) -> Self {
        let mut history = Self::default();
        for interval in seen {
            history.observe(interval);
        }
        history
    }
}

/// The unchanged intervals by the Gamma distribution of their mean and variance: exact where they are all alike, and
/// where fetches come at random.
impl Intervals for History {
    fn count(&self) -> f64 {
        self.counts().all
    }

    fn survivors(&self, rate: f64) -> Survivors {
        let mut sum = Survivors::default();
        for interval in self.lengths.weighted() {
            sum.add(interval.length, interval.weight, rate);
        }
        let count = self.unchanged();
        if count > 0.0 {
            let mean = self.unchanged_span() / count;
            let variance = f64::from(self.unchanged_square) / count - mean * mean;
            if variance > 1e-5 * mean * mean {
                let (shape, scale) = (mean * mean / variance, variance / mean);
                let stays = (-shape * (rate * scale).ln_1p()).exp();
                sum.expected += count * stays;
                sum.slope += count * stays * mean / (1.0 + rate * scale);
            } else {
                sum.add(mean, count, rate);
            }
        }
        sum
    }

    fn mean_length(&self) -> f64 {
        let counts = self.counts();
        counts.span / counts.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(elapsed: f64, changed: bool) -> Observation {
        Observation::new(elapsed, 0, if changed { Answer::Changed } else { Answer::Unchanged }).unwrap()
    }

    #[test]
    fn a_history_is_small() {
        assert!(size_of::<History>() <= 64, "{}", size_of::<History>());
    }

    #[test]
    fn facts_are_counted() {
        let mut history = History::default();
        history.observe(&observation(3.0, true));
        history.observe(&observation(5.0, false));
        history.observe(&Observation::new(7.0, 0, Answer::NotModified).unwrap());
        history.fail();
        assert_eq!(history.counts(), Counts { changed: 1.0, all: 3.0, span: 15.0 });
        assert_eq!((history.seen(), history.not_modified(), history.failed()), (3, 1, 1));
        assert_eq!(history.unchanged_span(), 12.0);
    }

    #[test]
    fn dates_count_until_they_are_wrong() {
        let dated = |elapsed: f64, changed: bool, age: f64| observation(elapsed, changed).dated(Some(age));
        let mut history = History::default();
        // It changed in the sixth second of eight, and then not any more.
        history.observe(&dated(8.0, true, 2.5));
        history.observe(&dated(8.0, false, 10.5));
        assert_eq!(history.counts(), Counts { changed: 1.0, all: 3.0, span: 11.0 });
        assert_eq!((history.seen(), history.unchanged_span()), (2, 10.0));
        history.fail();
        for (changed, age) in [(false, 3.0), (true, 20.0)] {
            let mut wrong = history;
            wrong.observe(&dated(8.0, changed, age));
            let before = wrong.counts().span;
            wrong.observe(&dated(8.0, true, 2.5));
            assert_eq!(wrong.counts().span, before + 8.0, "a date that lied once");
            assert_eq!(wrong.failed(), 1);
            let mut bytes = Vec::new();
            wrong.write(&mut bytes);
            assert_eq!(History::read(&mut Reading::new(&bytes)), Some(wrong));
        }
        (0..40_000).for_each(|_| history.fail());
        history.observe(&dated(8.0, true, 0.0));
        assert_eq!((history.failed(), history.unchanged_span()), (32_767, 10.0));
        history.observe(&dated(8.0, true, 8.0));
        assert_eq!(history.unchanged_span(), 17.0);
    }

    #[test]
    fn the_old_counts_less() {
        let mut history = History::default();
        (0..3000).for_each(|_| history.observe(&observation(1.0, false)));
        (0..3000).for_each(|_| history.observe(&observation(1.0, true)));
        let counts = history.counts();
        assert!(counts.all <= f64::from(WINDOW) && counts.all >= 0.5 * f64::from(WINDOW));
        assert!(counts.changed / counts.all > 0.8, "{counts:?}");
        assert!((counts.span / counts.all - 1.0).abs() < 1e-3, "{counts:?}");
        assert_eq!(history.seen(), 6000);
    }
}
