//! Where a client goes, and where it does not.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::fake::{Leads, once, settings, url};
use refrain_fetch::client::{Client, Request, Settings};
use refrain_fetch::dns::{Answer, Resolve};
use refrain_fetch::{FetchError, Stage};

/// A name server that does not answer.
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _: &'a str) -> Answer<'a> {
        Box::pin(std::future::pending())
    }
}

async fn error(settings: Settings, resolver: impl Resolve, text: &str) -> FetchError {
    let client = Client::with_resolver(settings, Arc::new(resolver)).expect("settings");
    client.get(&Request::new(url(text))).await.expect_err(text)
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

#[tokio::test]
async fn by_default_nothing_private_is_visited_however_it_is_spelled() {
    let server = once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let port = server.url.port();
    let strict = || Settings { allow_private: false, ..settings() };
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "0x7f000001",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
    ] {
        let text = format!("http://{host}:{port}/");
        let failed = error(strict(), Leads(vec![address("8.8.8.8")]), &text).await;
        assert!(matches!(failed, FetchError::Forbidden(_)), "{host}: {failed:?}");
    }
    for leads in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "fd00::1"] {
        let text = format!("https://innocent.example:{port}/");
        let failed = error(strict(), Leads(vec![address(leads)]), &text).await;
        assert_eq!(failed, FetchError::Forbidden(address(leads)));
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn with_permission_they_are_visited_and_localhost_needs_no_name_server() {
    let server = once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let client = Client::with_resolver(settings(), Arc::new(Leads(Vec::new()))).expect("settings");
    for host in ["127.0.0.1", "localhost", "a.b.localhost"] {
        let text = format!("http://{host}:{}/", server.url.port());
        assert_eq!(client.get(&Request::new(url(&text))).await.expect("an answer").status, 200);
    }
}

#[tokio::test]
async fn the_next_address_is_tried_if_one_does_not_answer() {
    let server = once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let leads = Leads(vec![address("127.0.0.9"), address("127.0.0.1")]);
    let client = Client::with_resolver(settings(), Arc::new(leads)).expect("settings");
    let text = format!("http://two.example:{}/", server.url.port());
    let response = client.get(&Request::new(url(&text))).await.expect("an answer");
    assert_eq!(response.remote.map(|remote| remote.ip()), Some(address("127.0.0.1")));
}

#[tokio::test]
async fn names_that_lead_nowhere() {
    let failed = error(settings(), Leads(Vec::new()), "http://nowhere.example/").await;
    assert_eq!(failed.to_string(), "the host's name could not be resolved: no such name");

    let hurried = Settings { connect_timeout: Duration::from_millis(50), ..settings() };
    let failed = error(hurried, Silent, "http://nowhere.example/").await;
    assert_eq!(failed, FetchError::Timeout(Stage::Dns));
}

#[tokio::test]
async fn nobody_listens() {
    let port = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let failed = error(settings(), Leads(Vec::new()), &format!("http://127.0.0.1:{port}/")).await;
    assert!(matches!(failed, FetchError::Connect(_)), "{failed:?}");
}
