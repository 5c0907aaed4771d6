//! Beliefs that are learned as the crawl goes, change signals included.
//!
//! Of a page two things are learned: how often it changes (as without signals, [`super::Learning`]), and what its signals are
//! worth: b, the nats of freshness that one costs, and γ, how many there are. Both lean on what is known of the host and of
//! all hosts. What stays uncertain is α, the rate of changes that nothing announces: the value is averaged over its belief, a
//! Gamma distribution, at two points that have its first three moments (Gauss's quadrature).

use super::HostId;
use super::model::{AHEAD, Model, SEEN_ENOUGH, ahead, bend, check_importance, look_at, not_after};
use super::race::Look;
use crate::estimate::bytes::Reading;
use crate::estimate::signals::history::SignalHistory;
use crate::estimate::signals::pool::SignalPool;
use crate::estimate::signals::quality::Quality;
use crate::estimate::signals::trust::{SignalPrior, Trust};
use crate::estimate::{Group, History, Learner, Observation, Posterior};
use crate::ids::IdMap;
use crate::math::greedy::g_inverse;
use crate::page::{BeliefError, SinceFetch};
use crate::time::{Span, Time};
use crate::value::GammaPosterior;
use crate::value::signals::SignalModel;

/// A page whose changes and signals are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentivePage {
    /// The belief about α: shape and mean.
    shape: f32,
    alpha: f32,
    /// b and γ.
    nats: f32,
    signal_rate: f32,
    importance: f32,
    url_shape: u32,
    /// Whether anything would announce its changes.
    heard: bool,
    /// Which signals it knows: those of its host since it was listened to anew so many times.
    era: u16,
}

/// What is remembered of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttentivePast {
    history: History,
    signals: SignalHistory,
    /// What the groups were told last.
    belief: Option<Posterior>,
}

/// The first byte of what is kept; another one for another form.
const FORM: u8 = 1;

impl AttentivePast {
    /// As bytes, to be kept: 65, or 125 if there ever were signals.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + History::BYTES + SignalHistory::BYTES);
        bytes.push(FORM);
        self.history.write(&mut bytes);
        if self.signals != SignalHistory::default() {
            self.signals.write(&mut bytes);
        }
        bytes
    }

    /// What was kept, if it can be that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut from = Reading::new(bytes);
        if from.byte()? != FORM {
            return None;
        }
        let history = History::read(&mut from)?;
        let signals = if from.is_over() { SignalHistory::default() } else { SignalHistory::read(&mut from)? };
        from.is_over().then_some(Self { history, signals, belief: None })
    }

    /// The same, as if fetches had seen this.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        Self { history, belief: None, ..self }
    }

    /// What fetches saw.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The belief about its change rate, from changes alone.
    pub fn belief(&self) -> Option<Posterior> {
        self.belief
    }
}

/// Signals that announce less than this share of the other changes are as good as none.
const NOTHING: f64 = 1e-3;

impl AttentivePage {
    /// How good its signals are believed to be.
    pub fn quality(&self) -> Option<Quality> {
        let [alpha, nats, rate] = [self.alpha, self.nats, self.signal_rate].map(f64::from);
        Quality::new(alpha, nats, rate).ok()
    }

    /// Requests per second, or any weight.
    pub fn importance(&self) -> f32 {
        self.importance
    }

    /// Requests per second, or any weight, from now on.
    ///
    /// # Errors
    /// Unless it is finite and not negative.
    pub fn set_importance(&mut self, importance: f32) -> Result<(), BeliefError> {
        check_importance(importance)?;
        self.importance = importance;
        Ok(())
    }

    /// What its changes are expected to be like: a number that it shares with others. Nothing must have been learned of it yet.
    pub fn set_shape(&mut self, url_shape: u32) {
        self.url_shape = url_shape;
    }

    /// Whether signals may come.
    pub fn is_heard(&self) -> bool {
        self.heard
    }

    /// From now on signals may come, or will not any more: the page is in a sitemap or a feed, or left it.
    pub fn set_heard(&mut self, heard: bool) {
        self.heard = heard;
    }

