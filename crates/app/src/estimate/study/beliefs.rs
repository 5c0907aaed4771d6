//! What the default does beyond a single steady page: it follows a rate that changes, and learns its prior from all pages.

use std::io::{self, Write};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};
use refrain_core::estimate::sa::{Sa, Step};
use refrain_core::estimate::score::{Score, Weighted};
use refrain_core::estimate::{Answer, Group, History, Learned, Learner, Observation, Posterior, Prior};
use refrain_lab::study::interval;

/// The rate jumps after so many intervals.
const STEADY: u32 = 1000;
/// No estimator is waited for any longer.
const PATIENCE: u32 = 4000;
/// Near enough: within this factor of the new rate.
const NEAR: f64 = 1.5;
const DAY: f64 = 86_400.0;

/// How many intervals each estimator needs after the rate has jumped.
pub(super) fn write_following(out: &mut dyn Write, pages: u32, seed: u64) -> io::Result<()> {
    writeln!(
        out,
        "A rate that jumps after {STEADY} intervals (p = Δ = 1 before): intervals until within a factor of {NEAR}, median of {pages}"
    )?;
    for (name, factor) in [("five times faster", 5.0), ("five times slower", 0.2)] {
        let mut needed: [Vec<u32>; 3] = Default::default();
        for page in 0..pages {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::from(page));
            for (all, one) in needed.iter_mut().zip(follow(&mut rng, factor)) {
                all.push(one);
            }
        }
        let median = |mut all: Vec<u32>| {
            all.sort_unstable();
            let median = all.get(all.len() / 2).copied().unwrap_or(0);
            if median >= PATIENCE { format!("over {PATIENCE}") } else { median.to_string() }
        };
        let [refrain, mle, sa] = needed.map(median);
        writeln!(out, "  {name:<20} refrain {refrain:>5}   mle {mle:>10}   sa {sa:>10}")?;
    }
    writeln!(out)
}

/// Intervals until the default, the MLE of everything and SA are near the new rate.
fn follow(rng: &mut ChaCha8Rng, factor: f64) -> [u32; 3] {
    let (mut history, mut sa) = (History::default(), Sa::default());
    let (mut changed, mut unchanged) = (Vec::new(), 0.0);
    let mut needed = [PATIENCE; 3];
    for k in 0..STEADY + PATIENCE {
        let delta = if k < STEADY { 1.0 } else { factor };
        let Some(seen) = interval(rng, delta, 1.0) else { continue };
        history.observe(&seen);
        sa.observe(seen.changed(), Step::USUAL);
        if seen.changed() {
            changed.push(Weighted { length: seen.elapsed(), weight: 1.0 });
        } else {
            unchanged += seen.elapsed();
        }
        // Looking at every tenth is enough for the slow one, which sees everything again each time.
        if k < STEADY || (needed[0] < PATIENCE && !k.is_multiple_of(10)) {
            continue;
        }
        let mle = Score { unchanged, instant: 0.0, changed: &changed }.maximum().unwrap_or(f64::INFINITY);
        let rates = [Posterior::of(&history, &Prior::around(1.0)).mean(), mle, sa.rate(1.0)];
        for (needed, rate) in needed.iter_mut().zip(rates) {
            if *needed == PATIENCE && (rate / delta).ln().abs() < NEAR.ln() {
                *needed = k - STEADY + 1;
            }
        }
        if needed.iter().all(|needed| *needed < PATIENCE) {
            break;
        }
    }
    needed
}

const PAGES: u32 = 2000;
const LOOKS: u32 = 6;
const REFRESHED: usize = 8;

/// How well each prior foretells the next look at pages that were seen a few times.
pub(super) fn write_foretelling(out: &mut dyn Write, seed: u64) -> io::Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Every 25 days on average, very differently.
    let (shape, mean) = (0.6, 1.0 / (25.0 * DAY));
    let Ok(rates) = Gamma::new(shape, mean / shape) else { return Ok(()) };
    let truth = Prior::Gamma { shape, rate: shape / mean };
    let mut learner = Learner::default();
    let mut pages: Vec<(Learned, f64)> = (0..PAGES)
        .map(|page| (Learned::new(Group { host: page % 20, shape: 0 }), rates.sample(&mut rng)))
        .collect();
    let mut scores = [[0.0; LOOKS as usize]; 4];
    for look in 0..LOOKS as usize {
        for page in 0..pages.len() {
            // With every fetch a few other pages hear what was learned of the rest since theirs.
            for other in 1..=REFRESHED {
                let other = (page * REFRESHED + other) % pages.len();
                learner.refresh(&mut pages[other].0);
            }
            let (page, delta) = &mut pages[page];
            let elapsed = DAY * (0.5 + 4.0 * rng.random::<f64>());
            let changed = rng.random::<f64>() >= (-*delta * elapsed).exp();
            let under = |prior: &Prior| Posterior::of(page.history(), prior);
            let beliefs = [under(&Prior::BROAD), under(&Prior::GRIMES), learner.belief(page), under(&truth)];
            for (scores, belief) in scores.iter_mut().zip(beliefs) {
                let stays = belief.log_survival(elapsed);
                scores[look] += if changed { (-stays.exp_m1()).ln() } else { stays };
            }
            let answer = if changed { Answer::Changed } else { Answer::Unchanged };
            if let Ok(seen) = Observation::new(elapsed, 0, answer) {
                learner.observe(page, &seen);
            }
        }
    }
    writeln!(
        out,
        "What {PAGES} pages show at their first looks, foretold under a prior: nats lost per look (less is better)"
    )?;
    write!(out, "  {:<22}", "look")?;
    for look in 1..=LOOKS {
        write!(out, " {look:>8}")?;
    }
    writeln!(out)?;
    for (name, scores) in ["broad", "grimes", "learned from the crawl", "the truth"].into_iter().zip(scores) {
        write!(out, "  {name:<22}")?;
        for score in scores {
            write!(out, " {:>8.4}", -score / f64::from(PAGES))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
