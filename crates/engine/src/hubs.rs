//! Hubs: pages that show links to new ones, and sitemaps and feeds, which show what is new and what changed.
//!
//! What a visit is worth follows from how often there is news, what each is worth, and how much of that is lost per second until it is
//! heard: for a new page, the requests that find nothing meanwhile; for a change that is announced, those that find a stale copy. How often
//! is learned by the frontier; what it is worth is learned here, and hubs of which little is known are like the mean of the others.

use std::collections::HashSet;

use refrain_core::estimate::interest::clicks::Interest;
use refrain_core::estimate::interest::links::LinkCounts;
use refrain_core::frontier::HubState;
use refrain_core::ids::IdMap;
use refrain_store::{HubFacts, PageId, Reader, StoreError};

use crate::links::LinkMemory;
use crate::restore::NEVER_FETCHED;

/// No more pages are hubs: whoever shows something new after that is fetched for its own sake only.
const MOST: usize = 5000;
/// A page that showed nothing new in so many visits in a row, and for so many seconds, is no hub any more.
const PATIENCE: (u32, f64) = (12, 7.0 * 86_400.0);
/// How much the mean of others counts, in news.
const LEANS: f64 = 1.0;
/// Hubs are told anew what their news are worth when that has moved by this share.
const MOVED: f64 = 0.1;

/// What news were worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Yield {
    /// How many there were.
    pub(crate) news: f64,
    /// What they were worth all together,
    pub(crate) profit: f64,
    /// and what of that is lost per second.
    pub(crate) loss: f64,
}

/// What news were worth so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Worth {
    seen: Yield,
    /// How much the mean of others counts, in news. It is forgotten with old news: what is announced by the thousand and worth nothing
    /// would be worth something for ever.
    leans: f64,
}

impl Default for Worth {
    fn default() -> Self {
        Self { seen: Yield::default(), leans: LEANS }
    }
}

impl Worth {
    /// Old news count for less than new ones.
    fn add(&mut self, shown: Yield) {
        const MEMORY: f64 = 256.0;
        self.seen.add(shown);
        if self.seen.news > MEMORY {
            let kept = MEMORY / self.seen.news;
            let Yield { profit, loss, .. } = self.seen;
            self.seen = Yield { news: MEMORY, profit: profit * kept, loss: loss * kept };
            self.leans *= kept;
        }
    }

    fn mean(&self, prior: Interest) -> Interest {
        let (news, one) = (self.seen.news + self.leans, Yield::one(prior));
        let profit = (self.seen.profit + self.leans * one.profit) / news;
        let loss = (self.seen.loss + self.leans * one.loss) / news;
        let decay = loss / profit;
        if profit >= 0.0 && decay > 0.0 && decay.is_finite() { Interest { profit, decay } } else { prior }
    }
}

impl Yield {
    /// One piece of news, worth so much.
    pub(crate) fn one(interest: Interest) -> Self {
        Self { news: 1.0, profit: interest.profit, loss: interest.profit * interest.decay }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.news += other.news;
        self.profit += other.profit;
        self.loss += other.loss;
    }
}

/// A hub.
#[derive(Debug)]
pub(crate) struct Hub {
    visits: u64,
    news: u64,
    /// Visits without news, in a row, and for how long.
    silent: (u32, f64),
    yields: Worth,
    told: Interest,
    links: LinkCounts,
    /// The links that it showed last, if it is a page.
    pub(crate) memory: LinkMemory,
    /// What its links are worth to those who ask for pages, if that is known.
    pub(crate) asked: Option<Interest>,
}

/// All of them.
pub(crate) struct Hubs {
    hubs: IdMap<PageId, Hub>,
    all: Worth,
    /// News in all visits to sitemaps and feeds, and the time between those.
    links: f64,
    seconds: f64,
    changed: HashSet<PageId>,
    /// What new pages are worth to those who ask for pages, where nothing else is known.
    asked: Option<Interest>,
}

/// What a new page is worth of which nothing is known but its importance: it will be asked for as long as this.
pub(crate) fn lasting(importance: f64) -> Interest {
    Interest { profit: importance * NEVER_FETCHED, decay: 1.0 / NEVER_FETCHED }
}

