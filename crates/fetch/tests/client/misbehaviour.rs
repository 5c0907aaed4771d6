//! What a client makes of servers that are broken or mean.

use std::io::Write;
use std::time::Duration;

use crate::fake::{get, once, raw, request_head, settings};
use refrain_fetch::client::Settings;
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

#[tokio::test]
async fn heads_are_bounded_in_size_and_lines() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(100_000));
    let failed = get(settings(), &once(long).await).await.expect_err("too large");
    assert_eq!(failed, FetchError::Headers);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(300));
    let failed = get(settings(), &once(many).await).await.expect_err("too many");
    assert_eq!(failed, FetchError::Headers);
}
