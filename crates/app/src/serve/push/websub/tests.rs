//! Hubs, good and bad.

use std::sync::Arc;

use aws_lc_rs::hmac;
use refrain_store::PageId;

use super::Rounds;
use crate::serve::push::Push;
use crate::serve::push::fake::{Fake, block, knock, lock};
use crate::serve::push::intake::{Fields, LARGEST};
use crate::serve::push::verdict::Verdict;

const HUB: &str = "https://hub.example/";
const TOPIC: &str = "https://site.example/feed?topic";
const FEED: &str =
    "<rss version='2.0'><channel><item><link>https://site.example/new</link></item></channel></rss>";

/// What a hub was asked.
struct Question {
    callback: String,
    secret: String,
}

/// Lets all happen that happens by itself at this moment.
async fn run(push: &Arc<Push>) {
    let mut rounds = Rounds::default();
    loop {
        let Ok(_) = push.step(&mut rounds).await else { return };
        if rounds.asking.join_next().await.is_none() {
            return;
        }
    }
}

fn question(fake: &Fake) -> Question {
    let (hub, body) = lock(&fake.posts).last().cloned().expect("a hub was asked");
    assert_eq!(hub, HUB);
    let fields = Fields::read(body.as_bytes());
    assert_eq!((fields.one("hub.mode"), fields.one("hub.topic")), (Some("subscribe"), Some(TOPIC)));
    let callback = fields
        .one("hub.callback")
        .unwrap()
        .strip_prefix("https://crawler.example/refrain")
        .unwrap()
        .to_owned();
    let secret = fields.one("hub.secret").unwrap().to_owned();
    assert!(callback.len() == "/push/websub/".len() + 43 && secret.len() == 43, "{callback} {secret}");
    Question { callback, secret }
}

fn verification(question: &Question, lease: u64) -> String {
    let topic: String = form_urlencoded::byte_serialize(TOPIC.as_bytes()).collect();
    format!(
        "{}?hub.mode=subscribe&hub.topic={topic}&hub.challenge=a%3Cb&hub.lease_seconds={lease}",
        question.callback
    )
}

async fn subscribed(fake: &Arc<Fake>, push: &Arc<Push>) -> Question {
    push.found_hub(PageId(2), TOPIC, HUB);
    run(push).await;
    let question = question(fake);
    let (status, echo) = knock(push, "GET", &verification(&question, 300), &[], "").await;
    assert_eq!((status, echo.as_str()), (200, "a<b"));
    question
}

async fn distribute(push: &Arc<Push>, to: &str, secret: &str, body: &str) -> u16 {
    let signed = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body.as_bytes());
    let mut line = String::from("sha256=");
    for byte in signed.as_ref() {
        line.push_str(&format!("{byte:02x}"));
    }
    let headers = [("x-hub-signature", line.as_str()), ("content-type", "application/rss+xml")];
    knock(push, "POST", to, &headers, body.to_owned()).await.0
}

#[test]
fn what_a_hub_distributes_is_heard_once() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        let Question { callback, secret } = subscribed(&fake, &push).await;
        for _ in 0..3 {
            assert_eq!(distribute(&push, &callback, &secret, FEED).await, 202);
        }
        assert_eq!(fake.last_verdict(), Some(("websub", Verdict::Replayed)));
        assert_eq!(
            *lock(&fake.fed),
            [(PageId(2), "https://site.example/feed".to_owned(), FEED.to_owned())],
            "as the page that it is, whatever the hub calls it"
        );
        // What is no feed only says that the page is another one.
        assert_eq!(distribute(&push, &callback, &secret, "<!doctype html><p>news").await, 202);
        assert_eq!(fake.urls(), ["https://site.example/feed"]);
        // After the lease nobody listens.
        fake.later(300);
        assert_eq!(distribute(&push, &callback, &secret, "<rss><channel/></rss>").await, 202);
        assert_eq!(fake.last_verdict(), Some(("websub", Verdict::Unverified)));
    });
    assert_eq!(lock(&fake.fed).len(), 1);
}

#[test]
fn what_is_not_signed_changes_nothing() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        let Question { callback, secret } = subscribed(&fake, &push).await;
        assert_eq!(distribute(&push, &callback, "another secret", FEED).await, 202, "hubs are not told");
        assert_eq!(knock(&push, "POST", &callback, &[], FEED).await.0, 202);
        let wrong = [("x-hub-signature", "md5=d41d8cd98f00b204e9800998ecf8427e")];
        assert_eq!(knock(&push, "POST", &callback, &wrong, FEED).await.0, 202);
        assert_eq!(fake.last_verdict(), Some(("websub", Verdict::Unverified)));
        assert_eq!(distribute(&push, "/push/websub/unknown", &secret, FEED).await, 410);
        let large = "x".repeat(LARGEST + 1);
        assert_eq!(distribute(&push, &callback, &secret, &large).await, 413);
    });
    assert!(lock(&fake.fed).is_empty() && fake.urls().is_empty());
}