    fn announced(&self) -> f64 {
        f64::from(self.signal_rate) * -f64::from(-self.nats).exp_m1()
    }

    pub(super) fn has_signals(&self) -> bool {
        self.nats > 0.0 && self.announced() > NOTHING * f64::from(self.alpha)
    }

    /// How often it is believed to change per second, with and without signals.
    pub fn change_rate(&self) -> Option<Posterior> {
        let (shape, mean) = (f64::from(self.shape), f64::from(self.alpha) + self.announced());
        Posterior::new(shape, shape / mean).ok()
    }

    /// The logarithm of the chance that its copy is fresh, so many seconds and signals after it was fetched; `None` if signals say nothing.
    pub fn log_fresh(&self, elapsed: f64, signals: u32) -> Option<f64> {
        self.has_signals().then(|| {
            let silent = Posterior::new(f64::from(self.shape), f64::from(self.shape / self.alpha));
            let unannounced = silent.map_or(0.0, |rate| rate.log_survival(elapsed));
            unannounced - f64::from(self.nats) * f64::from(signals)
        })
    }

    /// The value of a page whose signals say nothing.
    fn silent(&self) -> Option<GammaPosterior> {
        let (shape, mean) = (f64::from(self.shape), f64::from(self.alpha) + self.announced());
        GammaPosterior::new(shape, shape / mean, f64::from(self.importance)).ok()
    }

    /// Two points that stand for a Gamma distribution of mean 1, and the root that gives their weights.
    fn spread(&self) -> (f64, f64, f64) {
        let shape = f64::from(self.shape);
        let root = (shape + 1.0).sqrt();
        ((shape + 1.0 - root) / shape, (shape + 1.0 + root) / shape, root)
    }

    /// Two rates that stand for the belief about α, with their weights.
    fn points(&self) -> [(f64, SignalModel); 2] {
        let (low, high, root) = self.spread();
        let announced = self.announced();
        let false_rate = f64::from(self.signal_rate) - announced;
        let point = |weight: f64, factor: f64| {
            let delta = f64::from(self.alpha) * factor + announced;
            (weight, SignalModel::new(delta, announced / delta, false_rate))
        };
        [point(0.5 + 0.5 / root, low), point(0.5 - 0.5 / root, high)]
    }

    fn value_with_signals(&self, elapsed: f64, signals: u32) -> f64 {
        let average: f64 =
            self.points().iter().map(|(weight, model)| weight * model.value(elapsed, signals)).sum();
        f64::from(self.importance) * average
    }

    /// The value, and how fast it grows.
    fn value_and_slope(&self, elapsed: f64, signals: u32) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        for (weight, model) in self.points() {
            let at = model.value_and_cycle(elapsed, signals);
            value += weight * at.value;
            slope += weight * model.unsignalled_rate() * at.fresh * at.length;
        }
        let importance = f64::from(self.importance);
        (importance * value, importance * slope)
    }

    /// An age not greater than the one at which the value is `level`; it is below that at `low`.
    fn age_of(&self, level: f64, signals: u32, low: f64, near: bool) -> Option<f64> {
        let importance = f64::from(self.importance);
        let most: f64 = self.points().iter().map(|(weight, model)| weight * model.supremum()).sum();
        if level >= importance * most {
            return None;
        }
        let tolerance = if near { 1e-4 } else { 0.03 };
        let (mut low, mut high) = (low, f64::INFINITY);
        let mut guess = self.rough_age(level / importance, signals).max(low);
        for _ in 0..60 {
            let (value, slope) = self.value_and_slope(guess, signals);
            let step = (level - value) / slope;
            if value < level {
                low = guess;
                if step <= tolerance * guess {
                    break;
                }
            } else {
                high = guess;
            }
            if high - low <= tolerance * low || low > 9e9 {
                break;
            }
            // By the tangent, a little short; halved where that leads nowhere.
            let tangent = guess + step - 0.3 * tolerance * guess;
            let inside = tangent > low && tangent < high;
            guess = match (inside, high.is_finite()) {
                (true, _) => tangent.min(2.0 * guess),
                (false, true) => 0.5 * (low + high),
                (false, false) => 2.0 * guess.max(1e-9),
            };
        }
        Some(low)
    }

    /// About when a page of importance 1 is worth this: between a page without signals and one whose signals come evenly.
    fn rough_age(&self, value: f64, signals: u32) -> f64 {
        let [alpha, nats, rate] = [self.alpha, self.nats, self.signal_rate].map(f64::from);
        let exponent = |rate: f64| g_inverse((rate * value).min(0.99));
        let between = (exponent(alpha) * exponent(alpha + rate * nats)).sqrt();
        ((between - nats * f64::from(signals)) / alpha).max(0.0)
    }
}

