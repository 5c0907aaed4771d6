//! A web to crawl, in a process of its own: 10 kB pages with 30 links on many hosts.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use refrain_fetch::url::PageUrl;
use tokio::net::TcpListener;

use crate::failure::Failure;

const HOSTS: usize = 200;
/// Pages of a host that are linked.
const PAGES: usize = 100;
const LINKS: usize = 30;
const SIZE: usize = 10_000;

/// The web, as long as this lives.
pub(super) struct Web {
    child: Child,
    port: u16,
}

impl Web {
    /// Starts this program once more, as a server.
    pub(super) fn start() -> Result<Self, Failure> {
        let failed = |why| Failure::system("the web to crawl cannot be started", why);
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["bench", "web"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(failed)?;
        }
        let port =
            line.trim().parse().map_err(|_| Failure::OnTheWay("the web to crawl said no port".to_owned()))?;
        Ok(Self { child, port })
    }

    /// Addresses of so many pages, one host after the other.
    pub(super) fn urls(&self, pages: usize) -> Vec<PageUrl> {
        (0..pages).filter_map(|page| self.url(page % HOSTS, page / HOSTS)).collect()
    }

    /// All pages of so many hosts: they lead to each other only.
    pub(super) fn all_of(&self, hosts: usize) -> Vec<PageUrl> {
        (0..hosts * PAGES).filter_map(|page| self.url(page % hosts, page / hosts)).collect()
    }

    fn url(&self, host: usize, number: usize) -> Option<PageUrl> {
        PageUrl::parse(&format!("http://h{host}.localhost:{}/p{number}", self.port)).ok()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // It ends with its standard input; this is for one that does not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `refrain bench web`: says its port, and serves until its standard input ends.
pub(super) fn serve() -> Result<(), Failure> {
    let failed = |why| Failure::system("cannot serve on loopback", why);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    let listener =
        runtime.block_on(TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))).map_err(failed)?;
    let mut out = std::io::stdout();
    let port = listener.local_addr().map_err(failed)?.port();
    writeln!(out, "{port}").and_then(|()| out.flush()).map_err(failed)?;
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let connection = hyper::server::conn::http1::Builder::new();
                // Whoever hangs up has had enough.
                let _ = connection.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
            });
        }
    });
    // Whatever comes, only the end matters.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let (kind, body) = match path.strip_prefix("/p").and_then(|number| number.parse().ok()) {
        Some(number) => ("text/html; charset=utf-8", page(number)),
        None => ("text/plain", "User-agent: *\nDisallow: /private/\n".to_owned()),
    };
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(answer)
}

fn page(number: usize) -> String {
    let mut html = format!("<!doctype html><html><head><title>Page {number}</title></head><body><main>\n");
    for link in 0..LINKS {
        html.push_str(&format!(
            "<p><a href=\"/p{}\">page {link} of many</a></p>\n",
            (number * 7 + link) % PAGES
        ));
    }
    let mut word = number as u64 + 1;
    while html.len() < SIZE {
        html.push_str("<p>");
        for _ in 0..20 {
            // Words that do not repeat: bodies that shrink to nothing would flatter.
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            html.push_str(&format!("{:x} ", word >> 40));
        }
        html.push_str("</p>\n");
    }
    html + "</main></body></html>"
}
