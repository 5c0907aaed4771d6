//! From the store to a ranking.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use refrain_core::time::Time;
use refrain_engine::{Beliefs, CrawlError};
use refrain_store::{HostId, PageId, Reader};

use super::{Order, Ranked, Ranking, flags};

/// A ranking that is being made.
pub(super) struct Builder {
    ranking: Ranking,
    /// When each was last fetched, in seconds.
    fetched: Vec<u32>,
}

impl Builder {
    pub(super) fn new(taken: Time) -> Self {
        Self { ranking: Ranking { taken, ..Ranking::default() }, fetched: Vec::new() }
    }

    /// A page; the longer ago it was fetched the smaller is `fetched`.
    pub(super) fn add(&mut self, url: &str, host: HostId, ranked: Ranked, flags: u8, fetched: u32) {
        // Four thousand million pages do not fit into the memory of any machine.
        let (Ok(id), Ok(host)) = (u32::try_from(ranked.page.0), u32::try_from(host.0)) else { return };
        let all = &mut self.ranking;
        all.ids.push(id);
        all.hosts.push(host);
        all.stale.push(ranked.stale);
        all.value.push(ranked.value);
        all.changes.push(ranked.changes);
        all.importance.push(ranked.importance);
        all.flags.push(flags);
        all.starts.push(all.text.len() as u64);
        all.text.extend(url.bytes().map(|byte| byte.to_ascii_lowercase()));
        all.text.push(b'\n');
        self.fetched.push(fetched);
    }

    pub(super) fn finish(self) -> Ranking {
        let Self { mut ranking, fetched } = self;
        ranking.orders = Order::ALL.map(|order| {
            let mut places: Vec<u32> = (0..ranking.ids.len() as u32).collect();
            let of = match order {
                Order::Stale => &ranking.stale,
                Order::Value => &ranking.value,
                Order::Changes => &ranking.changes,
                Order::Importance => &ranking.importance,
                Order::Fetched => {
                    places.sort_by_key(|place| std::cmp::Reverse(fetched[*place as usize]));
                    return places;
                }
            };
            // Who is no number comes last.
            let key = |place: &u32| {
                Some(of[*place as usize]).filter(|key| !key.is_nan()).unwrap_or(f32::NEG_INFINITY)
            };
            places.sort_by(|one, two| key(two).total_cmp(&key(one)));
            places
        });
        ranking.text.shrink_to_fit();
        ranking
    }
}

/// Reads all pages.
pub(super) fn build(data: &Path, now: Time) -> Result<Ranking, CrawlError> {
    let reader = Reader::open(data)?;
    let mut beliefs = Beliefs::learn(&reader, now)?;
    let hubs: HashSet<PageId> = reader.hubs()?.into_iter().map(|row| row.hub.page).collect();
    let mut builder = Builder::new(now);
    let mut failed = None;
    reader.pages(|row| {
        let believed = match beliefs.of(&row, now) {
            Ok(believed) => believed,
            Err(why) => {
                failed = Some(why);
                return ControlFlow::Break(());
            }
        };
        let ranked = Ranked {
            page: row.id,
            stale: believed.stale.map_or(f32::NAN, |stale| stale as f32),
            value: believed.value as f32,
            changes: believed.changes.mean() as f32,
            importance: row.importance as f32,
        };
        let flags = flags(
            row.state,
            row.is_failing(),
            row.fetched.is_none(),
            row.origin.role,
            hubs.contains(&row.id),
        );
        let fetched = row
            .fetched
            .map_or(0, |time| (time.as_nanos() / 1_000_000_000).clamp(0, i64::from(u32::MAX)) as u32);
        builder.add(row.url, row.host, ranked, flags, fetched);
        ControlFlow::Continue(())
    })?;
    failed.map_or_else(|| Ok(builder.finish()), Err)
}
