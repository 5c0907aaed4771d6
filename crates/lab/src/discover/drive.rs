//! The clock: one fetch every 1/R, of a hub or of a page that a hub has shown.

use refrain_core::time::{Span, Time};

use super::logs::Logs;
use super::score::{Run, Score};
use super::world::HubWorld;
use super::{DiscoverError, Setting};

/// A fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// A hub is visited for the links it shows.
    Hub(u32),
    /// A new page, by hub and place among its links.
    Item(u32, u32),
}

/// One who decides what to fetch, and sees no more than a crawler sees.
pub(super) trait Crawler {
    /// What to fetch now, if anything.
    fn choose(&mut self, now: Time) -> Result<Option<Fetch>, DiscoverError>;

    /// The hub that was chosen shows these links for the first time, the oldest first: which, and when they appeared.
    fn visited(
        &mut self,
        now: Time,
        hub: u32,
        links: impl ExactSizeIterator<Item = (u32, Time)>,
    ) -> Result<(), DiscoverError>;

    /// The page that was chosen is fetched.
    fn fetched(&mut self, now: Time) -> Result<(), DiscoverError>;

    /// Pages that were fetched turned out to be worth so much when they were new: by hub, in the order in which they were fetched.
    fn learn(&mut self, now: Time, worth: &[(u32, f64)]) -> Result<(), DiscoverError>;
}

/// The moment of a slot, the first being 1.
pub(super) fn slot_at(start: Time, rate: f64, slot: u64) -> Time {
    start + Span::from_secs(slot as f64 / rate)
}

/// Runs one crawler through a world. `told` hears of every fetch.
pub(super) fn drive(
    world: &HubWorld,
    setting: &Setting,
    mut crawler: impl Crawler,
    mut told: impl FnMut(Time, Fetch),
) -> Result<Run, DiscoverError> {
    let mut score = Score::new(world, setting.from);
    let mut logs = Logs::new(world.start, setting.logs_every);
    // How many links of each hub were seen.
    let mut seen = vec![0usize; world.hubs.len()];
    let end = world.end();
    for slot in 1.. {
        let now = slot_at(world.start, setting.rate, slot);
        if now > end {
            break;
        }
        if let Some(worth) = logs.arrived(now) {
            crawler.learn(now, &worth)?;
        }
        let Some(fetch) = crawler.choose(now)? else {
            score.lost();
            continue;
        };
        told(now, fetch);
        match fetch {
            Fetch::Hub(hub) => {
                score.visit();
                let (items, seen) = (&world.hubs[hub as usize].items, &mut seen[hub as usize]);
                let old = *seen;
                *seen += items[old..].partition_point(|item| item.born <= now);
                let new = (old..*seen).map(|place| (place as u32, items[place].born));
                crawler.visited(now, hub, new)?;
            }
            Fetch::Item(hub, place) => {
                let items = &world.hubs[hub as usize];
                let item = &items.items[place as usize];
                score.fetch(now, item, items.decay);
                crawler.fetched(now)?;
                logs.note(hub, item.profit);
                // Logs that are read all the time tell at once.
                if let Some(worth) = logs.arrived(now) {
                    crawler.learn(now, &worth)?;
                }
            }
        }
    }
    Ok(score.finish())
}
