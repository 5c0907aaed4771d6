//! What the lab makes of the same web with as many fetches: is the crawler as good as it should be?

use refrain_core::time::{Span, Time};
use refrain_lab::Policy;
use refrain_lab::discover::{self, HubItems, HubPolicy, HubWorld, Item};
use refrain_lab::replay::{self, Setting};
use refrain_lab::trace::{Announcement, Clock, Trace, TracePage};

use crate::demo::hearing::heard;
use crate::demo::news::DECAY;
use crate::demo::serve::Site;
use crate::demo::truth::{Fetches, freshness};
use crate::demo::world::World;
use crate::failure::Failure;

/// If nobody asked for announcements, the lab asks every so many seconds.
const ASKS_EVERY: f64 = 5.0;

/// Freshness between two moments, with what is announced and without.
pub(super) struct Prediction {
    pub(super) listening: f64,
    pub(super) deaf: f64,
}

/// As if from its first visit on each page had been fetched as the lab's Refrain does, at an even rate: that of the crawl between the two
/// moments. That flatters a little: the lab is not polite, and comes back to pages while the crawl still makes first visits.
pub(super) fn of_pages(site: &Site, from: f64, to: f64) -> Result<Prediction, Failure> {
    let fetches = site.fetches();
    let counted = fetches.iter().flatten().filter(|time| (from..to).contains(*time)).count();
    let setting = Setting {
        rate: counted as f64 / (to - from),
        dated: false,
        own_pace: false,
        floor: None,
        delay: Span::ZERO,
    };
    let trace = trace_of(site, &fetches, to);
    let of = |trace: &Trace| -> Result<f64, Failure> {
        let mut all: Fetches =
            fetches.iter().map(|times| times.first().copied().into_iter().collect()).collect();
        for (time, place) in replay::fetches(Policy::Refrain, trace, &setting)? {
            all[trace.pages[place as usize].number as usize].push(seconds(time));
        }
        Ok(freshness(&site.world, &all, from, to))
    };
    let listening = of(&trace)?;
    Ok(Prediction { listening, deaf: of(&trace.with_kinds(|_| false))? })
}

/// What happened to pages that were visited, and what could be heard of it.
fn trace_of(site: &Site, fetches: &Fetches, to: f64) -> Trace {
    let world = &site.world;
    let mut trace = Trace {
        sources: vec![Clock::default()],
        groups: world.hosts.len() as u32,
        kinds: vec!["sitemap".to_owned()],
        ..Trace::default()
    };
    let mut places = vec![None; world.pages.len()];
    for (number, page) in world.pages.iter().enumerate() {
        let Some(first) = fetches[number].first().copied().filter(|first| *first < to) else { continue };
        let changes = page.changes.iter().filter(|change| **change > first && **change <= to);
        places[number] = Some(trace.pages.len() as u32);
        trace.pages.push(TracePage {
            number: number as u32,
            importance: page.importance,
            source: 0,
            group: page.host as u32,
            directory: None,
            first: moment(first),
            last: moment(to),
            heard_from: None,
            changes: changes.map(|change| moment(*change)).collect(),
        });
    }
    for host in 0..world.hosts.len() {
        let mut asked = site.asked_for_announcements(host);
        if asked.is_empty() {
            let times = (to / ASKS_EVERY) as u32;
            asked = (0..times).map(|round| ASKS_EVERY * f64::from(round)).collect();
        }
        let (Some(_), Some(first)) = (world.hosts[host].voice.kind(), asked.first()) else { continue };
        for page in trace.pages.iter_mut().filter(|page| page.group == host as u32) {
            page.heard_from = Some(moment(*first));
        }
        for signal in heard(world, host, &asked) {
            let Some(page) = places[signal.page] else { continue };
            let (time, is_change) = (moment(signal.time), signal.is_change);
            trace.announcements.push(Announcement { time, page, kind: 0, is_change });
        }
    }
    trace.announcements.sort_by_key(|told| told.time);
    trace
}

/// The share of what articles were worth that the lab's Refrain gets with so many fetches. It learns as it goes.
pub(super) fn of_news(world: &World, fetches: usize, to: f64) -> Result<f64, Failure> {
    let hub = |host: usize| {
        let articles = world.articles.iter().filter(|article| article.host == host && article.born <= to);
        // What was there before the start appears with it, and is worth what is left.
        let item = |born: f64, profit| Item { born: moment(born), profit };
        let items = articles.map(|article| item(article.born.max(0.0), article.possible())).collect();
        HubItems { decay: DECAY, items }
    };
    let hubs = HubWorld {
        hubs: (0..world.hosts.len()).map(hub).collect(),
        known: None,
        start: Time::ZERO,
        horizon: Span::from_secs(to),
    };
    let setting = discover::Setting::at_rate(fetches as f64 / to);
    let run = discover::run(HubPolicy::REFRAIN, &hubs, &setting, |_, _| {});
    run.map(|run| run.share).map_err(|why| Failure::OnTheWay(why.to_string()))
}

fn moment(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs()
}
