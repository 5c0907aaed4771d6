//! The small web on loopback. It writes down who asked for what and when.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, IF_MODIFIED_SINCE, LAST_MODIFIED, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use refrain_core::time::Time;
use refrain_engine::Clock;
use tokio::net::TcpListener;

use super::truth::Fetches;
use super::world::{HOSTS, Manner, World};
use crate::failure::Failure;

/// A slow host thinks for so long.
const THINKS: Duration = Duration::from_millis(150);
/// A busy host asks to be left alone in the last few of every so many seconds.
const BUSY: (f64, f64) = (10.0, 12.0);
/// For so many seconds.
const LEAVE_ME: &str = "2";

/// A request as the server saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// When it came, in seconds since the start,
    pub(crate) asked: f64,
    /// and when it was answered.
    pub(crate) shown: f64,
    pub(crate) host: usize,
    /// The page that was shown, if one was.
    pub(crate) page: Option<usize>,
    pub(crate) status: u16,
}

/// The small web, open.
pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) port: u16,
    clock: Clock,
    start: Time,
    log: Mutex<Vec<Hit>>,
}

impl Site {
    /// Opens it on a free port. Its time begins now.
    pub(crate) async fn open(world: World, clock: Clock) -> Result<Arc<Self>, Failure> {
        let failed = |why| Failure::system("the small web cannot be opened on loopback", why);
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let site = Arc::new(Self { world, port, clock, start: clock.now(), log: Mutex::default() });
        let served = Arc::clone(&site);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let site = Arc::clone(&served);
                tokio::spawn(async move {
                    let answer = |request| answer(Arc::clone(&site), request);
                    let connection = hyper::server::conn::http1::Builder::new();
                    // Whoever hangs up in the middle has had enough.
                    let _ = connection.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
                });
            }
        });
        Ok(site)
    }

    /// Seconds since it opened.
    pub(crate) fn now(&self) -> f64 {
        self.clock.now().since(self.start).as_secs()
    }

    pub(crate) fn log(&self) -> Vec<Hit> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write_down(&self, hit: Hit) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(hit);
    }

    /// When each page was shown.
    pub(crate) fn fetches(&self) -> Fetches {
        let mut fetches: Fetches = vec![Vec::new(); self.world.pages.len()];
        for hit in self.log() {
            if let Some(page) = hit.page {
                fetches[page].push(hit.shown);
            }
        }
        fetches
    }

    fn http_date(&self, time: f64) -> String {
        let unix = self.start.as_nanos() as f64 / 1e9 + time;
        httpdate::fmt_http_date(std::time::UNIX_EPOCH + Duration::from_secs(unix.max(0.0) as u64))
    }

    fn respond(
        &self,
        host: usize,
        time: f64,
        request: &Request<Incoming>,
    ) -> (Option<usize>, Response<Full<Bytes>>) {
        let manner = HOSTS[host].manner;
        let path = request.uri().path();
        if path == "/robots.txt" {
            let rules = match manner {
                Manner::Shy => "User-agent: *\nCrawl-delay: 1\nDisallow: /private/\n",
                _ => "User-agent: *\nAllow: /\n",
            };
            return (None, text(200, "text/plain", rules.to_owned()));
        }
        if manner == Manner::Busy && time % BUSY.1 >= BUSY.0 {
            let mut answer = text(429, "text/plain", "Later, please.\n".to_owned());
            answer.headers_mut().insert(RETRY_AFTER, hyper::header::HeaderValue::from_static(LEAVE_ME));
            return (None, answer);
        }
        let Some(number) = self.world.find(HOSTS[host].name, path) else {
            return (None, text(404, "text/plain", "Nothing here.\n".to_owned()));
        };
        if manner == Manner::Dated {
            return (Some(number), self.dated(number, time, request));
        }
        let visit = (time * 1e6) as u64;
        (Some(number), text(200, "text/html; charset=utf-8", self.world.body(number, time, visit)))
    }

    /// A page that says when it was changed, and nothing else to who has it already.
    fn dated(&self, number: usize, time: f64, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        // Before the start nothing is known; an hour is long enough ago.
        let date = self.http_date(self.world.pages[number].changed(time).unwrap_or(-3600.0));
        let known =
            request.headers().get(IF_MODIFIED_SINCE).is_some_and(|known| known.as_bytes() == date.as_bytes());
        let mut answer = if known {
            text(304, "text/html; charset=utf-8", String::new())
        } else {
            text(200, "text/html; charset=utf-8", self.world.body(number, time, 0))
        };
        if let Ok(date) = date.parse() {
            answer.headers_mut().insert(LAST_MODIFIED, date);
        }
        answer
    }
}

async fn answer(site: Arc<Site>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let asked = site.now();
    let name = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    let Some(host) = HOSTS.iter().position(|host| host.name == name) else {
        return Ok(text(404, "text/plain", "Nobody of this name.\n".to_owned()));
    };
    if HOSTS[host].manner == Manner::Slow {
        tokio::time::sleep(THINKS).await;
    }
    // What is shown is what is true now; politeness is judged by when it was asked for.
    let shown = site.now();
    let (page, response) = site.respond(host, shown, &request);
    site.write_down(Hit { asked, shown, host, page, status: response.status().as_u16() });
    Ok(response)
}

fn text(status: u16, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    answer
}
