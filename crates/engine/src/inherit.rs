//! What another crawler saw becomes what our pages have learned: through the same estimator, as if we had looked.

use std::collections::HashMap;

use refrain_core::estimate::{Answer, History, Observation};
use refrain_core::frontier::AttentivePast;
use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{Batch, Outcome, PageId, PastLooks, Reader, Store, StoreError};

use crate::seeds::new_page;

/// A page that another crawler watched.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// Its address.
    pub url: PageUrl,
    /// Its looks, in the order of time, no two at the same millisecond: when, and had the page changed since the one before?
    pub looks: Vec<(Time, bool)>,
}

/// What came of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// Pages that were not there before.
    pub new_pages: u64,
    /// Looks that were not there before,
    pub looks: u64,
    /// and looks that were.
    pub known: u64,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum InheritError {
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A look was imported before, and said otherwise.
    #[error("was imported before, with the opposite in 'changed'")]
    Contradiction {
        /// Which page, of those that were given.
        page: usize,
        /// Which of its looks.
        look: usize,
    },
}

/// So many pages are committed at a time.
const AT_A_TIME: usize = 20_000;

/// Puts what another crawler saw into a store, page by page: what is there already stays as it is. Pages that are not there are added.
///
/// # Errors
/// If a look contradicts one that was imported before: nothing is imported then. If the store fails: importing the same again goes on.
pub fn inherit(store: &mut Store, pages: &[Watched], now: Time) -> Result<Inherited, InheritError> {
    for (page, watched) in pages.iter().enumerate() {
        if let Some(look) = contradiction(store.read(), watched)? {
            return Err(InheritError::Contradiction { page, look });
        }
    }
    let mut inherited = Inherited::default();
    for pages in pages.chunks(AT_A_TIME) {
        let new: Result<Vec<_>, StoreError> =
            pages.iter().map(|page| new_page(&page.url, 1.0, None, now, "import")).collect();
        let added = store.commit(&Batch { pages: new?, ..Batch::default() })?.pages;
        inherited.new_pages += added.iter().flatten().filter(|added| added.new).count() as u64;
        let mut past = Vec::new();
        for (watched, added) in pages.iter().zip(added.iter().flatten()) {
            let merged = merged(store.read(), added.page, watched)?;
            let all = watched.looks.len() as u64;
            let new = merged.as_ref().map_or(0, |merged| merged.looks.len() as u64);
            inherited.looks += new;
            inherited.known += all - new;
            past.extend(merged);
        }
        store.commit(&Batch { past, ..Batch::default() })?;
    }
    Ok(inherited)
}

/// Times as the store has them: whole milliseconds.
fn millis(time: Time) -> i64 {
    time.as_nanos().div_euclid(1_000_000)
}

/// What was imported of a page before, by its time.
fn imported(reader: &Reader, page: PageId) -> Result<HashMap<i64, bool>, StoreError> {
    let looks = reader.observations_of(page, usize::MAX)?;
    let imported = looks.into_iter().filter(refrain_store::Observation::is_imported);
    Ok(imported.map(|look| (millis(look.time), look.outcome == Outcome::Changed)).collect())
}

/// The first look that was imported before, and said otherwise.
fn contradiction(reader: &Reader, watched: &Watched) -> Result<Option<usize>, StoreError> {
    let Some(page) = reader.page(watched.url.as_str())? else { return Ok(None) };
    let known = imported(reader, page.id)?;
    Ok(watched
        .looks
        .iter()
        .position(|(time, changed)| known.get(&millis(*time)).is_some_and(|before| before != changed)))
}

/// A look, ours or another crawler's.
struct Seen {
    time: Time,
    new: bool,
    what: What,
}

enum What {
    /// Another crawler's: had it changed since its look before?
    Theirs(bool),
    Ours(refrain_store::Observation),
}

/// The looks of a page that are new, and the history that follows from all of them; `None` if none is.
fn merged(reader: &Reader, page: PageId, watched: &Watched) -> Result<Option<PastLooks>, StoreError> {
    let known = imported(reader, page)?;
    let theirs = watched.looks.iter().filter(|(time, _)| !known.contains_key(&millis(*time)));
    let mut all: Vec<Seen> =
        theirs.map(|(time, changed)| Seen { time: *time, new: true, what: What::Theirs(*changed) }).collect();
    if all.is_empty() {
        return Ok(None);
    }
    for look in reader.observations_of(page, usize::MAX)?.into_iter().rev() {
        let time = look.time;
        let what = if look.is_imported() {
            What::Theirs(look.outcome == Outcome::Changed)
        } else {
            What::Ours(look)
        };
        all.push(Seen { time, new: false, what });
    }
    // Ours stay in their order where moments are the same.
    all.sort_by_key(|seen| seen.time);
    let before = reader.page_by_id(page)?.and_then(|record| record.history);
    let before = before.as_deref().and_then(AttentivePast::from_bytes).unwrap_or_default();
    let (history, looks) = replayed(&all);
    let history = before.with_history(history).to_bytes();
    Ok(Some(PastLooks { page, looks, history }))
}

/// What a page has learned from its observations, as if it had just been crawled.
pub(crate) fn relearned(reader: &Reader, page: PageId) -> Result<PastLooks, StoreError> {
    let looks = reader.observations_of(page, usize::MAX)?.into_iter().rev();
    let all: Vec<Seen> =
        looks.map(|look| Seen { time: look.time, new: false, what: What::Ours(look) }).collect();
    let before = reader.page_by_id(page)?.and_then(|record| record.history);
    let before = before.as_deref().and_then(AttentivePast::from_bytes).unwrap_or_default();
    let (history, _) = replayed(&all);
    Ok(PastLooks { page, looks: Vec::new(), history: before.with_history(history).to_bytes() })
}