/// Signals of this precision say little about how often a page changes; at twice that, hardly less than good ones.
const TELLING: f64 = 1.0 / 16.0;

/// A quality whose change rate, as far as its signals mean nothing, is that of the changes alone: where there are hundreds of signals
/// per change, the smallest mistake about what each is worth would outweigh what fetches saw.
fn in_keeping(found: &Quality, change_rate: f64) -> Quality {
    let (all, signals) = (found.change_rate(), found.signal_rate());
    if !(all > 0.0 && signals > 0.0) {
        return *found;
    }
    let factor = (change_rate / all).powf((1.0 - found.precision()).powf(1.0 / TELLING));
    let announced = found.announced_rate() * factor;
    if announced >= 0.999 * signals {
        return *found;
    }
    let nats = -(-announced / signals).ln_1p();
    Quality::new(found.alpha() * factor, nats, signals).unwrap_or(*found)
}

/// Learns from every fetch what changes and what signals are worth.
#[derive(Clone, Debug, Default)]
pub struct Attentive {
    learner: Learner,
    everywhere: SignalPool,
    hosts: IdMap<u32, SignalPool>,
    /// How many times hosts were listened to anew, if ever.
    eras: IdMap<u32, u16>,
}

impl Attentive {
    /// With what was learned before about changes, or a prior.
    pub fn new(learner: Learner) -> Self {
        Self { learner, ..Self::default() }
    }

    /// A new page of a host, with a number for the shape of its URL ([`Group::ANY_SHAPE`]: none).
    ///
    /// # Errors
    /// Unless the importance is finite and not negative.
    pub fn page(
        &mut self,
        host: HostId,
        url_shape: u32,
        importance: f32,
    ) -> Result<AttentivePage, BeliefError> {
        check_importance(importance)?;
        let prior = self.learner.prior(Group { host: host.index(), shape: url_shape });
        let belief = Posterior::of(&History::default(), &prior);
        let mut page = AttentivePage {
            shape: 0.0,
            alpha: 0.0,
            nats: 0.0,
            signal_rate: 0.0,
            importance,
            url_shape,
            heard: true,
            era: self.era(host),
        };
        self.believe(&mut page, host, &belief, &SignalHistory::default(), (0.0, 0.0));
        Ok(page)
    }

    /// A page that was seen before is believed to be what its past says, and others learn from it.
    pub fn recall(&mut self, page: &mut AttentivePage, past: &mut AttentivePast, host: HostId) {
        if past.history.seen() == 0 {
            return;
        }
        let group = Group { host: host.index(), shape: page.url_shape };
        let belief = self.learner.learn(group, past.belief.as_ref(), &past.history);
        past.belief = Some(belief);
        self.believe(page, host, &belief, &past.signals, (0.0, 0.0));
    }

    /// A page is believed to be what its past says beside all that was learned of others by now; nobody learns from it.
    pub fn consider(
        &mut self,
        page: &mut AttentivePage,
        past: &mut AttentivePast,
        host: HostId,
    ) -> Posterior {
        let prior = self.learner.prior(Group { host: host.index(), shape: page.url_shape });
        let belief = Posterior::of(&past.history, &prior);
        past.belief = Some(belief);
        self.believe(page, host, &belief, &past.signals, (0.0, 0.0));
        belief
    }

    /// From now on other signals of this host count than until now: what was learned of those says nothing of these.
    pub fn listen_anew(&mut self, host: HostId) {
        let era = self.eras.entry(host.index()).or_default();
        *era = era.wrapping_add(1);
        self.hosts.remove(&host.index());
    }

