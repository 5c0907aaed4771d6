//! `refrain demo`: a small collection, what a budget buys for it, and why.

use std::io::{self, Write};

use refrain_core::optimum::{Allocation, Candidate, Page};
use refrain_core::page::Belief;

use crate::chart::{percent, short};
use crate::failure::Failure;
use crate::input::{Pages, Signals};
use crate::optimum::{Goal, Problem, Sweep, write_spread};
use crate::output::to_stdout;
use crate::synthetic::Synthetic;

const PAGES: u32 = 1000;
/// Fetches a day.
const BUDGET: f64 = 300.0;
const SEED: u64 = 7;

pub(crate) fn run() -> Result<(), Failure> {
    let pages = collection();
    let goal = Goal::Budget(BUDGET);
    let best = Problem::new(&pages, true, 1.0)?.solve(goal)?;
    let deaf = Problem::new(&pages, false, 1.0)?.solve(goal)?;
    let sweep = Sweep::new(&pages, true, Some(BUDGET))?;
    to_stdout(|out| {
        write_story(out, &pages, &best, &deaf)?;
        sweep.write(out)?;
        writeln!(
            out,
            "\nYour own pages: refrain optimum --pages pages.csv --rate R (refrain optimum --help says what the file holds)"
        )
    })
}

/// A thousand pages: they change between every two hours and every four months, a few are asked for most of the
/// time, and two in five announce their changes, more or less honestly.
fn collection() -> Pages {
    let mut random = Synthetic::new(SEED);
    let (mut pages, mut signals) = (Pages::default(), Vec::new());
    for rank in 1..=PAGES {
        let change_rate = random.log_uniform(1.0 / 120.0, 12.0);
        let importance = f64::from(rank).powf(-0.8);
        let announces = random.uniform() < 0.4;
        let (recall, precision) = (0.3 + 0.7 * random.uniform(), 0.2 + 0.8 * random.uniform());
        let page = Belief::new(change_rate, importance).and_then(|page| {
            if announces { page.with_precision_recall(precision, recall) } else { Ok(page) }
        });
        if let Ok(page) = page {
            pages.pages.push(Page::of(&page));
            signals.push(Signals { recall: page.recall(), false_rate: page.false_rate() });
            pages.ids.push(&format!("page-{rank}"), u64::from(rank) + 1);
        }
    }
    pages.signals = Some(signals);
    pages
}

fn write_story(out: &mut dyn Write, pages: &Pages, best: &Allocation, deaf: &Allocation) -> io::Result<()> {
    let changes: f64 = pages.pages.iter().map(Page::change_rate).sum();
    writeln!(
        out,
        "A made-up collection: {PAGES} pages that change {} times a day in all, and a budget of {} fetches a day.\n",
        short(changes),
        short(BUDGET)
    )?;
    let uniform = uniform_freshness(&pages.pages);
    writeln!(out, "Requests that find a fresh copy")?;
    writeln!(out, "  every page equally often        {:>7}", percent(uniform))?;
    writeln!(out, "  the best without signals        {:>7}", percent(deaf.freshness))?;
    writeln!(out, "  the best, listening to signals  {:>7}\n", percent(best.freshness))?;
    writeln!(
        out,
        "The last fetch worth making earns {} fresh requests; pages that change too fast for that are left alone.\n",
        short(best.price)
    )?;
    write_spread(out, &pages.pages, &best.visits)?;
    writeln!(out, "  (days)\n")
}

/// What every page gets if all are fetched equally often.
fn uniform_freshness(pages: &[Page]) -> f64 {
    let rate = BUDGET / pages.len() as f64;
    let fresh: f64 = pages.iter().map(|page| page.importance() * page.at_rate(rate).freshness).sum();
    fresh / pages.iter().map(Page::importance).sum::<f64>()
}
