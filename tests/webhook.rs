//! Changes are posted to whoever wants them: all of them, in order, signed, through refusals and restarts.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support::web::{Page, Web};
use crate::support::{Folder, complains, refrain, refrain_until, stderr, text};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A post, as the receiver saw it.
#[derive(Clone, Debug)]
struct Taken {
    headers: Vec<(String, String)>,
    body: String,
    status: u16,
}

impl Taken {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    fn seqs(&self) -> Vec<i64> {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        body["changes"].as_array().unwrap().iter().map(|change| change["seq"].as_i64().unwrap()).collect()
    }
}

/// Answers with these statuses, one after the other, then with 200.
fn receiver(mut statuses: Vec<u16>) -> (String, Arc<Mutex<Vec<Taken>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let taken: Arc<Mutex<Vec<Taken>>> = Arc::default();
    let log = Arc::clone(&taken);
    statuses.reverse();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            let (head, length) = loop {
                let count = stream.read(&mut part).unwrap_or(0);
                if count == 0 {
                    break (String::new(), 0);
                }
                bytes.extend_from_slice(&part[..count]);
                if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                    let lower = head.to_ascii_lowercase();
                    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let length: usize = length.unwrap_or("0").parse().unwrap();
                    bytes.drain(..end + 4);
                    break (head, length);
                }
            };
            while bytes.len() < length {
                let count = stream.read(&mut part).unwrap_or(0);
                bytes.extend_from_slice(&part[..count]);
            }
            let status = statuses.pop().unwrap_or(200);
            let headers = head.lines().filter_map(|line| line.split_once(": "));
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let body = String::from_utf8(bytes).unwrap();
            if !head.is_empty() {
                log.lock().unwrap().push(Taken { headers, body, status });
            }
            let _ = write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (url, taken)
}

