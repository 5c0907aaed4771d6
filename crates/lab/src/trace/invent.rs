//! Histories that never happened: pages by chance, with what Poisson's law leaves out.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::page::BeliefError;
use refrain_core::time::{Span, Time};

use super::{Announcement, Clock, Trace, TracePage};
use crate::made_up::{MadeUp, Numbers};

/// A world to draw histories from. Rates are per day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// The pages.
    pub pages: MadeUp,
    /// How many hosts they are on: the k-th largest has a share of about 1/k.
    pub hosts: u32,
    /// By what the change rates of a host's pages are multiplied: pages of one host are alike.
    pub host_factor: Numbers,
    /// How long it goes, in days.
    pub days: f64,
    /// How long a page lives, in days; `None`: all the time.
    pub life: Option<Numbers>,
    /// How late a signal comes, in hours.
    pub delay: Numbers,
    /// How much of the changes follows the hour: at 1 there are none at night.
    pub daily: f64,
    /// How much of the changes follows the day of the week: at 1 there are none on weekends.
    pub weekly: f64,
    /// After about so many days a page changes at another rate; `None`: never.
    pub drift: Option<f64>,
}

/// Why there is no such world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoWorld {
    /// A distribution gives what cannot be.
    #[error(transparent)]
    Page(#[from] BeliefError),
    /// More than fits.
    #[error("about {0:.0} changes and signals; expected at most {MOST}")]
    TooMany(f64),
}

/// Changes and signals that are drawn at most.
const MOST: u32 = 50_000_000;
const DAY: f64 = 86_400.0;
/// A Monday: 2024-01-01.
const START: f64 = 1_704_067_200.0;

impl World {
    /// A history, the same from the same seed.
    ///
    /// # Errors
    /// If a distribution gives what cannot be, or more happens than fits.
    pub fn draw(&self, seed: u64) -> Result<Trace, NoWorld> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let hosts = self.hosts.max(1);
        let factors: Vec<f64> = (0..hosts).map(|_| self.host_factor.draw(&mut random)).collect();
        let mut trace = Trace {
            sources: vec![Clock::default()],
            groups: hosts,
            kinds: vec!["signal".to_owned()],
            ..Trace::default()
        };
        let mut happened = 0.0;
        for number in 0..self.pages.pages as u32 {
            let host = host_of(hosts, &mut random);
            let page = self.pages.draw_one(&mut random)?;
            let (first, last) = self.lives(&mut random);
            let rate = page.change_rate() * factors[host as usize];
            happened += (last - first) * (rate * (1.0 + page.recall()) + page.false_rate());
            if happened > f64::from(MOST) {
                return Err(NoWorld::TooMany(happened));
            }
            let changes = self.changes(rate, factors[host as usize], (first, last), &mut random);
            self.announce(&changes, page.recall(), number, last, &mut random, &mut trace.announcements);
            let mut time = first;
            while page.false_rate() > 0.0 {
                time += exponential(page.false_rate(), &mut random);
                if time >= last {
                    break;
                }
                let told = Announcement { time: moment(time), page: number, kind: 0, is_change: false };
                trace.announcements.push(told);
            }
            trace.pages.push(TracePage {
                number,
                importance: page.importance(),
                source: 0,
                group: host,
                directory: None,
                first: moment(first),
                last: moment(last),
                heard_from: (page.recall() > 0.0 || page.false_rate() > 0.0).then(|| moment(first)),
                changes: changes.into_iter().map(moment).collect(),
            });
        }
        trace.announcements.sort_by_key(|told| (told.time, told.page));
        Ok(trace)
    }

    /// When a page comes and goes, in days. It may have been there before, and may be there after.
    fn lives(&self, random: &mut ChaCha8Rng) -> (f64, f64) {
        let Some(life) = self.life else { return (0.0, self.days) };
        let life = life.draw(random).max(1.0 / 24.0);
        let born = (self.days + life) * random.random::<f64>() - life;
        (born.max(0.0), (born + life).min(self.days))
    }

    /// The moments of changes, in days: candidates at the greatest rate, of which some are taken.
    fn changes(
        &self,
        mut rate: f64,
        factor: f64,
        (first, last): (f64, f64),
        random: &mut ChaCha8Rng,
    ) -> Vec<f64> {
        let mut changes = Vec::new();
        let most = (1.0 + self.daily) / (1.0 - 2.0 / 7.0 * self.weekly);
        let mut time = first;
        let mut drifts = self.drift.map_or(f64::INFINITY, |days| first + exponential(1.0 / days, random));
        loop {
            let step = if rate > 0.0 { exponential(rate * most, random) } else { f64::INFINITY };
            if time + step >= drifts {
                // Another rate from here on, as if it were another page.
                time = drifts;
                drifts += self.drift.map_or(f64::INFINITY, |days| exponential(1.0 / days, random));
                rate = self.pages.change_rate.draw(random) * factor;
            } else {
                time += step;
                if time < last && random.random::<f64>() * most < self.rhythm(time) {
                    changes.push(time);
                }
            }
            if time >= last {
                return changes;
            }
        }
    }

    /// How much more often than on average pages change at this moment, in days from a Monday.
    fn rhythm(&self, time: f64) -> f64 {
        let hour = 1.0 - self.daily * (std::f64::consts::TAU * time.fract()).cos();
        let weekend = time.rem_euclid(7.0) >= 5.0;
        let day = if weekend { 1.0 - self.weekly } else { 1.0 };
        hour * day / (1.0 - 2.0 / 7.0 * self.weekly)
    }

    /// Signals for some of the changes, late, and those that come after the end not at all.
    fn announce(
        &self,
        changes: &[f64],
        recall: f64,
        page: u32,
        last: f64,
        random: &mut ChaCha8Rng,
        all: &mut Vec<Announcement>,
    ) {
        for change in changes {
            if random.random::<f64>() < recall {
                let time = change + self.delay.draw(random) / 24.0;
                if time < last {
                    all.push(Announcement { time: moment(time), page, kind: 0, is_change: true });
                }
            }
        }
    }
}

