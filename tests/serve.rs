//! `refrain serve` end to end: a server that is started and stopped, a small web, and a fetcher that is not Refrain's.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::desk::wait_until;
use crate::support::web::{Page, Web};
use crate::support::{Folder, command, complains, refrain, stdout, text};
use serde_json::{Value, json};

/// A server, ended with the test.
struct Server {
    child: Child,
    at: String,
}

impl Server {
    fn start(data: &str, more: &[&str]) -> Self {
        let usual = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "warn"];
        let args: Vec<&str> = usual.iter().chain(more).copied().collect();
        let mut child =
            command(&args).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("a line");
        let at = line.trim().strip_prefix("Listening on http://").expect("where it listens").to_owned();
        let server = Self { child, at };
        wait_until("it is ready", || server.get("/ready").0 == 200);
        server
    }

    fn say(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.at).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
        (status, body)
    }

    fn ask(&self, method: &str, path: &str, lines: &str, body: &str) -> (u16, Value) {
        let length = body.len();
        let (status, body) = self.say(&format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}Content-Length: {length}\r\n\r\n{body}"
        ));
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path, "", "")
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask("POST", path, "Content-Type: application/json\r\n", &body.to_string())
    }

    /// Ends it as a service manager does. Whether it went well.
    fn stop(mut self) -> bool {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn data(folder: &Folder) -> String {
    text(&folder.path("data")).to_owned()
}

#[test]
fn pages_come_through_the_api_and_changes_go_out() {
    let (web, folder) = (Web::start(), Folder::new());
    web.put("/", Page::html("<p>one</p>"));
    let own = [
        "--rate",
        "200/s",
        "--gap",
        "20ms",
        "--patience",
        "0",
        "--allow-private",
        "--agent",
        "Tester",
        "--contact",
        "x",
    ];
    let server = Server::start(&data(&folder), &own);
    let (status, added) = server.post("/v1/pages", &json!([web.url("/"), "nowhere"]));
    assert_eq!((status, &added["added"], &added["refused"]), (200, &1.into(), &1.into()));
    let (_, changes) = server.get("/v1/changes?wait_seconds=20");
    let page = changes["changes"][0]["page"].as_i64().expect("a page");
    assert_eq!(server.get(&format!("/v1/pages/{page}/copy")), (200, Value::String("<p>one</p>".into())));
    let (_, why) = server.get(&format!("/v1/pages/{page}/explanation"));
    assert_eq!((&why["crawled"], &why["host"]["robots"]["allowed"]), (&true.into(), &true.into()));

    web.put("/", Page::html("<p>two</p>"));
    assert_eq!(server.post(&format!("/v1/pages/{page}/fetch"), &Value::Null).0, 202);
    let after = changes["next"].as_i64().expect("a number");
    let (_, changes) = server.get(&format!("/v1/changes?after={after}&wait_seconds=20"));
    assert_eq!(changes["changes"][0]["page"], page);
    let (_, diff) = server.get(&format!("/v1/pages/{page}/diff"));
    assert_eq!(diff["hunks"][0]["lines"], json!(["-one", "+two"]));

    let (status, edited) = server.ask(
        "PATCH",
        &format!("/v1/pages/{page}"),
        "Content-Type: application/json\r\n",
        "{\"importance\":7,\"max_age_seconds\":60}",
    );
    assert_eq!((status, &edited["importance"], &edited["max_age_seconds"]), (200, &7.0.into(), &60.0.into()));
    assert_eq!(server.ask("DELETE", &format!("/v1/pages/{page}"), "", "").0, 204);
    assert_eq!(server.get(&format!("/v1/pages/{page}")).0, 404);
    assert!(server.stop());
    assert!(refrain(&["check", "--data", &data(&folder)]).status.success());
}

#[test]
fn others_may_fetch() {
    let folder = Folder::new();
    let server = Server::start(&data(&folder), &["--no-fetch", "--rate", "1000/s", "--gap", "0"]);
    server.post("/v1/pages", &json!(["http://a.example/", "http://b.example/"]));
    let mut seen = 0;
    while seen < 2 {
        let wanted = json!({ "most": 10, "wait_seconds": 10, "knows_robots": true });
        let (status, grant) = server.post("/v1/fetches/next", &wanted);
        assert_eq!(status, 200, "{grant}");
        let fetches = grant["fetches"].as_array().expect("fetches");
        let results: Vec<Value> = fetches
            .iter()
            .map(|fetch| json!({ "lease": fetch["lease"], "status": 200, "content_type": "text/html", "body": "<p>hi" }))
            .collect();
        let (_, receipts) = server.post("/v1/fetches/results", &json!({ "results": results }));
        assert!(
            receipts["results"].as_array().unwrap().iter().all(|one| one["result"] == "taken"),
            "{receipts}"
        );
        // Twice does no harm.
        let (_, again) = server.post("/v1/fetches/results", &json!({ "results": results }));
        assert!(again["results"].as_array().unwrap().iter().all(|one| one["result"] == "over"), "{again}");
        seen += fetches.len();
    }
    assert_eq!(server.get("/v1/changes").1["changes"].as_array().unwrap().len(), 2);
    let key = "Idempotency-Key: once\r\nContent-Type: application/json\r\n";
    server.post("/v1/pages", &json!(["http://c.example/"]));
    let next =
        || server.ask("POST", "/v1/fetches/next", key, "{\"wait_seconds\":10,\"knows_robots\":true}").1;
    assert_eq!(next()["fetches"][0]["lease"], next()["fetches"][0]["lease"]);
    assert!(server.stop());
}

#[test]
fn tokens_open_doors_while_it_runs() {
    let folder = Folder::new();
    let data = data(&folder);
    complains(
        &refrain(&["serve", "--data", &data, "--no-fetch", "--rate", "1/s", "--listen", "0.0.0.0:0"]),
        &["there is no token", "refrain token create"],
    );
    let server = Server::start(&data, &["--no-fetch", "--rate", "1/s"]);
    assert_eq!(server.get("/v1/status").0, 200);
    let token = stdout(&refrain(&["token", "create", "--scope", "read", "--data", &data]));
    let line = format!("Authorization: Bearer {}\r\n", token.trim());
    wait_until("doors need it", || server.get("/v1/status").0 == 401);
    assert_eq!(server.ask("GET", "/v1/status", &line, "").0, 200);
    assert_eq!(server.ask("DELETE", "/v1/pages/1", &line, "").0, 403);
    let listed = stdout(&refrain(&["token", "list", "--json", "--data", &data]));
    assert!(!listed.contains(token.trim()));
    let id = serde_json::from_str::<Value>(&listed).unwrap()["id"].as_str().unwrap().to_owned();
    assert!(refrain(&["token", "revoke", &id, "--data", &data]).status.success());
    wait_until("it is over", || server.ask("GET", "/v1/status", &line, "").0 == 401);
    assert!(server.stop());
}

#[test]
fn a_browser_is_not_lured() {
    let folder = Folder::new();
    let server = Server::start(&data(&folder), &["--no-fetch", "--rate", "1/s"]);
    for lines in [
        "Host: evil.example",
        "Host: localhost\r\nOrigin: https://evil.example",
        "Host: localhost\r\nSec-Fetch-Site: cross-site",
    ] {
        let (status, _) =
            server.say(&format!("GET /v1/status HTTP/1.1\r\n{lines}\r\nConnection: close\r\n\r\n"));
        assert_eq!(status, 403, "{lines}");
    }
    assert!(server.stop());
}

#[test]
fn streams_end_at_once_when_it_stops() {
    let folder = Folder::new();
    let server = Server::start(&data(&folder), &["--no-fetch", "--rate", "1/s"]);
    let mut stream = TcpStream::connect(&server.at).unwrap();
    stream.write_all(b"GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut some = [0; 512];
    assert!(stream.read(&mut some).unwrap() > 0);
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let ended = std::thread::spawn(move || {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).is_ok()
    });
    assert!(server.stop());
    assert!(ended.join().unwrap(), "it was still open");
}
