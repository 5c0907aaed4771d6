//! How long it takes to hear a large sitemap: it is asked for, read, and every entry is a signal.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use refrain_core::time::{Span, Time};
use refrain_engine::{Clock, Crawl, Settings, Told, Until};
use refrain_store::{Options, Reader, Store};
use tokio::runtime::Runtime;

use super::{settings, start};
use crate::chart::grouped;
use crate::failure::Failure;
use crate::stopwatch::{memory_bytes, spoken};

const ENTRIES: usize = 50_000;
/// Nobody waits longer.
const PATIENCE: Span = Span::from_whole_secs(60);

/// With so many known pages of its host: a line that says how long it took.
pub(super) fn heard(runtime: &Runtime, data: &Path, known: usize) -> Result<String, Failure> {
    let failed = |why| Failure::system("the sitemap cannot be served", why);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let host = format!("http://127.0.0.1:{port}");
    let clock = Clock::start();
    start::fill(data, known, clock.now(), |_| host.clone())?;
    let (to_asked, asked) = mpsc::channel();
    let entries = known.min(ENTRIES);
    let (body, last) = (sitemap(&host, entries), address(&host, entries - 1));
    std::thread::spawn(move || serve(&listener, &host, &body, &clock, &to_asked));
    let store = Store::open(data, Options::default())?;
    let (told, mut hears) = refrain_engine::channel();
    // The sitemap is the only thing worth a request soon.
    let settings = Settings { rate: 20.0, follow: None, ..settings(Until::After(PATIENCE)) };
    let crawl = Crawl::new(store, data, settings, clock, Some(told))?;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let before = memory_bytes().unwrap_or(0);
    let running = runtime.spawn(crawl.run(stopped));
    let read = runtime.block_on(async {
        while let Some(told) = hears.recv().await {
            if let Told::Announced { signals, .. } = told {
                return Some((clock.now(), signals));
            }
        }
        None
    });
    let Some((told, signals)) = read else { return Err(Failure::OnTheWay("nobody heard it".to_owned())) };
    let asked: Time = asked.recv_timeout(Duration::from_secs(1)).map_err(|_| nobody())?;
    let memory = memory_bytes().unwrap_or(0).saturating_sub(before) / 1_000_000;
    // How long until all of them are on the disk.
    let reader = Reader::open(data)?;
    let mut durable = clock.now();
    let last = reader.page(&last)?.map(|page| page.id).ok_or_else(nobody)?;
    while reader.signals_of(last, 1)?.is_empty() && durable.since(told) < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
        durable = clock.now();
    }
    // If it has ended already, nobody needs to be told.
    let _ = stop.send(true);
    runtime.block_on(running).map_err(|why| Failure::OnTheWay(why.to_string()))??;
    let since = |time: Time| spoken(Duration::from_nanos(time.since(asked).as_nanos()));
    Ok(format!(
        "  {:>9} known pages: {} signals in {}, on the disk after {}; {memory} MB more than before",
        grouped(known),
        grouped(signals as usize),
        since(told),
        since(durable),
    ))
}

fn nobody() -> Failure {
    Failure::OnTheWay("nobody asked for the sitemap".to_owned())
}

/// As [`start::fill`] has them.
fn address(host: &str, page: usize) -> String {
    format!("{host}/a/path/to/{page}.html")
}

/// Every page has changed a moment ago.
fn sitemap(host: &str, entries: usize) -> String {
    let mut xml =
        "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n".to_owned();
    for page in 0..entries {
        let _ = writeln!(
            xml,
            "<url><loc>{}</loc><lastmod>{}</lastmod><changefreq>daily</changefreq><priority>0.5</priority></url>",
            address(host, page),
            jiff::Timestamp::now()
        );
    }
    xml + "</urlset>"
}

/// robots.txt and the sitemap, to whoever asks; `asked` hears when the sitemap is asked for.
fn serve(listener: &TcpListener, host: &str, sitemap: &str, clock: &Clock, asked: &mpsc::Sender<Time>) {
    for stream in listener.incoming().flatten() {
        let Ok(mut answer) = stream.try_clone() else { continue };
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        while let Some(first) = lines.next() {
            if !lines.by_ref().any(|line| line.is_empty()) {
                break;
            }
            let (status, body) = match first.split(' ').nth(1) {
                Some("/robots.txt") => (200, format!("Sitemap: {host}/sitemap.xml\n")),
                Some("/sitemap.xml") => {
                    // Nobody listens after the first time.
                    let _ = asked.send(clock.now());
                    (200, sitemap.to_owned())
                }
                _ => (200, "<p>a page</p>".to_owned()),
            };
            if write(&mut answer, status, &body).is_err() {
                break;
            }
        }
    }
}

fn write(to: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    write!(
        to,
        "HTTP/1.1 {status} Said\r\nContent-Type: application/xml\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
