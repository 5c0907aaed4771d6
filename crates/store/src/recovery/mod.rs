//! Rebuilds the database from the archive: `refrain recover`.
//!
//! An older copy of the database is gone on from: what the archive has beyond it is added. Versions whose record is not where the copy says, since
//! files were compacted or lost, are found again in the rest of the archive, or dropped. If there is no database, or none that can be read, all
//! facts that records tell of are made anew: pages, observations, versions, changes. The new database is built beside the old one, which is kept
//! under another name; until [`Recovery::finish`] nothing that is there is changed.

mod base;
mod lost;
mod records;
mod scan;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use refrain_core::time::Time;
use rusqlite::Connection;

use crate::address::Address;
use crate::batch::{Added, Batch};
use crate::commit::{self, Refused};
use crate::digest::Digest;
use crate::error::{Context, StoreError};
use crate::facts::{Known, Look, NewPage, Origin, Outcome, PageId, PageState};
use crate::place::{Place, segment_name};
use crate::query::read_at;
use crate::segments::{Segments, Spot};
use crate::store::{Options, Store};
use crate::warc::{Encoded, Kind, Record, read_record};
use base::Base;
use records::Found;
use scan::Part;

/// So many records become facts in one transaction.
const AT_A_TIME: usize = 1000;
/// So many gaps are named; more are only counted.
const MOST_NAMED: usize = 100;

/// What is to be told about an archive by a crate that understands addresses and bodies.
pub trait Interpret {
    /// The page at an address in its one spelling, and its host; `None` if no crawler goes there.
    fn page(&self, url: &str) -> Option<(Address, String)>;

    /// What is known of a page from its latest answer: its title, and what the next body is compared with.
    fn copy(&self, page: &Address, answer: &Record) -> (Option<String>, Option<Vec<u8>>);
}

/// What was recovered, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Why all was made anew; `None` if the database that was there was gone on from.
    pub anew: Option<String>,
    /// New pages.
    pub pages: u64,
    /// Observations.
    pub observations: u64,
    /// Versions.
    pub versions: u64,
    /// Records that are not of copies of pages, by what they are instead.
    pub passed_over: Vec<(&'static str, u64)>,
    /// Parts of files that cannot be read, each as a sentence, with file and offset.
    pub gaps: Vec<String>,
    /// How many more there are.
    pub more_gaps: u64,
}

/// A database that is being rebuilt.
#[derive(Debug)]
pub struct Recovery {
    store: Store,
    /// The data directory with its own database.
    place: Place,
    /// Parts of files that the database does not know: the number of the segment, and from where on.
    unknown: Vec<(i64, u64)>,
    /// Segments of the database whose files are missing or cut short, with the lengths of the files.
    cut_short: Vec<(i64, Option<u64>)>,
    recovered: Recovered,
    touched: BTreeSet<PageId>,
}

impl Recovery {
    /// Prepares the database that is to be filled. `None` if there is one already that knows all that the archive has.
    pub fn begin(directory: &Path) -> Result<Option<Self>, StoreError> {
        let place = Place::new(directory);
        let present = place.segments_present()?;
        if present.is_empty() {
            let why = "there are no archive files".to_owned();
            return Err(StoreError::NotAStore { path: place.segments(), why });
        }
        let lock = place.lock()?;
        let Base { connection, place: building, known, cut_short, why } = base::prepare(&place)?;
        let mut unknown = Vec::new();
        for id in present {
            let path = place.segment(id);
            let length = std::fs::metadata(&path).at(&path, "look at the segment")?.len();
            match known.live.iter().find(|(own, _)| *own == id) {
                Some((_, committed)) if length > *committed => unknown.push((id, *committed)),
                None if id > known.last_id => unknown.push((id, 0)),
                _ => {}
            }
        }
        if unknown.is_empty() && cut_short.is_empty() {
            drop(connection);
            base::discard(&building)?;
            return Ok(None);
        }
        let last = known.live.last().copied();
        let segments = Segments::new(building.clone(), Options::default().segment_bytes, last, known.last_id);
        let store = Store::with(connection, building, segments, lock);
        let recovered = Recovered { anew: why, ..Recovered::default() };
        Ok(Some(Self { store, place, unknown, cut_short, recovered, touched: BTreeSet::new() }))
    }

