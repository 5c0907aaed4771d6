//! A store full of what sites announce: hubs and voices by the thousand, for the pages of the dashboard that show them.

use std::path::Path;

use refrain_core::estimate::signals::pool::SignalPool;
use refrain_core::estimate::signals::trust::Trust;
use refrain_core::time::Time;
use refrain_engine::{Clock, TOGETHER};
use refrain_store::{
    Added, Address, Batch, HostUpdate, HubFacts, NewPage, Options, Origin, Robots, Role, Store, StoreError,
    Voice,
};

use super::super::SEED;
use crate::synthetic::Synthetic;

/// So many hosts have voices, and so many of them a hub.
pub(super) const HOSTS: usize = 10_000;
pub(super) const HUBS: usize = 5000;
const KINDS: [&str; 3] = ["sitemap", "feed", TOGETHER];
/// How many voices that are.
pub(super) const VOICES: usize = HOSTS * KINDS.len();
/// So many intervals each was learned from.
const INTERVALS: u32 = 60;
/// Lines of a robots.txt.
const LINES: usize = 60;

/// Makes such a store.
pub(super) fn fill(data: &Path) -> Result<(), StoreError> {
    let (now, mut random) = (Clock::start().now(), Synthetic::new(SEED));
    let mut store = Store::open(data, Options::default())?;
    let pages: Result<Vec<NewPage>, StoreError> = (0..HUBS).map(|number| hub_page(number, now)).collect();
    let hosts = (0..HOSTS).map(|number| host(number, now)).collect();
    let added = store.commit(&Batch { hosts, pages: pages?, ..Batch::default() })?;
    let hubs = added.pages.iter().flatten().map(|added| hub(added, &mut random)).collect();
    let voices = (0..VOICES).map(|number| voice(number, &mut random)).collect();
    store.commit(&Batch { hubs, voices, ..Batch::default() })?;
    Ok(())
}

fn name(number: usize) -> String {
    format!("http://h{number}.example")
}

fn host(number: usize, now: Time) -> HostUpdate {
    let rules = "Disallow: /section/<not>&these*\n".repeat(LINES);
    HostUpdate {
        name: name(number),
        gap: None,
        back_off_until: None,
        failures: 0,
        robots: Some(Robots {
            text: format!("# Welcome, robots.\nUser-agent: *\n{rules}").into_bytes(),
            fetched: now,
            status: Some(200),
        }),
        wanted_gap: None,
        paused: false,
    }
}

fn hub_page(number: usize, now: Time) -> Result<NewPage, StoreError> {
    let (role, path) = match number % 3 {
        0 => (Role::Page, "news"),
        1 => (Role::Sitemap, "sitemap.xml"),
        _ => (Role::Feed, "feed.xml"),
    };
    Ok(NewPage {
        url: Address::new(format!("{}/{path}", name(number)))?,
        host: name(number),
        importance: 1.0,
        max_age: None,
        added: now,
        found: "seed",
        origin: Origin { role, ..Origin::default() },
    })
}

fn hub(added: &Added, random: &mut Synthetic) -> HubFacts {
    HubFacts {
        page: added.page,
        visits: 40,
        news: 100,
        rate: random.log_uniform(1e-6, 1e-2),
        profit: random.log_uniform(10.0, 1e5),
        decay: random.log_uniform(1e-6, 1e-4),
        learned: Vec::new(),
    }
}

fn voice(number: usize, random: &mut Synthetic) -> Voice {
    let (precision, recall) = (random.uniform().max(0.05), random.uniform().max(0.05));
    let mut pool = SignalPool::default();
    for _ in 0..INTERVALS {
        let expected = 2.0 * random.uniform();
        let told = random.poisson(recall * expected);
        let silent = random.poisson((1.0 - recall) * expected);
        let wrong = random.poisson(recall * expected * (1.0 - precision) / precision);
        pool.observe(expected, told + wrong, told + silent > 0);
    }
    let trust = pool.trust(Trust::START);
    Voice {
        host: name(number / KINDS.len()),
        kind: KINDS[number % KINDS.len()].to_owned(),
        intervals: pool.intervals(),
        precision: trust.precision,
        recall: trust.recall(),
        heard: trust.precision > 0.1,
        learned: pool.to_bytes(),
    }
}

/// Where the dashboard shows one of these hosts.
pub(super) fn host_path() -> String {
    format!("/hosts/{}", form_urlencoded::byte_serialize(name(77).as_bytes()).collect::<String>())
}

#[cfg(test)]
mod tests {
    use refrain_store::{Reader, WhichVoices};

    use super::*;

    #[test]
    fn it_is_full() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path()).unwrap();
        let reader = Reader::open(folder.path()).unwrap();
        assert_eq!(reader.count_hubs().unwrap(), HUBS);
        assert_eq!(reader.count_voices(&WhichVoices::default()).unwrap(), VOICES);
        let some = WhichVoices { host: "h77.".to_owned(), kind: "feed".to_owned() };
        assert_eq!(reader.count_voices(&some).unwrap(), 1);
        let hubs = reader.some_hubs(HUBS - 1, 10).unwrap();
        assert!(hubs.len() == 1 && hubs[0].hub.rate > 0.0);
        let voices = reader.some_voices(&WhichVoices::default(), 100, 50).unwrap();
        assert!(voices.len() == 50 && voices.is_sorted_by(|one, two| one.intervals >= two.intervals));
        let found = reader.some_voices(&some, 0, 50).unwrap();
        assert_eq!((found.len(), found[0].host.as_str()), (1, "http://h77.example"));
    }
}
