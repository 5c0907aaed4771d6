//! How much pages matter to those who ask for them.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use refrain_core::estimate::interest::clicks::Interest;
use refrain_core::time::{Span, Time};
use refrain_store::{Batch, Edit, PageId, Reader, Role, Store, StoreError};
use xxhash_rust::xxh3::xxh3_64;

use crate::novelty::Novelty;
use crate::requests::Request;
use crate::settings::host_name;

/// A page that nobody asked for counts as if it had been watched for this share of the memory with the rate of all: nobody has asked yet.
const PRIOR_SHARE: f64 = 1e-3;
const DAY: f64 = 86_400.0;
/// So many pages are committed at a time.
const AT_A_TIME: usize = 200_000;

/// What people asked for, counted. The order in which requests come does not matter.
#[derive(Clone, Debug)]
pub struct Asked {
    now: Time,
    memory: Span,
    /// Requests by the hash of their address, each worth the less the older it is.
    counts: HashMap<u64, f64>,
    hosts: HashSet<String>,
    seen: Option<(Time, Time)>,
    novelty: Novelty,
}

/// How pages are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Against each other: all of them together matter as much as before.
    Together,
    /// By requests per day.
    PerDay,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weighed {
    /// Pages that matter as much as they are asked for from now on: all of the hosts that were asked.
    pub pages: u64,
    /// Those of them that somebody asked for.
    pub asked: u64,
    /// Addresses somebody asked for that are no pages here.
    pub strangers: u64,
    /// From the first request to the last.
    pub span: Span,
    /// Hubs of which it was learned how long their links are asked for,
    pub hubs: u64,
    /// and how long that is in the mean, if it has an end.
    pub life: Option<Span>,
}

impl Asked {
    /// Nobody yet. A request that is `memory` old counts 1/e.
    pub fn new(now: Time, memory: Span) -> Self {
        let novelty = Novelty::default();
        Self { now, memory, counts: HashMap::new(), hosts: HashSet::new(), seen: None, novelty }
    }

    /// Counts apart, from now on, how old the pages are that hubs led to when they are asked for.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn watch_news(&mut self, reader: &Reader) -> Result<(), StoreError> {
        self.novelty = Novelty::of(reader)?;
        Ok(())
    }

    /// Somebody asked for something.
    pub fn add(&mut self, request: &Request) {
        let worth = self.worth(request.time);
        let url = hash(request.url.as_str());
        *self.counts.entry(url).or_default() += worth;
        self.novelty.add(url, request.time);
        let host = host_name(&request.url);
        if !self.hosts.contains(&host) {
            self.hosts.insert(host);
        }
        let (first, last) = self.seen.unwrap_or((request.time, request.time));
        self.seen = Some((first.min(request.time), last.max(request.time)));
    }

    fn worth(&self, time: Time) -> f64 {
        (-self.now.since(time).as_secs() / self.memory.as_secs().max(f64::MIN_POSITIVE)).exp()
    }

    /// All pages of the hosts that were asked matter as much as they are asked for from now on.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn weigh(&self, store: &mut Store, scale: Scale) -> Result<Weighed, StoreError> {
        let (first, last) = self.seen.unwrap_or((self.now, self.now));
        let memory = self.memory.as_secs();
        // What the time of watching counts, if it is forgotten like requests are; a single request was watched for no time at all.
        let watched = memory * (self.worth(last) - self.worth(first)) + PRIOR_SHARE * memory;
        let mut pages: Vec<(PageId, f64)> = Vec::new();
        let (mut before, mut asked, mut all) = (0.0, 0u64, 0.0);
        let hosts = self.known_hosts(store)?;
        store.read().pages(|row| {
            if hosts.contains(&row.host) && row.origin.role == Role::Page {
                let count = self.counts.get(&hash(row.url)).copied().unwrap_or(0.0);
                pages.push((row.id, count));
                before += row.importance;
                all += count;
                asked += u64::from(count > 0.0);
            }
            ControlFlow::Continue(())
        })?;
        let (mean_interest, hubs) = self.novelty.learned(first, last);
        let weighed = Weighed {
            hubs: hubs.len() as u64,
            life: mean_interest.map(|interest| Span::from_secs(1.0 / interest.decay)),
            pages: if asked > 0 { pages.len() as u64 } else { 0 },
            asked,
            strangers: self.counts.len() as u64 - asked,
            span: last.since(first),
        };
        if asked == 0 {
            return Ok(weighed);
        }
        let mean = all / pages.len() as f64;
        let factor = match scale {
            Scale::PerDay => DAY / watched,
            Scale::Together if before > 0.0 => before / (all * (1.0 + PRIOR_SHARE)),
            Scale::Together => 1.0 / mean,
        };
        // A page that is asked for so many times per second matters this much times that.
        let per_rate = factor * watched;
        let news = self.novelty.news(mean_interest, &hubs, self.now);
        let of_hubs = hubs.iter().map(|(hub, interest)| (Some(*hub), *interest));
        let meta = of_hubs.chain(mean_interest.map(|interest| (None, interest))).map(|(hub, interest)| {
            let Interest { profit, decay } = interest;
            (key(hub), format!("{} {decay}", profit * per_rate).into_bytes())
        });
        store.commit(&Batch { meta: meta.collect(), ..Batch::default() })?;
        for some in pages.chunks(AT_A_TIME) {
            let edit = |(page, count): &(PageId, f64)| {
                let (importance, decay) = match news.get(page) {
                    Some(Interest { profit, decay }) => (per_rate * profit * decay, Some(*decay)),
                    None => (factor * (count + PRIOR_SHARE * mean), None),
                };
                Edit { importance: Some(importance), decay: Some(decay), ..Edit::of(*page) }
            };
            store.commit(&Batch { edits: some.iter().map(edit).collect(), ..Batch::default() })?;
        }
        Ok(weighed)
    }

    fn known_hosts(&self, store: &Store) -> Result<HashSet<refrain_store::HostId>, StoreError> {
        let mut known = HashSet::new();
        store.read().hosts(|row| {
            if self.hosts.contains(&row.name) {
                known.insert(row.id);
            }
            ControlFlow::Continue(())
        })?;
        Ok(known)
    }
}