#[test]
fn only_what_was_asked_for_is_confirmed() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        push.found_hub(PageId(2), TOPIC, HUB);
        push.found_hub(PageId(2), TOPIC, HUB);
        run(&push).await;
        assert_eq!(lock(&fake.posts).len(), 1, "once");
        let question = question(&fake);
        let right = verification(&question, 300);
        let wrong = [
            right.replace("=subscribe&", "=unsubscribe&"),
            right.replace("topic&", "other&").replace("feed", "food"),
            right.replace("hub.mode=subscribe&", ""),
            right.replace("websub/", "websub/x"),
            question.callback.clone(),
        ];
        for path in wrong {
            assert_eq!(knock(&push, "GET", &path, &[], "").await.0, 404, "{path}");
        }
        for path in [right.replace("a%3Cb", ""), right.replace("a%3Cb", &"x".repeat(5000))] {
            assert_eq!(knock(&push, "GET", &path, &[], "").await.0, 400);
        }
        assert_eq!(knock(&push, "GET", &right, &[], "").await.0, 200);
        assert_eq!(knock(&push, "GET", &right, &[], "").await.0, 404, "nothing is pending any more");
        let denied = right.replace("subscribe&", "denied&");
        assert_eq!(knock(&push, "GET", &denied, &[], "").await.0, 200);
        assert_eq!(distribute(&push, &question.callback, &question.secret, FEED).await, 202);
    });
    assert!(lock(&fake.fed).is_empty(), "denied is denied");
}

/// Killed at any moment: what a hub was asked is known afterwards, by the same callback and secret.
#[test]
fn restarts_forget_nothing() {
    let fake = Fake::new();
    block(async {
        let push = fake.push();
        push.found_hub(PageId(2), TOPIC, HUB);
        run(&push).await;
        let first = question(&fake);
        assert_eq!(lock(&fake.kept).len(), 1, "it was kept before the hub was asked");
        drop(push);
        let push = fake.push();
        run(&push).await;
        let second = question(&fake);
        assert_eq!(
            (lock(&fake.posts).len(), &second.callback, &second.secret),
            (2, &first.callback, &first.secret)
        );
        assert_eq!(knock(&push, "GET", &verification(&first, 300), &[], "").await.0, 200);
        drop(push);
        let push = fake.push();
        run(&push).await;
        assert_eq!(lock(&fake.posts).len(), 2, "the lease lasts");
        push.found_hub(PageId(2), TOPIC, HUB);
        assert_eq!(distribute(&push, &first.callback, &first.secret, FEED).await, 202);
        assert_eq!(lock(&fake.fed).len(), 1);
        fake.later(200);
        run(&push).await;
        assert_eq!(lock(&fake.posts).len(), 3, "it is renewed");
        assert_eq!(knock(&push, "GET", &verification(&first, 300), &[], "").await.0, 200);
        // What was distributed before a restart says nothing new afterwards.
        drop(push);
        let push = fake.push();
        assert_eq!(distribute(&push, &first.callback, &first.secret, FEED).await, 202);
        assert_eq!(lock(&fake.fed).len(), 1);
    });
}

/// Killed after a hub was asked: it comes before anything else has happened, and is known.
#[test]
fn a_hub_that_was_asked_before_a_kill_may_come_at_once() {
    let fake = Fake::new();
    block(async {
        let push = fake.push();
        push.found_hub(PageId(2), TOPIC, HUB);
        run(&push).await;
        let question = question(&fake);
        drop(push);
        let push = fake.push();
        assert_eq!(
            knock(&push, "GET", &verification(&question, 300), &[], "").await,
            (200, "a<b".to_owned())
        );
        assert_eq!(distribute(&push, &question.callback, &question.secret, FEED).await, 202);
        assert_eq!((lock(&fake.fed).len(), fake.last_verdict()), (1, Some(("websub", Verdict::Taken))));
        run(&push).await;
        assert_eq!(lock(&fake.posts).len(), 1, "it need not be asked again");
    });
}

