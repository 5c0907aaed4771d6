//! What a decision costs.

use std::io::{self, Write};

use refrain_core::estimate::{Answer, Group, History, Observation};
use refrain_core::frontier::{
    Attentive, Budget, Frontier, HostId, Known, Learning, LearningPage, Manners, Model, Outcome, PageId,
    Settings,
};
use refrain_core::time::{Span, Time};
use refrain_core::value::{CrawlValue, ValueFunction};

use super::SEED;
use crate::chart::grouped;
use crate::stopwatch::{Stopwatch, memory_bytes};
use crate::synthetic::Synthetic;

const HOSTS: usize = 100_000;
/// Signals for each decision.
const SIGNALS: usize = 12;
const DAY: f64 = 86_400.0;
/// What a signal tells in the world that is learned.
const NATS: f64 = 0.3;

/// How often a page was looked at before.
const LOOKS: usize = 8;

pub(super) fn write(out: &mut dyn Write, quick: bool) -> io::Result<()> {
    writeln!(
        out,
        "\nThe frontier: pages on {} hosts, budget = pages/20 per unit of time (one thread)",
        grouped(HOSTS)
    )?;
    writeln!(
        out,
        "  {:<24} {:>12} {:>10} {:>14} {:>13} {:>13} {:>12}",
        "", "pages", "start (s)", "decisions/s", "ns a decision", "evaluations", "bytes a page"
    )?;
    let largest = if quick { 100_000 } else { 10_000_000 };
    let sizes: Vec<usize> =
        [100_000, 1_000_000, 10_000_000].into_iter().filter(|count| *count <= largest).collect();
    learning(out, &sizes)?;
    backlog(out, largest.min(1_000_000))?;
    attentive(out, &sizes)?;
    known(out, &sizes)
}

fn learning(out: &mut dyn Write, sizes: &[usize]) -> io::Result<()> {
    // What a fetch is worth in this world: found on the smallest, where it takes a moment to settle.
    let mut price = None;
    for count in sizes {
        let mut random = Synthetic::new(SEED);
        let world =
            World::new(Learning::default(), *count, DAY, 0.0, &mut random, |model, host, rate, random| {
                let (page, past) = learned_page(model, host, rate, random)?;
                let value = page.belief()?.value(f64::from(page.importance())).ok()?;
                // Fetched at some time before it would be worth the price.
                let due = price.map_or(Some(40.0 * DAY), |price| value.moment(price, 0));
                Some((page, past, due.unwrap_or(400.0 * DAY) * random.uniform()))
            });
        write_settled(out, "learning", world, 0, &mut price, &mut random)?;
    }
    Ok(())
}

/// All pages up to twice as old as the budget can keep them: the price falls while they are caught up with.
fn backlog(out: &mut dyn Write, count: usize) -> io::Result<()> {
    let mut random = Synthetic::new(SEED);
    let world = World::new(Learning::default(), count, DAY, 0.0, &mut random, |model, host, rate, random| {
        let (page, past) = learned_page(model, host, rate, random)?;
        Some((page, past, 40.0 * DAY * random.uniform()))
    });
    world.map_or(Ok(()), |world| write_row(out, "learning, a backlog", world, 0, &mut random))
}

fn learned_page(
    model: &mut Learning,
    host: HostId,
    rate: f64,
    random: &mut Synthetic,
) -> Option<(LearningPage, History)> {
    let page = model.page(host, Group::ANY_SHAPE, random.uniform() as f32).ok()?;
    looked_at(model, page, host, rate, 0.0, random)
}

fn attentive(out: &mut dyn Write, sizes: &[usize]) -> io::Result<()> {
    let mut price = None;
    for count in sizes {
        let mut random = Synthetic::new(SEED);
        let model = Attentive::default();
        let world = World::new(model, *count, DAY, NATS, &mut random, |model, host, rate, random| {
            let page = model.page(host, Group::ANY_SHAPE, random.uniform() as f32).ok()?;
            let (page, past) = looked_at(model, page, host, rate, NATS, random)?;
            Some((page, past, 20.0 * DAY * random.uniform()))
        });
        write_settled(out, "learning, 12 signals", world, SIGNALS, &mut price, &mut random)?;
    }
    Ok(())
}

fn known(out: &mut dyn Write, sizes: &[usize]) -> io::Result<()> {
    let mut price = None;
    for count in sizes {
        let mut random = Synthetic::new(SEED);
        let model = Known::new(ValueFunction::GreedyNcis);
        let world = World::new(model, *count, 1.0, 0.0, &mut random, |_, _, _, random| {
            Some((random.paper_page(), (), 20.0 * random.uniform()))
        });
        write_settled(out, "known, 12 signals", world, SIGNALS, &mut price, &mut random)?;
    }
    Ok(())
}

