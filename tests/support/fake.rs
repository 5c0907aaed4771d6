//! Many hosts on one listener, each of which does as it likes: it answers, lies, stalls, hangs up. `anything.localhost` is a host.
//! Every request is in the log before anything is answered.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request, as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    /// When its head was there.
    pub(crate) time: Instant,
    /// The name in front of `.localhost`, or the whole name.
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) head: String,
    /// The status and the body that were sent, if it was answered in an orderly way.
    pub(crate) status: Option<u16>,
    pub(crate) body: Vec<u8>,
}

/// The request that a behaviour answers.
pub(crate) struct Asked<'a> {
    pub(crate) head: &'a str,
}

/// What is done with a request.
#[derive(Clone)]
pub(crate) enum Deed {
    /// An answer as it should be.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    /// Whatever is done to the connection; then it is closed.
    Wild(Arc<dyn Fn(&mut TcpStream) + Send + Sync>),
    /// The connection is closed so that the other side hears of a reset.
    Reset,
}

type Behaviour = Arc<dyn Fn(&Asked<'_>) -> Deed + Send + Sync>;

#[derive(Default)]
struct Sites {
    behaviours: HashMap<(String, String), Behaviour>,
    log: Vec<Hit>,
}

#[derive(Clone)]
pub(crate) struct Fake {
    address: String,
    port: u16,
    sites: Arc<Mutex<Sites>>,
}

impl Deed {
    pub(crate) fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::kind("text/html; charset=utf-8", body)
    }

    pub(crate) fn kind(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::Answer { status: 200, headers: vec![("Content-Type", kind.to_owned())], body: body.into() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::Answer { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn redirect(to: impl Into<String>) -> Self {
        Self::status(302).with("Location", to)
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }

    pub(crate) fn wild(deed: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::Wild(Arc::new(deed))
    }

    /// These bytes, then the end.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::wild(move |stream| drop(stream.write_all(&bytes)))
    }

    /// These bytes, then others for as long as anybody takes them, with a pause after each time.
    pub(crate) fn endless(head: impl Into<Vec<u8>>, more: impl Into<Vec<u8>>, pause: Duration) -> Self {
        let (head, more) = (head.into(), more.into());
        Self::wild(move |stream| {
            let mut sent = stream.write_all(&head);
            while sent.is_ok() {
                sent = stream.write_all(&more);
                std::thread::sleep(pause);
            }
        })
    }

    /// Nothing, until the other side gives up.
    pub(crate) fn silence() -> Self {
        Self::wild(|stream| while matches!(stream.read(&mut [0; 64]), Ok(1..)) {})
    }
}

impl Fake {
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1")
    }

    pub(crate) fn start_at(address: &str) -> Self {
        let listener = TcpListener::bind((address, 0)).expect("an address of this machine");
        let port = listener.local_addr().unwrap().port();
        let fake = Self { address: address.to_owned(), port, sites: Arc::default() };
        let served = fake.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let fake = served.clone();
                std::thread::spawn(move || fake.serve(stream));
            }
        });
        fake
    }

    /// The host as the crawler names it. Without a name it is the bare address.
    pub(crate) fn host(&self, host: &str) -> String {
        if host.is_empty() {
            format!("http://{}:{}", self.address, self.port)
        } else {
            format!("http://{host}.localhost:{}", self.port)
        }
    }

    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        self.host(host) + path
    }

    /// The same is done at every request.
    pub(crate) fn put(&self, host: &str, path: &str, deed: Deed) {
        self.put_with(host, path, move |_| deed.clone());
    }

    pub(crate) fn put_with(
        &self,
        host: &str,
        path: &str,
        behaviour: impl Fn(&Asked<'_>) -> Deed + Send + Sync + 'static,
    ) {
        let host = if host.is_empty() { &self.address } else { host };
        self.sites().behaviours.insert((host.to_owned(), path.to_owned()), Arc::new(behaviour));
    }

    pub(crate) fn log(&self) -> Vec<Hit> {
        self.sites().log.clone()
    }

    /// Requests to a host, robots.txt and all.
    pub(crate) fn asked_of(&self, host: &str) -> Vec<Hit> {
        self.sites().log.iter().filter(|hit| hit.host == host).cloned().collect()
    }

    /// Requests for one address.
    pub(crate) fn asked_for(&self, host: &str, path: &str) -> Vec<Hit> {
        self.sites().log.iter().filter(|hit| hit.host == host && hit.path == path).cloned().collect()
    }

    fn sites(&self) -> MutexGuard<'_, Sites> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) {
        while let Some(length) = whole_head(&stream) {
            let mut head = vec![0; length];
            let Ok(count) = stream.peek(&mut head) else { return };
            let head = String::from_utf8_lossy(&head[..count]).into_owned();
            match self.decide(&head) {
                // What was sent stays unread: that is what makes it a reset.
                Deed::Reset => return,
                Deed::Wild(deed) => {
                    drop(stream.read_exact(&mut vec![0; length]));
                    deed(&mut stream);
                    return;
                }
                Deed::Answer { status, headers, body } => {
                    if stream.read_exact(&mut vec![0; length]).is_err()
                        || stream.write_all(&answer(status, &headers, &body)).is_err()
                    {
                        return;
                    }
                }
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a server has a clock")]
    fn decide(&self, head: &str) -> Deed {
        let time = Instant::now();
        let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
        let name =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
        let name = name.unwrap_or_default();
        let name = name.rsplit_once(':').map_or(name.as_str(), |(name, _)| name);
        let host = name.strip_suffix(".localhost").unwrap_or(name).to_owned();
        let mut sites = self.sites();
        let anywhere = (host.clone(), "*".to_owned());
        let behaviours = &sites.behaviours;
        let behaviour =
            behaviours.get(&(host.clone(), path.clone())).or_else(|| behaviours.get(&anywhere)).cloned();
        let deed = behaviour.map_or(Deed::status(404), |behaviour| behaviour(&Asked { head }));
        let (status, body) = match &deed {
            Deed::Answer { status, body, .. } => (Some(*status), body.clone()),
            Deed::Wild(_) | Deed::Reset => (None, Vec::new()),
        };
        sites.log.push(Hit { time, host, path, head: head.to_owned(), status, body });
        deed
    }
}

/// Waits for the head of a request, and leaves it where it is: how long it is, unless the connection is over.
fn whole_head(stream: &TcpStream) -> Option<usize> {
    let mut seen = vec![0; 64 * 1024];
    loop {
        let count = stream.peek(&mut seen).ok().filter(|count| *count > 0)?;
        if let Some(end) = seen[..count].windows(4).position(|four| four == b"\r\n\r\n") {
            return Some(end + 4);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn answer(status: u16, headers: &[(&'static str, String)], body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {status} Said\r\n");
    if status != 304 {
        answer.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        answer.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut answer = (answer + "\r\n").into_bytes();
    answer.extend_from_slice(body);
    answer
}