/// A host by Zipf's law, as the continuous law has it.
fn host_of(hosts: u32, random: &mut ChaCha8Rng) -> u32 {
    let rank = (f64::from(hosts) + 1.0).powf(random.random::<f64>());
    (rank as u32 - 1).min(hosts - 1)
}

fn exponential(rate: f64, random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln() / rate
}

/// To the millisecond, as files have it.
fn moment(days: f64) -> Time {
    Time::ZERO + Span::from_millis(((START + days * DAY) * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> World {
        World {
            pages: MadeUp {
                pages: 400,
                change_rate: Numbers::Constant(0.5),
                importance: Numbers::Constant(1.0),
                recall: Numbers::Constant(0.8),
                false_rate: Numbers::Constant(0.1),
            },
            hosts: 50,
            host_factor: Numbers::Constant(1.0),
            days: 210.0,
            life: None,
            delay: Numbers::Constant(2.0),
            daily: 0.0,
            weekly: 0.0,
            drift: None,
        }
    }

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
    }

    #[test]
    fn rates_are_what_they_should_be() {
        let trace = world().draw(1).unwrap();
        let expected = 400.0 * 210.0 * 0.5;
        near(trace.changes() as f64, expected, 0.02);
        let right = trace.announcements.iter().filter(|told| told.is_change).count() as f64;
        near(right, 0.8 * expected, 0.02);
        near(trace.announcements.len() as f64 - right, 0.1 * 400.0 * 210.0, 0.04);
        assert_eq!(trace.announcements.len(), world().draw(1).unwrap().announcements.len());
        // Every true signal is two hours late.
        let told = trace.announcements.iter().find(|told| told.is_change).unwrap();
        let early = told.time - Span::from_whole_secs(7200);
        assert!(trace.pages[told.page as usize].changes.contains(&early));
        // The first host is far larger than the twentieth.
        let size = |group| trace.pages.iter().filter(|page| page.group == group).count();
        assert!(size(0) > 40 && size(20) < 20, "{} {}", size(0), size(20));
    }

    #[test]
    fn changes_follow_the_clock() {
        let trace = World { daily: 0.8, weekly: 0.9, ..world() }.draw(2).unwrap();
        let days = |time: &Time| time.since(moment(0.0)).as_secs() / DAY;
        let all: Vec<f64> = trace.pages.iter().flat_map(|page| &page.changes).map(days).collect();
        near(all.len() as f64, 400.0 * 210.0 * 0.5, 0.02);
        let share =
            |of: &dyn Fn(f64) -> bool| all.iter().filter(|time| of(**time)).count() as f64 / all.len() as f64;
        // Two days of seven at a tenth of the others' rate.
        near(share(&|time| time.rem_euclid(7.0) >= 5.0), 0.2 / 5.2, 0.1);
        // The half of the day around noon: 1/2 + 0.8/π.
        near(share(&|time| (0.25..0.75).contains(&time.fract())), 0.5 + 0.8 / std::f64::consts::PI, 0.02);
    }

    #[test]
    fn pages_come_and_go_and_change_their_ways() {
        let of = MadeUp { change_rate: Numbers::LogUniform(0.01, 10.0), ..world().pages };
        let trace = World { pages: of, life: Some(Numbers::Constant(30.0)), ..world() }.draw(3).unwrap();
        assert!(trace.pages.iter().all(|page| trace.alive(page) <= 30.0 * DAY + 1.0));
        assert!(trace.pages.iter().filter(|page| page.first > moment(0.0)).count() > 250);
        assert!(
            trace
                .pages
                .iter()
                .all(|page| page.changes.iter().all(|time| *time > page.first && *time < page.last))
        );
        // How much the halves of a page's life have in common.
        let apart = |drift| {
            let trace = World { pages: of, drift, ..world() }.draw(4).unwrap();
            let half = moment(105.0);
            let differ = trace.pages.iter().map(|page| {
                let early = page.changes.iter().filter(|time| **time < half).count() as f64;
                ((early + 1.0) / (page.changes.len() as f64 - early + 1.0)).ln().abs()
            });
            differ.sum::<f64>() / 400.0
        };
        assert!(apart(Some(100.0)) > 3.0 * apart(None), "{} {}", apart(Some(100.0)), apart(None));
        let wild = MadeUp { change_rate: Numbers::Constant(1e9), ..of };
        assert!(matches!(World { pages: wild, ..world() }.draw(5), Err(NoWorld::TooMany(_))));
    }
}