/// What new pages that a hub shows are worth to those who ask for pages, as it was learned from their requests; without a hub, of all hubs in
/// the mean.
pub(crate) fn learned(reader: &Reader, hub: Option<PageId>) -> Result<Option<Interest>, StoreError> {
    let kept = reader.meta(&key(hub))?.map(|kept| String::from_utf8_lossy(&kept).into_owned());
    let parsed = kept.as_deref().and_then(|kept| {
        let (profit, decay) = kept.split_once(' ')?;
        Some(Interest { profit: profit.parse().ok()?, decay: decay.parse().ok()? })
    });
    let usable = |interest: &Interest| {
        interest.profit >= 0.0
            && interest.profit.is_finite()
            && interest.decay > 0.0
            && interest.decay.is_finite()
    };
    Ok(parsed.filter(usable))
}

/// Under what the interest in a hub's links is kept.
fn key(hub: Option<PageId>) -> String {
    hub.map_or_else(|| "interest".to_owned(), |hub| format!("interest {}", hub.0))
}

pub(crate) fn hash(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

#[cfg(test)]
mod tests {
    use refrain_fetch::url::PageUrl;
    use refrain_store::Options;

    use super::*;
    use crate::seeds::{Seed, add_seeds};

    const SECOND: i64 = 1_000_000_000;
    const ELSEWHERE: &str = "http://b.example/";

    fn at(day: f64) -> Time {
        Time::from_nanos((day * DAY) as i64 * SECOND)
    }

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.example{path}")).unwrap()
    }

    /// Of the pages below, in their order.
    fn importances(store: &Store) -> Vec<f64> {
        let of = |url: &str| store.read().page(url).unwrap().unwrap().importance;
        ["/much", "/little", "/none"]
            .map(|path| of(url(path).as_str()))
            .into_iter()
            .chain([of(ELSEWHERE)])
            .collect()
    }

    fn store(folder: &std::path::Path) -> Store {
        let mut store = Store::open(folder, Options::default()).unwrap();
        let mut seeds: Vec<Seed> = ["/much", "/little", "/none"]
            .map(|path| Seed { url: url(path), importance: Some(2.0), max_age: None })
            .to_vec();
        seeds.push(Seed { url: PageUrl::parse(ELSEWHERE).unwrap(), importance: Some(5.0), max_age: None });
        add_seeds(&mut store, &seeds, at(0.0)).unwrap();
        store
    }

    /// Ten a day for one page, one a day for another, for 100 days, in any order.
    fn requests(path: &str, a_day: u32) -> impl Iterator<Item = Request> {
        let path = path.to_owned();
        let times = (0..100 * a_day).rev().map(move |number| at(f64::from(number) / f64::from(a_day)));
        times.map(move |time| Request { time, url: url(&path) })
    }

    #[test]
    fn pages_matter_as_they_are_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path());
        let mut asked = Asked::new(at(100.0), Span::from_whole_secs(30 * 86_400));
        for request in requests("/much", 10).chain(requests("/little", 1)).chain(requests("/stranger", 3)) {
            asked.add(&request);
        }
        let weighed = asked.weigh(&mut store, Scale::PerDay).unwrap();
        assert_eq!((weighed.pages, weighed.asked, weighed.strangers), (3, 2, 1));
        let found = importances(&store);
        assert!((found[0] - 10.0).abs() < 0.2 && (found[1] - 1.0).abs() < 0.05, "{found:?}");
        assert!(found[2] > 0.0 && found[2] < 0.01 && found[3] == 5.0, "{found:?}");

        // Against each other: all of them together as before.
        let mut store = super::tests::store(&folder.path().join("other"));
        asked.weigh(&mut store, Scale::Together).unwrap();
        let found = importances(&store);
        assert!((found[..3].iter().sum::<f64>() - 6.0).abs() < 1e-9 && found[3] == 5.0, "{found:?}");
        assert!((found[0] / found[1] - 10.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn what_was_long_ago_counts_less() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path());
        let mut asked = Asked::new(at(100.0), Span::from_whole_secs(10 * 86_400));
        for day in 0..50 {
            asked.add(&Request { time: at(f64::from(day)), url: url("/much") });
            asked.add(&Request { time: at(f64::from(50 + day)), url: url("/little") });
        }
        asked.weigh(&mut store, Scale::PerDay).unwrap();
        let found = importances(&store);
        assert!(found[1] > 100.0 * found[0] && (found[1] - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn strangers_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store(folder.path());
        let mut asked = Asked::new(at(1.0), Span::from_whole_secs(86_400));
        asked.add(&Request { time: at(0.5), url: url("/stranger") });
        let weighed = asked.weigh(&mut store, Scale::Together).unwrap();
        assert_eq!((weighed.pages, weighed.asked, weighed.strangers), (0, 0, 1));
        assert_eq!(importances(&store), [2.0, 2.0, 2.0, 5.0]);
    }
}
