//! `refrain bench signals`: what the crawler makes of what sites announce, and of news, on small webs that know the truth.

mod crawled;
mod figures;
mod prediction;

use std::sync::Arc;

use refrain_core::time::Span;

use super::folder::Folder;
use crate::cli::BenchSignalsArgs;
use crate::demo::hosts::{Host, Manner, Voice};
use crate::demo::serve::Site;
use crate::demo::world::World;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::progress::Progress;
use crawled::crawl;
use figures::{Figures, OfNews, OfPages};

/// Hosts, the pages of each, and between every how many seconds and every how many those change.
const HOSTS: u32 = 10;
const PAGES: u32 = 30;
const EVERY: (f64, f64) = (4.0, 240.0);
/// Sections with news: an article every so many seconds, and what each is worth while it is new.
const SECTIONS: [(f64, f64); 6] =
    [(1.5, 5.0), (2.0, 10.0), (3.0, 20.0), (4.0, 40.0), (6.0, 10.0), (8.0, 30.0)];
/// The budget for news, as a share of that for pages: articles and a front page every few seconds, just so.
const FOR_NEWS: f64 = 0.2;
/// Webs live a little longer than they are crawled.
const SPARE: f64 = 30.0;

pub(crate) fn run(args: &BenchSignalsArgs) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    let (seconds, rate) = (args.seconds as f64, 1.0 / args.rate.as_secs());
    let voices = [("honest", Voice::Sitemap), ("lying", Voice::Boast), ("none", Voice::Silent)];
    let pages = voices.map(|(name, voice)| (name, pages(voice, args.seed, seconds), rate));
    let news = ("news", news(args.seed, seconds), FOR_NEWS * rate);
    let progress = Progress::steps("crawling", args.seconds);
    // All at the same time: none of them has much to do.
    let sites: Result<Vec<Arc<Site>>, Failure> = runtime.block_on(async {
        let crawls = pages.into_iter().chain([news]).map(|(name, world, rate)| {
            let data = folder.0.join(name);
            tokio::spawn(crawl(world, data, rate, Span::from_whole_secs(args.seconds)))
        });
        let crawls: Vec<_> = crawls.collect();
        for _ in 0..args.seconds {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            progress.step();
        }
        let mut sites = Vec::new();
        for crawl in crawls {
            sites.push(crawl.await.map_err(|why| Failure::OnTheWay(why.to_string()))??);
        }
        Ok(sites)
    });
    drop(progress);
    let sites = sites?;
    let Some((site, others)) = sites.split_last() else { return Ok(()) };
    let worlds: Result<Vec<OfPages>, Failure> =
        voices.iter().zip(others).map(|((name, _), site)| OfPages::of(name, site, seconds)).collect();
    let news = OfNews::of(site, FOR_NEWS * rate, seconds)?;
    let figures = Figures { seconds: args.seconds, rate, seed: args.seed, worlds: worlds?, news };
    to_stdout(|out| if args.json { figures.write_json(out) } else { figures.write(out) })
}

/// Pages whose hosts all announce changes in the same way.
fn pages(voice: Voice, seed: u64, seconds: f64) -> World {
    let host = |number| Host::of_pages(&format!("h{number}"), Manner::Plain, voice, PAGES, EVERY);
    World::of((1..=HOSTS).map(host).collect(), seed, seconds + SPARE)
}

fn news(seed: u64, seconds: f64) -> World {
    let host = |(number, (every, profit)): (usize, &(f64, f64))| {
        Host::of_news(&format!("n{}", number + 1), *every, *profit)
    };
    World::of(SECTIONS.iter().enumerate().map(host).collect(), seed, seconds + SPARE)
}
