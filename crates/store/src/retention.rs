//! Which versions are kept.
//!
//! Dropping a version makes its record dead; the space comes back when the segment is rewritten.

use refrain_core::time::{Span, Time};
use rusqlite::Connection;

use crate::error::StoreError;
use crate::facts::PageId;
use crate::millis;
use crate::store::Store;

/// Which versions of a page are kept. The latest always is, and so is the body that a kept version refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// At most so many different bodies, the latest ones; looks that saw one of them again stay with it.
    pub most_bodies: Option<u32>,
    /// Nothing older than this.
    pub longest: Option<Span>,
}

/// What came of dropping versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Versions dropped.
    pub dropped: u64,
    /// Where to go on; `None`: all pages have been seen to.
    pub next: Option<PageId>,
}

/// A version as the rule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    id: i64,
    time: i64,
    /// The version that has the body, perhaps itself.
    body: i64,
}

impl Store {
    /// Drops versions of at most `pages` pages from number `from` on, in one transaction; goes on at [`Retained::next`].
    pub fn retain(
        &mut self,
        retention: &Retention,
        now: Time,
        from: PageId,
        pages: usize,
    ) -> Result<Retained, StoreError> {
        self.write(&[], now, |connection, _| retain(connection, retention, now, from, pages).map(Ok))
    }
}

fn retain(
    connection: &Connection,
    retention: &Retention,
    now: Time,
    from: PageId,
    pages: usize,
) -> rusqlite::Result<Retained> {
    let mut several = connection.prepare_cached(
        "SELECT page FROM versions WHERE page >= ?1 GROUP BY page HAVING count(*) > 1 ORDER BY page LIMIT ?2",
    )?;
    let mut versions = connection.prepare_cached(
        "SELECT id, time, ifnull(body, id) FROM versions WHERE page = ?1 ORDER BY time DESC, id DESC",
    )?;
    let mut remove = connection.prepare_cached("DELETE FROM versions WHERE id = ?1")?;
    let limit = i64::try_from(pages.max(1)).unwrap_or(i64::MAX);
    let found: Vec<i64> = several.query_map((from.0, limit), |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut retained = Retained::default();
    for page in &found {
        let read =
            |row: &rusqlite::Row<'_>| Ok(Candidate { id: row.get(0)?, time: row.get(1)?, body: row.get(2)? });
        let latest_first: Vec<Candidate> = versions.query_map((page,), read)?.collect::<Result<_, _>>()?;
        for id in dropped(&latest_first, retention, now) {
            // A body takes the looks that saw it again along, so some may be gone already.
            remove.execute((id,))?;
            retained.dropped += 1;
        }
    }
    if found.len() as i64 == limit {
        retained.next = found.last().map(|page| PageId(page + 1));
    }
    Ok(retained)
}

/// The versions that are not kept.
fn dropped(latest_first: &[Candidate], retention: &Retention, now: Time) -> Vec<i64> {
    let oldest = retention.longest.map_or(i64::MIN, |longest| millis::happened(now - longest));
    let most_bodies = retention.most_bodies.map_or(usize::MAX, |most| most as usize);
    let mut bodies: Vec<i64> = Vec::new();
    let mut kept = Vec::with_capacity(latest_first.len());
    for (age, version) in latest_first.iter().enumerate() {
        if !bodies.contains(&version.body) && bodies.len() < most_bodies {
            bodies.push(version.body);
        }
        kept.push(age == 0 || (version.time >= oldest && bodies.contains(&version.body)));
    }
    let needed: Vec<i64> =
        latest_first.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(version, _)| version.body).collect();
    let is_dropped =
        |(version, kept): (&Candidate, &bool)| (!kept && !needed.contains(&version.id)).then_some(version.id);
    latest_first.iter().zip(&kept).filter_map(is_dropped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: i64 = 1000;

    /// Versions from (id, body), the latest first, one second apart; the latest is seen now, at 100 s.
    fn versions(ids: &[(i64, i64)]) -> Vec<Candidate> {
        let candidate = |(age, (id, body)): (usize, &(i64, i64))| Candidate {
            id: *id,
            time: 100 * SECOND - age as i64 * SECOND,
            body: *body,
        };
        ids.iter().enumerate().map(candidate).collect()
    }

    fn drop_of(ids: &[(i64, i64)], most_bodies: Option<u32>, secs: Option<u64>) -> Vec<i64> {
        let retention = Retention { most_bodies, longest: secs.map(Span::from_whole_secs) };
        dropped(&versions(ids), &retention, millis::time(100 * SECOND))
    }

    #[test]
    fn the_rule_in_small() {
        let four = [(4, 4), (3, 3), (2, 2), (1, 1)];
        assert_eq!(drop_of(&four, None, None), []);
        assert_eq!(drop_of(&four, Some(2), None), [2, 1]);
        assert_eq!(drop_of(&four, None, Some(1)), [2, 1]);
        assert_eq!(drop_of(&four, Some(0), Some(0)), [3, 2, 1], "the latest is always kept");
    }

    #[test]
    fn a_body_stays_as_long_as_somebody_refers_to_it() {
        let revisited = [(4, 1), (3, 3), (2, 1), (1, 1)];
        assert_eq!(drop_of(&revisited, Some(1), None), [3]);
        assert_eq!(drop_of(&revisited, None, Some(0)), [3, 2]);
    }

    proptest! {
        #[test]
        fn what_is_kept_can_be_read_and_is_not_too_much(
            picks in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..20),
            most in 0..5u32,
            secs in 0..20u64,
        ) {
            let mut ids: Vec<(i64, i64)> = Vec::new();
            for (id, (revisit, which)) in (1..).zip(&picks) {
                let bodies: Vec<i64> = ids.iter().filter(|(id, body)| id == body).map(|(id, _)| *id).collect();
                ids.push((id, if *revisit && !bodies.is_empty() { bodies[which.index(bodies.len())] } else { id }));
            }
            ids.reverse();
            let gone = drop_of(&ids, Some(most), Some(secs));
            let kept: Vec<_> = ids.iter().filter(|(id, _)| !gone.contains(id)).collect();
            prop_assert_eq!(kept[0], &ids[0]);
            for (_, body) in &kept {
                prop_assert!(!gone.contains(body));
            }
            let bodies: std::collections::BTreeSet<_> = kept.iter().map(|(_, body)| body).collect();
            prop_assert!(bodies.len() <= (most as usize).max(1));
        }
    }
}
