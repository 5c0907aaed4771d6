//! Sites that speak for themselves, and others who would like to.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::serve::push::fake::{Fake, block, knock, knock_from, lock};
use crate::serve::push::verdict::Verdict;

const KEY: &str = "abcdef12345678";

fn put(fake: &Fake, path: &str, status: u16, body: &str) {
    lock(&fake.files).insert(format!("https://site.example{path}"), (status, body.to_owned()));
}

fn one(path: &str, key: &str) -> String {
    format!("/indexnow?url=https://site.example{path}&key={key}")
}

#[test]
fn a_site_that_shows_its_key_is_heard() {
    let fake = Fake::new();
    let push = fake.push();
    put(&fake, "/abcdef12345678.txt", 200, "\u{20}abcdef12345678\r\n");
    block(async {
        assert_eq!(knock(&push, "GET", &one("/a", KEY), &[], "").await.0, 200);
        let body = format!(
            r#"{{"host": "site.example", "key": "{KEY}", "urlList": ["https://site.example/b", "http://site.example/c"]}}"#
        );
        assert_eq!(knock(&push, "POST", "/indexnow", &[], body.clone()).await.0, 200);
        assert_eq!(knock(&push, "POST", "/indexnow", &[], body).await.0, 200, "again");
        assert_eq!(fake.last_verdict(), Some(("indexnow", Verdict::Replayed)));
        assert_eq!(lock(&fake.gets).len(), 1, "the key is known for a day");
        fake.later(86_400);
        put(&fake, "/abcdef12345678.txt", 404, "");
        assert_eq!(knock(&push, "GET", &one("/d", KEY), &[], "").await.0, 403);
    });
    assert_eq!(fake.urls(), ["https://site.example/a", "https://site.example/b", "http://site.example/c"]);
    assert!(lock(&fake.heard).iter().all(|(kind, .., adds)| kind.as_str() == "indexnow" && !adds));
}

#[test]
fn who_does_not_is_not() {
    let fake = Fake::new();
    let push = fake.push();
    put(&fake, "/wrongkey1.txt", 200, "another-key");
    put(&fake, "/wrongkey2.txt", 301, "wrongkey2");
    put(&fake, "/wrongkey3.txt", 200, &format!("wrongkey3{}", " ".repeat(2000)));
    put(&fake, "/blog/key.txt", 200, KEY);
    block(async {
        for key in ["wrongkey1", "wrongkey2", "wrongkey3", "wrongkey4"] {
            assert_eq!(knock(&push, "GET", &one("/", key), &[], "").await.0, 403, "{key}");
        }
        assert_eq!(fake.last_verdict(), Some(("indexnow", Verdict::Unverified)));
        put(&fake, "/wrongkey4.txt", 200, "wrongkey4");
        assert_eq!(
            knock(&push, "GET", &one("/", "wrongkey4"), &[], "").await.0,
            403,
            "not asked for again so soon"
        );
        fake.later(600);
        assert_eq!(knock(&push, "GET", &one("/", "wrongkey4"), &[], "").await.0, 200);
        let below = |path: &str| format!("{}&keyLocation=https://site.example/blog/key.txt", one(path, KEY));
        assert_eq!(knock(&push, "GET", &below("/shop/1"), &[], "").await.0, 422);
        assert_eq!(knock(&push, "GET", &below("/blog/1"), &[], "").await.0, 200);
        let gets = lock(&fake.gets).len();
        let stranger = format!("/indexnow?url=https://other.example/&key={KEY}");
        assert_eq!(knock(&push, "GET", &stranger, &[], "").await.0, 422);
        assert_eq!(lock(&fake.gets).len(), gets, "nobody is asked whom we do not crawl");
    });
    assert_eq!(fake.urls(), ["https://site.example/", "https://site.example/blog/1"]);
}

