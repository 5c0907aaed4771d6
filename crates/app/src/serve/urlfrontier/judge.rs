//! What is taken of what crawlers send: which queue it belongs to, and what it says.

use refrain_engine::queues::{Put, Queues, Said, Took};
use refrain_fetch::url::PageUrl;
use refrain_store::Schedule;

use super::counts::{Became, Counts};
use super::proto::ack_message::Status;
use super::proto::url_item::Item;
use super::proto::{AckMessage, BatchAck, DiscoveredBatch, UrlItem};
use super::refusal::{Refusal, Refusals};
use super::wire::Info;
use super::{address, metadata, seen};

/// The answer to what the queues were asked, until they answered: no number that is sent.
const ASKED: i32 = -1;

/// Something that is said in a stream, and what is answered to it.
pub(crate) trait Spoken: Sized + Send + Unpin + 'static {
    type Ack: Send + Unpin + 'static;
    /// How much it is, about.
    fn weight(&self) -> usize;
    /// Adds to `puts` what the queues are to be asked; the rest is known at once.
    fn judged(self, judge: &mut Judge, puts: &mut Vec<Put>) -> Self::Ack;
    /// What the queues answered comes into its place.
    fn settle(ack: &mut Self::Ack, answers: &mut impl Iterator<Item = i32>);
}

/// Who judges the items of a stream.
pub(crate) struct Judge {
    queues: Queues,
    /// The crawl of the item before, and whether the server decides there: mostly it is the same.
    last: (String, bool),
    /// Who is to decide in a crawl that may begin with this batch, as an item of it says.
    begins: Option<(String, Schedule)>,
    became: Became,
    refusals: Refusals,
}

impl Judge {
    pub(super) fn new(queues: Queues) -> Self {
        let last = (String::new(), false);
        Self { queues, last, begins: None, became: Became::default(), refusals: Refusals::default() }
    }

    /// Adds what became of items since the last time to the counters.
    pub(super) fn count(&mut self, counts: &Counts) {
        counts.came(std::mem::take(&mut self.became));
        self.refusals.count(counts);
    }

    /// A new batch begins: crawls may have begun or ended meanwhile.
    pub(super) fn refresh(&mut self) {
        self.last.0.clear();
        self.begins = None;
    }

    /// Whether it is settled by this batch who decides in a crawl: those after it must wait for that.
    pub(super) fn settles(&self) -> bool {
        self.begins.is_some()
    }

    /// What the queues are to be asked; `None` if the item is refused.
    fn put(&mut self, info: Info, said: Said, created: u64) -> Option<Put> {
        match said {
            Said::Discovered => self.became.discovered += 1,
            Said::Known(_) => self.became.known += 1,
        }
        let Info { url, key, crawl, metadata } = info;
        let key = match key_of(&url, key, &crawl, &metadata) {
            Ok(key) => key,
            Err(refusal) => {
                self.refusals.add(refusal, &url);
                return None;
            }
        };
        let crawl = address::crawl(crawl);
        let by = seen::schedule(&metadata);
        let is_otherwise = |by| self.queues.is_server_scheduled(&crawl) != (by == Schedule::Server);
        if let Some(by) = by.filter(|by| is_otherwise(*by)) {
            self.begins.get_or_insert((crawl.clone(), by));
        }
        // What one item says holds for those after it.
        let begins = self.begins.as_ref().filter(|(name, _)| *name == crawl).map(|(_, by)| *by);
        let schedule = begins.or(by);
        let is_told = schedule == Some(Schedule::Server) || self.is_server_scheduled(&crawl);
        if is_told && PageUrl::parse(&url).is_err() {
            self.refusals.add(Refusal::NotAPage, &url);
            return None;
        }
        // A visit of which nothing is said is a visit all the same.
        let seen = is_told.then(|| Box::new(seen::seen(&metadata)));
        let created = (created > 0).then(|| u32::try_from(created).unwrap_or(u32::MAX));
        Some(Put { crawl, key, url, metadata, created, said, schedule, seen })
    }

