//! How fast pages are read, on one core: links, visible text, comparison, robots.txt.
//!
//! `cargo run --release -p refrain-fetch --example reading`

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use refrain_core::time::Time;
use refrain_fetch::change::{Kept, Look, Reported, Rules, SECOND_LOOK, Visit, judge};
use refrain_fetch::links::links;
use refrain_fetch::robots::Robots;
use refrain_fetch::url::PageUrl;

/// Seconds per call, over a second of calls.
#[expect(clippy::disallowed_methods, reason = "measures, decides nothing")]
fn timed<T>(mut work: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    let mut calls = 0u32;
    while start.elapsed() < Duration::from_secs(1) {
        black_box(work());
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

/// A page of some 80 KB: navigation, 300 paragraphs with links, a counter.
fn page(counter: u32) -> String {
    let paragraphs: Vec<String> = (0..300)
        .map(|number| {
            format!(
                "<div class='item' id='n{number}'><h3><a href='/story/{number}?a=1&amp;b=2'>Story number {number}</a></h3>\
                 <p>What happened in place {} was <b>reported</b> by {} people, who say that more is to come.</p></div>\n",
                number * 7919 % 1000,
                number * 104_729 % 997
            )
        })
        .collect();
    format!(
        "<!doctype html><html><head><title>News</title><style>p{{}}</style></head><body>{}<p>Visitor {counter}</body></html>",
        paragraphs.concat()
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = PageUrl::parse("https://example.org/news/")?;
    let (html, other) = (page(1), page(2));
    let megabytes = html.len() as f64 / 1e6;
    let rules = Rules::default();
    println!("a page of {:.0} KB", megabytes * 1e3);
    println!("links      {:6.0} MB/s", megabytes / timed(|| links(&html, &url, "Refrain")));
    println!("look       {:6.0} MB/s", megabytes / timed(|| Look::new(html.as_bytes(), None, &rules)));
    let (first, second) =
        (Look::new(html.as_bytes(), None, &rules), Look::new(other.as_bytes(), None, &rules));
    let visit =
        |doubt| Visit { rules: &rules, doubt, time: Time::ZERO, may_look_again: true, is_quiet_host: false };
    let reported = || Some(Reported { look: first.clone(), time: Time::ZERO });
    // The counter differs at three looks in quick succession.
    let mut kept = Kept::first(&first);
    let mut doubt = None;
    for html in [2, 3, 4, 5].map(page) {
        let look = Look::new(html.as_bytes(), None, &rules);
        let judgement = judge(&kept, &look, visit(doubt.take()), reported);
        doubt = judgement.doubt.map(|doubt| (doubt, SECOND_LOOK));
        if doubt.is_none() {
            kept = judgement.kept;
        }
    }
    println!("compare    {:6.0} µs", 1e6 * timed(|| judge(&kept, &second, visit(None), reported)));
    println!("kept       {:6} bytes", kept.to_bytes().len());
    let lines: Vec<String> = (0..200).map(|number| format!("Disallow: /private/{number}/*.pdf$\n")).collect();
    let text = format!("User-agent: *\n{}", lines.concat());
    let robots = Robots::parse(text.as_bytes(), "Refrain");
    let paper = PageUrl::parse("https://example.org/private/199/a/b/c/paper.html")?;
    println!(
        "robots     {:6.2} µs to read 200 rules",
        1e6 * timed(|| Robots::parse(text.as_bytes(), "Refrain"))
    );
    println!("           {:6.2} µs to ask them", 1e6 * timed(|| robots.allows(&paper)));
    println!(
        "url        {:6.2} µs to read",
        1e6 * timed(|| PageUrl::parse("https://Example.org/a/../b?c=%7e#d"))
    );
    Ok(())
}