/// The history that looks make, in the order of time; and those that are new, each with the time since the one before of its kind.
fn replayed(all: &[Seen]) -> (History, Vec<(Time, Option<refrain_core::time::Span>, bool)>) {
    let mut history = History::default();
    let mut new = Vec::new();
    let mut last: Option<Time> = None;
    for seen in all {
        match &seen.what {
            What::Theirs(changed) => {
                let answer = if *changed { Answer::Changed } else { Answer::Unchanged };
                if let Some(interval) =
                    last.and_then(|last| Observation::between(last, seen.time, 0, answer).ok())
                {
                    history.observe(&interval);
                }
                if seen.new {
                    new.push((seen.time, last.map(|last| seen.time.since(last)), *changed));
                }
                last = Some(seen.time);
            }
            What::Ours(look) if look.outcome.is_failure() => history.fail(),
            What::Ours(look) => {
                let answer = match look.outcome {
                    Outcome::Changed => Answer::Changed,
                    Outcome::Unchanged => Answer::Unchanged,
                    Outcome::NotModified => Answer::NotModified,
                    // The first body is compared with nothing; all others are no looks at the page itself.
                    _ => continue,
                };
                let interval = look.elapsed.map(|elapsed| Observation::new(elapsed.as_secs(), 0, answer));
                if let Some(Ok(interval)) = interval {
                    history.observe(&interval);
                }
            }
        }
    }
    (history, new)
}

#[cfg(test)]
mod tests {
    use refrain_core::time::Span;
    use refrain_store::Options;

    use super::*;

    fn at(hours: i64) -> Time {
        Time::from_nanos((1_700_000_000 + 3600 * hours) * 1_000_000_000)
    }

    fn watched(path: &str, looks: &[(i64, bool)]) -> Watched {
        let url = PageUrl::parse(&format!("http://example.org/{path}")).unwrap();
        Watched { url, looks: looks.iter().map(|(hours, changed)| (at(*hours), *changed)).collect() }
    }

    fn history(store: &Store, path: &str) -> AttentivePast {
        let page = store.read().page(&format!("http://example.org/{path}")).unwrap().unwrap();
        AttentivePast::from_bytes(&page.history.unwrap()).unwrap()
    }

    #[test]
    fn it_is_as_if_we_had_looked_and_twice_is_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let page = watched("a", &[(0, true), (5, false), (7, true)]);
        let done = inherit(&mut store, std::slice::from_ref(&page), at(9)).unwrap();
        assert_eq!(done, Inherited { new_pages: 1, looks: 3, known: 0 });
        let mut expected = History::default();
        expected.observe(&Observation::new(5.0 * 3600.0, 0, Answer::Unchanged).unwrap());
        expected.observe(&Observation::new(2.0 * 3600.0, 0, Answer::Changed).unwrap());
        assert_eq!(history(&store, "a").history(), &expected);
        let done = inherit(&mut store, &[page], at(9)).unwrap();
        assert_eq!(done, Inherited { new_pages: 0, looks: 0, known: 3 });
        assert_eq!(history(&store, "a").history(), &expected);
        assert!(refrain_store::verify(folder.path(), |_| {}).unwrap().findings.is_empty());
    }

    #[test]
    fn in_pieces_in_any_order_is_the_same_as_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let all = [(0, true), (5, false), (7, true), (30, true), (31, false)];
        inherit(&mut store, &[watched("once", &all)], at(50)).unwrap();
        for piece in [&all[3..], &all[..2], &all[1..4]] {
            inherit(&mut store, &[watched("pieces", piece)], at(50)).unwrap();
        }
        assert_eq!(history(&store, "once"), history(&store, "pieces"));
        let page = store.read().page("http://example.org/pieces").unwrap().unwrap();
        assert_eq!(store.read().observations_of(page.id, 100).unwrap().len(), 5);
        assert_eq!(page.fetched, None, "somebody else's copies are not ours");
        assert!(refrain_store::verify(folder.path(), |_| {}).unwrap().findings.is_empty());
    }

    #[test]
    fn contradictions_are_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        inherit(&mut store, &[watched("a", &[(0, true), (5, false)])], at(9)).unwrap();
        let pages = [watched("b", &[(1, true)]), watched("a", &[(3, true), (5, true)])];
        let why = inherit(&mut store, &pages, at(9)).unwrap_err();
        assert!(matches!(why, InheritError::Contradiction { page: 1, look: 1 }), "{why}");
        assert!(store.read().page("http://example.org/b").unwrap().is_none());
    }

    #[test]
    fn a_page_that_was_watched_is_known_when_it_is_first_fetched() {
        use crate::restore::Scheduler;
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let often: Vec<(i64, bool)> = (0..50).map(|hour| (hour, true)).collect();
        inherit(&mut store, &[watched("often", &often)], at(60)).unwrap();
        let settings = crate::Settings::default();
        let mut scheduler = Scheduler::restore(store.read(), &settings, at(60)).unwrap();
        let now = at(60) + Span::from_whole_secs(60);
        let order = scheduler.frontier.poll(now).unwrap().unwrap();
        let outcome = refrain_core::frontier::Outcome::Seen(Answer::Changed);
        scheduler.frontier.answer(now, order.id, outcome, None).unwrap();
        // The first fetch says nothing about changes; what was known is still known.
        let past = scheduler.frontier.past(order.page).unwrap();
        assert_eq!(past.history().seen(), 49);
        let rate = past.belief().unwrap().mean() * 3600.0;
        assert!(rate > 1.5, "{rate} changes an hour");
    }
}