/// The signature as Python makes it.
fn signature(taken: &Taken) -> String {
    let script = "import base64,hashlib,hmac,sys\n\
                  key=base64.b64decode(sys.argv[1][6:]); said=(sys.argv[2]+'.'+sys.argv[3]+'.'+sys.argv[4]).encode()\n\
                  print('v1,'+base64.b64encode(hmac.new(key,said,hashlib.sha256).digest()).decode())";
    let (id, time) = (taken.header("webhook-id"), taken.header("webhook-timestamp"));
    let output =
        Command::new("python3").args(["-c", script, SECRET, id, time, &taken.body]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn every_change_arrives_once_in_order_and_signed() {
    let (web, folder) = (Web::start(), Folder::new());
    let mut seeds = String::new();
    for page in 0..5 {
        web.put(&format!("/{page}"), Page::html(format!("<p>page {page}</p>")));
        seeds.push_str(&format!("{}\n", web.url(&format!("/{page}"))));
    }
    // Refuses twice, takes the rest.
    let (url, taken) = receiver(vec![500, 404]);
    folder.file("seeds.txt", seeds);
    folder.file("hook.secret", format!("{SECRET}\n"));
    let config = format!(
        "seeds = [\"seeds.txt\"]\nrate = \"100/s\"\ngap = \"10ms\"\npatience = 0.0\nallow_private = true\n\
         data = \"data\"\n[[webhook]]\nurl = \"{url}\"\nname = \"index\"\nsecret_file = \"hook.secret\"\nbatch = 2\n"
    );
    let config = text(&folder.file("refrain.toml", config)).to_owned();
    let accepted = || -> Vec<i64> {
        taken.lock().unwrap().iter().filter(|one| one.status == 200).flat_map(Taken::seqs).collect()
    };
    let arguments = ["crawl", "--config", config.as_str()];
    let first = refrain_until(&arguments, "all arrives", |_| accepted().len() >= 5);
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(
        stderr(&first).contains("index: it answers with status 500; it is tried again in 1 s"),
        "{}",
        stderr(&first)
    );
    let seen = taken.lock().unwrap().clone();
    assert_eq!(accepted(), [1, 2, 3, 4, 5]);
    assert_eq!(seen[0].header("webhook-id"), seen[2].header("webhook-id"));
    for one in &seen {
        assert_eq!(one.header("webhook-signature"), signature(one));
        assert_eq!(one.header("content-type"), "application/json");
        assert!(one.seqs().len() <= 2);
    }

    // Away while a page changes; then it catches up, and nothing comes twice.
    web.put("/3", Page::html("<p>page three, news</p>"));
    let aside = refrain_until(&arguments, "it arrives", |_| accepted().len() >= 6);
    assert!(aside.status.success());
    let later: Vec<i64> = taken.lock().unwrap()[seen.len()..].iter().flat_map(Taken::seqs).collect();
    assert_eq!(later, [6]);
    let quiet = refrain(&["crawl", "--config", &config, "--for", "1s"]);
    assert!(quiet.status.success());
    assert_eq!(taken.lock().unwrap().len(), seen.len() + 1);
}

#[test]
fn nobody_there_holds_up_nothing() {
    let (web, folder) = (Web::start(), Folder::new());
    web.put("/", Page::html("<p>home</p>"));
    let config = format!(
        "seeds = [\"{}\"]\nrate = \"100/s\"\ngap = \"10ms\"\nallow_private = true\ndata = \"data\"\n\
         [[webhook]]\nurl = \"http://127.0.0.1:9/\"\n",
        web.url("/")
    );
    let config = text(&folder.file("refrain.toml", config)).to_owned();
    let done = refrain(&["crawl", "--config", &config, "--once"]);
    assert!(done.status.success() && stderr(&done).contains("http://127.0.0.1:9/: "), "{}", stderr(&done));
    assert_eq!(web.log().iter().filter(|hit| hit.path == "/").count(), 1);
}

#[test]
fn mistakes_in_the_file_get_a_sentence() {
    let folder = Folder::new();
    let says = |config: &str, expected: &[&str]| {
        let config = text(&folder.file("refrain.toml", config)).to_owned();
        complains(&refrain(&["crawl", "--config", &config, "--allow-private"]), expected);
    };
    says("rat = \"2/s\"\n", &["refrain.toml, line 1", "unknown field `rat`", "`rate`"]);
    says("", &["the budget is missing", "--rate"]);
    says("rate = \"2/s\"\nparallel = 0", &["parallel is 0", "expected at least 1"]);
    says("rate = \"2/s\"\n[keep]\nversions = 0", &["keep.versions is 0"]);
    says(
        "rate = \"2/s\"\n[[site]]\nstart = \"example.org\"",
        &["[[site]] example.org", "https://example.org/news/"],
    );
    says(
        "rate = \"2/s\"\n[[site]]\nstart = \"http://a/\"\nignore = [\"p[\"]",
        &["`p[` cannot be used as a CSS selector"],
    );
    says("rate = \"2/s\"\n[[site]]\nstart = \"http://a/\"\ndistance = 4", &["distance is for"]);
    says("rate = \"2/s\"\n[[webhook]]\nurl = \"nowhere\"", &["[[webhook]] nowhere"]);
    says("rate = \"2/s\"\n[[webhook]]\nurl = \"http://a/\"\nbatch = 0", &["batch is 0"]);
    says(
        "rate = \"2/s\"\n[[webhook]]\nurl = \"http://a/\"\nsecret_env = \"NO_SUCH_SECRET\"",
        &["NO_SUCH_SECRET is not set"],
    );
    says(
        "rate = \"2/s\"\n[[webhook]]\nurl = \"http://a/\"\n[[webhook]]\nurl = \"http://a/\"",
        &["two of this name"],
    );
    complains(&refrain(&["crawl", "--config", "no.toml"]), &["no.toml: no such file", "refrain config"]);
    // What `refrain config` prints can be used as it is.
    let printed = crate::support::stdout(&refrain(&["config"]));
    says(&printed, &["the budget is missing"]);
}

/// Rules of a site decide what a change is.
#[test]
fn sites_have_rules() {
    let (web, folder) = (Web::start(), Folder::new());
    let page = |main: &str, aside: &str| {
        Page::html(format!("<main><p>{main}</p></main><aside class=ad><p>{aside}</p></aside>"))
    };
    web.put("/", page("one", "buy this"));
    let config = format!(
        "seeds = [\"{0}\"]\nrate = \"100/s\"\ngap = \"10ms\"\npatience = 0.0\nallow_private = true\ndata = \"data\"\n\
         [keep]\nversions = 2\n[[site]]\nstart = \"{0}\"\nignore = [\".ad\"]\n",
        web.url("/")
    );
    let config = text(&folder.file("refrain.toml", config)).to_owned();
    let changes = || {
        let before = web.asked("/");
        let arguments = ["crawl", "--config", config.as_str()];
        let done = refrain_until(&arguments, "it is looked at", |_| web.asked("/") > before + 10);
        assert!(done.status.success(), "{}", stderr(&done));
        crate::support::stdout(&done).lines().filter(|line| line.contains(" changed ")).count()
    };
    assert_eq!(changes(), 0);
    web.put("/", page("one", "buy that"));
    assert_eq!(changes(), 0);
    web.put("/", page("two", "buy that"));
    assert_eq!(changes(), 1);
    web.put("/", page("three", "buy that"));
    assert_eq!(changes(), 1);
    // Of the three different copies the last two are kept.
    assert_eq!(changes(), 0);
    let data = text(&folder.path("data")).to_owned();
    let status = crate::support::json(&refrain(&["status", "--data", &data, "--json"]));
    let bodies = std::fs::read_dir(folder.path("data")).unwrap().count();
    assert!(bodies > 0 && status["changes"] == 2, "a first copy is no change: {status}");
}
