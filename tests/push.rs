//! What others push, through `refrain serve`: a hub, sites that speak by IndexNow, programs with tokens, and those who mean no good.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};
use crate::support::{command, refrain, stdout, text};
use hmac::{Hmac, KeyInit, Mac};
use refrain_core::time::Time;
use sha2::Sha256;

const KEY: &str = "abcdef12345678";

/// A server under way, which does not outlive the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(desk: &Desk, port: u16, seed: &str) -> Self {
        let (config, listen) = (desk.path("refrain.toml"), format!("127.0.0.1:{port}"));
        let public = format!("http://{listen}/");
        let args = ["serve", "--config", text(&config), "--listen", &listen, "--public-url", &public, seed];
        let child = command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { child, port };
        wait_until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        server
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> u16 {
        request(self.port, method, path, headers, body).0
    }

    /// kill -9
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody has at the moment.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Status and body of an answer; 0 if there was none.
fn request(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return (0, String::new()) };
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n");
    if !body.is_empty() {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // Who refuses early may hang up before all is sent.
    let _ = stream.write_all((head + "\r\n").as_bytes()).and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

/// A hub: it writes down what it is asked, and comes to verify unless it is told not to.
#[derive(Clone)]
struct Hub {
    port: u16,
    asked: Arc<Mutex<Vec<Question>>>,
    verifies: Arc<AtomicBool>,
}

#[derive(Clone, Debug, PartialEq)]
struct Question {
    topic: String,
    /// Where to come to: the path.
    callback: String,
    secret: String,
}

impl Hub {
    fn start(server: u16, lease: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let hub = Self { port, asked: Arc::default(), verifies: Arc::new(AtomicBool::new(true)) };
        let served = hub.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let question = served.question(stream);
                if let Some(question) = question.filter(|_| served.verifies.load(Ordering::SeqCst)) {
                    std::thread::spawn(move || question.verify(server, lease));
                }
            }
        });
        hub
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    fn question(&self, mut stream: TcpStream) -> Option<Question> {
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
        let body = loop {
            let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&part[..count]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
            if body.len() >= length.parse().ok()? {
                break body.to_owned();
            }
        };
        let field = |name: &str| {
            form_urlencoded::parse(body.as_bytes())
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.into_owned())
        };
        let callback = field("hub.callback")?;
        let path = callback.find("/push/").map(|start| callback[start..].to_owned())?;
        let question = Question { topic: field("hub.topic")?, callback: path, secret: field("hub.secret")? };
        self.asked.lock().unwrap().push(question.clone());
        let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        Some(question)
    }
}

impl Question {
    /// Whether it was meant.
    fn verify(&self, server: u16, lease: u64) -> bool {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("hub.mode", "subscribe")
            .append_pair("hub.topic", &self.topic)
            .append_pair("hub.challenge", "echo me")
            .append_pair("hub.lease_seconds", &lease.to_string())
            .finish();
        request(server, "GET", &format!("{}?{query}", self.callback), &[], b"") == (200, "echo me".to_owned())
    }

    /// Distributes a feed in which the page at `url` was updated just now.
    fn distribute(&self, server: &Server, secret: &str, url: &str) -> u16 {
        let body = feed("", url);
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let mut signature = String::from("sha256=");
        for byte in mac.finalize().into_bytes() {
            signature.push_str(&format!("{byte:02x}"));
        }
        let headers = [("X-Hub-Signature", signature.as_str()), ("Content-Type", "application/atom+xml")];
        server.ask("POST", &self.callback, &headers, body.as_bytes())
    }
}

#[expect(clippy::disallowed_methods, reason = "a publisher has a clock")]
fn feed(links: &str, url: &str) -> String {
    let now = jiff::Timestamp::try_from(SystemTime::now()).unwrap();
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'>{links}<entry><link href='{url}'/><updated>{now}</updated></entry></feed>"
    )
}

