//! Servers on loopback that do as they are told, however rude.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use refrain_fetch::client::{Client, Request, Response, Settings};
use refrain_fetch::dns::{Answer, DnsError, Resolve, Resolved};
use refrain_fetch::url::PageUrl;
use refrain_fetch::{FetchError, client::BadSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Every name leads to these addresses; to none if there are none.
pub(crate) struct Leads(pub(crate) Vec<IpAddr>);

impl Resolve for Leads {
    fn resolve<'a>(&'a self, _: &'a str) -> Answer<'a> {
        Box::pin(async {
            if self.0.is_empty() {
                return Err(DnsError("no such name".into()));
            }
            Ok(Resolved { addresses: self.0.clone(), holds_for: Duration::from_secs(60) })
        })
    }
}

/// Settings for loopback, with little patience.
pub(crate) fn settings() -> Settings {
    Settings {
        allow_private: true,
        connect_timeout: Duration::from_secs(5),
        head_timeout: Duration::from_secs(10),
        whole_timeout: Duration::from_secs(20),
        ..Settings::default()
    }
}

pub(crate) fn client(settings: Settings) -> Result<Client, BadSettings> {
    Client::with_resolver(settings, Arc::new(Leads(vec![IpAddr::from([127, 0, 0, 1])])))
}

pub(crate) fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).expect("a URL")
}

pub(crate) struct Server {
    pub(crate) url: PageUrl,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads the head of a request; empty if the client hung up.
pub(crate) async fn request_head(tcp: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match tcp.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return String::new(),
        }
    }
    String::from_utf8(head).expect("requests are text")
}

/// Hands every connection to `answer`.
pub(crate) async fn raw<F, Fut>(answer: F) -> Server
where
    F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = url(&format!("http://{}/", listener.local_addr().expect("an address")));
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(answer(tcp));
        }
    });
    Server { url, connections }
}

/// Answers every request on a connection with the same bytes, then (after the first) hangs up.
pub(crate) async fn once(answer: impl Into<Vec<u8>>) -> Server {
    let answer: Arc<Vec<u8>> = Arc::new(answer.into());
    raw(move |mut tcp| {
        let answer = Arc::clone(&answer);
        async move {
            request_head(&mut tcp).await;
            let _ = tcp.write_all(&answer).await;
            let _ = tcp.shutdown().await;
            // Until the client is done: a reset could overtake what was written.
            let _ = tcp.read_to_end(&mut Vec::new()).await;
        }
    })
    .await
}

pub(crate) async fn get(settings: Settings, server: &Server) -> Result<Response, FetchError> {
    client(settings).expect("settings").get(&Request::new(server.url.clone())).await
}