    fn is_server_scheduled(&mut self, crawl: &str) -> bool {
        if self.last.0 != crawl {
            self.last = (crawl.to_owned(), self.queues.is_server_scheduled(crawl));
        }
        self.last.1
    }

    /// What is answered, once the queues have.
    pub(super) fn answered(&mut self, took: Took) -> i32 {
        match took {
            Took::Taken { completed, .. } => self.became.completed += u64::from(completed),
            Took::Ignored => {
                self.became.ignored += 1;
                return Status::Skipped.into();
            }
            Took::Full => {
                self.refusals.add(Refusal::NoRoom, "");
                return Status::Fail.into();
            }
            Took::Refused => {
                self.refusals.add(Refusal::NotAPage, "");
                return Status::Skipped.into();
            }
        }
        Status::Ok.into()
    }
}

/// Returns the key of the queue of an item, which the client names or the URL has.
fn key_of(url: &str, key: String, crawl: &str, metadata: &[u8]) -> Result<String, Refusal> {
    if url.is_empty() {
        return Err(Refusal::NoUrl);
    }
    if url.len() > address::LONGEST_URL {
        return Err(Refusal::LongUrl);
    }
    if !address::is_name(&key) || !address::is_name(crawl) {
        return Err(Refusal::LongName);
    }
    if !metadata::is_bearable(metadata) {
        return Err(Refusal::LargeMetadata);
    }
    if key.is_empty() { address::host(url).ok_or(Refusal::NoKey) } else { Ok(key) }
}

impl Spoken for UrlItem {
    type Ack = AckMessage;

    fn weight(&self) -> usize {
        let info = match &self.item {
            Some(Item::Discovered(item)) => item.info.as_ref(),
            Some(Item::Known(item)) => item.info.as_ref(),
            None => None,
        };
        self.id.len() + info.map_or(0, weight)
    }

    fn judged(self, judge: &mut Judge, puts: &mut Vec<Put>) -> AckMessage {
        let said = match self.item {
            Some(Item::Discovered(item)) => item.info.map(|info| (info, Said::Discovered)),
            Some(Item::Known(item)) => item.info.map(|info| (info, Said::Known(item.refetchable_from_date))),
            None => None,
        };
        let Some((info, said)) = said else {
            judge.became.empty += 1;
            judge.refusals.add(Refusal::NoUrl, "");
            return AckMessage { id: self.id, status: Status::Skipped.into() };
        };
        let id = if self.id.is_empty() { info.url.clone() } else { self.id };
        let put = judge.put(info, said, self.creation_date);
        let status = if put.is_some() { ASKED } else { Status::Skipped.into() };
        puts.extend(put);
        AckMessage { id, status }
    }

    fn settle(ack: &mut AckMessage, answers: &mut impl Iterator<Item = i32>) {
        settle(&mut ack.status, answers);
    }
}

impl Spoken for DiscoveredBatch {
    type Ack = BatchAck;

    fn weight(&self) -> usize {
        self.id.len() + self.items.iter().map(weight).sum::<usize>()
    }

    fn judged(self, judge: &mut Judge, puts: &mut Vec<Put>) -> BatchAck {
        let status = |info| {
            let put = judge.put(info, Said::Discovered, 0);
            let status = if put.is_some() { ASKED } else { Status::Skipped.into() };
            puts.extend(put);
            status
        };
        BatchAck { id: self.id, statuses: self.items.into_iter().map(status).collect() }
    }

    fn settle(ack: &mut BatchAck, answers: &mut impl Iterator<Item = i32>) {
        ack.statuses.iter_mut().for_each(|status| settle(status, answers));
    }
}

fn weight(info: &Info) -> usize {
    info.url.len() + info.metadata.len()
}

fn settle(status: &mut i32, answers: &mut impl Iterator<Item = i32>) {
    if *status == ASKED {
        *status = answers.next().unwrap_or(Status::Fail.into());
    }
}
