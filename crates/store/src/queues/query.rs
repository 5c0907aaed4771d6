//! What can be asked of queues.

use std::collections::HashMap;

use rusqlite::Row;

use super::{CrawlRow, ItemRow, QueueRow, Schedule, ServedRow};
use crate::error::StoreError;
use crate::facts::PageId;
use crate::millis;
use crate::reader::Reader;

impl Reader {
    /// All crawls of queues.
    pub fn crawls(&self) -> Result<Vec<CrawlRow>, StoreError> {
        self.all("SELECT name, schedule FROM crawls ORDER BY name", (), |row| {
            let schedule: String = row.get(1)?;
            let schedule = if schedule == "server" { Schedule::Server } else { Schedule::Client };
            Ok(CrawlRow { name: row.get(0)?, schedule })
        })
    }

    /// Whether there is a crawl of queues.
    pub fn has_crawls(&self) -> Result<bool, StoreError> {
        Ok(self.one("SELECT 1 FROM crawls", (), |_| Ok(()))?.is_some())
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
        self.at_one_moment(|reader| {
            let mut found = Vec::new();
            for id in ids {
                found.extend(reader.item(id)?);
            }
            Ok(found)
        })
    }

    /// Many addresses by their numbers, each with its place among those given; at least one and about so many bytes of them. Rows beside each
    /// other are read one after the other, whatever the order of the numbers: a part of the database is read once, not once for each of them.
    pub fn items_beside(&self, ids: &[u32], bytes: usize) -> Result<Beside, StoreError> {
        let mut places: Vec<usize> = (0..ids.len()).collect();
        places.sort_unstable_by_key(|place| ids[*place]);
        let (mut found, mut weight, mut looked) = (Vec::new(), 0, 0);
        self.at_one_moment(|reader| {
            for place in &places {
                if looked > 0 && weight >= bytes {
                    break;
                }
                looked += 1;
                if let Some(row) = reader.item(ids[*place])? {
                    weight += row.url.len() + row.metadata.len();
                    found.push((*place, row));
                }
            }
            Ok(())
        })?;
        found.sort_unstable_by_key(|(place, _)| *place);
        let mut left = places.split_off(looked);
        left.sort_unstable();
        Ok(Beside { found, left })
    }

    /// Addresses by their numbers, for people: what its crawler says of one is read only if it has at most so many bytes. With each, how many it has.
    pub fn items_shown(&self, ids: &[u32], longest: usize) -> Result<Vec<(ItemRow, usize)>, StoreError> {
        let sql = "SELECT id, queue, created, due, since, page, url, CASE WHEN length(metadata) <= ?2 THEN metadata ELSE x'' END,
                   length(metadata) FROM items WHERE id = ?1";
        self.at_one_moment(|reader| {
            let mut found = Vec::new();
            for id in ids {
                let longest = i64::try_from(longest).unwrap_or(i64::MAX);
                found.extend(
                    reader.one(sql, (id, longest), |row| Ok((item(row)?, row.get::<_, i64>(8)? as usize)))?,
                );
            }
            Ok(found)
        })
    }

    fn item(&self, id: u32) -> Result<Option<ItemRow>, StoreError> {
        let sql = "SELECT id, queue, created, due, since, page, url, metadata FROM items WHERE id = ?1";
        self.one(sql, (id,), item)
    }

    /// Pages that decide when addresses are due, and are not there.
    pub fn pages_missing_from_queues(&self) -> Result<Vec<PageId>, StoreError> {
        let sql = "SELECT DISTINCT page FROM items
                   WHERE page IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.id = items.page)";
        self.all(sql, (), |row| row.get(0).map(PageId))
    }

    /// What counts under the limits of queues, by queue and address.
    pub fn counted(&self) -> Result<Vec<(i64, u32)>, StoreError> {
        self.all("SELECT queue, item FROM counted", (), |row| Ok((row.get(0)?, row.get(1)?)))
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

/// Addresses that were looked for together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Those that are there, by their places among the numbers given, the first one first.
    pub found: Vec<(usize, ItemRow)>,
    /// The places of those that were not looked for any more.
    pub left: Vec<usize>,
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
