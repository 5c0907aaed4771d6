//! What is in the frontier: ListURLs, CountURLs, GetURLStatus.

use std::collections::HashMap;

use refrain_core::queues::PARKED;
use refrain_store::ItemRow;
use tonic::Status;

use super::address;
use super::chunks::Chunks;
use super::proto::url_item::Item;
use super::proto::{CountUrlParams, KnownUrlItem, ListUrlParams, UrlItem, UrlStatusRequest};
use super::refused;
use super::rows::Rows;
use super::service::Frontier;
use super::wire::Info;
use crate::serve::readers::Readers;

/// So many are listed, if nobody says how many.
pub(super) const USUAL_SIZE: u32 = 100;

/// A part of URLs, to the letter or nearly so.
struct Filter {
    text: String,
    ignores_case: bool,
}

impl Filter {
    fn new(text: Option<String>, ignores_case: Option<bool>) -> Option<Self> {
        let ignores_case = ignores_case.unwrap_or(false);
        let text = text.filter(|text| !text.is_empty())?;
        Some(Self { text: if ignores_case { text.to_lowercase() } else { text }, ignores_case })
    }

    fn fits(&self, url: &str) -> bool {
        if self.ignores_case { url.to_lowercase().contains(&self.text) } else { url.contains(&self.text) }
    }
}

/// The URLs of a crawl or of a queue.
pub(super) async fn list(frontier: &Frontier, params: ListUrlParams) -> Result<Chunks<UrlItem>, Status> {
    let (crawl, key) = (address::crawl(params.crawl_id), address::key(params.key));
    let size = if params.size == 0 { USUAL_SIZE } else { params.size };
    let (mut skip, mut left) = (params.start as usize, size as usize);
    let mut ids = frontier.queues.list(crawl.clone(), key.clone()).await.map_err(refused::over)?;
    let filter = Filter::new(params.filter, params.ignore_case);
    if filter.is_none() {
        // Those before and after need not be read.
        ids.truncate(skip.saturating_add(left));
        ids.drain(..skip.min(ids.len()));
        skip = 0;
    }
    if ids.is_empty() {
        return Ok(Chunks::whole(Vec::new()));
    }
    let mut keys = Keys { readers: frontier.readers.clone(), one: key, all: HashMap::new() };
    let mut rows = Rows::new(frontier.readers.clone(), ids);
    let (to, chunks) = Chunks::open(Vec::new());
    tokio::spawn(async move {
        while left > 0 && !rows.is_over() {
            let mut chunk = match rows.more().await {
                Ok(chunk) => chunk,
                Err(why) => return drop(to.send(Err(refused::by(why))).await),
            };
            if let Some(filter) = &filter {
                chunk.retain(|(_, row)| filter.fits(&row.url));
            }
            let passed = skip.min(chunk.len());
            chunk.drain(..passed);
            skip -= passed;
            chunk.truncate(left);
            left -= chunk.len();
            let items = match keys.items(&crawl, chunk).await {
                Ok(items) => items,
                Err(why) => return drop(to.send(Err(why)).await),
            };
            if !items.is_empty() && to.send(Ok(items)).await.is_err() {
                return;
            }
            if to.is_closed() {
                return;
            }
        }
    });
    Ok(chunks)
}

/// The keys of queues, by their numbers.
struct Keys {
    readers: Readers,
    /// The only one.
    one: Option<String>,
    all: HashMap<i64, String>,
}

impl Keys {
    async fn items(&mut self, crawl: &str, rows: Vec<(usize, ItemRow)>) -> Result<Vec<UrlItem>, Status> {
        // They are read when the first of them is needed, and again if some are new.
        if self.one.is_none() && rows.iter().any(|(_, row)| !self.all.contains_key(&row.queue)) {
            let queues = self.readers.scan(refrain_store::Reader::queues).await.map_err(refused::by)?;
            let of_crawl = queues.into_iter().filter(|queue| queue.crawl == crawl);
            self.all = of_crawl.map(|queue| (queue.id, queue.key)).collect();
        }
        let key = |row: &ItemRow| self.one.clone().or_else(|| self.all.get(&row.queue).cloned());
        // Whatever lost its queue meanwhile is gone.
        Ok(rows.into_iter().filter_map(|(_, row)| Some(known(key(&row)?, crawl.to_owned(), row))).collect())
    }
}

/// A URL as others know it.
fn known(key: String, crawl: String, row: ItemRow) -> UrlItem {
    // What others decide about is due some time; when it came is a date that never changes.
    let due = if row.due == PARKED { row.created.max(1) } else { row.due };
    let info = Info { url: row.url, key, crawl, metadata: row.metadata };
    let known = KnownUrlItem { info: Some(info), refetchable_from_date: due.into() };
    UrlItem { item: Some(Item::Known(known)), id: String::new(), creation_date: row.created.into() }
}

/// How many URLs a crawl or a queue has.
pub(super) async fn count(frontier: &Frontier, params: CountUrlParams) -> Result<u64, Status> {
    let (crawl, key) = (address::crawl(params.crawl_id), address::key(params.key));
    let Some(filter) = Filter::new(params.filter, params.ignore_case) else {
        let tally = frontier.queues.tally(Some(crawl), key).await.map_err(refused::over)?;
        return Ok(tally.waiting + tally.completed);
    };
    let ids = frontier.queues.list(crawl, key).await.map_err(refused::over)?;
    let (mut rows, mut count) = (Rows::new(frontier.readers.clone(), ids), 0);
    while !rows.is_over() {
        let chunk = rows.more().await.map_err(refused::by)?;
        count += chunk.iter().filter(|(_, row)| filter.fits(&row.url)).count() as u64;
    }
    Ok(count)
}

/// What is known of one URL.
pub(super) async fn status(frontier: &Frontier, asked: UrlStatusRequest) -> Result<UrlItem, Status> {
    let key = address::key(asked.key).or_else(|| address::host(&asked.url)).ok_or_else(|| {
        Status::invalid_argument(
            "url: not one from which a queue could be told; expected an address, or a key",
        )
    })?;
    let crawl = address::crawl(asked.crawl_id);
    let unknown = || Status::not_found("there is no such URL in this queue");
    let found = frontier.queues.status(crawl.clone(), key.clone(), asked.url).await.map_err(refused::over)?;
    let now = found.ok_or_else(unknown)?;
    let rows = frontier.readers.look(|reader| reader.items([now.id])).map_err(refused::by)?;
    let mut row = rows.into_iter().next().ok_or_else(unknown)?;
    row.due = if now.is_parked { PARKED } else { now.due };
    row.created = now.created;
    Ok(known(key, crawl, row))
}
