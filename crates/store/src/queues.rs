//! The queues of crawlers that fetch by themselves: facts, how they are committed, and how they are read again. Apart from everything else:
//! they come in great numbers, and nothing else is true only together with them.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use crate::commit::Rows;
use crate::error::StoreError;
use crate::facts::PageId;
use crate::millis;
use crate::reader::Reader;
use crate::store::Store;
use refrain_core::time::{Span, Time};

/// Who decides when to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Whoever fetches, with the date that is sent.
    Client,
    /// The value of a fetch.
    Server,
}

impl Schedule {
    /// As it is written in the store, and told to everybody.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A crawl, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlRow {
    /// Its name.
    pub name: String,
    /// Who decides in it.
    pub schedule: Schedule,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// Its number, never used again.
    pub id: i64,
    /// The crawl.
    pub crawl: String,
    /// The key within the crawl.
    pub key: String,
    /// Between two turns.
    pub delay: Option<Span>,
    /// Nothing is given before.
    pub blocked_until: Option<Time>,
    /// At most so many are completed or given.
    pub limit: Option<u32>,
    /// The last turn in which something was given.
    pub served: Option<Time>,
}

/// An address in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRow {
    /// Its number.
    pub id: u32,
    /// The queue.
    pub queue: i64,
    /// When it came, in whole seconds.
    pub created: u32,
    /// From when on it is due; 0: never again.
    pub due: u32,
    /// What was given up to this number was given before the last news of it.
    pub since: i64,
    /// The page that decides when it is due.
    pub page: Option<PageId>,
    /// The address.
    pub url: String,
    /// What its crawler says of it.
    pub metadata: Vec<u8>,
}

/// News of an address that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemNews {
    /// Its number.
    pub id: u32,
    /// From when on it is due; 0: never again.
    pub due: u32,
    /// What was given so far.
    pub since: i64,
    /// What its crawler says of it now; `None`: nothing new.
    pub metadata: Option<Vec<u8>>,
}

/// What was given to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRow {
    /// Its number; they grow.
    pub id: i64,
    /// Until when, in whole seconds.
    pub until: u32,
    /// The addresses.
    pub items: Vec<u32>,
}

/// What is committed together. In this order: what is gone, then what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueChanges {
    /// Crawls that are new or decided otherwise.
    pub crawls: Vec<CrawlRow>,
    /// Crawls that are gone.
    pub no_crawls: Vec<String>,
    /// Queues that are new or treated otherwise.
    pub queues: Vec<QueueRow>,
    /// Queues that are gone.
    pub no_queues: Vec<i64>,
    /// Addresses that are gone.
    pub no_items: Vec<u32>,
    /// New addresses; of those with the same number, the last.
    pub items: Vec<ItemRow>,
    /// News of others, in the order in which they came.
    pub news: Vec<ItemNews>,
    /// What was given.
    pub served: Vec<ServedRow>,
    /// What was given up to this number has ended, or was answered.
    pub ended: Option<i64>,
    /// What belongs to all of them, by name.
    pub meta: Vec<(String, Vec<u8>)>,
}

impl QueueChanges {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

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
    let mut remove = connection.prepare_cached("DELETE FROM crawls WHERE name = ?1")?;
    for name in &changes.no_crawls {
        remove.execute((name,))?;
    }
    let mut write =
        connection.prepare_cached("INSERT OR REPLACE INTO crawls (name, schedule) VALUES (?1, ?2)")?;
    for crawl in &changes.crawls {
        write.execute((&crawl.name, crawl.schedule.as_str()))?;
    }
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO queues (id, crawl, key, delay, blocked_until, most, served) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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
    if let Some(ended) = changes.ended {
        connection.prepare_cached("DELETE FROM served WHERE id <= ?1")?.execute((ended,))?;
    }
    crate::commit::meta(connection, &changes.meta)
}

impl Reader {
    /// All crawls of queues.
    pub fn crawls(&self) -> Result<Vec<CrawlRow>, StoreError> {
        self.all("SELECT name, schedule FROM crawls ORDER BY name", (), |row| {
            let schedule: String = row.get(1)?;
            let schedule = if schedule == "server" { Schedule::Server } else { Schedule::Client };
            Ok(CrawlRow { name: row.get(0)?, schedule })
        })
    }

    /// All queues, by their numbers.
    pub fn queues(&self) -> Result<Vec<QueueRow>, StoreError> {
        let sql = "SELECT id, crawl, key, delay, blocked_until, most, served FROM queues ORDER BY id";
        self.all(sql, (), |row| {
            let moment = |column| row.get::<_, Option<i64>>(column).map(|millis| millis.map(millis::time));
            Ok(QueueRow {
                id: row.get(0)?,
                crawl: row.get(1)?,
                key: row.get(2)?,
                delay: row.get::<_, Option<i64>>(3)?.map(millis::span),
                blocked_until: moment(4)?,
                limit: row.get(5)?,
                served: moment(6)?,
            })
        })
    }

    /// All addresses in queues, by their numbers, without what their crawlers say of them.
    pub fn each_item(&self, mut each: impl FnMut(ItemRow)) -> Result<(), StoreError> {
        let sql = "SELECT id, queue, created, due, since, page, url, x'' FROM items ORDER BY id";
        self.each_row(sql, (), |row| {
            each(item(row)?);
            Ok(std::ops::ControlFlow::Continue(()))
        })
    }

