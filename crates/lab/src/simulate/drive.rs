//! The frontier under a virtual clock.

use std::hint::black_box;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::estimate::Answer;
use refrain_core::frontier::{Budget, Frontier, Manners, Model, Outcome, PageId};
use refrain_core::page::Belief;
use refrain_core::time::Time;

use super::ahead::Ahead;
use super::late::{Events, What};
use super::score::Score;
use super::series::Series;
use super::{Setting, SimulationError};

/// What came of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The mean freshness of requests.
    pub accuracy: f64,
    /// The same in each stretch of time, if that was asked for.
    pub series: Vec<f64>,
    /// Fetches made.
    pub fetches: u64,
    /// The mean value of a fetch: importance times seconds.
    pub price: f64,
    /// Values and moments computed, per fetch.
    pub evaluations: f64,
}

/// Pages, what will happen to them, and how it goes.
pub(super) struct Drive<'a> {
    pub(super) pages: &'a [Belief],
    pub(super) believed: &'a [Belief],
    pub(super) events: Events<'a>,
    pub(super) setting: &'a Setting,
}

impl Drive<'_> {
    pub(super) fn run<M: Model>(
        self,
        mut frontier: Frontier<M>,
        mut page: impl FnMut(&M, &Belief) -> M::Page,
        mut picked: impl FnMut(Time, u32),
    ) -> Result<Run, SimulationError> {
        let host = frontier.add_host(Manners { in_flight: u16::MAX, ..Manners::default() });
        frontier.reserve(self.believed.len());
        let mut ids: Vec<PageId> = Vec::with_capacity(self.believed.len());
        for belief in self.believed {
            let page = page(frontier.model(), belief);
            ids.push(frontier.insert(Time::ZERO, page, host, Time::ZERO)?);
        }
        let mut random = ChaCha8Rng::seed_from_u64(!self.setting.seed);
        let mut score = Score::new(self.pages, self.setting.from);
        let mut series = Series::new(self.setting.every);
        let mut events = Ahead::new(self.events);
        let end = Time::ZERO + self.setting.horizon;
        let (mut fetches, mut worth) = (0u64, 0.0);
        let mut then = self.setting.then.iter().peekable();
        loop {
            let wake = frontier.next_wakeup().filter(|wake| *wake <= end);
            // To read what is known of a page brings its memory.
            let event = events.next_time(|page| {
                black_box((score.exponent(page), frontier.page(ids[page as usize]).is_ok()));
            });
            if let Some((after, rate)) = then.peek()
                && wake.is_none_or(|wake| wake > Time::ZERO + *after)
                && event.is_none_or(|time| time > Time::ZERO + *after)
            {
                frontier.set_budget(Time::ZERO + *after, Budget::Rate(*rate))?;
                then.next();
                continue;
            }
            // A signal may make someone due before.
            if event.is_some_and(|time| time <= wake.unwrap_or(end))
                && let Some(event) = events.take()
            {
                series.reach(event.time, &mut score);
                if event.what != What::Change {
                    frontier.signal(event.time, ids[event.page as usize])?;
                }
                match event.what {
                    What::Signal => score.signal(event.page, event.time),
                    What::Change => score.change(event.page, event.time),
                    What::LateSignal => {}
                }
                continue;
            }
            let Some(now) = wake else { break };
            let Some(order) = frontier.poll(now)? else { continue };
            series.reach(now, &mut score);
            // Pages were inserted in order.
            let page = order.page.index();
            let changed = random.random::<f64>() < score.fetch(page, now);
            picked(now, page);
            (fetches, worth) = (fetches + 1, worth + order.value);
            let answer = if changed { Answer::Changed } else { Answer::Unchanged };
            frontier.answer(now, order.id, Outcome::Seen(answer), None)?;
        }
        series.reach(end, &mut score);
        let each = |total: f64| total / fetches.max(1) as f64;
        Ok(Run {
            accuracy: score.finish(self.setting.horizon),
            series: series.finish(),
            fetches,
            price: each(worth),
            evaluations: each(frontier.evaluations() as f64),
        })
    }
}
