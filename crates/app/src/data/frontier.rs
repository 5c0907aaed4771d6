//! `refrain frontier`: the queues of crawlers that fetch by themselves, as lines of JSON, and back.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use refrain_core::queues::PARKED;
use refrain_engine::{Clock, add_queued};
use refrain_fetch::url::PageUrl;
use refrain_store::{
    CrawlRow, ItemNews, ItemRow, PageId, QueueChanges, QueueRow, Reader, Role, Schedule, Store, StoreError,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::harmless::harmless;
use super::open_to_write;
use crate::cli::{DumpArgs, FrontierArgs, FrontierCommand, LoadArgs};
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::serve::urlfrontier::{is_kept, metadata};

/// So many lines are committed at a time.
const TOGETHER: usize = 50_000;
/// A line is no longer than this.
const LONGEST: usize = 64 << 20;

/// An address in a queue.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    crawl: String,
    key: String,
    url: String,
    /// When it came, in seconds since 1970.
    created: u32,
    /// From when on it is due; 0: never again.
    due: u32,
    metadata: BTreeMap<String, Vec<String>>,
    /// Who decides in the crawl when to come back, if it is not its crawler.
    #[serde(default, skip_serializing_if = "Decides::is_client")]
    schedule: Decides,
}

/// Who decides when to come back.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Decides {
    #[default]
    Client,
    Server,
}

impl Decides {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
    fn is_client(&self) -> bool {
        *self == Self::Client
    }

    fn schedule(self) -> Schedule {
        match self {
            Self::Client => Schedule::Client,
            Self::Server => Schedule::Server,
        }
    }
}

pub(crate) fn run(args: &FrontierArgs) -> Result<(), Failure> {
    match &args.command {
        FrontierCommand::Dump(args) => dump(args),
        FrontierCommand::Load(args) => load(args),
    }
}

fn dump(args: &DumpArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let queues: HashMap<i64, QueueRow> =
        reader.queues()?.into_iter().map(|queue| (queue.id, queue)).collect();
    let mut failed = None;
    to_stdout(|out| {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let mut written = Ok(());
        let read = reader.each_whole_item(|item| {
            let Some(queue) = queues.get(&item.queue) else { return true };
            if args.crawl.as_ref().is_some_and(|crawl| *crawl != queue.crawl) {
                return true;
            }
            written = line(queue, item).and_then(|line| writeln!(out, "{line}"));
            written.is_ok()
        });
        failed = read.err();
        written.and_then(|()| out.flush())
    })?;
    failed.map_or(Ok(()), |why: StoreError| Err(why.into()))
}

fn line(queue: &QueueRow, item: ItemRow) -> std::io::Result<String> {
    // Of what is due when its value says so, nobody knows when that is: from the beginning.
    let due = if item.page.is_some() && item.due != 0 { item.created.max(1) } else { item.due };
    let metadata = metadata::read_all(&item.metadata);
    let (crawl, key) = (queue.crawl.clone(), queue.key.clone());
    let (created, schedule) =
        (item.created, if item.page.is_some() { Decides::Server } else { Decides::Client });
    Ok(serde_json::to_string(&Line { crawl, key, url: item.url, created, due, metadata, schedule })?)
}

fn load(args: &LoadArgs) -> Result<(), Failure> {
    let mut store = open_to_write(&args.place.data)?;
    let mut known = Known::read(store.read())?;
    // All of it is read before anything is written: a file with a mistake in it changes nothing.
    let mut schedules = known.schedules.clone();
    each_line(&args.file, |line| agree(&mut schedules, line))?;
    let (mut together, mut lines, mut new) = (Vec::new(), 0_u64, 0_u64);
    each_line(&args.file, |line| {
        together.push(line);
        lines += 1;
        if together.len() == TOGETHER {
            new += known.put_all(&mut store, std::mem::take(&mut together))?;
        }
        Ok(())
    })?;
    new += known.put_all(&mut store, together)?;
    to_stdout(|out| writeln!(out, "{lines} URLs, {new} of them new"))
}

/// Whether a line says the same as others, and as what is there, of who decides in its crawl.
fn agree(schedules: &mut HashMap<String, Schedule>, line: Line) -> Result<(), Failure> {
    let said = line.schedule.schedule();
    if let Some(known) = schedules.get(&line.crawl).filter(|known| **known != said) {
        return Err(Failure::input(format!(
            "crawl {}: it is {} scheduled, and {} scheduled in a line of the file; expected the same, or another crawl",
            harmless(&line.crawl),
            known.as_str(),
            said.as_str()
        )));
    }
    schedules.insert(line.crawl, said);
    Ok(())
}