/// What is kept of a hub: its link counts, then what its news were worth.
fn learned(hub: &Hub) -> Vec<u8> {
    let mut bytes = hub.links.to_bytes();
    let Worth { seen, leans } = hub.yields;
    for number in [seen.news, seen.profit, seen.loss, leans] {
        bytes.extend((number as f32).to_le_bytes());
    }
    bytes
}

fn recalled(bytes: &[u8]) -> Option<(LinkCounts, Worth)> {
    let (links, rest) = bytes.split_at_checked(12)?;
    let mut numbers = rest.chunks_exact(4).filter_map(|four| Some(f32::from_le_bytes(four.try_into().ok()?)));
    let mut number = || numbers.next().map(f64::from).filter(|number| number.is_finite() && *number >= 0.0);
    let seen = Yield { news: number()?, profit: number()?, loss: number()? };
    let worth = Worth { seen, leans: number()? };
    Some((LinkCounts::from_bytes(links)?, worth))
}

impl Hubs {
    /// None, with so many requests per second to spend. Sitemaps and feeds of which nothing is known are expected to show as much as would take
    /// half of the budget: so every one is visited again soon. That counts as little as one visit to one of them.
    pub(crate) fn new(rate: f64) -> Self {
        Self {
            hubs: IdMap::default(),
            all: Worth::default(),
            links: 0.5,
            seconds: 8.0 / rate,
            changed: HashSet::new(),
            asked: None,
        }
    }

    /// As a store has them.
    pub(crate) fn recall(reader: &Reader, rate: f64) -> Result<Self, StoreError> {
        let mut hubs = Self::new(rate);
        hubs.asked = crate::interest::learned(reader, None)?;
        for row in reader.hubs()? {
            // What cannot be read is learned anew.
            let (links, yields) = recalled(&row.hub.learned).unwrap_or_default();
            let told = Interest { profit: row.hub.profit, decay: row.hub.decay };
            if HubState::new(0.0, told).is_err() {
                continue;
            }
            let hub = Hub {
                visits: row.hub.visits,
                news: row.hub.news,
                silent: (0, 0.0),
                yields,
                told,
                links,
                memory: LinkMemory::default(),
                asked: crate::interest::learned(reader, Some(row.hub.page))?,
            };
            hubs.all.add(hub.yields.seen);
            hubs.hubs.insert(row.hub.page, hub);
        }
        Ok(hubs)
    }

    pub(crate) fn get(&self, page: PageId) -> Option<&Hub> {
        self.hubs.get(&page)
    }

    pub(crate) fn get_mut(&mut self, page: PageId) -> Option<&mut Hub> {
        self.hubs.get_mut(&page)
    }

    pub(crate) fn len(&self) -> usize {
        self.hubs.len()
    }

    /// A page is a hub from now on. Whether there is room for it, and it was none.
    pub(crate) fn add(&mut self, page: PageId) -> bool {
        if self.hubs.len() >= MOST || self.hubs.contains_key(&page) {
            return false;
        }
        let told = self.prior();
        let hub = Hub {
            visits: 0,
            news: 0,
            silent: (0, 0.0),
            yields: Worth::default(),
            told,
            links: LinkCounts::default(),
            memory: LinkMemory::default(),
            asked: None,
        };
        self.hubs.insert(page, hub);
        self.changed.insert(page);
        true
    }

    pub(crate) fn remove(&mut self, page: PageId) {
        self.hubs.remove(&page);
        self.changed.remove(&page);
    }

    /// What news of a hub are worth of which nothing is known.
    fn prior(&self) -> Interest {
        self.all.mean(self.asked.unwrap_or(lasting(1.0)))
    }

    /// As the frontier wants it. A page that changes so often per second shows something new about as often, until its visits tell; a sitemap or a
    /// feed (`None`) is expected to be like others.
    pub(crate) fn state(&self, page: PageId, changes: Option<f64>) -> Option<HubState> {
        let hub = self.hubs.get(&page)?;
        let expected = changes.unwrap_or(self.links / self.seconds);
        HubState::new(expected, hub.told).ok().map(|state| state.with_links(hub.links))
    }

    /// What new pages that a hub shows are worth to those who ask for pages, if that is known.
    pub(crate) fn asked(&self, page: PageId) -> Option<Interest> {
        self.hubs.get(&page).and_then(|hub| hub.asked).or(self.asked)
    }

