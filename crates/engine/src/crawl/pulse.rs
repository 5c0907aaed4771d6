//! Once a second, how the crawl is doing: cheap at any number of pages.

use refrain_core::frontier::AttentivePage;
use refrain_core::time::{Span, Time};

use super::Crawl;
use crate::restore::Scheduler;
use crate::told::{HostPulse, Pulse, Told};

/// How often.
const EVERY: Span = Span::from_whole_secs(1);
/// So many pages are looked at for an estimate of freshness.
const SAMPLE: usize = 4000;
/// With each fetch no more than so many other pages learn from the others.
const MOST_REFRESHED: usize = 8;
/// How much of earlier samples an estimate remembers.
const MEMORY: f64 = 0.8;
/// So many visits and hosts are named.
const VISITS: usize = 16;
const HOSTS: usize = 8;

/// When the next pulse is due, and what the last one was.
#[derive(Default)]
pub(super) struct Pulses {
    due: Option<Time>,
    offset: usize,
    /// Weight of fresh copies and of all pages, in recent samples.
    fresh: f64,
    all: f64,
    /// Requests up to the last pulse.
    requests: u64,
}

impl Pulses {
    /// The weighted share of pages whose copy is expected to be fresh. Of many pages a few are asked, others each time.
    fn freshness(&mut self, scheduler: &Scheduler, now: Time) -> Option<f64> {
        let slots = scheduler.pages.slots();
        let stride = slots.div_ceil(SAMPLE).max(1);
        self.offset = (self.offset + 1) % stride;
        // Few pages are all asked each time: nothing needs to be remembered.
        let memory = if stride == 1 { 0.0 } else { MEMORY };
        (self.fresh, self.all) = (memory * self.fresh, memory * self.all);
        for slot in (self.offset..slots).step_by(stride) {
            let Some(page) = scheduler.pages.at(slot) else { continue };
            let (Ok((page, since)), Ok(is_new)) =
                (scheduler.frontier.page(page), scheduler.frontier.is_new(page))
            else {
                continue;
            };
            let weight = f64::from(page.inner().importance());
            self.all += weight;
            let fresh = log_fresh(page.inner(), since.elapsed(now).as_secs(), since.signals());
            // Who was never fetched has no copy that could be fresh.
            if let Some(fresh) = fresh.filter(|_| !is_new) {
                self.fresh += weight * fresh.exp();
            }
        }
        self.last()
    }

    /// The same, as it was last known.
    pub(super) fn last(&self) -> Option<f64> {
        (self.all > 0.0).then(|| self.fresh / self.all)
    }
}

/// The logarithm of the chance that the copy of a page is fresh, so many seconds and signals after it was fetched; `None` if nothing is known of its changes.
pub(super) fn log_fresh(page: &AttentivePage, elapsed: f64, signals: u32) -> Option<f64> {
    if has_signals(page) {
        return page.log_fresh(elapsed, signals);
    }
    page.change_rate().map(|rate| rate.log_survival(elapsed))
}

/// Whether something announces changes of a page, and says something by that. (A new page is like those of which something does, until it is looked at.)
pub(super) fn has_signals(page: &AttentivePage) -> bool {
    page.is_heard() && page.log_fresh(0.0, 0).is_some()
}

impl Crawl {
    /// Tells how the crawl is doing, if it is time; says when to do so next.
    pub(super) fn pulse(&mut self, now: Time) -> Time {
        if self.told.is_none() {
            return Time::MAX;
        }
        if let Some(due) = self.pulses.due.filter(|due| *due > now) {
            return due;
        }
        self.pulses.due = Some(now + EVERY);
        self.count();
        self.refresh_as_needed();
        let (backed_off, hosts) = self.hosts_in_trouble(now);
        let pulse = Pulse {
            time: now,
            summary: self.summary,
            rate: self.scheduler.frontier.budget().rate(),
            waiting: self.scheduler.frontier.new_pages(),
            freshness: self.pulses.freshness(&self.scheduler, now),
            under_way: self.visits.longest(VISITS),
            backed_off,
            hosts,
        };
        self.take_sample(&pulse);
        self.tell(|| Told::Pulse(Box::new(pulse)));
        now + EVERY
    }

    /// Pages learn from others about once a minute: where fetches are many, few of them with each.
    fn refresh_as_needed(&mut self) {
        let before = std::mem::replace(&mut self.pulses.requests, self.summary.requests);
        let a_minute = (60 * (self.summary.requests - before)).max(1) as usize;
        let pages = self.scheduler.frontier.len().div_ceil(a_minute).clamp(1, MOST_REFRESHED);
        self.scheduler.frontier.set_refresh(pages as u32);
    }

    /// How many hosts are left alone, and of them the longest first, then the slowest.
    fn hosts_in_trouble(&self, now: Time) -> (usize, Vec<HostPulse>) {
        let mut hosts: Vec<(Time, f32, &str)> = Vec::new();
        for (name, entry) in self.scheduler.hosts.iter() {
            let Ok(state) = self.scheduler.frontier.host_state(entry.id) else { continue };
            let waits = if state.back_off > now { state.back_off } else { Time::MIN };
            if waits > now || state.response > 0.0 {
                hosts.push((waits, state.response, name));
            }
        }
        let backed_off = hosts.iter().filter(|(waits, ..)| *waits > now).count();
        let order = |a: &(Time, f32, &str), b: &(Time, f32, &str)| {
            b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(b.2))
        };
        if hosts.len() > HOSTS {
            hosts.select_nth_unstable_by(HOSTS, order);
            hosts.truncate(HOSTS);
        }
        hosts.sort_by(order);
        let pulse = |(waits, response, name): (Time, f32, &str)| HostPulse {
            name: name.to_owned(),
            response: Span::from_secs(f64::from(response)),
            back_off: (waits > now).then_some(waits),
        };
        (backed_off, hosts.into_iter().map(pulse).collect())
    }
}
