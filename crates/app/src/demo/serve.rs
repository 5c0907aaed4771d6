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

use super::announce::{FEED, LONG_AGO, SITEMAP, http_date};
use super::hosts::{Manner, Voice};
use super::log::{Hit, Shown};
use super::news::{self, BOILERPLATE};
use super::world::World;
use crate::failure::Failure;

/// A slow host thinks for so long.
const THINKS: Duration = Duration::from_millis(150);
/// A busy host asks to be left alone in the last few of every so many seconds.
const BUSY: (f64, f64) = (10.0, 12.0);
/// For so many seconds.
const LEAVE_ME: &str = "2";
const HTML: &str = "text/html; charset=utf-8";

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

    fn respond(&self, host: usize, time: f64, request: &Request<Incoming>) -> (Shown, Response<Full<Bytes>>) {
        let world = &self.world;
        let path = request.uri().path();
        if path == "/robots.txt" {
            return (Shown::Rules, text(200, "text/plain", world.robots(host, self.port)));
        }
        if world.hosts[host].manner == Manner::Busy && time % BUSY.1 >= BUSY.0 {
            let mut answer = text(429, "text/plain", "Later, please.\n".to_owned());
            answer.headers_mut().insert(RETRY_AFTER, hyper::header::HeaderValue::from_static(LEAVE_ME));
            return (Shown::Other, answer);
        }
        // Different at each visit.
        let visit = (time * 1e6) as u64;
        if let Some(number) = world.find(host, path) {
            let answer = if world.hosts[host].manner == Manner::Dated {
                self.dated(number, time, request)
            } else {
                text(200, HTML, world.body(number, time, visit))
            };
            return (Shown::Page(number), answer);
        }
        if let Some(number) = world.find_article(host, path, time) {
            return (Shown::Article(number), text(200, HTML, world.article_body(number)));
        }
        match (path, world.hosts[host].voice) {
            (SITEMAP, Voice::Sitemap | Voice::Boast) => {
                let body = world.sitemap(host, time, self.start, self.port);
                (Shown::Announcements, text(200, "application/xml", body))
            }
            (FEED, Voice::Feed) => {
                let body = world.feed(host, time, self.start, self.port);
                (Shown::Announcements, text(200, "application/rss+xml", body))
            }
            ("/", _) if world.hosts[host].has_news() => {
                (Shown::Other, text(200, HTML, world.front_page(host, time, visit)))
            }
            (path, _) if world.hosts[host].has_news() && BOILERPLATE.contains(&path) => {
                (Shown::Other, text(200, HTML, news::boilerplate(path)))
            }
            _ => (Shown::Other, text(404, "text/plain", "Nothing here.\n".to_owned())),
        }
    }

    /// A page that says when it was changed, and nothing else to who has it already.
    fn dated(&self, number: usize, time: f64, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let date = http_date(self.start, self.world.pages[number].changed(time).unwrap_or(LONG_AGO));
        let known =
            request.headers().get(IF_MODIFIED_SINCE).is_some_and(|known| known.as_bytes() == date.as_bytes());
        let mut answer = if known {
            text(304, HTML, String::new())
        } else {
            text(200, HTML, self.world.body(number, time, 0))
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
    let name = name.split(".localhost").next().unwrap_or_default();
    let Some(host) = site.world.hosts.iter().position(|host| host.name == name) else {
        return Ok(text(404, "text/plain", "Nobody of this name.\n".to_owned()));
    };
    if site.world.hosts[host].manner == Manner::Slow {
        tokio::time::sleep(THINKS).await;
    }
    // What is shown is what is true now; politeness is judged by when it was asked for.
    let shown = site.now();
    let (what, response) = site.respond(host, shown, &request);
    site.write_down(Hit { asked, shown, host, what, status: response.status().as_u16() });
    Ok(response)
}

fn text(status: u16, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    answer
}