/// Signals of a kind that were kept, by address.
fn heard(desk: &Desk, kind: &str) -> Vec<String> {
    let (reader, mut urls) = (desk.reader(), Vec::new());
    let mut pages = Vec::new();
    let signals = reader.signals(Time::MIN, |signal| {
        if signal.kind == kind {
            pages.push(signal.page);
        }
        ControlFlow::Continue(())
    });
    signals.unwrap();
    for page in pages {
        urls.push(reader.page_by_id(page).unwrap().unwrap().url);
    }
    urls
}

fn is_fetched(desk: &Desk, url: &str) -> bool {
    desk.reader().page(url).unwrap().is_some_and(|page| page.fetched.is_some())
}

/// A site with a page and a feed that names a hub; it shows its key.
fn site(hub: &str) -> Fake {
    let fake = Fake::start();
    let itself = fake.url("site", "/feed");
    let links = format!("<link rel='hub' href='{hub}'/><link rel='self' href='{itself}'/>");
    fake.put(
        "site",
        "/",
        Deed::html("<link rel=alternate type='application/atom+xml' href=/feed><p>home</p>"),
    );
    let home = fake.url("site", "/");
    fake.put_with("site", "/feed", move |_| Deed::kind("application/atom+xml", feed(&links, &home)));
    fake.put("site", &format!("/{KEY}.txt"), Deed::kind("text/plain", KEY));
    fake
}

fn desk() -> Desk {
    Desk::new("rate = \"5/s\"\n")
}

#[test]
fn a_hub_is_found_asked_and_heard() {
    let (port, desk) = (free_port(), desk());
    let hub = Hub::start(port, 15);
    let site = site(&hub.url());
    let home = site.url("site", "/");
    let server = Server::start(&desk, port, &home);
    wait_until("the hub is asked", || !hub.asked().is_empty());
    let question = hub.asked()[0].clone();
    assert_eq!(question.topic, site.url("site", "/feed"));
    wait_until("the page is fetched", || is_fetched(&desk, &home));
    // What is not signed with the secret changes nothing.
    assert_eq!(question.distribute(&server, "another secret", &home), 202);
    std::thread::sleep(Duration::from_secs(2));
    assert!(heard(&desk, "websub").is_empty());
    wait_until("what is pushed is heard", || {
        assert_eq!(question.distribute(&server, &question.secret, &home), 202);
        std::thread::sleep(Duration::from_millis(200));
        !heard(&desk, "websub").is_empty()
    });
    // Killed: the subscription lasts.
    server.kill();
    let before = heard(&desk, "websub").len();
    let server = Server::start(&desk, port, &home);
    wait_until("it is heard again", || {
        assert_eq!(question.distribute(&server, &question.secret, &home), 202);
        std::thread::sleep(Duration::from_millis(200));
        heard(&desk, "websub").len() > before
    });
    wait_until("the lease is renewed", || hub.asked().len() > 1);
    assert!(hub.asked().iter().all(|asked| *asked == question), "by the same callback");
    server.kill();
    desk.assert_sound();
}

/// Killed after the hub was asked and before it came: the callback is known all the same.
#[test]
fn no_callback_is_forgotten() {
    let (port, desk) = (free_port(), desk());
    let hub = Hub::start(port, 300);
    hub.verifies.store(false, Ordering::SeqCst);
    let site = site(&hub.url());
    let home = site.url("site", "/");
    let server = Server::start(&desk, port, &home);
    wait_until("the hub is asked", || !hub.asked().is_empty());
    server.kill();
    let server = Server::start(&desk, port, &home);
    wait_until("the hub is asked again", || hub.asked().len() > 1);
    let asked = hub.asked();
    assert_eq!(asked[0], asked[1]);
    assert!(asked[0].verify(port, 300));
    assert!(!asked[0].verify(port, 300), "nothing is pending any more");
    assert_eq!(server.ask("POST", "/push/websub/unknown", &[], b"x"), 410);
    server.kill();
    desk.assert_sound();
}

