//! What a decision costs.

use std::io::{self, Write};

use refrain_core::estimate::{Answer, Group};
use refrain_core::frontier::{Budget, Frontier, Known, Learning, Manners, Model, Outcome, PageId, Settings};
use refrain_core::time::{Span, Time};
use refrain_core::value::ValueFunction;

use super::SEED;
use crate::chart::grouped;
use crate::stopwatch::{Stopwatch, peak_memory_mb};
use crate::synthetic::Synthetic;

const HOSTS: usize = 100_000;
/// Signals for each decision.
const SIGNALS: usize = 12;
const DAY: f64 = 86_400.0;

pub(super) fn write(out: &mut dyn Write, quick: bool) -> io::Result<()> {
    writeln!(
        out,
        "\nThe frontier: pages on {} hosts, budget = pages/20 per unit of time (one thread)",
        grouped(HOSTS)
    )?;
    writeln!(
        out,
        "  {:<24} {:>12} {:>10} {:>14} {:>13} {:>13} {:>12}",
        "", "pages", "start (s)", "decisions/s", "ns a decision", "evaluations", "peak MB"
    )?;
    let largest = if quick { 100_000 } else { 10_000_000 };
    for count in [100_000, 1_000_000, 10_000_000].into_iter().filter(|count| *count <= largest) {
        let mut random = Synthetic::new(SEED);
        let world = World::new(Learning::default(), count, DAY, &mut random, |model, random| {
            let group = Group { host: (random.uniform() * HOSTS as f64) as u32, shape: 0 };
            model.page(group, random.uniform() as f32).ok()
        });
        if let Some(world) = world {
            write_row(out, "learning", world, 0, &mut random)?;
        }
    }
    for count in [100_000, 1_000_000, 10_000_000].into_iter().filter(|count| *count <= largest) {
        let mut random = Synthetic::new(SEED);
        let model = Known::new(ValueFunction::GreedyNcis);
        let world = World::new(model, count, 1.0, &mut random, |_, random| Some(random.paper_page()));
        if let Some(world) = world {
            write_row(out, "12 signals a decision", world, SIGNALS, &mut random)?;
        }
    }
    Ok(())
}

struct World<M: Model> {
    frontier: Frontier<M>,
    pages: Vec<PageId>,
    now: Time,
    start: f64,
    /// How often a page really changes: nobody tells the frontier.
    rates: Vec<f32>,
    /// Seconds in which a twentieth of the pages is fetched.
    unit: f64,
}

impl<M: Model> World<M> {
    fn new(
        model: M,
        count: usize,
        unit: f64,
        random: &mut Synthetic,
        mut make: impl FnMut(&mut M, &mut Synthetic) -> Option<M::Page>,
    ) -> Option<Self> {
        let rates = (0..count).map(|_| random.log_uniform(0.003, 1.0) as f32).collect();
        let now = Time::ZERO;
        let budget = Budget::Rate(count as f64 / 20.0 / unit);
        let mut frontier = Frontier::new(model, budget, Settings::default(), now).ok()?;
        let manners = Manners { gap: Span::from_millis(10), ..Manners::default() };
        let hosts: Vec<_> = (0..HOSTS).map(|_| frontier.add_host(manners)).collect();
        frontier.reserve(count);
        let clock = Stopwatch::start();
        let mut pages = Vec::with_capacity(count);
        for _ in 0..count {
            let page = make(frontier.model_mut(), random)?;
            let host = hosts[(random.uniform() * HOSTS as f64) as usize];
            let fetched = now - Span::from_secs(40.0 * unit * random.uniform());
            pages.push(frontier.insert(now, page, host, fetched).ok()?);
        }
        let start = clock.elapsed().as_secs_f64();
        Some(Self { frontier, pages, now, start, rates, unit })
    }

    /// So many decisions, each answered at once.
    fn run(&mut self, decisions: usize, signals: usize, random: &mut Synthetic) -> Option<()> {
        for _ in 0..decisions {
            self.now = self.frontier.next_wakeup()?;
            for _ in 0..signals {
                let page = self.pages[(random.uniform() * self.pages.len() as f64) as usize];
                self.frontier.signal(self.now, page).ok()?;
            }
            if let Some(order) = self.frontier.poll(self.now).ok()? {
                let (_, since) = self.frontier.page(order.page).ok()?;
                let rate = f64::from(self.rates[order.page.index() as usize]);
                let changed =
                    random.uniform() > (-rate * since.elapsed(self.now).as_secs() / self.unit).exp();
                let answer = if changed { Answer::Changed } else { Answer::Unchanged };
                let response = Some(Span::from_millis(1));
                self.frontier.answer(self.now, order.id, Outcome::Seen(answer), response).ok()?;
            }
        }
        Some(())
    }
}

fn write_row<M: Model>(
    out: &mut dyn Write,
    name: &str,
    mut world: World<M>,
    signals: usize,
    random: &mut Synthetic,
) -> io::Result<()> {
    let count = world.pages.len();
    // Until prices and queues have settled.
    let _ = world.run(count / 2, signals, random);
    let (evaluations, decisions) = (world.frontier.evaluations(), world.frontier.decisions());
    let clock = Stopwatch::start();
    let _ = world.run(count.clamp(400_000, 2_000_000), signals, random);
    let seconds = clock.elapsed().as_secs_f64();
    let made = (world.frontier.decisions() - decisions) as f64;
    let each = (world.frontier.evaluations() - evaluations) as f64 / made;
    let memory = peak_memory_mb().map_or_else(String::new, |mb| mb.to_string());
    writeln!(
        out,
        "  {name:<24} {:>12} {:>10.2} {:>14} {:>13.0} {each:>13.1} {memory:>12}",
        grouped(count),
        world.start,
        grouped((made / seconds) as usize),
        seconds / made * 1e9,
    )?;
    out.flush()
}