/// A page after a few looks, at random.
fn looked_at<M: Model>(
    model: &mut M,
    mut page: M::Page,
    host: HostId,
    rate: f64,
    nats: f64,
    random: &mut Synthetic,
) -> Option<(M::Page, M::Past)> {
    let mut past = M::Past::default();
    for _ in 0..LOOKS {
        let elapsed = DAY * (0.01 + 40.0 * random.uniform());
        // About as many as there will be.
        let signals = if nats > 0.0 { (SIGNALS as f64 / 20.0 / DAY * elapsed).round() } else { 0.0 };
        let changed = random.uniform() > (-rate / DAY * elapsed - nats * signals).exp();
        let answer = if changed { Answer::Changed } else { Answer::Unchanged };
        model.observe(
            &mut page,
            &mut past,
            host,
            Time::ZERO,
            &Observation::new(elapsed, signals as u32, answer).ok()?,
        );
    }
    Some((page, past))
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
    /// What a signal tells, in nats.
    nats: f64,
    /// Bytes in use before there was a frontier.
    memory: Option<u64>,
}

impl<M: Model> World<M> {
    fn new(
        model: M,
        count: usize,
        unit: f64,
        nats: f64,
        random: &mut Synthetic,
        mut make: impl FnMut(&mut M, HostId, f64, &mut Synthetic) -> Option<(M::Page, M::Past, f64)>,
    ) -> Option<Self> {
        let rates: Vec<f32> = (0..count).map(|_| random.log_uniform(0.003, 1.0) as f32).collect();
        let mut pages: Vec<PageId> = Vec::with_capacity(count);
        let memory = memory_bytes();
        let now = Time::ZERO;
        let budget = Budget::Rate(count as f64 / 20.0 / unit);
        // Decisions alone: what it costs to keep beliefs up to date in between is a multiple of this by choice.
        let settings = Settings { refresh: 0, ..Settings::default() };
        let mut frontier = Frontier::new(model, budget, settings, now).ok()?;
        let manners = Manners { gap: Span::from_millis(10), ..Manners::default() };
        let hosts: Vec<_> = (0..HOSTS).map(|_| frontier.add_host(manners)).collect();
        frontier.reserve(count);
        let mut start = 0.0;
        for batch in rates.chunks(10_000) {
            // What is known of the pages beforehand is not part of the start.
            let made: Option<Vec<_>> = batch
                .iter()
                .map(|rate| {
                    let host = hosts[(random.uniform() * HOSTS as f64) as usize];
                    make(frontier.model_mut(), host, f64::from(*rate), random).map(|page| (host, page))
                })
                .collect();
            let clock = Stopwatch::start();
            for (host, (page, past, age)) in made? {
                let fetched = now - Span::from_secs(age);
                pages.push(frontier.insert_with_past(now, page, past, host, fetched).ok()?);
            }
            start += clock.elapsed().as_secs_f64();
        }
        Some(Self { frontier, pages, now, start, rates, unit, nats, memory })
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
                let silent = rate * since.elapsed(self.now).as_secs() / self.unit;
                let announced = self.nats * f64::from(since.signals());
                let changed = random.uniform() > (-silent - announced).exp();
                let answer = if changed { Answer::Changed } else { Answer::Unchanged };
                let response = Some(Span::from_millis(1));
                self.frontier.answer(self.now, order.id, Outcome::Seen(answer), response).ok()?;
            }
        }
        Some(())
    }
}

fn write_settled<M: Model>(
    out: &mut dyn Write,
    name: &str,
    world: Option<World<M>>,
    signals: usize,
    price: &mut Option<f64>,
    random: &mut Synthetic,
) -> io::Result<()> {
    let Some(mut world) = world else { return Ok(()) };
    if price.is_none() {
        let _ = world.run(5 * world.pages.len(), signals, random);
        *price = Some(world.frontier.price());
    }
    // Until prices and queues have settled.
    let _ = world.run(world.pages.len() / 2, signals, random);
    write_row(out, name, world, signals, random)
}

fn write_row<M: Model>(
    out: &mut dyn Write,
    name: &str,
    mut world: World<M>,
    signals: usize,
    random: &mut Synthetic,
) -> io::Result<()> {
    let count = world.pages.len();
    let (evaluations, decisions) = (world.frontier.evaluations(), world.frontier.decisions());
    let clock = Stopwatch::start();
    let _ = world.run(count.clamp(200_000, 2_000_000), signals, random);
    let seconds = clock.elapsed().as_secs_f64();
    let made = (world.frontier.decisions() - decisions) as f64;
    let each = (world.frontier.evaluations() - evaluations) as f64 / made;
    // The list of pages is this bench's own.
    let own = (count * size_of::<PageId>()) as u64;
    let used = world.memory.zip(memory_bytes());
    let used = used.map(|(before, now)| now.saturating_sub(before + own) / count as u64);
    let memory = used.map_or_else(String::new, |bytes| bytes.to_string());
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