#[test]
fn sites_speak_for_themselves() {
    let (port, desk) = (free_port(), desk());
    let site = site("http://127.0.0.1:9/");
    let home = site.url("site", "/");
    let server = Server::start(&desk, port, &home);
    wait_until("the page is fetched", || is_fetched(&desk, &home));
    let call = |url: &str, key: &str| server.ask("GET", &format!("/indexnow?url={url}&key={key}"), &[], b"");
    assert_eq!(call(&home, "another-key"), 403);
    assert_eq!(call("http://stranger.example/", KEY), 422);
    assert_eq!((call("nothing", KEY), call(&home, "short")), (422, 422));
    assert!(heard(&desk, "indexnow").is_empty());
    assert!(matches!(call(&home, KEY), 200 | 202));
    wait_until("the site is heard", || heard(&desk, "indexnow").contains(&home));
    assert_eq!(site.asked_for("site", &format!("/{KEY}.txt")).len(), 1);
    server.kill();
    desk.assert_sound();
}

#[test]
fn programs_have_tokens() {
    let (port, desk) = (free_port(), desk());
    let site = site("http://127.0.0.1:9/");
    let home = site.url("site", "/");
    let server = Server::start(&desk, port, &home);
    wait_until("the page is fetched", || is_fetched(&desk, &home));
    let host = site.host("site");
    let made = refrain(&[
        "token",
        "create",
        "--data",
        desk.data(),
        "--scope",
        "signal",
        "--source",
        "cdn",
        "--host",
        &host,
    ]);
    let made = stdout(&made);
    let token = made.split_whitespace().find(|word| word.starts_with("rfr_")).expect("a token");
    let bearer = format!("Bearer {token}");
    let body = format!("{{\"urls\": [\"{home}\"]}}");
    let post = |authorization: &str, body: &str| {
        let headers = [
            ("Authorization", authorization),
            ("Content-Type", "application/json"),
            ("Webhook-Id", "purge-1"),
        ];
        server.ask("POST", "/push/webhook", &headers, body.as_bytes())
    };
    assert_eq!(post("Bearer rfr_wrong", &body), 401);
    // A server that runs takes a new token within a second.
    wait_until("the token is known", || post(&bearer, "[]") == 400);
    assert_eq!(post(&bearer, "[\"http://stranger.example/\"]"), 403);
    assert!(heard(&desk, "cdn").is_empty());
    assert_eq!((post(&bearer, &body), post(&bearer, &body)), (200, 200));
    wait_until("it is heard", || !heard(&desk, "cdn").is_empty());
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(heard(&desk, "cdn"), [home], "once");
    server.kill();
    desk.assert_sound();
}

#[test]
fn those_who_mean_no_good_change_nothing() {
    let (port, desk) = (free_port(), desk());
    let site = site("http://127.0.0.1:9/");
    let home = site.url("site", "/");
    let server = Server::start(&desk, port, &home);
    wait_until("the page is fetched", || is_fetched(&desk, &home));
    // Many who never end what they begin.
    let slow: Vec<TcpStream> = (0..50)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
            stream
                .write_all(b"POST /indexnow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
                .ok()?;
            Some(stream)
        })
        .collect();
    let large = vec![b'['; (4 << 20) + 1];
    for path in ["/indexnow", "/ping", "/push/webhook", "/push/websub/x"] {
        // A server may hang up on who sends too much.
        assert!(matches!(server.ask("POST", path, &[], &large), 0 | 401 | 410 | 413), "{path}");
        assert!(matches!(server.ask("POST", path, &[], b"\0\xff{["), 400 | 401 | 410), "{path}");
        assert!(matches!(server.ask("DELETE", path, &[], b""), 401 | 405), "{path}");
    }
    assert_eq!(server.ask("GET", "/ping?sitemap=http://stranger.example/s.xml", &[], b""), 404);
    assert_eq!(server.ask("GET", "/push/websub/x?hub.mode=subscribe&hub.challenge=x", &[], b""), 404);
    for kind in ["indexnow", "ping", "websub", "cdn"] {
        assert!(heard(&desk, kind).is_empty(), "{kind}");
    }
    drop(slow);
    server.kill();
    desk.assert_sound();
}
