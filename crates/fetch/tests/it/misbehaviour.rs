//! What a client makes of servers that are broken or mean.

use std::io::Write;
use std::time::Duration;

use crate::fake::{get, once, raw, request_head, settings};
use refrain_fetch::client::{Request, Settings};
use refrain_fetch::{FetchError, Stage};
use tokio::io::AsyncWriteExt;

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn with_body(head: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{head}\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}

#[tokio::test]
async fn a_body_that_drips_is_given_up() {
    let server = raw(|mut tcp| async move {
        request_head(&mut tcp).await;
        let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n").await;
        while tcp.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let impatient = Settings { least_speed: 10_000, speed_window: Duration::from_millis(200), ..settings() };
    let failed = get(impatient, &server).await.expect_err("too slow");
    assert_eq!(failed, FetchError::TooSlow { least: 10_000 });
    assert_eq!(failed.to_string(), "the body came at less than 10000 bytes per second");
}

#[tokio::test]
async fn silence_times_out_wherever_it_falls() {
    let silent = raw(|tcp| async move {
        let _held = tcp;
        std::future::pending::<()>().await;
    })
    .await;
    let short = Duration::from_millis(100);
    let failed = get(Settings { head_timeout: short, ..settings() }, &silent).await;
    assert_eq!(failed.expect_err("silence"), FetchError::Timeout(Stage::Head));

    let stops = raw(|mut tcp| async move {
        request_head(&mut tcp).await;
        let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").await;
        std::future::pending::<()>().await;
    })
    .await;
    let failed = get(Settings { whole_timeout: Duration::from_millis(300), ..settings() }, &stops).await;
    assert_eq!(failed.expect_err("silence"), FetchError::Timeout(Stage::Body));
}

#[tokio::test]
async fn a_stream_without_end_is_cut_off_by_size_or_time() {
    let endless = || {
        raw(|mut tcp| async move {
            request_head(&mut tcp).await;
            let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while tcp.write_all(&[b'x'; 10_000]).await.is_ok() {}
        })
    };
    let response = get(Settings { max_body: 123_456, ..settings() }, &endless().await).await.expect("a part");
    assert!(response.truncated);
    assert_eq!(response.body.len(), 123_456);
    let hurried =
        Settings { max_body: usize::MAX / 2, whole_timeout: Duration::from_millis(200), ..settings() };
    let failed = get(hurried, &endless().await).await.expect_err("no end");
    assert_eq!(failed, FetchError::Timeout(Stage::Body));
}

#[tokio::test]
async fn bombs_do_not_go_off() {
    let bomb = gzipped(&gzipped(&vec![0; 30_000_000]));
    assert!(bomb.len() < 5_000);
    let server = once(with_body("Content-Encoding: gzip, gzip\r\n", &bomb)).await;
    let response = get(Settings { max_body: 1_000_000, ..settings() }, &server).await.expect("a part");
    assert!(response.truncated);
    assert_eq!((response.body.len(), response.raw.len()), (1_000_000, bomb.len()));
}

#[tokio::test]
async fn large_bodies_are_decoded_too() {
    let text: Vec<u8> =
        (0..300_000u32).flat_map(|number| (number.wrapping_mul(number)).to_le_bytes()).collect();
    let packed = gzipped(&text);
    assert!(packed.len() > 100_000);
    let server = once(with_body("Content-Encoding: gzip\r\n", &packed)).await;
    let response = get(settings(), &server).await.expect("an answer");
    assert_eq!(response.body, text);
    assert_eq!(response.raw, packed);
}

#[tokio::test]
async fn bodies_in_other_codings_than_named_are_refused() {
    for coding in ["gzip", "br", "zstd", "deflate"] {
        let server =
            once(with_body(&format!("Content-Encoding: {coding}\r\n"), b"<html>not packed</html>")).await;
        let failed = get(settings(), &server).await.expect_err("a lie");
        assert!(matches!(failed, FetchError::Encoding { coding: named, .. } if named == coding), "{failed}");
    }
    let server = once(with_body("Content-Encoding: utf-8\r\n", b"plain")).await;
    assert_eq!(get(settings(), &server).await.expect("an answer").body, "plain");
}

#[tokio::test]
async fn bodies_that_break_off_are_refused() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
    ] {
        let failed = get(settings(), &once(answer).await).await.expect_err(answer);
        assert!(matches!(failed, FetchError::Body(_)), "{answer}: {failed:?}");
    }
}

#[tokio::test]
async fn a_body_is_as_long_as_its_head_says() {
    let server = once("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 500 Oh\r\n\r\n").await;
    assert_eq!(get(settings(), &server).await.expect("an answer").body, "abc");
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    for answer in [
        "",
        "220 mail.example.org ESMTP\r\n",
        "HTTP/1.1 banana\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Len",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "<html>no head</html>",
    ] {
        let failed = get(settings(), &once(answer).await).await.expect_err(answer);
        assert!(matches!(failed, FetchError::Protocol(_)), "{answer}: {failed:?}");
    }
}

#[tokio::test]
async fn lines_that_are_no_headers_are_skipped() {
    let server =
        once("HTTP/1.1 200 OK\r\nno colon here\r\nBad\x01Name: x\r\nGood: y\r\nContent-Length: 0\r\n\r\n")
            .await;
    let response = get(settings(), &server).await.expect("an answer");
    assert_eq!(response.headers.text("good"), Some("y"));
}

