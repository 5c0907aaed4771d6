//! Programs with a token.

use std::sync::atomic::Ordering;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::serve::push::fake::{Fake, block, knock, lock};
use crate::serve::push::verdict::Verdict;

const TOKEN: (&str, &str) = ("authorization", "Bearer the-token");
const JSON: (&str, &str) = ("content-type", "application/json");
const BODY: &str = r#"{"urls": ["https://site.example/", "https://www.site.example/a"]}"#;

#[test]
fn who_has_a_token_is_heard() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        let (status, body) = knock(&push, "POST", "/push/webhook", &[TOKEN, JSON], BODY).await;
        assert_eq!(status, 200, "{body}");
        assert!(body.contains("\"news\":2"), "{body}");
        let basic = format!("Basic {}", STANDARD.encode("anybody:the-token"));
        let text = ("content-type", "text/plain; charset=utf-8");
        let headers = [("authorization", basic.as_str()), text];
        assert_eq!(knock(&push, "POST", "/push/webhook", &headers, "https://site.example/b\n").await.0, 200);
    });
    assert_eq!(
        fake.urls(),
        ["https://site.example/", "https://www.site.example/a", "https://site.example/b"]
    );
    assert!(lock(&fake.heard).iter().all(|(kind, ..)| kind.as_str() == "cdn"));
    assert_eq!(fake.last_verdict(), Some(("cdn", Verdict::Taken)));
    assert_eq!(*lock(&fake.news), 3);
}

#[test]
fn who_has_none_is_not() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        for line in ["Bearer wrong", "Bearer", "the-token", "Basic Og=="] {
            let headers = [("authorization", line), JSON];
            assert_eq!(knock(&push, "POST", "/push/webhook", &headers, BODY).await.0, 401, "{line}");
        }
        assert_eq!(knock(&push, "POST", "/push/webhook", &[JSON], BODY).await.0, 401);
        assert_eq!(fake.last_verdict(), Some(("webhook", Verdict::Unverified)));
        // One stranger among them, and none counts.
        let mixed = r#"["https://site.example/", "https://notsite.example/"]"#;
        assert_eq!(knock(&push, "POST", "/push/webhook", &[TOKEN, JSON], mixed).await.0, 403);
    });
    assert!(fake.urls().is_empty());
}

#[test]
fn what_comes_again_changes_nothing() {
    let fake = Fake::new();
    let push = fake.push();
    block(async {
        let post = async |name: &str, value: &str| {
            knock(&push, "POST", "/push/webhook", &[TOKEN, JSON, (name, value)], BODY).await.0
        };
        fake.is_over.store(true, Ordering::SeqCst);
        assert_eq!(post("webhook-id", "1").await, 503);
        assert_eq!(fake.last_verdict(), Some(("cdn", Verdict::Lost)));
        fake.is_over.store(false, Ordering::SeqCst);
        assert_eq!(post("webhook-id", "1").await, 200, "it did not count before");
        assert_eq!(fake.urls().len(), 2);
        assert_eq!((post("webhook-id", "1").await, post("idempotency-key", "1").await), (200, 200));
        assert_eq!(fake.last_verdict(), Some(("cdn", Verdict::Replayed)));
        let restarted = fake.push();
        let again = [TOKEN, JSON, ("webhook-id", "1")];
        assert_eq!(knock(&restarted, "POST", "/push/webhook", &again, BODY).await.0, 200);
        assert_eq!(fake.last_verdict(), Some(("cdn", Verdict::Replayed)), "a restart forgets nothing");
        assert_eq!(fake.urls().len(), 2);
        fake.later(86_400);
        assert_eq!((post("webhook-id", "1").await, fake.urls().len()), (200, 4));
        assert_eq!((post("webhook-id", "").await, post("webhook-id", &"x".repeat(257)).await), (400, 400));
        let now = 1_794_891_600_i64 + 86_400;
        assert_eq!(post("webhook-timestamp", &(now - 300).to_string()).await, 200);
        assert_eq!(post("webhook-timestamp", &(now + 300).to_string()).await, 200);
        let heard = fake.urls().len();
        for wrong in
            [(now - 301).to_string(), (now + 301).to_string(), i64::MAX.to_string(), "now".to_owned()]
        {
            assert_eq!(post("webhook-timestamp", &wrong).await, 400, "{wrong}");
        }
        assert_eq!(fake.urls().len(), heard);
    });
}
