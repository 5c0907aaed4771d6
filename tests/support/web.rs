//! A small web on loopback, with its own log of who asked for what and when.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What is at a path.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

/// A request, as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) time: Instant,
    pub(crate) path: String,
    pub(crate) agent: String,
}

#[derive(Clone)]
pub(crate) struct Web {
    port: u16,
    pages: Arc<Mutex<HashMap<String, Page>>>,
    log: Arc<Mutex<Vec<Hit>>>,
}

impl Page {
    pub(crate) fn html(body: impl Into<String>) -> Self {
        let kind = ("Content-Type", "text/html; charset=utf-8".to_owned());
        Self { status: 200, headers: vec![kind], body: body.into() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::html("<p>no</p>") }
    }
}

impl Web {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let web = Self { port, pages: Arc::default(), log: Arc::default() };
        let served = web.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let web = served.clone();
                std::thread::spawn(move || web.serve(stream));
            }
        });
        web
    }

    /// How often there was asked for a path.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.log().iter().filter(|hit| hit.path == path).count()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn put(&self, path: &str, page: Page) {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), page);
    }

    pub(crate) fn log(&self) -> Vec<Hit> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut part) {
            head.extend_from_slice(&part[..count]);
            if head.ends_with(b"\r\n\r\n") {
                let answer = self.answer(&String::from_utf8_lossy(&head));
                head.clear();
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a server has a clock")]
    fn answer(&self, head: &str) -> String {
        let time = Instant::now();
        let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
        let headers = head.lines().filter_map(|line| line.split_once(": "));
        let agent = headers.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
        let agent = agent.map(|(_, value)| value.to_owned()).unwrap_or_default();
        let page = self.pages.lock().unwrap_or_else(PoisonError::into_inner).get(&path).cloned();
        let page = page.unwrap_or_else(|| Page::status(404));
        let hit = Hit { time, path, agent };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(hit);
        let mut answer = format!("HTTP/1.1 {} Said\r\nContent-Length: {}\r\n", page.status, page.body.len());
        for (name, value) in &page.headers {
            answer.push_str(&format!("{name}: {value}\r\n"));
        }
        answer + "\r\n" + &page.body
    }
}
