//! The queues, as the store has them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::PoisonError;

use refrain_core::queues::{ItemId, Manners, QueueId, second};
use refrain_core::time::Span;
use refrain_store::{Reader, StoreError};

use super::work::{DELAY, PAUSED, Work};

/// A lease that lasts for longer after a restart is cut.
const LONGEST_LEASE: Span = Span::from_whole_secs(7 * 86_400);

impl Work {
    /// Takes over all that is in the store: what was given before is still somebody's.
    pub(super) fn restore(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let crawls = reader.crawls()?.into_iter().map(|crawl| (crawl.name, crawl.schedule));
        self.schedules.write().unwrap_or_else(PoisonError::into_inner).extend(crawls);
        let mut places: HashMap<i64, QueueId> = HashMap::new();
        let mut manners = Vec::new();
        let time = self.clock.now();
        let now = second(time);
        for row in reader.queues()? {
            let (queue, _) = self.queues.open(&row.crawl, &row.key);
            // Times beyond these come from a clock that was ahead when they were written.
            let served = row.served.map(|served| served.min(time));
            let (delay, blocked_until) = (row.delay, row.blocked_until);
            manners.push((queue, Manners { delay, blocked_until, limit: row.limit, served }));
            places.insert(row.id, queue);
            self.rows.push(row.id);
            self.last_row = self.last_row.max(row.id);
        }
        if let Some(delay) = number(reader, DELAY)? {
            self.queues.set_delay(Span::from_whole_secs(delay));
        }
        self.queues.set_active(number(reader, PAUSED)?.is_none());
        let mut since: HashMap<u32, i64> = HashMap::new();
        let served = reader.served()?;
        let first = served.first().map_or(i64::MAX, |served| served.id);
        reader.each_item(|row| {
            let Some(queue) = places.get(&row.queue).copied() else { return };
            let print = self.print(queue, &row.url);
            // An address that was found by a clock that was ahead is due at once, as it was then.
            let is_ahead = row.created > now && row.due == row.created;
            let (created, due) = if is_ahead { (now, now.max(1)) } else { (row.created, row.due) };
            self.queues.restore(ItemId(row.id), queue, print, created, due);
            if let Some(page) = row.page {
                self.pages.entry(page).or_default().push(ItemId(row.id));
            }
            // Numbers that were given before are not given again.
            self.last_served = self.last_served.max(row.since);
            // Of what was said before all that is still given, nothing needs to be known.
            if row.since >= first {
                since.insert(row.id, row.since);
            }
        })?;
        let latest = second(time + LONGEST_LEASE);
        for mut row in served {
            row.until = row.until.min(latest);
            self.last_served = self.last_served.max(row.id);
            self.leases.push(Reverse((row.until, row.id)));
            if row.until > now {
                for item in
                    row.items.iter().filter(|item| since.get(item).is_none_or(|since| *since < row.id))
                {
                    self.queues.lease(ItemId(*item), row.until);
                }
            }
        }
        // A limit counts what is there, and what counted before.
        for (queue, manners) in manners {
            self.queues.set_manners(self.clock.now(), queue, manners);
        }
        for (queue, item) in reader.counted()? {
            if let Some(queue) = places.get(&queue) {
                self.queues.restore_count(*queue, ItemId(item));
            }
        }
        // All of that was told before.
        self.queues.take_counted();
        self.queues.begin();
        // Pages that were forgotten just before the end took their addresses with them.
        self.forget(&reader.pages_missing_from_queues()?);
        Ok(())
    }
}

fn number(reader: &Reader, name: &str) -> Result<Option<u64>, StoreError> {
    let kept = reader.meta(name)?;
    Ok(kept.and_then(|kept| String::from_utf8(kept).ok()?.parse().ok()))
}
