//! What happened to queues, as rows.

use rusqlite::{Connection, params};

use super::QueueChanges;
use crate::commit::Rows;
use crate::error::StoreError;
use crate::millis;
use crate::store::Store;
use refrain_core::time::Time;

impl Store {
    /// Commits what happened to queues, one after the other: all of it or, if it fails, nothing. When it returns it is on the disk.
    pub fn commit_queues(&mut self, changes: &[QueueChanges]) -> Result<(), StoreError> {
        self.write(&[], Time::ZERO, |connection, _| {
            changes.iter().try_for_each(|changes| apply(connection, changes)).map(Ok)
        })
    }
}

const ITEM: [&str; 8] = ["id", "queue", "created", "due", "since", "page", "url", "metadata"];

fn apply(connection: &Connection, changes: &QueueChanges) -> rusqlite::Result<()> {
    let mut remove = connection.prepare_cached("DELETE FROM items WHERE id = ?1")?;
    for id in &changes.no_items {
        remove.execute((id,))?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM queues WHERE id = ?1")?;
    for id in &changes.no_queues {
        remove.execute((id,))?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM counted WHERE queue = ?1")?;
    for queue in changes.no_queues.iter().chain(&changes.no_limits) {
        remove.execute((queue,))?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM counted WHERE queue = ?1 AND item = ?2")?;
    for counted in &changes.not_counted {
        remove.execute(*counted)?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM crawls WHERE name = ?1")?;
    for name in &changes.no_crawls {
        remove.execute((name,))?;
    }
    let mut write =
        connection.prepare_cached("INSERT OR REPLACE INTO crawls (name, schedule) VALUES (?1, ?2)")?;
    for crawl in &changes.crawls {
        write.execute((&crawl.name, crawl.schedule.as_str()))?;
    }
    // An upsert leaves the index of crawls and keys alone, and rows stay where they are; a replacement would write both anew.
    let mut write = connection.prepare_cached(
        "INSERT INTO queues (id, crawl, key, delay, blocked_until, most, served) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET delay = ?4, blocked_until = ?5, most = ?6, served = ?7",
    )?;
    for queue in &changes.queues {
        write.execute(params![
            queue.id,
            queue.crawl,
            queue.key,
            queue.delay.map(millis::at_least),
            queue.blocked_until.map(millis::deadline),
            queue.limit,
            queue.served.map(millis::deadline),
        ])?;
    }
    Rows::prepare(connection, "items", &ITEM)?.insert(&changes.items, |item, bind| {
        bind(&item.id)?;
        bind(&item.queue)?;
        bind(&item.created)?;
        bind(&item.due)?;
        bind(&item.since)?;
        bind(&item.page.map(|page| page.0))?;
        bind(&item.url)?;
        bind(&item.metadata)
    })?;
    let mut news = connection.prepare_cached(
        "UPDATE items SET due = ?2, since = ?3, metadata = ifnull(?4, metadata) WHERE id = ?1",
    )?;
    for item in &changes.news {
        news.execute((item.id, item.due, item.since, &item.metadata))?;
    }
    let mut write = connection.prepare_cached("INSERT INTO served (id, until, items) VALUES (?1, ?2, ?3)")?;
    for served in &changes.served {
        let items: Vec<u8> = served.items.iter().flat_map(|item| item.to_le_bytes()).collect();
        write.execute((served.id, served.until, items))?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM served WHERE id = ?1")?;
    for id in &changes.ended {
        remove.execute((id,))?;
    }
    let mut write =
        connection.prepare_cached("INSERT OR IGNORE INTO counted (queue, item) VALUES (?1, ?2)")?;
    for counted in &changes.counted {
        write.execute(*counted)?;
    }
    crate::commit::meta(connection, &changes.meta)
}
