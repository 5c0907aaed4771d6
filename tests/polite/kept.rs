//! Servers that close connections which they had kept: no page is lost by that, and no host is taken for one that does not answer.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::desk::Desk;
use crate::support::fake::{Deed, Fake};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>page</p>";

/// One answer, then the end of the connection.
fn answer_once(end: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Deed {
    Deed::wild(move |stream| {
        drop(stream.write_all(ANSWER));
        end(stream);
    })
}

#[test]
fn a_connection_that_was_closed_costs_no_page() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let hosts = [
        ("at-once", answer_once(|_| {})),
        // The next request is read, and not answered.
        ("when-asked", answer_once(|stream| drop(stream.read(&mut [0; 4096])))),
        // The next request is not read: a reset.
        ("reset", answer_once(|stream| drop(stream.peek(&mut [0; 1])))),
    ];
    let mut seeds = Vec::new();
    for (host, deed) in &hosts {
        fake.put(host, "*", deed.clone());
        fake.put(host, "/robots.txt", Deed::status(404));
        seeds.extend((0..8).map(|page| fake.url(host, &format!("/{page}"))));
    }
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    assert_eq!(lines.len(), seeds.len());
    assert!(lines.iter().all(|line| line.outcome == "first"), "{lines:#?}");
    for (host, _) in &hosts {
        let host = desk.host(&fake.host(host)).unwrap();
        assert_eq!((host.failures, host.back_off_until), (0, None), "{host:?}");
    }
    desk.assert_sound();
}

/// A server that closes every connection without an answer is not asked again and again.
#[test]
fn a_host_that_never_answers_is_left_alone() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("mute", "/robots.txt", Deed::status(404));
    fake.put("mute", "*", Deed::raw(""));
    let seeds: Vec<String> = (0..4).map(|page| fake.url("mute", &format!("/{page}"))).collect();
    desk.crawl(&[&desk.seeds(&seeds), "--for", "3s"]);
    let asked = fake.asked_of("mute").into_iter().filter(|hit| hit.path != "/robots.txt").count();
    // The first request used the connection of robots.txt, and was made once more.
    assert!((1..=2).contains(&asked), "{asked}");
    assert_eq!(desk.host(&fake.host("mute")).unwrap().failures, 1);
}
