//! What it costs to learn from a fetch.

use std::io::{self, Write};

use refrain_core::estimate::observation::SHORTEST;
use refrain_core::estimate::signals::history::SignalHistory;
use refrain_core::estimate::signals::trust::{SignalPrior, Trust};
use refrain_core::estimate::{Answer, Group, History, Learned, Learner, Observation, Posterior, Prior};

use super::{SEED, time_each};
use crate::synthetic::Synthetic;

const PAGES: usize = 1000;
const FETCHES: usize = 100;
const DAY: f64 = 86_400.0;

pub(super) fn write(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nLearning from a fetch ({FETCHES} of each of {PAGES} pages; ns each, one thread)")?;
    writeln!(out, "  {:<44} {:>10} {:>10}", "intervals", "regular", "random")?;
    let cases = [intervals(|_| DAY), intervals(|random| -(1.0 - random.uniform()).ln() * DAY)];
    let row = |out: &mut dyn Write, name: &str, [regular, random]: [f64; 2]| {
        writeln!(out, "  {name:<44} {regular:>10.0} {random:>10.0}")
    };
    row(
        out,
        &format!("history ({} bytes)", size_of::<History>()),
        cases.each_ref().map(|pages| time_history(pages)),
    )?;
    row(out, "history and belief", cases.each_ref().map(|pages| time_belief(pages)))?;
    row(
        out,
        "history, belief and the priors of its groups",
        cases.each_ref().map(|pages| time_learner(pages)),
    )?;
    let name = format!("signals of a kind ({} bytes), and their quality", size_of::<SignalHistory>());
    row(out, &name, cases.each_ref().map(|pages| time_signals(pages)))
}

/// What fetches of pages see that change every hour to every hundred days, half of it announced, as often falsely.
fn intervals(mut elapsed: impl FnMut(&mut Synthetic) -> f64) -> Vec<Vec<Observation>> {
    let mut random = Synthetic::new(SEED);
    let mut page = || {
        let rate = random.log_uniform(0.01, 24.0) / DAY;
        let mut fetch = || {
            let elapsed = elapsed(&mut random).max(SHORTEST);
            let (silent, announced) =
                (random.poisson(0.5 * rate * elapsed), random.poisson(0.5 * rate * elapsed));
            let signals = announced + random.poisson(0.5 * rate * elapsed);
            let answer = if silent + announced > 0 { Answer::Changed } else { Answer::Unchanged };
            Observation::new(elapsed, signals, answer).ok()
        };
        (0..FETCHES).filter_map(|_| fetch()).collect()
    };
    (0..PAGES).map(|_| page()).collect()
}

/// Nanoseconds per fetch.
fn time_fetches(pages: &[Vec<Observation>], work: impl FnMut(&Vec<Observation>) -> f64) -> f64 {
    time_each(pages, work) / FETCHES as f64
}

fn time_history(pages: &[Vec<Observation>]) -> f64 {
    time_fetches(pages, |seen| seen.iter().collect::<History>().unchanged_span())
}

fn time_belief(pages: &[Vec<Observation>]) -> f64 {
    time_fetches(pages, |seen| {
        let mut history = History::default();
        let belief = |interval| {
            history.observe(interval);
            Posterior::of(&history, &Prior::BROAD).mean()
        };
        seen.iter().map(belief).sum()
    })
}

fn time_learner(pages: &[Vec<Observation>]) -> f64 {
    let mut learner = Learner::default();
    let mut host = 0;
    time_fetches(pages, |seen| {
        host = (host + 1) % 100;
        let mut page = Learned::new(Group { host, shape: host % 7 });
        seen.iter().map(|interval| learner.observe(&mut page, interval).mean()).sum()
    })
}

fn time_signals(pages: &[Vec<Observation>]) -> f64 {
    let prior = SignalPrior::new(Trust::START, 1.0 / DAY);
    time_fetches(pages, |seen| {
        let mut history = SignalHistory::default();
        let quality = |interval| {
            history.observe(interval);
            history.quality(&prior).map_or(0.0, |quality| quality.precision())
        };
        seen.iter().map(quality).sum()
    })
}