    /// A visit to a hub, so many seconds after the one before, showed this. Whether it is still one.
    pub(crate) fn visited(&mut self, page: PageId, elapsed: f64, shown: Yield, is_source: bool) -> bool {
        let Some(hub) = self.hubs.get_mut(&page) else { return false };
        hub.visits += 1;
        hub.news += shown.news as u64;
        let (visits, seconds) = hub.silent;
        hub.silent =
            if shown.news > 0.0 { (0, 0.0) } else { (visits.saturating_add(1), seconds + elapsed.max(0.0)) };
        hub.links.visit(elapsed, shown.news as u32);
        hub.yields.add(shown);
        self.all.add(shown);
        if is_source && elapsed > 0.0 && elapsed.is_finite() {
            self.links += shown.news;
            self.seconds += elapsed;
        }
        self.changed.insert(page);
        is_source || hub.silent.0 < PATIENCE.0 || hub.silent.1 < PATIENCE.1
    }

    /// What its news are worth by now, if that has become another number since it was told.
    pub(crate) fn news_are_worth(&mut self, page: PageId) -> Option<Interest> {
        let prior = self.prior();
        let hub = self.hubs.get_mut(&page)?;
        let now = hub.yields.mean(prior);
        let moved = |from: f64, to: f64| (to - from).abs() > MOVED * from;
        (moved(hub.told.profit, now.profit) || moved(hub.told.decay, now.decay)).then(|| {
            hub.told = now;
            now
        })
    }

    /// What is new since this was asked last, as the store keeps it.
    pub(crate) fn keep(&mut self) -> Vec<HubFacts> {
        let prior = self.links / self.seconds;
        let facts = |page: PageId| {
            let hub = self.hubs.get(&page)?;
            Some(HubFacts {
                page,
                visits: hub.visits,
                news: hub.news,
                rate: hub.links.rate(prior),
                profit: hub.told.profit,
                decay: hub.told.decay,
                learned: learned(hub),
            })
        };
        self.changed.drain().filter_map(facts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    #[test]
    fn hubs_are_what_they_show_and_like_others_before() {
        let mut hubs = Hubs::new(1.0);
        let (one, other) = (PageId(1), PageId(2));
        assert!(hubs.add(one) && !hubs.add(one));
        assert_eq!(hubs.state(one, None).unwrap().interest(), lasting(1.0));
        assert_eq!(hubs.state(one, Some(0.5)).unwrap().link_rate(), 0.5);
        let article = Interest { profit: 50.0, decay: 2.0 / DAY };
        for _ in 0..100 {
            let mut shown = Yield::one(article);
            shown.add(Yield::one(article));
            assert!(hubs.visited(one, 3600.0, shown, true));
        }
        let told = hubs.news_are_worth(one).unwrap();
        assert!(told.profit > 50.0 && told.profit < 20_000.0, "{told:?}");
        assert_eq!(hubs.news_are_worth(one), None, "nothing is new");
        let rate = hubs.state(one, None).unwrap().link_rate();
        assert!((rate * 1800.0 - 1.0).abs() < 0.1, "{rate}");
        // A new one is like those that are known.
        assert!(hubs.add(other));
        let prior = hubs.state(other, None).unwrap();
        assert!(prior.interest().profit < 20_000.0 && (prior.link_rate() * 1800.0 - 1.0).abs() < 0.1);
        // What is kept comes back.
        let kept = hubs.keep();
        assert_eq!(kept.len(), 2);
        let of_one = kept.iter().find(|facts| facts.page == one).unwrap();
        assert_eq!((of_one.visits, of_one.news), (100, 200));
        let (links, yields) = recalled(&of_one.learned).unwrap();
        assert!((links.rate(1.0) / rate - 1.0).abs() < 0.01 && yields.seen.news == 200.0);
        assert!(hubs.keep().is_empty() && recalled(&[0; 20]).is_none());
    }

    #[test]
    fn who_shows_nothing_is_no_hub_for_long() {
        let mut hubs = Hubs::new(1.0);
        hubs.add(PageId(1));
        assert!((0..100).all(|_| hubs.visited(PageId(1), 60.0, Yield::default(), false)), "that was soon");
        assert!(!hubs.visited(PageId(1), PATIENCE.1, Yield::default(), false));
        assert!(hubs.visited(PageId(1), 60.0, Yield::default(), true), "a sitemap may speak any day");
        assert!(hubs.state(PageId(1), None).unwrap().link_rate() < 0.01);
    }
}
