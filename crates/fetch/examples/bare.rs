//! How fast the bare client is: pages of 5 KB from a server on loopback, over kept connections, on two threads each.
//!
//! `cargo run --release -p refrain-fetch --example bare`

use std::convert::Infallible;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use refrain_fetch::client::{Client, Request, Settings};
use refrain_fetch::dns::{Answer, Resolve, Resolved};
use refrain_fetch::url::PageUrl;
use tokio::net::TcpListener;

const AT_ONCE: usize = 64;
const SECONDS: u64 = 5;

struct Loopback;

impl Resolve for Loopback {
    fn resolve<'a>(&'a self, _: &'a str) -> Answer<'a> {
        let addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
        Box::pin(async { Ok(Resolved { addresses, holds_for: Duration::from_secs(3600) }) })
    }
}

fn page() -> Bytes {
    "<p>A page of five thousand bytes.</p>\n".repeat(5000 / 38).into()
}

fn answer(body: Bytes) -> hyper::Response<Full<Bytes>> {
    let mut response = hyper::Response::new(Full::new(body));
    let html = hyper::header::HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, html);
    response
}

async fn serve(listener: TcpListener) {
    let body = page();
    while let Ok((tcp, _)) = listener.accept().await {
        let body = body.clone();
        let service = service_fn(move |_: hyper::Request<Incoming>| {
            std::future::ready(Ok::<_, Infallible>(answer(body.clone())))
        });
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(tcp), service));
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let url = PageUrl::parse(&format!("http://bare.example:{}/", listener.local_addr()?.port()))?;
    tokio::spawn(serve(listener));
    let settings = Settings { allow_private: true, idle_per_host: AT_ONCE, ..Settings::default() };
    let client = Client::with_resolver(settings, Arc::new(Loopback))?;
    let (fetched, bytes) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    for _ in 0..AT_ONCE {
        let (client, fetched, bytes) = (client.clone(), Arc::clone(&fetched), Arc::clone(&bytes));
        let request = Request::new(url.clone());
        tokio::spawn(async move {
            while let Ok(response) = client.get(&request).await {
                fetched.fetch_add(1, Ordering::Relaxed);
                bytes.fetch_add(response.body.len() as u64, Ordering::Relaxed);
            }
        });
    }
    // Connections are made and caches filled before anything counts.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (before, before_bytes) = (fetched.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
    tokio::time::sleep(Duration::from_secs(SECONDS)).await;
    let pages = fetched.load(Ordering::Relaxed) - before;
    let megabytes = (bytes.load(Ordering::Relaxed) - before_bytes) / 1_000_000;
    println!(
        "{} fetches/s, {} MB/s, {AT_ONCE} at once, server included",
        pages / SECONDS,
        megabytes / SECONDS
    );
    Ok(())
}
