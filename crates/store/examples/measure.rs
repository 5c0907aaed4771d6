//! How fast the store is, on this machine: `cargo run --release -p refrain-store --example measure [pages] [directory]`.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::time::{Span, Time};
use refrain_store::warc::{Body, HttpHead, Response};
use refrain_store::{
    Added, Address, Batch, Digest, Known, Look, NewPage, Options, Origin, Outcome, PageId, PageState, Reader,
    Store,
};

const PER_COMMIT: usize = 1000;
const PER_LOAD: usize = 200_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let pages: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let temporary = tempfile::tempdir()?;
    let directory = arguments.next().map_or(temporary.path().to_owned(), Into::into);
    let mut store = Store::open(&directory, Options::default())?;
    let ids = load(&mut store, pages)?;
    load(&mut store, pages.min(200_000))?;
    scan(&directory)?;
    looks(&mut store, &ids, 100, &[])?;
    let body: Vec<u8> =
        (0..2000).flat_map(|word| format!("<p>word {}</p>", word * 7919 % 997).into_bytes()).collect();
    looks(&mut store, &ids, 20, &body)?;
    check(&directory)?;
    Ok(())
}

/// How long something took, and how long it had a processor.
#[derive(Clone, Copy, Default)]
struct Took {
    wall: Duration,
    processor: Duration,
}

#[expect(clippy::disallowed_methods, reason = "measures, decides nothing")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (start, used) = (Instant::now(), processor_time());
    let done = work();
    (done, Took { wall: start.elapsed(), processor: processor_time().saturating_sub(used) })
}

impl std::ops::AddAssign for Took {
    fn add_assign(&mut self, more: Self) {
        self.wall += more.wall;
        self.processor += more.processor;
    }
}

/// What this process has used so far, where the system tells.
fn processor_time() -> Duration {
    let told = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

fn say(what: &str, count: usize, took: Took) {
    let (wall, processor) = (took.wall.as_secs_f64(), took.processor.as_secs_f64());
    let per_second = count as f64 / wall;
    println!(
        "{what:<44} {count:>9} in {wall:>6.2} s = {per_second:>8.0}/s   ({processor:.2} s of processor time{})",
        memory()
    );
}

/// The most memory used so far, where the system tells.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0);
    format!(", peak memory {} MB", kilobytes / 1024)
}

/// Pages of hosts of very different sizes, in no order that would suit an index.
fn load(store: &mut Store, pages: usize) -> Result<Vec<PageId>, Box<dyn Error>> {
    let (added, took) = timed(|| -> Result<Vec<Added>, Box<dyn Error>> {
        let mut added = Vec::with_capacity(pages);
        for start in (0..pages).step_by(PER_LOAD) {
            let some = (start..(start + PER_LOAD).min(pages)).map(page).collect::<Result<_, _>>()?;
            added.extend(
                store.commit(&Batch { pages: some, ..Batch::default() })?.pages.into_iter().flatten(),
            );
        }
        Ok(added)
    });
    let added = added?;
    let what = if added.iter().all(|added| added.new) {
        "new pages, 200000 per commit"
    } else {
        "known pages, 200000 per commit"
    };
    say(what, pages, took);
    Ok(added.iter().map(|added| added.page).collect())
}

fn page(number: usize) -> Result<NewPage, Box<dyn Error>> {
    let spread = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let host = format!("https://www.host{}.example.org", (spread % 10_000).isqrt());
    let url = Address::new(format!(
        "{host}/articles/{:x}/the-title-of-the-page-number-{number}.html",
        spread % 65536
    ))?;
    Ok(NewPage {
        url,
        host,
        importance: 1.0,
        max_age: None,
        added: Time::ZERO,
        found: "seed",
        origin: Origin::default(),
    })
}

fn scan(directory: &Path) -> Result<(), Box<dyn Error>> {
    let (scanned, took) = timed(|| -> Result<(usize, f64), Box<dyn Error>> {
        let reader = Reader::open(directory)?;
        let mut sums = (0, 0.0);
        reader.pages(|row| {
            sums = (sums.0 + 1, sums.1 + row.importance);
            ControlFlow::Continue(())
        })?;
        Ok(sums)
    });
    say("pages scanned", scanned?.0, took);
    Ok(())
}

/// Looks at pages by chance; with a body, every look stores one of its own.
fn looks(store: &mut Store, ids: &[PageId], commits: usize, body: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut chance = ChaCha8Rng::seed_from_u64(7);
    let mut total = Took::default();
    let mut encoding = Took::default();
    for commit in 0..commits {
        let picks: Vec<usize> = (0..PER_COMMIT).map(|_| chance.random_range(0..ids.len())).collect();
        let (looks, took) = timed(|| {
            picks.iter().map(|pick| look(ids[*pick], *pick, commit, body)).collect::<Result<_, _>>()
        });
        encoding += took;
        let batch = Batch { looks: looks?, ..Batch::default() };
        let (done, took) = timed(|| store.commit(&batch));
        done?;
        total += took;
    }
    let what = if body.is_empty() {
        "looks at random pages, 1000 per commit".to_owned()
    } else {
        say("  their records encoded", commits * PER_COMMIT, encoding);
        format!("looks with bodies of {} KB, 1000 per commit", body.len() / 1000)
    };
    say(&what, commits * PER_COMMIT, total);
    Ok(())
}

fn look(id: PageId, pick: usize, commit: usize, body: &[u8]) -> Result<Look, Box<dyn Error>> {
    let time = Time::from_nanos(1_700_000_000_000_000_000) + Span::from_whole_secs(commit as u64);
    let own = [format!("{pick} {commit}").as_bytes(), body].concat();
    let head = HttpHead::response(200, "OK", [("Content-Type", &b"text/html"[..])])?;
    let url = page(pick)?.url;
    let answer = Response {
        url: &url,
        page: &url,
        time,
        ip: None,
        head: &head,
        body: Body::new(&own),
        truncated: None,
        request: None,
    };
    let record = (!body.is_empty()).then(|| answer.encode()).transpose()?;
    Ok(Look {
        page: id,
        time,
        asked: time,
        elapsed: Some(Span::from_whole_secs(3600)),
        outcome: if record.is_some() { Outcome::Changed } else { Outcome::Unchanged },
        counted: None,
        status: Some(200),
        bytes: own.len() as u64,
        duration: Span::from_millis(80),
        digest: Some(
            record.as_ref().map_or_else(|| Digest::of(b"same"), refrain_store::warc::Encoded::digest),
        ),
        state: PageState::Active,
        history: Some(vec![7; 64]),
        known: Some(Known { etag: Some("\"5f3a-9d\"".into()), kept: Some(vec![8; 64]), ..Known::default() }),
        record,
    })
}

fn check(directory: &Path) -> Result<(), Box<dyn Error>> {
    let (report, took) = timed(|| refrain_store::verify(directory, |_| {}));
    let report = report?;
    say("versions checked, and all else", report.checked.versions as usize, took);
    println!("the check found {} things to say", report.findings.len());
    let size = std::fs::metadata(directory.join("refrain.db"))?.len();
    println!("the database has {} MB", size / 1_000_000);
    Ok(())
}