    /// Reads what the database does not know of the archive, and commits what it tells. `progress` hears which file is read.
    pub fn read(
        &mut self,
        interpret: &impl Interpret,
        mut progress: impl FnMut(&str),
    ) -> Result<(), StoreError> {
        self.in_database(|connection| {
            records::create(connection)?;
            lost::note(connection, &self.cut_short)?;
            connection.execute_batch("BEGIN")
        })?;
        let last = self.unknown.last().map(|(id, _)| *id);
        for (id, from) in std::mem::take(&mut self.unknown) {
            progress(&segment_name(id));
            let whole = self.read_segment(id, from, interpret)?;
            // Only the last file is written on: what cannot be read at its end is moved aside then.
            let path = self.place.segment(id);
            let length = std::fs::metadata(&path).at(&path, "look at the segment")?.len();
            let length = if Some(id) == last { whole } else { length };
            self.in_database(|connection| {
                let sql = "INSERT INTO segments (id, length) VALUES (?1, ?2)
                           ON CONFLICT (id) DO UPDATE SET length = ?2";
                connection.execute(sql, (id, length.cast_signed()))
            })?;
        }
        self.in_database(|connection| {
            connection.execute_batch("COMMIT")?;
            records::order(connection)
        })?;
        let mut done = 0;
        loop {
            let found = self.in_database(|connection| records::after(connection, done, AT_A_TIME))?;
            if found.is_empty() {
                break;
            }
            done += found.len() as i64;
            self.commit(&found, interpret)?;
        }
        for (segment, versions) in
            self.in_database(|connection| lost::give_up(connection, &self.cut_short))?
        {
            let name = segment_name(segment);
            self.recovered.gap(format!("{name}: is missing or cut short: {versions} versions are lost"));
        }
        self.in_database(records::drop_all)
    }

    /// The pages with new observations.
    pub fn touched(&self) -> &BTreeSet<PageId> {
        &self.touched
    }

    /// The database as it is so far: for what follows from the facts.
    pub fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Puts the new database in the place of the old one. What was recovered, and where the old one is now, if there was one.
    pub fn finish(self) -> Result<(Recovered, Option<PathBuf>), StoreError> {
        let Self { mut store, place, recovered, .. } = self;
        // So that the next start does not take the new database for an older one.
        let known = crate::leftovers::Known::read(&store.reader.connection)
            .at(&store.reader.place.database(), "read the segments")?;
        store.segments.mark_as(known.live.last().copied());
        let building = store.reader.place.clone();
        // Nobody else may write before the new database is in its place.
        let lock = store.close();
        let kept = base::replace(&place, &building)?;
        drop(lock);
        Ok((recovered, kept))
    }

    fn in_database<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        work(&self.store.reader.connection).at(&self.store.reader.place.database(), "write to the database")
    }

    /// Writes down the records of a segment from an offset on. Gives the end of the last whole one.
    fn read_segment(&mut self, id: i64, from: u64, interpret: &impl Interpret) -> Result<u64, StoreError> {
        let (path, name) = (self.place.segment(id), segment_name(id));
        let database = self.store.reader.place.database();
        let Self { store, recovered, .. } = self;
        let connection = &store.reader.connection;
        // An answer waits for its request, which belongs to it.
        let mut waiting: Option<(Found, String)> = None;
        let add = |waiting: &mut Option<(Found, String)>| match waiting.take() {
            Some((found, _)) => records::add(connection, &found).at(&database, "write to the database"),
            None => Ok(()),
        };
        let whole = scan::scan(&path, from, |part, offset, length| {
            let record = match part {
                Part::Record(record) => record,
                Part::Gap(why) => {
                    recovered.gap(format!("{name}: {length} bytes from byte {offset} on: the record {why}"));
                    return add(&mut waiting);
                }
            };
            if let Some((answer, answer_id)) = &mut waiting
                && record.kind() == "request"
                && record.field("WARC-Concurrent-To") == Some(answer_id)
            {
                answer.spot.length += length;
                return add(&mut waiting);
            }
            add(&mut waiting)?;
            if matches!(record.kind(), "warcinfo" | "request" | "metadata") {
                return Ok(());
            }
            let spot = Spot { segment: id, offset, length };
            match records::understood(&record, spot, |url| interpret.page(url)) {
                Ok(found) => {
                    let own_id = record.field("WARC-Record-ID").unwrap_or_default().to_owned();
                    waiting = Some((found, own_id));
                }
                Err(what) => recovered.pass_over(what),
            }
            Ok(())
        })?;
        add(&mut waiting)?;
        Ok(whole)
    }

    /// Makes facts of records, in one transaction.
    fn commit(&mut self, found: &[Found], interpret: &impl Interpret) -> Result<(), StoreError> {
        let pages = self.pages(found)?;
        let mut states: HashMap<PageId, State> = HashMap::new();
        let mut same: HashSet<(PageId, Time, Digest)> = HashSet::new();
        let (mut looks, mut spots) = (Vec::new(), Vec::new());
        for found in found {
            let Some(page) = pages.get(found.page.as_str()).copied() else { continue };
            let key = (page, found.time, found.digest);
            // A record that was moved is in two files for a while.
            if !same.insert(key) || self.has_version(key)? {
                self.in_database(|connection| lost::found_again(connection, key, found.spot))?;
                continue;
            }
            let state = match states.entry(page) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => new.insert(self.state(page)?),
            };
            let Ok(url) = Address::new(found.url.as_str()) else { continue };
            let mut look = state.look(page, found);
            if found.is_latest
                && let Some(known) = &mut look.known
            {
                let page = Address::new(found.page.as_str())?;
                if let Some(answer) = self.answer(found.spot)? {
                    (known.title, known.kept) = interpret.copy(&page, &answer);
                }
            }
            let has_record = found.kind == Kind::Response || state.bodies.contains(&found.digest);
            if found.kind == Kind::Response {
                state.bodies.insert(found.digest);
            }
            if has_record {
                look.record =
                    Some(Encoded { bytes: Vec::new(), kind: found.kind, url, digest: found.digest });
                spots.push(found.spot);
                self.recovered.versions += 1;
            }
            looks.push(look);
            self.touched.insert(page);
        }
        self.recovered.observations += looks.len() as u64;
        let batch = Batch { looks, ..Batch::default() };
        self.store.write(&[], Time::ZERO, |connection, _| {
            commit::apply(connection, &batch, &spots, Refused::default()).map(Ok)
        })?;
        Ok(())
    }

    /// The numbers of the pages that records are of; those that are not there are added.
    fn pages<'f>(&mut self, found: &'f [Found]) -> Result<HashMap<&'f str, PageId>, StoreError> {
        let mut named: HashSet<&str> = HashSet::new();
        let first: Vec<&Found> = found.iter().filter(|found| named.insert(&found.page)).collect();
        let page = |found: &&Found| {
            Ok(NewPage {
                url: Address::new(found.page.as_str())?,
                host: found.host.clone(),
                importance: 1.0,
                max_age: None,
                added: found.time,
                found: "archive",
                origin: Origin::default(),
            })
        };
        let pages: Result<Vec<NewPage>, StoreError> = first.iter().map(page).collect();
        let mut batch = Batch { pages: pages?, ..Batch::default() };
        let done = self.store.commit_valid(&mut batch)?;
        let mut numbers = HashMap::new();
        for (found, added) in first.iter().zip(done.pages) {
            let Some(Added { page, new }) = added else { continue };
            self.recovered.pages += u64::from(new);
            numbers.insert(found.page.as_str(), page);
        }
        Ok(numbers)
    }

    fn has_version(&self, (page, time, digest): (PageId, Time, Digest)) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM versions WHERE page = ?1 AND time = ?2 AND digest = ?3";
        let key = (page.0, crate::millis::happened(time), digest.as_bytes());
        Ok(self.store.reader.one(sql, key, |_| Ok(()))?.is_some())
    }

    fn state(&self, page: PageId) -> Result<State, StoreError> {
        let record = self.store.reader.page_by_id(page)?;
        let bodies = self.store.reader.versions_of(page)?.into_iter().map(|version| version.digest).collect();
        Ok(match record {
            Some(record) => {
                State { digest: record.digest, fetched: record.fetched, state: record.state, bodies }
            }
            None => State { digest: None, fetched: None, state: PageState::Active, bodies },
        })
    }

    fn answer(&self, spot: Spot) -> Result<Option<Record>, StoreError> {
        let path = self.place.segment(spot.segment);
        let bytes = read_at(&path, spot).at(&path, "read the segment")?;
        Ok(read_record(&mut &bytes[..]).ok().flatten())
    }
}

