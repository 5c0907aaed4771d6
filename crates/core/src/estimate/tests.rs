//! All estimators together: golden figures, simulations with known truth, and what no input may do.

use super::counts::Counts;
use super::lln::{Offset, lln};
use super::method::Terms;
use super::mle::mle;
use super::moments::mm;
use super::naive::naive;
use super::sa::{Sa, Step};
use super::sam::{Momentum, Sam};
use super::score::{Score, Weighted};
use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn seen(elapsed: f64, changed: bool) -> Observation {
    Observation::new(elapsed, 0, if changed { Answer::Changed } else { Answer::Unchanged }).unwrap()
}

fn usual() -> Terms {
    Terms { fetch_rate: None, confidence: Confidence::new(0.95).unwrap() }
}

fn methods() -> [Method; 12] {
    [
        Method::Naive,
        Method::Lln(Offset::One),
        Method::Lln(Offset::Log),
        Method::Lln(Offset::Root),
        Method::Lln(Offset::ThreeQuarters),
        Method::Sa(Step::USUAL),
        Method::Sam(Momentum::USUAL),
        Method::Mle,
        Method::Mm,
        Method::Regular,
        Method::Grimes(Prior::GRIMES),
        Method::Refrain(Prior::BROAD),
    ]
}

/// Ten intervals whose estimates an independent implementation knows.
#[test]
fn golden_estimates() {
    const CHANGED: [u8; 10] = [1, 1, 0, 1, 1, 1, 0, 1, 1, 0];
    const LENGTHS: [f64; 10] = [0.3, 0.5, 0.1, 0.9, 0.2, 0.7, 0.05, 0.4, 0.6, 0.15];
    const AFTER: [usize; 5] = [1, 2, 3, 5, 10];
    const NAIVE: [f64; 5] = [3.0, 3.0, 2.0, 2.4, 2.1];
    const LLN: [f64; 5] = [3.0, 6.0, 3.0, 6.0, 5.25];
    const SA: [f64; 5] = [3.0, 4.783810672504082, 2.685194369514946, 4.643063810027499, 4.417440862044356];
    const SAM: [f64; 5] =
        [3.0, 4.979261866159342, 3.0306743785429955, 4.8219336765993495, 4.8903108912542175];
    let all: Vec<_> = LENGTHS.into_iter().zip(CHANGED).map(|(t, z)| seen(t, z == 1)).collect();
    let terms = Terms { fetch_rate: Some(3.0), ..usual() };
    for (i, k) in AFTER.into_iter().enumerate() {
        let methods =
            [Method::Naive, Method::Lln(Offset::One), Method::Sa(Step::USUAL), Method::Sam(Momentum::USUAL)];
        for (method, golden) in methods.iter().zip([NAIVE, LLN, SA, SAM]) {
            let found = method.estimate(&all[..k], terms).rate;
            assert!((found - golden[i]).abs() < 1e-12, "{method:?} after {k}: {found}, not {}", golden[i]);
        }
    }
    let rate = |method: Method| method.estimate(&all, terms).rate;
    assert!((rate(Method::Mle) - 5.497743534157053).abs() < 1e-9);
    assert!((rate(Method::Mm) - 4.5171222012722865).abs() < 1e-9);
}

/// A page that changes at rate Δ, fetched at random times of rate p.
struct World {
    delta: f64,
    p: f64,
    rng: ChaCha8Rng,
}