    fn era(&self, host: HostId) -> u16 {
        self.eras.get(&host.index()).copied().unwrap_or_default()
    }

    /// A page of a host that is listened to anew forgets what it heard before. Whether it did.
    fn catch_up(&self, page: &mut AttentivePage, past: &mut AttentivePast, host: HostId) -> bool {
        let late = page.era != self.era(host);
        if late {
            past.signals = SignalHistory::default();
            page.era = self.era(host);
        }
        late
    }

    /// How far the signals of a host can be believed.
    pub fn trust(&mut self, host: HostId) -> Trust {
        let everywhere = self.everywhere.trust(Trust::START);
        self.hosts.get_mut(&host.index()).map_or(everywhere, |pool| pool.trust(everywhere))
    }

    /// What the signals of a host were found to be worth, as bytes; `None` if nothing is known of them.
    pub fn signals_of(&self, host: HostId) -> Option<Vec<u8>> {
        self.hosts.get(&host.index()).map(SignalPool::to_bytes)
    }

    /// From how many intervals that was learned.
    pub fn signal_intervals(&self, host: HostId) -> f64 {
        self.hosts.get(&host.index()).map_or(0.0, SignalPool::intervals)
    }

    /// The signals of a host are believed to be worth what was kept of them. Whether that can be.
    pub fn recall_signals(&mut self, host: HostId, kept: &[u8]) -> bool {
        let Some(pool) = SignalPool::from_bytes(kept) else { return false };
        self.everywhere.absorb(&pool);
        self.hosts.insert(host.index(), pool);
        true
    }

    /// `since` and `elapsed`: the signals since the last fetch, and the time.
    fn believe(
        &mut self,
        page: &mut AttentivePage,
        host: HostId,
        belief: &Posterior,
        signals: &SignalHistory,
        (since, elapsed): (f64, f64),
    ) {
        // Of signals that came before the host was listened to anew nothing is known: until the next fetch it is as if there were none.
        let quality = if page.heard && page.era == self.era(host) {
            signals.quality_with(&SignalPrior::new(self.trust(host), belief.mean()), since, elapsed)
        } else {
            None
        };
        let quality = quality.map(|found| in_keeping(&found, belief.mean()));
        let (alpha, nats, rate) = quality
            .map_or((belief.mean(), 0.0, 0.0), |found| (found.alpha(), found.nats(), found.signal_rate()));
        page.shape = (belief.shape() as f32).max(1e-3);
        // Nobody announces everything.
        page.alpha = (alpha.max(1e-3 * belief.mean()) as f32).max(f32::MIN_POSITIVE);
        (page.nats, page.signal_rate) = (nats as f32, rate as f32);
    }
}

impl Model for Attentive {
    type Page = AttentivePage;
    type Past = AttentivePast;

    fn value(&self, page: &AttentivePage, since: &SinceFetch, now: Time) -> f64 {
        let elapsed = since.elapsed(now).as_secs();
        if page.has_signals() {
            return page.value_with_signals(elapsed, since.signals());
        }
        page.silent().map_or(0.0, |value| value.value_and_slope(elapsed).0)
    }

