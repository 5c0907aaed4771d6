//! Old copies are dropped and their space is taken back, in small steps between batches of facts.

use refrain_core::time::{Span, Time};
use refrain_store::{Compaction, PageId, Retention, Store, StoreError};

/// All pages are gone through so often.
const ROUND: Span = Span::from_whole_secs(3600);
/// Pages in a step: some milliseconds.
const PAGES: usize = 500;

/// How far tidying up has come.
pub(crate) struct Tidy {
    retention: Retention,
    next: Stage,
    due: Time,
}

enum Stage {
    /// Versions of pages from this one on.
    Versions(PageId),
    /// Archive files that are mostly dead.
    Files,
}

impl Tidy {
    /// Begins at once: it may be long since the last crawl.
    pub(crate) fn new(retention: Retention, now: Time) -> Self {
        Self { retention, next: Stage::Versions(PageId(0)), due: now }
    }

    /// When there is something to do.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// A small step, if it is time.
    pub(crate) fn step(&mut self, store: &mut Store, now: Time) -> Result<(), StoreError> {
        if now < self.due {
            return Ok(());
        }
        match self.next {
            Stage::Versions(from) => {
                let done = store.retain(&self.retention, now, from, PAGES)?;
                self.next = done.next.map_or(Stage::Files, Stage::Versions);
            }
            Stage::Files => {
                if store.compact(&Compaction::default(), now)?.is_nothing() {
                    (self.next, self.due) = (Stage::Versions(PageId(0)), now + ROUND);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use refrain_store::warc::{Body, HttpHead, Response};
    use refrain_store::{Address, Batch, Digest, Look, NewPage, Options, Origin, Outcome, PageState};

    use super::*;

    #[test]
    fn old_copies_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let start = Time::from_nanos(1_700_000_000_000_000_000);
        let url = Address::new("http://a.example/").unwrap();
        let page = NewPage {
            url: url.clone(),
            host: "http://a.example".to_owned(),
            importance: 1.0,
            max_age: None,
            added: start,
            found: "seed",
            origin: Origin::default(),
        };
        let page =
            store.commit(&Batch { pages: vec![page], ..Batch::default() }).unwrap().pages[0].unwrap().page;
        let head = HttpHead::response(200, "OK", std::iter::empty()).unwrap();
        for day in 0..5 {
            let time = start + Span::from_whole_secs(86_400 * day);
            let body = format!("day {day}");
            let response = Response {
                url: &url,
                page: &url,
                time,
                ip: None,
                head: &head,
                body: Body::new(body.as_bytes()),
                truncated: None,
                request: None,
            };
            let look = Look {
                page,
                time,
                asked: time,
                elapsed: None,
                outcome: if day == 0 { Outcome::First } else { Outcome::Changed },
                counted: None,
                status: Some(200),
                bytes: 5,
                duration: Span::ZERO,
                digest: Some(Digest::of(body.as_bytes())),
                state: PageState::Active,
                history: None,
                known: None,
                record: Some(response.encode().unwrap()),
            };
            store.commit(&Batch { looks: vec![look], ..Batch::default() }).unwrap();
        }
        let now = start + Span::from_whole_secs(86_400 * 5);
        let mut tidy = Tidy::new(Retention { most_bodies: Some(2), longest: None }, now);
        while tidy.due() <= now {
            tidy.step(&mut store, now).unwrap();
        }
        assert_eq!(store.read().versions_of(page).unwrap().len(), 2);
        assert_eq!(tidy.due(), now + ROUND);
    }
}
