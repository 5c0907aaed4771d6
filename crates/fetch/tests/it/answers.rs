//! What a client makes of well-behaved servers.

use std::sync::Arc;

use crate::fake::{client, get, once, raw, request_head, settings};
use refrain_core::time::{Span, Time};
use refrain_fetch::announce::hints::{Hints, LastModified};
use refrain_fetch::client::{Request, Settings, Version};
use tokio::io::AsyncWriteExt;
use tokio::sync::Mutex;

#[tokio::test]
async fn an_answer_is_kept_as_it_came() {
    let answer = "HTTP/1.1 200 Fine By Me\r\nServer: fake\r\nETag: W/\"a\"\r\nSet-Cookie: b=1\r\n\
                  Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nSet-Cookie: c=2\r\n\
                  Content-Type: text/html; charset=koi8-r\r\nTransfer-Encoding: chunked\r\n\r\n\
                  3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let server = once(answer).await;
    let response = get(settings(), &server).await.expect("an answer");
    assert_eq!(response.status, 200);
    assert_eq!(response.version, Version::Http11);
    assert_eq!(response.body, "abcde");
    assert_eq!(response.raw, "abcde");
    assert!(!response.truncated);
    assert_eq!(response.etag(), Some(&b"W/\"a\""[..]));
    let modified = Time::from_nanos(784_111_777_000_000_000);
    let hints = Hints::of(&response.headers, modified + Span::from_whole_secs(60));
    assert_eq!(hints.last_modified, LastModified::At(modified));
    let kind = response.content_type().expect("a type");
    assert!(kind.is_html());
    assert_eq!(kind.charset.as_deref(), Some("koi8-r"));
    assert_eq!(response.headers.all("set-cookie").count(), 2);
    assert_eq!(response.remote.map(|remote| remote.port()), Some(server.url.port()));
    assert!(response.first_byte <= response.whole);
    let head = String::from_utf8(response.archive_head()).expect("text");
    assert!(head.starts_with("HTTP/1.1 200 Fine By Me\r\nserver: fake\r\netag: W/\"a\"\r\n"), "{head}");
    assert!(head.ends_with("\r\n\r\n") && !head.contains("transfer-encoding"), "{head}");
    assert!(response.location.is_none());
}

#[tokio::test]
async fn conditions_are_sent_verbatim_and_nothing_new_is_an_answer() {
    let seen = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&seen);
    let server = raw(move |mut tcp| {
        let kept = Arc::clone(&kept);
        async move {
            *kept.lock().await = request_head(&mut tcp).await;
            // A careless server: 304 has no body, whatever its head says.
            let answer = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n";
            let _ = tcp.write_all(answer).await;
        }
    })
    .await;
    let request = Request {
        etag: Some(b"W/\"tag\"".to_vec()),
        last_modified: Some(b"yesterday, or so".to_vec()),
        ..Request::new(server.url.join("/a?b=c#d").expect("a URL"))
    };
    let polite = Settings { user_agent: "Refrain/9 (+https://e.org/)".into(), ..settings() };
    let response = client(polite).expect("settings").get(&request).await.expect("an answer");
    assert_eq!((response.status, response.body.len()), (304, 0));
    let head = seen.lock().await.clone();
    assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
    for line in [
        "If-None-Match: W/\"tag\"",
        "If-Modified-Since: yesterday, or so",
        "User-Agent: Refrain/9 (+https://e.org/)",
        "Accept-Encoding: gzip, br, zstd",
        "Accept: text/html",
        "Host: 127.0.0.1:",
    ] {
        assert!(head.contains(&format!("\r\n{line}")), "{line} in {head}");
    }
}

#[tokio::test]
async fn redirects_are_answers_with_their_target() {
    for (status, location, target) in [
        ("301 Moved Permanently", "/elsewhere?x#y", Some("/elsewhere?x")),
        ("302 Found", "", Some("/")),
        ("307 Temporary Redirect", "https://Example.ORG", Some("https://example.org/")),
        ("308 Permanent Redirect", "ftp://example.org/", None),
        ("303 See Other", "http://me:too@example.org/", None),
    ] {
        let server =
            once(format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")).await;
        let response = get(settings(), &server).await.expect("an answer");
        let found = response.location.expect("a location");
        match target {
            Some(target) => assert_eq!(found, server.url.join(target), "{location}"),
            None => assert!(found.is_err(), "{location}"),
        }
        assert_eq!(server.connections(), 1);
    }
    let server = once("HTTP/1.1 201 Created\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n").await;
    assert!(get(settings(), &server).await.expect("an answer").location.is_none());
}

#[tokio::test]
async fn servers_say_when_to_come_back() {
    let now = Time::from_nanos(784_111_777_000_000_000);
    for (value, wait) in [
        ("120", Some(Span::from_whole_secs(120))),
        ("99999999999999999999999", Some(Span::MAX)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", Some(Span::from_whole_secs(60))),
        ("Sun, 06 Nov 1994 08:40:00 GMT", Some(Span::ZERO)),
        ("soon", None),
        ("-5", None),
    ] {
        let answer =
            format!("HTTP/1.1 503 Service Unavailable\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        let response = get(settings(), &once(answer).await).await.expect("an answer");
        assert_eq!(response.retry_after(now), wait, "{value}");
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = raw(|mut tcp| async move {
        while !request_head(&mut tcp).await.is_empty() {
            let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        }
    })
    .await;
    let client = client(settings()).expect("settings");
    for _ in 0..5 {
        let response = client.get(&Request::new(server.url.clone())).await.expect("an answer");
        assert_eq!(response.body, "ok");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn old_servers_end_bodies_by_hanging_up() {
    let server = once("HTTP/1.0 200 OK\r\n\r\nall of it").await;
    let response = get(settings(), &server).await.expect("an answer");
    assert_eq!((response.version, &response.body[..]), (Version::Http10, &b"all of it"[..]));
}