    fn reaches(&self, page: &AttentivePage, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time {
        let low = since.elapsed(now).as_secs();
        let moment = if page.has_signals() {
            page.age_of(level, since.signals(), low, near)
        } else {
            page.silent().and_then(|value| value.moment_early(level, low, if near { 1e-5 } else { 0.15 }))
        };
        not_after(since.fetched(), moment)
    }

    fn look(&self, page: &AttentivePage, since: &SinceFetch, now: Time) -> Look {
        if page.has_signals() {
            return look_at(f64::from(page.importance), &page.points(), since, now);
        }
        let elapsed = since.elapsed(now).as_secs();
        let (value, slope) = page.silent().map_or((0.0, 0.0), |value| value.value_and_slope(elapsed));
        let growth = slope * (1.0 + AHEAD);
        Look {
            value,
            growth,
            until: ahead(since, now),
            bend: bend(growth, elapsed),
            tight: true,
            concave_from: elapsed,
        }
    }

    fn sooner(&self, page: &AttentivePage) -> Option<Span> {
        if !page.has_signals() {
            return Some(Span::ZERO);
        }
        // β = b/α is longest where α is least.
        let sooner = f64::from(page.nats) / (f64::from(page.alpha) * page.spread().0);
        sooner.is_finite().then(|| Span::from_secs_ceil(sooner * (1.0 + 1e-9)))
    }

    fn are_alike(&self, one: &AttentivePage, other: &AttentivePage) -> bool {
        one == other
    }

    fn change_rate(&self, _page: &AttentivePage, past: &AttentivePast) -> Option<f64> {
        past.belief.map(|belief| belief.mean())
    }

    fn observe(
        &mut self,
        page: &mut AttentivePage,
        past: &mut AttentivePast,
        host: HostId,
        _now: Time,
        seen: &Observation,
    ) {
        let group = Group { host: host.index(), shape: page.url_shape };
        let expected = match past.belief {
            Some(belief) => belief.mean(),
            None => Posterior::of(&past.history, &self.learner.prior(group)).mean(),
        };
        let expected = expected * seen.elapsed();
        let mixed = self.catch_up(page, past, host);
        if page.heard && !mixed {
            self.everywhere.observe(expected, seen.signals(), seen.changed());
            self.hosts.entry(host.index()).or_default().observe(expected, seen.signals(), seen.changed());
            past.signals.observe(seen);
        }
        past.history.observe(seen);
        let belief = self.learner.learn(group, past.belief.as_ref(), &past.history);
        past.belief = Some(belief);
        self.believe(page, host, &belief, &past.signals, (0.0, 0.0));
    }

    fn refresh(
        &mut self,
        page: &mut AttentivePage,
        past: &mut AttentivePast,
        host: HostId,
        since: &SinceFetch,
        now: Time,
    ) -> bool {
        if past.history.seen() >= SEEN_ENOUGH {
            return false;
        }
        if since.signals() == 0 {
            self.catch_up(page, past, host);
        }
        let group = Group { host: host.index(), shape: page.url_shape };
        let belief = if past.belief.is_none() {
            Posterior::of(&past.history, &self.learner.prior(group))
        } else {
            let belief = self.learner.learn(group, past.belief.as_ref(), &past.history);
            past.belief = Some(belief);
            belief
        };
        let open = (f64::from(since.signals()), since.elapsed(now).as_secs());
        self.believe(page, host, &belief, &past.signals, open);
        true
    }

    fn fail(&mut self, past: &mut AttentivePast) {
        past.history.fail();
    }

    fn forget(&mut self, page: &AttentivePage, past: &AttentivePast, host: HostId) {
        let Some(belief) = past.belief else { return };
        self.learner.forget(Group { host: host.index(), shape: page.url_shape }, &belief);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Answer;
    use crate::frontier::{Budget, Frontier, Learning, Manners, Outcome, Settings};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    proptest! {
        /// Pasts come back from their bytes; anything else is refused or is a past like any other.
        #[test]
        fn pasts_come_back(
            looks in proptest::collection::vec((1.0f64..1e6, 0u32..4, any::<bool>()), 0..40),
            mut noise in proptest::collection::vec(any::<u8>(), 0..140),
        ) {
            let mut past = AttentivePast::default();
            for (elapsed, signals, changed) in looks {
                let answer = if changed { Answer::Changed } else { Answer::NotModified };
                let seen = Observation::new(elapsed, signals, answer).unwrap();
                past.history.observe(&seen);
                if signals > 0 {
                    past.signals.observe(&seen);
                }
            }
            let bytes = past.to_bytes();
            prop_assert!(bytes.len() == 65 || bytes.len() == 125);
            prop_assert_eq!(AttentivePast::from_bytes(&bytes), Some(past));
            prop_assert!(AttentivePast::from_bytes(&bytes[..bytes.len() - 1]).is_none());
            if let Some(first) = noise.first_mut() {
                *first = FORM;
            }
            if let Some(mut any) = AttentivePast::from_bytes(&noise) {
                let mut model = Attentive::default();
                let mut page = model.page(HostId(0), 0, 1.0).unwrap();
                model.recall(&mut page, &mut any, HostId(0));
                prop_assert!(model.value(&page, &SinceFetch::fetched_at(at(0.0)), at(100.0)) >= 0.0);
            }
        }

        /// What the race relies on: values grow, looks are bounds, moments are early and not much, a signal is worth what it
        /// is said to be at most.
        #[test]
        fn the_model_keeps_its_promises(
            (shape, alpha) in (0.2f32..50.0, -4.0f32..1.0),
            (nats, signal_rate) in (prop_oneof![4 => 0.0f32..6.0, 1 => Just(0.0)], -4.0f32..1.0),
            elapsed in -2.0f64..3.0,
            signals in 0u32..20,
            part in 0.05f64..0.95,
        ) {
            let page = AttentivePage {
                shape,
                alpha: 10f32.powf(alpha),
                nats,
                signal_rate: 10f32.powf(signal_rate),
                importance: 1.5,
                url_shape: 0,
                heard: true,
                era: 0,
            };
            let model = Attentive::default();
            let since = SinceFetch::with_signals(Time::ZERO, signals);
            let now = at(10f64.powf(elapsed));
            let look = model.look(&page, &since, now);
            let value = model.value(&page, &since, now);
            prop_assert!((look.value - value).abs() <= 1e-12 * value);
            let later = model.value(&page, &since, look.until);
            let most = value + look.growth * look.until.since(now).as_secs();
            prop_assert!(later >= value * (1.0 - 1e-12) && later <= most * (1.0 + 1e-9), "{value} {later} {most}");
            for wait in [0.01, 0.1, 0.5, 1.0, 3.0, 20.0].map(|ages| ages * 10f64.powf(elapsed)) {
                let later = model.value(&page, &since, now + Span::from_secs(wait));
                let most = value + (look.growth + 0.5 * look.bend * wait) * wait;
                prop_assert!(later <= most * (1.0 + 1e-9), "{later} after {wait}, not {most}");
            }
            // A level between the value now and that in a hundred times the age.
            let far = model.value(&page, &since, at(100.0 * 10f64.powf(elapsed)));
            let level = value + part * (far - value);
            prop_assume!(level > value * (1.0 + 1e-6));
            for near in [true, false] {
                let moment = model.reaches(&page, &since, now, level, near);
                prop_assert!(model.value(&page, &since, moment) <= level * (1.0 + 1e-12));
                let wait = moment.since(Time::ZERO).as_secs();
                // Close to the most that it can be worth, values say little about time.
                let most = model.value(&page, &since, at(1e8));
                let enough = model.value(&page, &since, at(1.2 * wait));
                prop_assert!(enough >= level || level > 0.9 * most, "{near}: {wait} is far too early");
            }
            if let Some(sooner) = model.sooner(&page) {
                let more = SinceFetch::with_signals(Time::ZERO, signals + 1);
                let jumped = model.value(&page, &more, now);
                prop_assert!(jumped <= model.value(&page, &since, now + sooner) * (1.0 + 1e-9) + 1e-300);
            }
        }
    }

    #[test]
    fn to_consider_a_page_teaches_nobody() {
        let mut model = Attentive::default();
        let mut past = AttentivePast::default();
        for _ in 0..50 {
            past.history.observe(&Observation::new(3600.0, 0, Answer::Changed).unwrap());
        }
        let mut page = model.page(HostId(0), 0, 1.0).unwrap();
        let considered = model.consider(&mut page, &mut past, HostId(0));
        assert_eq!(past.belief(), Some(considered));
        assert!(considered.mean() * 3600.0 > 1.0, "{considered:?}");
        let other = |model: &mut Attentive| model.page(HostId(0), 0, 1.0).unwrap();
        assert_eq!(other(&mut model), other(&mut Attentive::default()));
        past = past.with_history(*past.history());
        model.recall(&mut page, &mut past, HostId(0));
        assert_ne!(other(&mut model), other(&mut Attentive::default()));
    }

    /// A host whose signals were noise is asked to say only what is true: nothing is left of what was thought of it.
    #[test]
    fn who_is_listened_to_anew_is_judged_anew() {
        let (mut model, host) = (Attentive::default(), HostId(0));
        let mut page = model.page(host, 0, 1.0).unwrap();
        let mut past = AttentivePast::default();
        let mut look = |model: &mut Attentive, signals: u32, answer| {
            let seen = Observation::new(100.0, signals, answer).unwrap();
            model.observe(&mut page, &mut past, host, Time::ZERO, &seen);
            page.quality().unwrap().precision()
        };
        for _ in 0..200 {
            look(&mut model, 30, Answer::Unchanged);
        }
        assert!(look(&mut model, 30, Answer::Changed) < 0.01);
        model.listen_anew(host);
        for _ in 0..20 {
            look(&mut model, 0, Answer::Unchanged);
            look(&mut model, 1, Answer::Changed);
        }
        let precision = look(&mut model, 0, Answer::Unchanged);
        assert!(precision > 0.5, "{precision}");
    }

    /// Pages that change and announce it, more or less, are crawled by a learning frontier: the share of time for which
    /// their copies are fresh.
    fn freshness<M: Model>(model: M, page: impl Fn(&mut M, HostId) -> M::Page, precision: f64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let (pages, rate, horizon) = (200, 40.0, 120.0);
        let mut frontier = Frontier::new(model, Budget::Rate(rate), Settings::default(), Time::ZERO).unwrap();
        let mut exponential = |rate: f64| -(1.0 - random.random::<f64>()).ln() / rate;
        // Change (true) or signal (false), by time.
        let mut events: Vec<(f64, usize, bool)> = Vec::new();
        let mut ids = Vec::new();
        for number in 0..pages {
            let host = frontier.add_host(Manners::default());
            let fresh = page(frontier.model_mut(), host);
            ids.push(frontier.insert(Time::ZERO, fresh, host, Time::ZERO).unwrap());
            let change_rate = 0.1 + 0.9 * number as f64 / pages as f64;
            let mut time = exponential(change_rate);
            while time < horizon {
                events.push((time, number, true));
                if exponential(1.0) < 1.2 {
                    events.push((time, number, false));
                }
                time += exponential(change_rate);
            }
            let false_rate = 0.7 * change_rate * (1.0 - precision) / precision;
            let mut time = exponential(false_rate);
            while time < horizon {
                events.push((time, number, false));
                time += exponential(false_rate);
            }
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.2.cmp(&a.2)));
        let mut events = events.into_iter().peekable();
        let mut stale_since: Vec<Option<f64>> = vec![None; pages];
        let mut stale = 0.0;
        for k in 1..=(rate * horizon) as u32 {
            let now = f64::from(k) / rate;
            while let Some((time, number, change)) = events.next_if(|event| event.0 <= now) {
                if change {
                    stale_since[number].get_or_insert(time);
                } else {
                    frontier.signal(at(time), ids[number]).unwrap();
                }
            }
            let Some(order) = frontier.poll(at(now)).unwrap() else { continue };
            let number = order.page.index() as usize;
            let changed = stale_since[number].take();
            // The first half is for learning.
            stale += changed.map_or(0.0, |since| (now - since.max(0.5 * horizon)).max(0.0));
            let answer = if changed.is_some() { Answer::Changed } else { Answer::Unchanged };
            frontier.answer(at(now), order.id, Outcome::Seen(answer), None).unwrap();
        }
        stale += stale_since.iter().flatten().map(|since| horizon - since.max(0.5 * horizon)).sum::<f64>();
        1.0 - stale / (0.5 * horizon * pages as f64)
    }

    #[test]
    fn good_signals_are_learned_and_bad_ones_ignored() {
        let deaf = freshness(Learning::default(), |model, host| model.page(host, 0, 1.0).unwrap(), 0.9);
        let attentive = |precision| {
            freshness(Attentive::default(), |model, host| model.page(host, 0, 1.0).unwrap(), precision)
        };
        let (good, bad) = (attentive(0.9), attentive(0.1));
        assert!(good > deaf + 0.03, "{good} {deaf}");
        // Knowing rates and signals gives 0.483.
        assert!(good > 0.483 - 0.05, "{good}");
        assert!(bad > deaf - 0.02, "{bad} {deaf}");
    }
}
