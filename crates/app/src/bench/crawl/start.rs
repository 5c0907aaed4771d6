//! How long a crawl takes to begin with many known pages, and what they weigh.

use std::io::{self, Write};
use std::path::Path;

use refrain_core::estimate::{Answer, History, Observation};
use refrain_core::frontier::AttentivePast;
use refrain_core::time::{Span, Time};
use refrain_engine::{Clock, Crawl, Seed, Settings, add_seeds};
use refrain_fetch::url::PageUrl;
use refrain_store::{Batch, Digest, Look, Options, Outcome, PageId, PageState, Store};

use super::SEED;
use crate::chart::grouped;
use crate::failure::Failure;
use crate::stopwatch::{Stopwatch, memory_bytes, spoken};
use crate::synthetic::Synthetic;

const HOSTS: usize = 10_000;
const AT_A_TIME: usize = 50_000;

pub(super) fn write(out: &mut dyn Write, folder: &Path, pages: usize) -> Result<(), Failure> {
    let clock = Clock::start();
    let data = folder.join("known");
    let host = |page: usize| format!("https://host{}.example", page % HOSTS);
    fill(&data, pages, clock.now(), host)?;
    let before = memory_bytes().unwrap_or(0);
    let watch = Stopwatch::start();
    let store = Store::open(&data, Options::default())?;
    let crawl = Crawl::new(store, &data, Settings::default(), clock, None)?;
    let (took, after) = (watch.elapsed(), memory_bytes().unwrap_or(0));
    drop(crawl);
    let written = writeln!(
        out,
        "  {} known pages on {} hosts: ready in {}, {} MB",
        grouped(pages),
        grouped(HOSTS),
        spoken(took),
        after.saturating_sub(before) / 1_000_000
    );
    written.and_then(|()| out.flush()).map_err(stdout)
}

/// Pages that were looked at a few times, as a crawl leaves them.
pub(super) fn fill(
    data: &Path,
    pages: usize,
    now: Time,
    host: impl Fn(usize) -> String,
) -> Result<(), Failure> {
    let mut random = Synthetic::new(SEED);
    let mut store = Store::open(data, Options::default())?;
    let seed = |page: usize| {
        let url = PageUrl::parse(&format!("{}/a/path/to/{page}.html", host(page))).ok()?;
        Some(Seed { url, importance: None, max_age: None })
    };
    for from in (0..pages).step_by(AT_A_TIME) {
        let seeds: Vec<Seed> = (from..pages.min(from + AT_A_TIME)).filter_map(seed).collect();
        add_seeds(&mut store, &seeds, now)?;
    }
    for from in (0..pages).step_by(AT_A_TIME) {
        let numbers = from..pages.min(from + AT_A_TIME);
        // The store numbers pages from 1.
        let looks = numbers.map(|page| look(PageId(page as i64 + 1), now, &mut random)).collect();
        store.commit(&Batch { looks, ..Batch::default() })?;
    }
    Ok(())
}

fn look(page: PageId, now: Time, random: &mut Synthetic) -> Look {
    let mut history = History::default();
    let interval = random.log_uniform(3600.0, 1e6);
    for _ in 0..4 {
        let answer = if random.uniform() < 0.4 { Answer::Changed } else { Answer::Unchanged };
        if let Ok(seen) = Observation::new(interval, 0, answer) {
            history.observe(&seen);
        }
    }
    Look {
        page,
        time: now - Span::from_secs(interval * random.uniform()),
        asked: now,
        elapsed: None,
        outcome: Outcome::First,
        counted: None,
        status: Some(200),
        bytes: 10_000,
        duration: Span::from_millis(50),
        digest: Some(Digest::of(&page.0.to_le_bytes())),
        state: PageState::Active,
        history: Some(AttentivePast::default().with_history(history).to_bytes()),
        known: None,
        record: None,
    }
}

pub(super) fn stdout(why: io::Error) -> Failure {
    Failure::system("standard output cannot be written", why)
}