/// Whoever calls with made-up keys does not make us ask the site for all of them, and keeps nobody else from being heard.
#[test]
fn guesses_bother_neither_the_site_nor_others() {
    let fake = Fake::new();
    let push = fake.push();
    put(&fake, "/abcdef12345678.txt", 200, KEY);
    put(&fake, "/second-key.txt", 200, "second-key");
    let (guesser, another) = ("192.0.2.1", "192.0.2.2");
    let guess = |number: u32| one("/", &format!("guess-{number:04}"));
    block(async {
        assert_eq!(knock_from(&push, "192.0.2.9", &one("/first", KEY)).await, 200);
        for number in 0..30 {
            let expected = if number < 10 { 403 } else { 429 };
            assert_eq!(knock_from(&push, guesser, &guess(number)).await, expected, "{number}");
        }
        assert_eq!(lock(&fake.gets).len(), 11);
        assert_eq!(knock_from(&push, another, &one("/second", "second-key")).await, 200, "the site itself");
        // Many who guess: the host is asked so often, and no more; keys that were right go on all the same.
        for number in 100..200 {
            let from = format!("198.51.100.{number}");
            let expected = if number < 120 { 403 } else { 429 };
            assert_eq!(knock_from(&push, &from, &guess(number)).await, expected, "{number}");
        }
        let asked = lock(&fake.gets).len();
        assert_eq!(knock_from(&push, another, &one("/third", "second-key")).await, 200);
        assert_eq!(lock(&fake.gets).len(), asked);
        fake.later(86_400 - 1);
        for number in 200..250 {
            knock_from(&push, &format!("198.51.100.{number}"), &guess(number)).await;
        }
        fake.later(1);
        assert_eq!(knock_from(&push, another, &one("/fourth", "second-key")).await, 200, "looked for again");
        // A new key waits for seconds, not for hours.
        put(&fake, "/third-key.txt", 200, "third-key");
        assert_eq!(knock_from(&push, another, &one("/fifth", "third-key")).await, 429);
        fake.later(20);
        assert_eq!(knock_from(&push, another, &one("/fifth", "third-key")).await, 200);
    });
    let paths = ["/first", "/second", "/third", "/fourth", "/fifth"];
    assert_eq!(fake.urls(), paths.map(|path| format!("https://site.example{path}")));
}

#[test]
fn a_host_that_does_not_answer_is_asked_again_sooner() {
    let fake = Fake::new();
    let push = fake.push();
    put(&fake, "/abcdef12345678.txt", 200, KEY);
    fake.is_busy.store(true, Ordering::SeqCst);
    block(async {
        let mut status = 202;
        for _ in 0..100 {
            status = knock(&push, "GET", &one("/a", KEY), &[], "").await.0;
            if status != 202 {
                break;
            }
        }
        assert_eq!(status, 403, "it is not waited for without end");
        fake.is_busy.store(false, Ordering::SeqCst);
        assert_eq!(knock(&push, "GET", &one("/a", KEY), &[], "").await.0, 403, "it did not answer");
        fake.later(60);
        assert_eq!(knock(&push, "GET", &one("/a", KEY), &[], "").await.0, 200);
    });
}

#[test]
fn a_key_that_takes_long_is_waited_for() {
    let fake = Fake::new();
    let push = fake.push();
    put(&fake, "/abcdef12345678.txt", 200, KEY);
    fake.is_busy.store(true, Ordering::SeqCst);
    block(async {
        let mut waiting = Vec::new();
        for page in 0..20 {
            let (push, path) = (push.clone(), one(&format!("/{page}"), KEY));
            waiting.push(tokio::spawn(async move { knock(&push, "GET", &path, &[], "").await.0 }));
        }
        let mut statuses = Vec::new();
        for one in waiting {
            statuses.push(one.await.unwrap());
        }
        assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 16, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 4);
        assert!(lock(&fake.gets).len() < 16, "they wait for one look");
        assert!(fake.urls().is_empty());
        // The site has time again.
        fake.is_busy.store(false, Ordering::SeqCst);
        for _ in 0..3000 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if fake.urls().len() == 16 {
                return;
            }
        }
        panic!("{:?}", fake.urls());
    });
}
