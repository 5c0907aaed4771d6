//! Verdicts that wait for a second look.

use refrain_core::time::Span;
use refrain_fetch::change::{self, Kept, Look, Rules};
use refrain_store::Digest;

use super::clocks::{begin, settings};
use crate::read::{Answer, Doubted, Read};
use crate::visit::{Room, Seen, Visited};
use crate::{Clock, Until};

const PAGES: usize = 40;
/// The text of a page, which was sent in a few kilobytes.
const TEXT: usize = 1 << 20;

/// A visit that saw a change which may be noise.
fn doubtful(clock: Clock) -> Read {
    let look = |token: &str| {
        let body = format!("<p>{token}</p><p>{}</p>", "words ".repeat(TEXT / 6));
        Look::new(body.as_bytes(), None, &Rules::default())
    };
    let (before, now) = (look("<html>one"), look("<html>two"));
    let rules = Rules::default();
    let visit = change::Visit {
        rules: &rules,
        doubt: None,
        time: clock.now(),
        may_look_again: true,
        is_quiet_host: false,
    };
    let judged = change::judge(&Kept::first(&before), &now, visit, || None);
    let doubt = judged.doubt.map(|doubt| Doubted { doubt, since: clock.now() });
    assert!(doubt.is_some());
    Read {
        answer: Answer::Changed,
        elapsed: Some(Span::from_whole_secs(1)),
        counted: None,
        modified: None,
        digest: Some(Digest::of(b"two")),
        record: None,
        links: None,
        places: Vec::new(),
        announced: None,
        hint: None,
        doubt,
        found_noise: None,
    }
}

/// Many pages whose text is far longer than what was sent, all fetched while there was room: those that do not fit are not waited for.
#[tokio::test]
async fn they_take_the_memory_of_their_text() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::start());
    let urls: Vec<String> = (0..PAGES).map(|page| format!("http://192.0.2.{page}/")).collect();
    let mut crawl = begin(folder.path(), clock, settings(Until::Stopped), &urls);
    let now = crawl.wake();
    for _ in 0..PAGES {
        let (order, stored) = crawl.poll(now).unwrap().expect("a page that was never fetched");
        let memo = crawl.memo(stored).unwrap().unwrap();
        let visited = Visited {
            number: 0,
            order: Some(order.id),
            page: order.page,
            stored,
            host: memo.url.origin().to_owned(),
            time: now,
            asked: now,
            status: Some(200),
            bytes: 5000,
            response: None,
            took: Span::ZERO,
            memo,
            seen: Seen::Read(Box::new(doubtful(clock))),
            room: Room::default(),
        };
        crawl.settle_visit(now, visited).unwrap();
    }
    let held = crawl.doubts.len();
    assert!((8..=16).contains(&held), "{held}");
    assert_eq!(crawl.journal.unwritten(), PAGES - held, "the verdict on all others stands");
    crawl.believe_all(now).unwrap();
    assert_eq!((crawl.doubts.len(), crawl.journal.unwritten()), (0, PAGES));
    assert!(crawl.may_look_again());
}