impl World {
    fn new(delta: f64, p: f64, seed: u64) -> Self {
        Self { delta, p, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    fn next(&mut self) -> Observation {
        let elapsed = (-(1.0 - self.rng.random::<f64>()).ln() / self.p).max(1e-9);
        self.after(elapsed)
    }

    /// A fetch so long after the one before.
    fn after(&mut self, elapsed: f64) -> Observation {
        seen(elapsed, self.rng.random::<f64>() >= (-self.delta * elapsed).exp())
    }

    /// The same at regular times, with the age of what is seen.
    fn next_dated(&mut self) -> Observation {
        let (elapsed, age) = (1.0 / self.p, -(1.0 - self.rng.random::<f64>()).ln() / self.delta);
        seen(elapsed, age < elapsed).dated((age < elapsed).then_some(age))
    }
}

/// A mean of squares, and how sure it is.
#[derive(Default)]
struct Errors {
    count: f64,
    squares: f64,
    fourths: f64,
}

impl Errors {
    fn add(&mut self, error: f64) {
        self.count += 1.0;
        self.squares += error * error;
        self.fourths += error.powi(4);
    }

    fn rmse(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// The standard error of the root mean square.
    fn uncertainty(&self) -> f64 {
        let mean = self.squares / self.count;
        ((self.fourths / self.count - mean * mean) / self.count).sqrt() / (2.0 * mean.sqrt())
    }

    fn is(&self, expected: f64) {
        let (found, error) = (self.rmse(), self.uncertainty());
        assert!((found - expected).abs() < 4.0 * error, "{found} ± {error}, not {expected}");
    }
}

/// The errors that the change-rate paper's setting has, on 20,000 seeded runs.
#[test]
fn classical_errors() {
    let usual = Momentum::new(Step::new(0.8).unwrap(), 0.5).unwrap();
    for (delta, p, k, momentum, expected) in [
        (5.0, 3.0, 100, Momentum::USUAL, [3.128, 1.051, 0.976, 1.2285]),
        (500.0, 50.0, 1000, usual, [454.55, 55.56, 124.57, 69.72]),
    ] {
        let mut world = World::new(delta, p, 11);
        let mut errors: [Errors; 4] = Default::default();
        for _ in 0..20_000 {
            let (mut counts, mut sa, mut sam) = (Counts::default(), Sa::default(), Sam::default());
            for _ in 0..k {
                let seen = world.next();
                counts.add(&seen);
                sa.observe(seen.changed(), momentum.step());
                sam.observe(seen.changed(), momentum);
            }
            let found = [naive(&counts, p), lln(&counts, p, Offset::One), sa.rate(p), sam.rate(p)];
            errors.iter_mut().zip(found).for_each(|(errors, rate)| errors.add(rate - delta));
        }
        errors.iter().zip(expected).for_each(|(errors, expected)| errors.is(expected));
    }
}

/// The default against the MLE that keeps every interval: at most 5 % worse.
#[test]
fn as_good_as_the_full_mle() {
    for (delta, p, k, runs) in
        [(5.0, 3.0, 100, 4000), (5.0, 3.0, 1000, 1500), (500.0, 50.0, 100, 4000), (500.0, 50.0, 1000, 1500)]
    {
        let mut world = World::new(delta, p, 7);
        let prior = Prior::around(1.0 / p);
        let (mut full, mut compact, mut alarms) = (Errors::default(), Errors::default(), 0);
        for _ in 0..runs {
            let mut history = History::default();
            let (mut changed, mut unchanged) = (Vec::new(), 0.0);
            for _ in 0..k {
                let seen = world.next();
                if seen.changed() {
                    changed.push(Weighted { length: seen.elapsed(), weight: 1.0 });
                } else {
                    unchanged += seen.elapsed();
                }
                history.observe(&seen);
            }
            alarms += u32::from(history.counts().all < f64::from(k) - 0.5);
            full.add(mle(&Score { unchanged, instant: 0.0, changed: &changed }) - delta);
            compact.add(Posterior::of(&history, &prior).mean() - delta);
        }
        let ratio = compact.rmse() / full.rmse();
        assert!(ratio <= 1.05, "{delta}/{p} after {k}: {ratio}");
        // Nothing happened, so nothing was noticed: in one run of two hundred at the most.
        assert!(alarms <= runs / 200, "{delta}/{p} after {k}: {alarms}");
    }
}

/// A rate that jumps is noticed and followed; without the alarm it would take as long as it was right.
#[test]
fn follows_a_rate_that_changes() {
    for factor in [5.0, 0.2] {
        let mut late = 0.0;
        for seed in 0..200 {
            let mut world = World::new(1.0, 1.0, seed);
            let prior = Prior::gamma(0.5, 0.5).unwrap();
            let mut history = History::default();
            let mut step = |world: &mut World| {
                history.observe(&world.next());
                Posterior::of(&history, &prior).mean()
            };
            for _ in 0..1000 {
                step(&mut world);
            }
            world.delta *= factor;
            let followed = (1..2000).find(|_| (step(&mut world) / world.delta).ln().abs() < 0.4);
            late += f64::from(followed.unwrap());
        }
        assert!(late / 200.0 < 100.0, "{late}");
    }
}

/// What the belief says about its own certainty is true: 95 % of the intervals hold the rate, of pages drawn from the
/// prior.
#[test]
fn intervals_hold_the_truth() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (shape, rate) = (1.5, 1.5);
    let prior = Prior::gamma(shape, rate).unwrap();
    for k in [3, 10, 50] {
        let (mut held, mut very_stale, mut predicted) = (0, 0.0, 0.0);
        for seed in 0..4000 {
            let delta = crate::math::gamma_distribution::quantile(shape, rng.random::<f64>()) / rate;
            let mut world = World::new(delta, 1.0, seed);
            let mut history = History::default();
            (0..k).for_each(|_| history.observe(&world.next()));
            let belief = Posterior::of(&history, &prior);
            let Estimate { low, high, .. } = belief.estimate(usual().confidence);
            held += u32::from(delta >= low && delta <= high.unwrap());
            // The chance of being very stale after a fixed interval, against the true one.
            let (interval, limit) = (2.0, 0.5);
            predicted += belief.very_stale(interval, VeryStale::After(limit));
            very_stale += 1.0 - (-delta * (interval - limit)).exp();
        }
        let share = f64::from(held) / 4000.0;
        assert!((0.92..0.98).contains(&share), "{share} after {k}");
        assert!((very_stale / predicted - 1.0_f64).abs() < 0.05, "{very_stale} {predicted} after {k}");
    }
}

/// The intervals of the classical estimators hold the rate, of slow and fast pages, after few looks and many, at random and at regular times.
/// Where everything changed no rate is too high.
#[test]
fn classical_intervals_hold_the_truth() {
    const PAGES: u64 = 200;
    let methods =
        methods().into_iter().filter(|method| !matches!(method, Method::Grimes(_) | Method::Refrain(_)));
    let methods: Vec<Method> = methods.collect();
    for delta in [0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 500.0 / 3.0] {
        for k in [1, 3, 10, 30, 100, 300] {
            for regular in [false, true] {
                let mut held = vec![0; methods.len()];
                for page in 0..PAGES {
                    let mut world = World::new(delta, 1.0, page);
                    let all: Vec<_> =
                        (0..k).map(|_| if regular { world.after(1.0) } else { world.next() }).collect();
                    for (held, method) in held.iter_mut().zip(&methods) {
                        let Estimate { low, high, .. } = method.estimate(&all, usual());
                        *held += u64::from(low <= delta && high.is_none_or(|high| delta <= high));
                        let everything = all.iter().all(Observation::changed);
                        assert!(!everything || high.is_none(), "{method:?}");
                    }
                }
                for (held, method) in held.iter().zip(&methods) {
                    assert!(
                        10 * held >= 9 * PAGES,
                        "{method:?}: {held} of {PAGES}, {delta} after {k}, regular: {regular}"
                    );
                }
            }
        }
    }
}

/// The Gamma that stands for the posterior, against the posterior itself by quadrature.
#[test]
fn the_gamma_is_close_to_the_posterior() {
    let prior = Prior::gamma(0.8, 2.0).unwrap();
    for (intervals, tolerance) in [
        (vec![(1.0, true)], 0.06),
        (vec![(1.0, false); 5], 1e-5),
        (vec![(5.0, true), (1.0, false), (1.0, false)], 0.06),
        (vec![(1.0, true), (2.0, false), (0.5, true), (1.0, false), (3.0, true)], 0.04),
    ] {
        let all: Vec<_> = intervals.iter().map(|(t, z)| seen(*t, *z)).collect();
        let history: History = all.iter().collect();
        let belief = Posterior::of(&history, &prior);
        let likelihood = |x: f64| -> f64 {
            let each = intervals.iter().map(|(t, z)| if *z { -(-x * t).exp_m1() } else { (-x * t).exp() });
            each.product::<f64>() * x.powf(0.8 - 1.0) * (-2.0 * x).exp()
        };
        // In ln Δ, so that the end at 0 is smooth.
        let integral = |f: &dyn Fn(f64) -> f64| {
            crate::math::integrate::integrate(|u: f64| f(u.exp()) * likelihood(u.exp()) * u.exp(), -18.0, 4.0)
        };
        let total = integral(&|_| 1.0);
        for share in [0.25, 0.5, 0.75] {
            let cut = belief.quantile(share).ln();
            let below = crate::math::integrate::integrate(|u: f64| likelihood(u.exp()) * u.exp(), -18.0, cut);
            assert!(
                (below / total - share).abs() < tolerance,
                "{intervals:?}: {} not {share}",
                below / total
            );
        }
    }
}

/// The prior is found from the pages themselves, through few and censored looks at each, and makes the beliefs better.
#[test]
fn the_prior_is_learned() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    // Per second: pages that change every 25 days on average, very differently.
    let (shape, rate) = (0.6, 0.6 * 25.0 * 86_400.0);
    let mut learner = Learner::default();
    let (mut with, mut without) = (0.0, 0.0);
    let mut pages: Vec<_> = (0..600)
        .map(|page: u32| {
            let delta = crate::math::gamma_distribution::quantile(shape, rng.random::<f64>()) / rate;
            (Learned::new(Group { host: page % 3, shape: 0 }), delta)
        })
        .collect();
    for round in 0..10 {
        for (page, delta) in &mut pages {
            let elapsed = 86_400.0 * (0.5 + 4.0 * rng.random::<f64>());
            let changed = rng.random::<f64>() >= (-*delta * elapsed).exp();
            let before = learner.belief(page);
            let broad = Posterior::of(page.history(), &Prior::BROAD);
            if round < 4 {
                // ln P(what is seen next): the higher the better.
                let told = |belief: &Posterior| {
                    let stays = belief.log_survival(elapsed);
                    if changed { (-stays.exp_m1()).ln() } else { stays }
                };
                with += told(&before);
                without += told(&broad);
            }
            learner.observe(page, &seen(elapsed, changed));
        }
    }
    // Each page was last told of the others at its last fetch; a few more rounds without any, and it is as if all were
    // fitted together.
    for _ in 0..8 {
        for (page, _) in &mut pages {
            learner.refresh(page);
        }
    }
    let Prior::Gamma { shape: found, rate: per } = learner.prior(Group { host: 99, shape: 0 }) else {
        panic!()
    };
    assert!(
        (found / shape).ln().abs() < 0.15 && (found / per / (shape / rate)).ln().abs() < 0.15,
        "{found} {per}"
    );
    assert!(with > without + 20.0, "{with} {without}");
}

/// Hosts and URL shapes that differ have priors that differ; a new host has that of all.
#[test]
fn hosts_and_shapes_differ() {
    let mut learner = Learner::default();
    let fast = Group { host: 1, shape: 2 };
    let slow = Group { host: 1, shape: 1 };
    let other = Group { host: 2, shape: 1 };
    for _ in 0..60 {
        let mut pages = [fast, slow, other].map(Learned::new);
        for _ in 0..10 {
            learner.observe(&mut pages[0], &seen(86_400.0, true));
            learner.observe(&mut pages[1], &seen(86_400.0, false));
            learner.observe(&mut pages[2], &seen(86_400.0, false));
        }
    }
    let mut mean = |group| {
        let page = Learned::new(group);
        learner.belief(&page).mean()
    };
    assert!(mean(fast) > 20.0 * mean(slow), "{} {}", mean(fast), mean(slow));
    let unknown_shape = mean(Group { host: 1, shape: 9 });
    assert!(unknown_shape > mean(slow) && unknown_shape < mean(fast), "{unknown_shape}");
    assert!(mean(Group { host: 1, shape: 9 }) > mean(Group { host: 2, shape: 9 }));
}

#[test]
fn removed_pages_are_forgotten() {
    let mut learner = Learner::default();
    let group = Group { host: 0, shape: 0 };
    let mut page = Learned::new(group);
    for _ in 0..40 {
        learner.observe(&mut page, &seen(60.0, true));
    }
    learner.remove(&page);
    let Prior::Gamma { shape, rate } = learner.pages_prior_now() else { panic!() };
    let Prior::Gamma { shape: start, rate: per } = Prior::BROAD else { panic!() };
    assert!((shape / start - 1.0).abs() < 1e-6 && (rate / per - 1.0).abs() < 1e-6);
}

proptest! {
    /// Whatever was seen: estimates are numbers, intervals hold them, and the history gives what all intervals give.
    #[test]
    fn estimates_are_numbers(
        intervals in proptest::collection::vec((-9f64..12.0, any::<bool>()), 0..60),
        all_alike in proptest::option::of(any::<bool>()),
        ages in proptest::option::of(proptest::collection::vec(prop_oneof![Just(0.0), 0.0f64..1.0], 60)),
    ) {
        let dated = |(at, (e, z)): (usize, &(f64, bool))| {
            let elapsed = 10f64.powf(*e).clamp(1e-9, 1e12);
            let changed = all_alike.unwrap_or(*z);
            let age = ages.as_ref().filter(|_| changed).map(|ages| ages[at] * elapsed);
            seen(elapsed, changed).dated(age)
        };
        let all: Vec<_> = intervals.iter().enumerate().map(dated).collect();
        let history: History = all.iter().collect();
        for method in methods() {
            for estimate in [method.estimate(&all, usual()), method.recall(&history, usual())] {
                let Estimate { rate, low, high } = estimate;
                prop_assert!(rate.is_finite() && rate >= 0.0, "{method:?}: {estimate:?}");
                prop_assert!(low.is_finite() && low >= 0.0 && low <= rate * (1.0 + 1e-9), "{method:?}: {estimate:?}");
                prop_assert!(high.is_none_or(|high| high.is_finite() && high >= rate * (1.0 - 1e-9)), "{method:?}: {estimate:?}");
            }
        }
    }

    /// With regular fetches nothing is lost by remembering little.
    #[test]
    fn regular_intervals_are_remembered_exactly(
        changes in proptest::collection::vec(any::<bool>(), 1..200),
        length in -6f64..6.0,
    ) {
        let all: Vec<_> = changes.iter().map(|z| seen(10f64.powf(length), *z)).collect();
        let mut history = History::default();
        for interval in &all {
            history.observe_steady(interval);
        }
        // The default on all intervals forgets what no longer holds.
        for method in methods().into_iter().filter(|method| !matches!(method, Method::Refrain(_))) {
            let (full, compact) = (method.estimate(&all, usual()).rate, method.recall(&history, usual()).rate);
            prop_assert!((full - compact).abs() <= 2e-5 * full, "{method:?}: {full} {compact}");
        }
    }

    /// Irregular ones: percents.
    #[test]
    fn irregular_intervals_are_remembered_well(
        log_ratio in -1.5f64..1.0,
        seed: u64,
    ) {
        let mut world = World::new(10f64.powf(log_ratio), 1.0, seed);
        let all: Vec<_> = (0..300).map(|_| world.next()).collect();
        let mut history = History::default();
        for interval in &all {
            history.observe_steady(interval);
        }
        for (method, tolerance) in [(Method::Mle, 0.12), (Method::Mm, 0.2), (Method::Lln(Offset::One), 1e-4)] {
            let (full, compact) = (method.estimate(&all, usual()).rate, method.recall(&history, usual()).rate);
            prop_assert!((full - compact).abs() <= tolerance * full + 1e-12, "{method:?}: {full} {compact}");
        }
    }
}

/// Looks at pages that change up to three times between two: who is told when a page changed last knows better how often it does, after
/// few looks and after many, and does not err to one side. (Where a page changed before every look, what is believed without dates is the
/// prior, which may be right by luck.)
#[test]
fn dates_make_estimates_better() {
    const DAY: f64 = 86_400.0;
    for (looks, pages) in [(3, 400), (10, 400), (30, 400), (100, 400), (300, 200), (1000, 100)] {
        for changes_per_look in [0.1, 0.3, 1.0, 3.0] {
            let (mut with, mut without, mut bias) = (Errors::default(), Errors::default(), 0.0);
            for page in 0..pages {
                let mut world = World::new(changes_per_look / DAY, 1.0 / DAY, page);
                let (mut plain, mut dated) = (History::default(), History::default());
                for _ in 0..looks {
                    let seen = world.next_dated();
                    plain.observe(&seen.dated(None));
                    dated.observe(&seen);
                }
                let error = |history: &History| {
                    (Posterior::of(history, &Prior::BROAD).mean() * DAY / changes_per_look).ln()
                };
                with.add(error(&dated));
                without.add(error(&plain));
                bias += error(&dated) / pages as f64;
            }
            let (with, without) = (with.rmse(), without.rmse());
            // Slow pages hardly ever change twice between two looks: there dates say nothing new.
            assert!(with < 1.01 * without, "{looks} looks, {changes_per_look}: {with} {without}");
            assert!(changes_per_look < 3.0 || with < 0.9 * without, "{looks} looks: {with} {without}");
            assert!(looks < 300 || bias.abs() < 0.05, "{looks} looks, {changes_per_look}: {bias}");
        }
    }
}

#[test]
fn all_or_none_changed() {
    let none = [seen(2.0, false); 5];
    let every = [seen(2.0, true); 5];
    for method in methods() {
        let quiet = method.estimate(&none, usual());
        let busy = method.estimate(&every, usual());
        match method {
            Method::Grimes(_) | Method::Refrain(_) => assert!(quiet.rate > 0.0, "{method:?}"),
            _ => assert_eq!(quiet.rate, 0.0, "{method:?}"),
        }
        assert!(quiet.high.unwrap() > quiet.rate, "{method:?}: {quiet:?}");
        assert!(busy.rate > quiet.rate, "{method:?}: {busy:?}");
    }
    let mle = Method::Mle.estimate(&every, usual());
    assert!((mle.rate - 10f64.ln() / 2.0).abs() < 1e-9 && mle.high.is_none());
    assert!((mm(&[Weighted { length: 2.0, weight: 5.0 }].as_slice(), 0.0) - mle.rate).abs() < 1e-9);
    let quiet = Method::Mle.estimate(&none, usual());
    assert!((quiet.high.unwrap() - 20f64.ln() / 10.0).abs() < 1e-9);
    // No data at all.
    for method in methods() {
        let nothing = method.estimate(&[], usual());
        assert!(nothing.rate.is_finite() && nothing.low <= nothing.rate, "{method:?}: {nothing:?}");
    }
}