/// What the last question to a hub was, without the secret.
fn farewell(fake: &Fake) -> (String, String) {
    let (hub, body) = lock(&fake.posts).last().cloned().unwrap();
    let fields = Fields::read(body.as_bytes());
    assert_eq!((hub.as_str(), fields.one("hub.topic"), fields.one("hub.secret")), (HUB, Some(TOPIC), None));
    (fields.one("hub.mode").unwrap().to_owned(), fields.one("hub.callback").unwrap().to_owned())
}

#[test]
fn a_page_that_is_forgotten_is_unsubscribed_from() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        let question = subscribed(&fake, &push).await;
        let end = verification(&question, 300).replace("=subscribe&", "=unsubscribe&");
        assert_eq!(knock(&push, "GET", &end, &[], "").await.0, 404, "nobody asked for that");
        lock(&fake.pages).clear();
        fake.later(60);
        run(&push).await;
        let callback = format!("https://crawler.example/refrain{}", question.callback);
        assert_eq!(farewell(&fake), ("unsubscribe".to_owned(), callback));
        assert_eq!(distribute(&push, &question.callback, &question.secret, FEED).await, 410);
        // It is on the disk, and goes on after a restart.
        drop(push);
        let push = fake.push();
        run(&push).await;
        assert_eq!((farewell(&fake).0.as_str(), lock(&fake.posts).len()), ("unsubscribe", 3));
        for wrong in [verification(&question, 300), end.replace("topic&", "other&").replace("feed", "food")] {
            assert_eq!(knock(&push, "GET", &wrong, &[], "").await.0, 404, "{wrong}");
        }
        assert_eq!(knock(&push, "GET", &end, &[], "").await, (200, "a<b".to_owned()));
        assert_eq!(knock(&push, "GET", &end, &[], "").await.0, 404, "it is over");
        assert!(lock(&fake.kept).is_empty(), "nothing is left of it");
    });
}

#[test]
fn who_wants_no_subscriptions_any_more_ends_them() {
    for (public_url, most) in [(Some("https://elsewhere.example/"), 0), (None, 3)] {
        let fake = Fake::new();
        let push = fake.push();
        block(async {
            let question = subscribed(&fake, &push).await;
            drop(push);
            let push = fake.push_with(public_url, most);
            run(&push).await;
            let callback = format!("https://crawler.example/refrain{}", question.callback);
            assert_eq!(farewell(&fake), ("unsubscribe".to_owned(), callback), "where it was told to come");
            let end = verification(&question, 300).replace("=subscribe&", "=unsubscribe&");
            assert_eq!(knock(&push, "GET", &end, &[], "").await.0, 200);
            assert!(lock(&fake.kept).is_empty());
            push.found_hub(PageId(2), TOPIC, HUB);
            run(&push).await;
            assert_eq!(lock(&fake.posts).len(), 2);
        });
    }
}

/// A hub that does not take it is not told for ever: its lease runs out.
#[test]
fn hubs_are_told_of_an_end_a_few_times() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        subscribed(&fake, &push).await;
        lock(&fake.hubs).insert(HUB.to_owned(), (500, None));
        lock(&fake.pages).clear();
        fake.later(60);
        for _ in 0..10 {
            run(&push).await;
            fake.later(3600);
        }
        assert_eq!(lock(&fake.posts).len(), 1 + 4);
        assert!(lock(&fake.kept).is_empty());
    });
}

#[test]
fn hubs_that_refuse_are_asked_later() {
    let fake = Fake::new();
    let push = fake.push();
    lock(&fake.hubs).insert(HUB.to_owned(), (500, None));
    block(async {
        push.found_hub(PageId(2), TOPIC, HUB);
        run(&push).await;
        run(&push).await;
        assert_eq!(lock(&fake.posts).len(), 1);
        fake.later(60);
        lock(&fake.hubs).insert(HUB.to_owned(), (307, Some("https://new.example/hub".to_owned())));
        run(&push).await;
        let posts = lock(&fake.posts).clone();
        let asked: Vec<&str> = posts.iter().map(|(hub, _)| hub.as_str()).collect();
        assert_eq!(asked, [HUB, HUB, "https://new.example/hub"]);
        assert_eq!(posts[1].1, posts[2].1, "the same question");
    });
}

#[test]
fn there_are_not_too_many() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        for hub in ["ftp://hub.example/", "nothing", "javascript:x"] {
            push.found_hub(PageId(2), TOPIC, hub);
        }
        for page in 1..10 {
            push.found_hub(PageId(page), TOPIC, HUB);
        }
        run(&push).await;
        let asked = lock(&fake.posts).len();
        assert_eq!(asked, 3, "as many as fit");
    });
}
