//! What came of it all: measured by the small web itself.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use refrain_core::time::Time;
use refrain_engine::{Beliefs, Summary};
use refrain_store::Reader;

use super::finders::News;
use super::log::Shown;
use super::rivals::Rival;
use super::serve::Site;
use super::truth::{Fetches, curve, fresh_at, freshness};
use super::voices::{Compared, voices};
use crate::failure::Failure;

/// What came of it all.
pub(crate) struct Outcome {
    pub(crate) summary: Summary,
    pub(crate) seconds: f64,
    pub(crate) rate: f64,
    /// Pages that may be visited, and how often all of them together change per second.
    pub(crate) pages: usize,
    pub(crate) change_rate: f64,
    /// Refrain first, then the others.
    pub(crate) contestants: Vec<Contestant>,
    /// Where the last third begins.
    pub(crate) last_third: f64,
    pub(crate) learned: Vec<LearnedRate>,
    pub(crate) voices: Vec<Compared>,
    pub(crate) news: News,
    pub(crate) hosts: Vec<HostTruth>,
    /// Pages that were forbidden, and how often they were asked for.
    pub(crate) forbidden: usize,
    pub(crate) trespasses: usize,
    /// The most requests in any second.
    pub(crate) busiest_second: usize,
}

/// Somebody who decided about fetches, and how fresh that kept the copies.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) whole: f64,
    pub(crate) last_third: f64,
    /// Over time.
    pub(crate) curve: Vec<(f64, f64)>,
}

/// How often a page changes per second, and what was learned of that.
#[derive(Clone, Copy)]
pub(crate) struct LearnedRate {
    pub(crate) rate: f64,
    pub(crate) learned: f64,
}

/// A host's side of it.
pub(crate) struct HostTruth {
    pub(crate) name: String,
    pub(crate) requests: usize,
    /// The shortest time between two requests.
    pub(crate) shortest_gap: Option<f64>,
    /// How often it asked to be left alone.
    pub(crate) refused: usize,
}

impl Outcome {
    pub(crate) fn new(
        site: &Site,
        summary: Summary,
        data: &Path,
        now: Time,
        rate: f64,
    ) -> Result<Self, Failure> {
        let (world, seconds) = (&site.world, site.now());
        let fetches = site.fetches();
        let mut moments: Vec<f64> = fetches.iter().flatten().copied().collect();
        moments.sort_by(f64::total_cmp);
        let last_third = seconds * 2.0 / 3.0;
        let contestant = |name: &'static str, fetches: &Fetches| Contestant {
            name,
            whole: freshness(world, fetches, 0.0, seconds),
            last_third: freshness(world, fetches, last_third, seconds),
            curve: curve(seconds, |time| fresh_at(world, fetches, time)),
        };
        let mut contestants = vec![contestant("Refrain", &fetches)];
        for rival in Rival::ALL {
            contestants.push(contestant(rival.name(), &rival.fetches(world, &moments, rate)));
        }
        let rates: HashMap<String, f64> =
            world.pages.iter().map(|page| (world.url(page, site.port), page.rate)).collect();
        let reader = Reader::open(data)?;
        let learned = learned(&reader, now, &rates)?;
        let voices = voices(site, &reader)?;
        let log = site.log();
        let forbidden = world.pages.iter().filter(|page| page.forbidden).count();
        let is_forbidden = |what| matches!(what, Shown::Page(page) if world.pages[page].forbidden);
        let trespasses = log.iter().filter(|hit| is_forbidden(hit.what)).count();
        let mut asked: Vec<f64> = log.iter().map(|hit| hit.asked).collect();
        asked.sort_by(f64::total_cmp);
        let busiest_second =
            (0..asked.len()).map(|first| asked[first..].partition_point(|time| *time < asked[first] + 1.0));
        let hosts = world.hosts.iter().enumerate().map(|(number, host)| {
            let mut times: Vec<f64> =
                log.iter().filter(|hit| hit.host == number).map(|hit| hit.asked).collect();
            times.sort_by(f64::total_cmp);
            HostTruth {
                name: host.name.clone(),
                requests: times.len(),
                shortest_gap: times.windows(2).map(|pair| pair[1] - pair[0]).min_by(f64::total_cmp),
                refused: log.iter().filter(|hit| hit.host == number && hit.status == 429).count(),
            }
        });
        Ok(Self {
            summary,
            seconds,
            rate,
            pages: world.pages.len() - forbidden,
            change_rate: world.change_rate(),
            contestants,
            last_third,
            learned,
            voices,
            news: News::new(site, seconds),
            hosts: hosts.collect(),
            forbidden,
            trespasses,
            busiest_second: busiest_second.max().unwrap_or(0),
        })
    }

    /// Pages by how often they truly change: the longest period of the class, how many, the true period in the middle, the learned one.
    pub(crate) fn classes(&self) -> Vec<(f64, usize, f64, f64)> {
        let ends = [15.0, 60.0, 300.0, 1800.0, f64::INFINITY];
        let mut from = 0.0;
        let mut classes = Vec::new();
        for end in ends {
            let of_class: Vec<&LearnedRate> =
                self.learned.iter().filter(|page| (from..end).contains(&(1.0 / page.rate))).collect();
            from = end;
            if !of_class.is_empty() {
                let true_period = median(of_class.iter().map(|page| 1.0 / page.rate));
                let learned = median(of_class.iter().map(|page| 1.0 / page.learned));
                classes.push((end, of_class.len(), true_period, learned));
            }
        }
        classes
    }
}

/// What is believed of pages that were seen at least twice.
fn learned(reader: &Reader, now: Time, rates: &HashMap<String, f64>) -> Result<Vec<LearnedRate>, Failure> {
    let mut beliefs = Beliefs::learn(reader, now)?;
    let mut learned = Vec::new();
    reader.pages(|row| {
        let believed = beliefs.of(&row, now).ok().filter(|believed| believed.counts.all > 0.0);
        if let (Some(rate), Some(believed)) = (rates.get(row.url), believed) {
            learned.push(LearnedRate { rate: *rate, learned: believed.changes.mean() });
        }
        ControlFlow::Continue(())
    })?;
    Ok(learned)
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
