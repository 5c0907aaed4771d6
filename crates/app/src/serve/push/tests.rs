//! What holds for every door: bodies that are too large, too slow or broken change nothing, and get a sentence.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::Frame;

use super::fake::{Fake, block, knock, lock};
use super::intake::LARGEST;
use super::verdict::Verdict;

const DOORS: [(&str, &str); 3] = [("/push/webhook", "cdn"), ("/indexnow", "indexnow"), ("/ping", "ping")];
const TOKEN: (&str, &str) = ("authorization", "Bearer the-token");

/// The same piece for ever, or once and then nothing for ever.
struct Endless {
    piece: Bytes,
    stalls: bool,
    sent: usize,
}

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.stalls && self.sent > 0 {
            return Poll::Pending;
        }
        self.sent += self.piece.len();
        assert!(self.sent < 2 * LARGEST, "nobody reads on when it is too much");
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }
}

fn endless(stalls: bool) -> Body {
    Body::new(Endless { piece: Bytes::from(vec![b'['; 65_536]), stalls, sent: 0 })
}

fn nothing_happened(fake: &Fake) {
    assert!(lock(&fake.heard).is_empty() && lock(&fake.fed).is_empty() && lock(&fake.gets).is_empty());
    assert!(lock(&fake.posts).is_empty() && lock(&fake.kept).is_empty());
}

#[test]
fn oversized_and_slow_bodies_change_nothing() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        for (path, door) in DOORS {
            let said = (LARGEST + 1).to_string();
            let large = [TOKEN, ("content-length", said.as_str())];
            assert_eq!(knock(&push, "POST", path, &large, "").await.0, 413, "{path}: it says so itself");
            assert_eq!(knock(&push, "POST", path, &[TOKEN], endless(false)).await.0, 413, "{path}");
            assert_eq!(knock(&push, "POST", path, &[TOKEN], endless(true)).await.0, 408, "{path}");
            assert_eq!(fake.last_verdict(), Some((door, Verdict::Oversized)));
            let packed = [TOKEN, ("content-encoding", "gzip")];
            assert_eq!(knock(&push, "POST", path, &packed, "x").await.0, 415, "{path}");
            assert_eq!(knock(&push, "POST", path, &[TOKEN], "\0\u{fffd}{[").await.0, 400, "{path}");
            assert_eq!(knock(&push, "DELETE", path, &[TOKEN], "").await.0, 405, "{path}");
        }
        assert_eq!(knock(&push, "POST", "/push/websub/x", &[], endless(false)).await.0, 410, "unread");
    });
    nothing_happened(&fake);
}

#[test]
fn pings_are_for_what_is_known_and_not_too_often() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        let ping = async |url: &str| knock(&push, "GET", &format!("/ping?sitemap={url}"), &[], "").await.0;
        assert_eq!(ping("https://site.example/sitemap.xml").await, 200);
        assert_eq!(ping("https://site.example/sitemap.xml").await, 429);
        assert_eq!(fake.last_verdict(), Some(("ping", Verdict::TooMany)));
        assert_eq!(ping("https://site.example/").await, 404, "a page is no sitemap");
        assert_eq!(ping("https://other.example/sitemap.xml").await, 404);
        assert_eq!((ping("nothing").await, ping("a&sitemap=b").await), (400, 400));
        assert_eq!(knock(&push, "GET", "/ping", &[], "").await.0, 400);
        fake.later(60);
        let form = "sitemap=https%3A%2F%2Fsite.example%2Ffeed";
        assert_eq!(knock(&push, "POST", "/ping", &[], form).await.0, 200);
    });
    assert_eq!(fake.urls(), ["https://site.example/sitemap.xml", "https://site.example/feed"]);
    assert!(
        lock(&fake.heard)
            .iter()
            .all(|(kind, _, when, adds)| kind.as_str() == "ping" && when.is_none() && !adds)
    );
}
