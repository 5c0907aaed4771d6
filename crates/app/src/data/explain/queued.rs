//! Where an address is in the queues of crawlers that fetch by themselves, and who decides when it is due.

use std::io::{self, Write};

use refrain_core::queues::second;
use refrain_core::time::{Span, Time};
use refrain_store::{PageId, Placed, Reader, Schedule, StoreError};
use serde::Serialize;

use crate::data::harmless::harmless;
use crate::data::shapes::moment;
use crate::data::spelled;

/// Places in queues, with who decides there.
pub(crate) type Places = Vec<(Placed, Schedule)>;

/// Where an address is, or a page.
pub(crate) fn places(reader: &Reader, url: &str, page: Option<PageId>) -> Result<Places, StoreError> {
    let crawls = reader.crawls()?;
    if crawls.is_empty() {
        return Ok(Vec::new());
    }
    let schedule = |name: &str| {
        crawls.iter().find(|crawl| crawl.name == name).map_or(Schedule::Client, |crawl| crawl.schedule)
    };
    let placed = reader.items_at(url, page)?.into_iter();
    Ok(placed
        .map(|placed| (schedule(&placed.queue.crawl), placed))
        .map(|(who, placed)| (placed, who))
        .collect())
}

fn at(seconds: u32) -> Time {
    Time::ZERO + Span::from_whole_secs(seconds.into())
}

/// For people: one line each.
pub(crate) fn write(out: &mut dyn Write, places: &Places, now: Time) -> io::Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    writeln!(out, "queues of other crawlers")?;
    for (Placed { queue, item }, schedule) in places {
        let (crawl, key) = (harmless(&queue.crawl), harmless(&queue.key));
        let when = match (schedule, item.due) {
            (Schedule::Server, _) => "it is due when its value says so (server scheduled)".to_owned(),
            (Schedule::Client, 0) => "completed, never again (client scheduled)".to_owned(),
            (Schedule::Client, due) if due <= second(now) => {
                format!("due since {} (client scheduled)", spelled(at(due)))
            }
            (Schedule::Client, due) => format!("due from {} on (client scheduled)", spelled(at(due))),
        };
        write!(out, "  crawl {crawl}, queue {key}: {when}")?;
        if let Some(until) = queue.blocked_until.filter(|until| *until > now) {
            write!(out, "; the queue is blocked until {}", spelled(until))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// For programs.
#[derive(Serialize)]
pub(crate) struct InQueue {
    crawl: String,
    key: String,
    schedule: &'static str,
    created: Option<String>,
    due: Option<String>,
    completed: bool,
}

pub(crate) fn shapes(places: Places) -> Vec<InQueue> {
    places
        .into_iter()
        .map(|(Placed { queue, item }, schedule)| InQueue {
            crawl: queue.crawl,
            key: queue.key,
            schedule: schedule.as_str(),
            created: moment(Some(at(item.created))),
            due: moment(Some(at(item.due)).filter(|_| item.due != 0 && item.page.is_none())),
            completed: item.due == 0,
        })
        .collect()
}