/// Every line of a file; the first that is none ends it.
fn each_line(path: &Path, mut each: impl FnMut(Line) -> Result<(), Failure>) -> Result<(), Failure> {
    let unread = |why| Failure::system(format!("{}: cannot be read", path.display()), why);
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(unread)?);
    let (mut text, mut number) = (Vec::new(), 0u64);
    loop {
        text.clear();
        number += 1;
        let wrong = |why: &str| {
            Failure::input(format!(
                "{}, line {number}: {why}; expected a line of `refrain frontier dump`",
                path.display()
            ))
        };
        let read =
            std::io::Read::take(&mut file, LONGEST as u64).read_until(b'\n', &mut text).map_err(unread)?;
        if read == 0 {
            return Ok(());
        }
        if read == LONGEST {
            return Err(wrong("the line is too long"));
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Line = serde_json::from_slice(&text).map_err(|why| wrong(&why.to_string()))?;
        if !is_kept(&line.url, &line.key) {
            return Err(wrong("`url` or `key` is empty or too long"));
        }
        if line.schedule == Decides::Server && page_of(&line).is_none() {
            return Err(wrong("`url` is no address of a page, and its value cannot decide"));
        }
        each(line)?;
    }
}

/// The page of a line, and what it is there for.
fn page_of(line: &Line) -> Option<(PageUrl, Role)> {
    let is = |key| line.metadata.get(key).and_then(|said| said.first()).is_some_and(|said| said == "true");
    let role = if is("isSitemap") {
        Role::Sitemap
    } else if is("isFeed") {
        Role::Feed
    } else {
        Role::Page
    };
    Some((PageUrl::parse(&line.url).ok()?, role))
}

/// What is in a data directory already.
struct Known {
    schedules: HashMap<String, Schedule>,
    queues: HashMap<(String, String), i64>,
    /// Addresses, by fingerprints of queue and address.
    items: HashMap<u128, u32>,
    last_queue: i64,
    last_item: u32,
    /// What was given so far is over once an address is loaded.
    since: i64,
}

fn print(queue: i64, url: &str) -> u128 {
    xxh3_128(format!("{queue} {url}").as_bytes())
}

impl Known {
    fn read(reader: &Reader) -> Result<Self, StoreError> {
        let schedules = reader.crawls()?.into_iter().map(|crawl| (crawl.name, crawl.schedule)).collect();
        let rows = reader.queues()?;
        let last_queue = rows.iter().map(|queue| queue.id).max().unwrap_or(0);
        let queues = rows.into_iter().map(|queue| ((queue.crawl, queue.key), queue.id)).collect();
        let (mut items, mut last_item, mut since) = (HashMap::new(), 0, 0);
        reader.each_item(|item| {
            items.insert(print(item.queue, &item.url), item.id);
            last_item = last_item.max(item.id);
            since = since.max(item.since);
        })?;
        let since = reader.served()?.last().map_or(since, |served| since.max(served.id));
        Ok(Self { schedules, queues, items, last_queue, last_item, since })
    }

    /// Lines that are committed together: how many of their addresses were not there before.
    fn put_all(&mut self, store: &mut Store, lines: Vec<Line>) -> Result<u64, Failure> {
        let by_value = lines.iter().filter(|line| line.schedule == Decides::Server);
        let pages: Vec<(PageUrl, Role)> = by_value.filter_map(page_of).collect();
        let mut pages = add_queued(store, &pages, Clock::start().now())?.into_iter();
        let (mut changes, mut new) = (QueueChanges::default(), 0);
        for line in lines {
            let page = (line.schedule == Decides::Server).then(|| pages.next()).flatten();
            new += u64::from(self.put(line, page, &mut changes)?);
        }
        store.commit_queues(&[changes])?;
        Ok(new)
    }

    /// Whether it was not there before.
    fn put(&mut self, line: Line, page: Option<PageId>, changes: &mut QueueChanges) -> Result<bool, Failure> {
        let Line { crawl, key, url, created, due, metadata, schedule } = line;
        // Where values decide, dates do not.
        let due = if page.is_some() { PARKED } else { due.min(PARKED - 1) };
        if self.schedules.insert(crawl.clone(), schedule.schedule()).is_none() {
            changes.crawls.push(CrawlRow { name: crawl.clone(), schedule: schedule.schedule() });
        }
        let queue = *self.queues.entry((crawl, key)).or_insert_with_key(|(crawl, key)| {
            self.last_queue += 1;
            let (crawl, key) = (crawl.clone(), key.clone());
            changes.queues.push(QueueRow {
                id: self.last_queue,
                crawl,
                key,
                delay: None,
                blocked_until: None,
                limit: None,
                served: None,
            });
            self.last_queue
        });
        let metadata = metadata::written(&metadata);
        let print = print(queue, &url);
        if let Some(id) = self.items.get(&print) {
            changes.news.push(ItemNews { id: *id, due, since: self.since, metadata: Some(metadata) });
            return Ok(false);
        }
        let full = || Failure::OnTheWay("there is no room for more URLs".to_owned());
        self.last_item = self.last_item.checked_add(1).filter(|id| *id < u32::MAX).ok_or_else(full)?;
        self.items.insert(print, self.last_item);
        let (id, since) = (self.last_item, self.since);
        changes.items.push(ItemRow { id, queue, created, due, since, page, url, metadata });
        Ok(true)
    }
}
