//! The queues of other crawlers: does everything in them belong to something that is there?

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

use super::report::{Progress, Report};
use crate::error::StoreError;
use crate::queues::Schedule;
use crate::reader::Reader;
use refrain_core::queues::PARKED;

const EVERY: u64 = 10_000;
const GO_ON: rusqlite::Result<ControlFlow<()>> = Ok(ControlFlow::Continue(()));

/// Queues are of crawls that are there, addresses in queues that are there, once in each, and so on.
pub(super) fn queues(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) -> Result<(), StoreError> {
    let crawls: HashMap<String, Schedule> =
        reader.crawls()?.into_iter().map(|crawl| (crawl.name, crawl.schedule)).collect();
    let mut schedules: HashMap<i64, Schedule> = HashMap::new();
    for queue in reader.queues()? {
        report.checked.queues += 1;
        match crawls.get(&queue.crawl) {
            Some(schedule) => drop(schedules.insert(queue.id, *schedule)),
            None => report
                .damage(format!("queue {} is of the crawl {:?}, which is not there", queue.id, queue.crawl)),
        }
    }
    items(reader, report, progress, &schedules)?;
    served(reader, report)
}

fn items(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
    schedules: &HashMap<i64, Schedule>,
) -> Result<(), StoreError> {
    let (hasher, mut known, mut twice) = (RandomState::new(), HashSet::new(), Vec::new());
    let sql = "SELECT i.id, i.queue, i.due, i.page, i.url, i.metadata, p.id IS NOT NULL
               FROM items i LEFT JOIN pages p ON p.id = i.page";
    reader.each_row(sql, (), |row| {
        let (id, queue, due): (u32, i64, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (page, url): (Option<i64>, String) = (row.get(3)?, row.get(4)?);
        let is_there: bool = row.get(6)?;
        match (schedules.get(&queue), page) {
            (None, _) => report.damage(format!("URL {id} is in queue {queue}, which is not there")),
            (Some(Schedule::Server), None) => report.damage(format!(
                "URL {id} is in a crawl in which values decide, and is of no page that has one"
            )),
            (Some(Schedule::Client), Some(page)) => report.damage(format!(
                "URL {id} is in a crawl in which its crawler decides, and is of page {page}"
            )),
            _ => {}
        }
        match page {
            Some(page) if !is_there => {
                // It may have been forgotten in the last moment.
                report.note(format!("URL {id} is of page {page}, which is not there; it will be forgotten"));
            }
            None if due == PARKED => report.damage(format!("URL {id} waits for a value, and is of no page")),
            _ => {}
        }
        if !is_metadata(row.get_ref(5)?.as_bytes()?) {
            report.damage(format!("what is kept with URL {id} cannot be read"));
        }
        if !known.insert(hasher.hash_one((queue, &url))) {
            twice.push((id, queue, url));
        }
        report.checked.urls += 1;
        if report.checked.urls.is_multiple_of(EVERY) {
            progress(Progress { what: "URLs in queues", done: report.checked.urls, of: None });
        }
        GO_ON
    })?;
    // What only looks the same is not the same.
    for (id, queue, url) in twice {
        let sql = "SELECT count(*) FROM items WHERE queue = ?1 AND url = ?2";
        if reader.one(sql, (queue, &url), |row| row.get::<_, i64>(0))? > Some(1) {
            report.damage(format!("URL {id} is in queue {queue} more than once"));
        }
    }
    let sql = "SELECT c.queue, c.item FROM counted c LEFT JOIN items i ON i.id = c.item AND i.queue = c.queue
               WHERE i.id IS NULL";
    reader.each_row(sql, (), |row| {
        let (queue, item): (i64, i64) = (row.get(0)?, row.get(1)?);
        report.damage(format!("URL {item} counts under the limit of queue {queue}, and is not in it"));
        GO_ON
    })
}

/// Numbers of what was given are whole, whatever became of them.
fn served(reader: &Reader, report: &mut Report) -> Result<(), StoreError> {
    reader.each_row("SELECT id, length(items) FROM served", (), |row| {
        let (id, length): (i64, i64) = (row.get(0)?, row.get(1)?);
        if length % 4 != 0 {
            report.damage(format!("what was given as {id} is cut short"));
        }
        GO_ON
    })
}

/// Whether this is what a crawler said of a URL: entries of a message, each with its length.
fn is_metadata(mut bytes: &[u8]) -> bool {
    /// The number of the field, and that it has a length.
    const FIELD: u8 = 3 << 3 | 2;
    while let Some((&FIELD, rest)) = bytes.split_first() {
        let (mut length, mut shift) = (0_u64, 0);
        bytes = rest;
        loop {
            let Some((byte, rest)) = bytes.split_first().filter(|_| shift < 63) else { return false };
            bytes = rest;
            length |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let Some(rest) = usize::try_from(length).ok().and_then(|length| bytes.get(length..)) else {
            return false;
        };
        bytes = rest;
    }
    bytes.is_empty()
}