/// A page as the records so far leave it.
struct State {
    digest: Option<Digest>,
    fetched: Option<Time>,
    state: PageState,
    /// Those that a revisit may refer to.
    bodies: HashSet<Digest>,
}

impl State {
    /// What a record tells: a look, as the crawler made it.
    fn look(&mut self, page: PageId, found: &Found) -> Look {
        let outcome = match (found.kind, self.digest) {
            (Kind::Revisit, _) if found.not_modified => Outcome::NotModified,
            (Kind::Revisit, _) => Outcome::Unchanged,
            (Kind::Response, None) => Outcome::First,
            (Kind::Response, Some(before)) if before == found.digest => Outcome::Unchanged,
            (Kind::Response, Some(_)) => Outcome::Changed,
        };
        let elapsed = self.fetched.map(|before| found.time.since(before));
        self.fetched = Some(found.time);
        if matches!(outcome, Outcome::First | Outcome::Changed) {
            self.digest = Some(found.digest);
        }
        let redirect = (found.url != found.page).then(|| found.url.clone());
        let known = Known {
            etag: found.etag.clone(),
            last_modified: found.last_modified.clone(),
            redirect,
            ..Known::default()
        };
        let state = if self.state == PageState::Paused { PageState::Paused } else { PageState::Active };
        Look {
            page,
            time: found.time,
            asked: found.time,
            elapsed,
            outcome,
            counted: (outcome == Outcome::Changed).then(|| "bytes".to_owned()),
            status: found.status,
            bytes: found.bytes,
            duration: refrain_core::time::Span::ZERO,
            digest: Some(found.digest),
            state,
            history: None,
            known: (found.kind == Kind::Response).then_some(known),
            record: None,
        }
    }
}

impl Recovered {
    fn gap(&mut self, sentence: String) {
        if self.gaps.len() < MOST_NAMED {
            self.gaps.push(sentence);
        } else {
            self.more_gaps += 1;
        }
    }

    fn pass_over(&mut self, what: &'static str) {
        match self.passed_over.iter_mut().find(|(own, _)| *own == what) {
            Some((_, count)) => *count += 1,
            None => self.passed_over.push((what, 1)),
        }
    }
}