    /// All addresses in queues, by their numbers, for as long as `each` says so.
    pub fn each_whole_item(&self, mut each: impl FnMut(ItemRow) -> bool) -> Result<(), StoreError> {
        let sql = "SELECT id, queue, created, due, since, page, url, metadata FROM items ORDER BY id";
        self.each_row(sql, (), |row| {
            Ok(if each(item(row)?) {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            })
        })
    }

    /// Addresses by their numbers; those that are there, in the order of the numbers given.
    pub fn items(&self, ids: impl IntoIterator<Item = u32>) -> Result<Vec<ItemRow>, StoreError> {
        let sql = "SELECT id, queue, created, due, since, page, url, metadata FROM items WHERE id = ?1";
        self.at_one_moment(|reader| {
            let mut found = Vec::new();
            for id in ids {
                found.extend(reader.one(sql, (id,), item)?);
            }
            Ok(found)
        })
    }

    /// What was given and may not have come back.
    pub fn served(&self) -> Result<Vec<ServedRow>, StoreError> {
        self.all("SELECT id, until, items FROM served ORDER BY id", (), |row| {
            let items: Vec<u8> = row.get(2)?;
            let (items, _) = items.as_chunks::<4>();
            Ok(ServedRow {
                id: row.get(0)?,
                until: row.get(1)?,
                items: items.iter().map(|item| u32::from_le_bytes(*item)).collect(),
            })
        })
    }
}

/// What there is of a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlTally {
    /// The crawl.
    pub crawl: CrawlRow,
    /// How many queues.
    pub queues: u64,
    /// How many addresses.
    pub items: u64,
    /// How many of them are completed.
    pub completed: u64,
}

/// An address with its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The queue.
    pub queue: QueueRow,
    /// The address.
    pub item: ItemRow,
}

impl Reader {
    /// How much there is of each crawl. Looks at everything.
    pub fn crawl_tallies(&self) -> Result<Vec<CrawlTally>, StoreError> {
        let mut tallies: Vec<CrawlTally> = self
            .crawls()?
            .into_iter()
            .map(|crawl| CrawlTally { crawl, queues: 0, items: 0, completed: 0 })
            .collect();
        let places: HashMap<String, usize> =
            tallies.iter().enumerate().map(|(at, tally)| (tally.crawl.name.clone(), at)).collect();
        let mut of_queue: HashMap<i64, usize> = HashMap::new();
        for queue in self.queues()? {
            if let Some(at) = places.get(&queue.crawl) {
                tallies[*at].queues += 1;
                of_queue.insert(queue.id, *at);
            }
        }
        self.each_row("SELECT queue, count(*), sum(due = 0) FROM items GROUP BY queue", (), |row| {
            if let Some(at) = of_queue.get(&row.get(0)?) {
                tallies[*at].items += row.get::<_, i64>(1)?.cast_unsigned();
                tallies[*at].completed += row.get::<_, i64>(2)?.cast_unsigned();
            }
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(tallies)
    }

    /// Addresses of a crawl with numbers above `after`, at most so many: of one queue or of all, those that contain a text or all. At most `most_seen`
    /// rows are looked at; the last one that was.
    pub fn items_of(
        &self,
        crawl: &str,
        key: Option<&str>,
        contains: Option<&str>,
        (after, most, most_seen): (u32, usize, usize),
    ) -> Result<(Vec<Placed>, Option<u32>), StoreError> {
        let queues: HashMap<i64, QueueRow> = self
            .queues()?
            .into_iter()
            .filter(|queue| queue.crawl == crawl && key.is_none_or(|key| queue.key == key))
            .map(|queue| (queue.id, queue))
            .collect();
        let (mut found, mut seen, mut last) = (Vec::new(), 0, None);
        let sql =
            "SELECT id, queue, created, due, since, page, url, metadata FROM items WHERE id > ?1 ORDER BY id";
        self.each_row(sql, (after,), |row| {
            if found.len() == most || seen == most_seen {
                return Ok(std::ops::ControlFlow::Break(()));
            }
            seen += 1;
            last = Some(row.get(0)?);
            if let Some(queue) = queues.get(&row.get(1)?) {
                let item = item(row)?;
                if contains.is_none_or(|text| item.url.contains(text)) {
                    found.push(Placed { queue: queue.clone(), item });
                }
            }
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        // Whoever saw less than it may has seen all.
        let ended = found.len() < most && seen < most_seen;
        Ok((found, last.filter(|_| !ended)))
    }

    /// Where an address is, or a page, in all queues. Looks at everything.
    pub fn items_at(&self, url: &str, page: Option<PageId>) -> Result<Vec<Placed>, StoreError> {
        let sql = "SELECT id, queue, created, due, since, page, url, metadata FROM items WHERE url = ?1 OR page = ?2 ORDER BY id";
        let items = self.all(sql, (url, page.map(|page| page.0)), item)?;
        let mut queues: HashMap<i64, QueueRow> = if items.is_empty() {
            HashMap::new()
        } else {
            self.queues()?.into_iter().map(|queue| (queue.id, queue)).collect()
        };
        let place = |item: ItemRow| Some(Placed { queue: queues.get_mut(&item.queue)?.clone(), item });
        Ok(items.into_iter().filter_map(place).collect())
    }
}

fn item(row: &Row<'_>) -> rusqlite::Result<ItemRow> {
    Ok(ItemRow {
        id: row.get(0)?,
        queue: row.get(1)?,
        created: row.get(2)?,
        due: row.get(3)?,
        since: row.get(4)?,
        page: row.get::<_, Option<i64>>(5)?.map(PageId),
        url: row.get(6)?,
        metadata: row.get(7)?,
    })
}