/// How a server ends a connection that it has kept.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// After the answer, without a word.
    AtOnce,
    /// When it has read the next request.
    WhenAsked,
    /// By a reset, when the next request comes.
    Reset,
}

/// Answers one request on each connection, and then ends it.
async fn answers_once(end: End) -> crate::fake::Server {
    raw(move |mut tcp| async move {
        if request_head(&mut tcp).await.is_empty() {
            return;
        }
        let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        match end {
            End::AtOnce => {}
            End::WhenAsked => drop(request_head(&mut tcp).await),
            // What is not read makes it a reset.
            End::Reset => drop(tcp.peek(&mut [0; 1]).await),
        }
    })
    .await
}

#[tokio::test]
async fn a_kept_connection_that_is_closed_is_no_failure_of_the_host() {
    for end in [End::AtOnce, End::WhenAsked, End::Reset] {
        let server = answers_once(end).await;
        let client = crate::fake::client(settings()).expect("settings");
        let request = Request::new(server.url.clone());
        for _ in 0..20 {
            match client.get(&request).await {
                Ok(answer) => assert_eq!(answer.body, "ok"),
                Err(why) => {
                    assert_eq!(why, FetchError::Closed, "{end:?}");
                    let again = Request { new_connection: true, ..request.clone() };
                    assert_eq!(client.get(&again).await.expect("an answer").body, "ok", "{end:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_new_connection_that_is_closed_is_one() {
    let server = raw(|mut tcp| async move { drop(request_head(&mut tcp).await) }).await;
    let failed = get(settings(), &server).await.expect_err("closed");
    assert!(matches!(failed, FetchError::Protocol(_)), "{failed:?}");
    // So is one on which an answer has begun.
    let server = raw(|mut tcp| async move {
        request_head(&mut tcp).await;
        let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        request_head(&mut tcp).await;
        let _ = tcp.write_all(b"HTTP/1.1 200").await;
    })
    .await;
    let client = crate::fake::client(settings()).expect("settings");
    let request = Request::new(server.url.clone());
    client.get(&request).await.expect("an answer");
    let failed = client.get(&request).await.expect_err("half an answer");
    assert!(matches!(failed, FetchError::Protocol(_)), "{failed:?}");
}

#[tokio::test]
async fn connections_are_dropped_when_told() {
    let server = raw(|mut tcp| async move {
        while !request_head(&mut tcp).await.is_empty() {
            let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        }
    })
    .await;
    let client = crate::fake::client(settings()).expect("settings");
    let request = Request::new(server.url.clone());
    client.get(&request).await.expect("an answer");
    client.drop_connections();
    client.get(&request).await.expect("an answer");
    assert_eq!(server.connections(), 2);
    let silent = raw(|mut tcp| async move {
        request_head(&mut tcp).await;
        std::future::pending::<()>().await;
    })
    .await;
    let waiting = client.clone();
    let waiting = tokio::spawn(async move { waiting.get(&Request::new(silent.url.clone())).await });
    while !waiting.is_finished() {
        client.drop_connections();
        tokio::task::yield_now().await;
    }
    assert_eq!(waiting.await.expect("no panic").expect_err("dropped"), FetchError::Interrupted);
}

#[tokio::test]
async fn interim_answers_come_to_an_end() {
    let server = raw(|mut tcp| async move {
        request_head(&mut tcp).await;
        let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(100);
        while tcp.write_all(&interim).await.is_ok() {}
    })
    .await;
    assert_eq!(get(settings(), &server).await.expect_err("no end"), FetchError::Headers);
    let few = "HTTP/1.1 100 Continue\r\n\r\n".repeat(20) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(get(settings(), &once(few).await).await.expect("an answer").body, "ok");
}

/// A body of any size comes in pieces, decoded; what it takes is what was sent.
#[tokio::test]
async fn a_body_left_in_its_coding_comes_in_pieces() {
    let text = b"<url><loc>http://a.example/</loc></url>".repeat(500_000);
    let coded = gzipped(&text);
    for (head, body) in [("Content-Encoding: gzip\r\n", &coded), ("", &text)] {
        let server = once(with_body(head, body)).await;
        let request =
            Request { keep_coded: true, max_body: Some(1 << 26), ..Request::new(server.url.clone()) };
        let answer =
            crate::fake::client(settings()).expect("settings").get(&request).await.expect("an answer");
        assert_eq!(answer.raw.len(), body.len());
        let (mut whole, mut largest) = (Vec::new(), 0);
        let more = answer.pieces(1 << 26, &mut |piece| {
            largest = largest.max(piece.len());
            whole.extend_from_slice(piece);
            true
        });
        assert_eq!((more, whole == text), (Ok(false), true));
        assert!(largest <= 16 << 10);
        let mut pieces = 0;
        assert_eq!(
            answer.pieces(100_000, &mut |_| {
                pieces += 1;
                true
            }),
            Ok(true)
        );
        assert_eq!(pieces, 100_000 / (16 << 10) + 1);
    }
}

#[tokio::test]
async fn heads_are_bounded_in_size_and_lines() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(100_000));
    let failed = get(settings(), &once(long).await).await.expect_err("too large");
    assert_eq!(failed, FetchError::Headers);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(300));
    let failed = get(settings(), &once(many).await).await.expect_err("too many");
    assert_eq!(failed, FetchError::Headers);
}
