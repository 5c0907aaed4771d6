//! `refrain bench urlfrontier`: what the door for crawlers can bear, through one stream of gRPC, with the server in a process of its own.

use std::io::{self, Write};

use tonic::Status;
use tonic::codegen::tokio_stream;
use tonic::transport::{Channel, Endpoint};

use super::folder::Folder;
use super::server::{Pace, Server};
use crate::chart::grouped;
use crate::cli::BenchUrlfrontierArgs;
use crate::failure::Failure;
use crate::serve::urlfrontier::metadata;
use crate::serve::urlfrontier::proto::get_params::Item as Of;
use crate::serve::urlfrontier::proto::url_frontier_client::UrlFrontierClient;
use crate::serve::urlfrontier::proto::url_item::Item;
use crate::serve::urlfrontier::proto::{DiscoveredBatch, GetParams, KnownUrlItem, QueueDelayParams, UrlItem};
use crate::serve::urlfrontier::wire::Info;
use crate::stopwatch::Stopwatch;

/// URLs are in so many queues.
const QUEUES: u32 = 10_000;
/// As many as StormCrawler sends in a batch.
const BATCH: u32 = 256;
/// Longer than any of this takes.
const LEASE: u32 = 100_000;
/// What StormCrawler asks for in a call by the settings of docs/urlfrontier.md.
const STORM_QUEUES: u32 = 50;
const STORM_EACH: u32 = 5;
/// The crawl in which values decide, and how many URLs it has at most.
const VALUED: &str = "valued";
const MOST_PAGES: u32 = 100_000;
/// What may be under way, in bytes.
const WINDOW: u32 = 4 << 20;

type Client = UrlFrontierClient<Channel>;

/// `refrain bench urlfrontier`
pub(crate) fn run(args: &BenchUrlfrontierArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    runtime.block_on(measure(if args.quick { 20_000 } else { args.urls }))
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it on")]
fn broken(why: Status) -> Failure {
    Failure::OnTheWay(format!("the server does not answer as it should ({}: {})", why.code(), why.message()))
}

async fn measure(urls: u32) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let mut server = Server::start(&folder.0.join("data"), &["--urlfrontier", "127.0.0.1:0"])?;
    let address = server.said("urlfrontier on ")?;
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|why| Failure::OnTheWay(format!("{address}: nobody can connect there ({why})")))?
        .tcp_nodelay(true)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    let channel = endpoint.connect().await;
    let channel = channel.map_err(|why| Failure::OnTheWay(format!("{address}: nobody is there ({why})")))?;
    let mut client = UrlFrontierClient::new(channel);
    let mut out = io::stdout().lock();
    let mut say = |what: &str, figure: String, wanted: &str| {
        writeln!(out, "  {what:<54} {figure:<44} {wanted}")
            .and_then(|()| out.flush())
            .map_err(|why| Failure::system("standard output cannot be written", why))
    };
    let what = format!("{} URLs in {} queues, one stream", grouped(urls as usize), grouped(QUEUES as usize));
    say(&what, String::new(), "wanted")?;
    let before = server.bytes();
    let pace = paced(&server, discover(&mut client, "discovered", urls)).await?;
    say(&format!("PutDiscovered, new URLs in batches of {BATCH}"), pace.to_string(), "150,000")?;
    if let (Some(before), Some(after)) = (before, server.bytes()) {
        let each = after.saturating_sub(before) / u64::from(urls);
        say(
            "memory of the server for each, texts and metadata aside",
            format!("{each} bytes{}", server.memory()),
            "250",
        )?;
    }
    let pace = paced(&server, put(&mut client, urls)).await?;
    say("PutURLs, new URLs of another crawl", format!("{pace}{}", server.memory()), "60,000")?;
    let no_delay = QueueDelayParams::default();
    client.set_delay(no_delay).await.map_err(broken)?;
    let pace = paced(&server, get(&mut client, "discovered", 100, 10)).await?;
    say("GetURLs, 10 of each of 100 queues", pace.to_string(), "100,000")?;
    if urls > 10 * QUEUES {
        let pace = paced(&server, get(&mut client, "discovered", 100, urls.div_ceil(QUEUES))).await?;
        say("GetURLs, all that is left of each of 100 queues", pace.to_string(), "100,000")?;
    }
    let rounds = Rounds { crawl: "put", date: shuffled, queues: STORM_QUEUES, each: STORM_EACH };
    let pace = paced(&server, rounds.until(&mut client, urls)).await?;
    let what = format!("GetURLs and PutURLs, {} known URLs at a time", STORM_QUEUES * STORM_EACH);
    say(&what, pace.to_string(), "40 µs")?;
    by_value(&server, &mut client, urls, say).await
}

/// The same where values decide: a URL is a page as others there, so there are fewer of them.
async fn by_value(
    server: &Server,
    client: &mut Client,
    urls: u32,
    mut say: impl FnMut(&str, String, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let pages = (urls / 10).min(MOST_PAGES);
    let what = format!("where values decide, {} URLs", grouped(pages as usize));
    let before = server.bytes();
    let pace = paced(server, discover(client, VALUED, pages)).await?;
    say(&format!("PutDiscovered, {what}"), format!("{pace}{}", server.memory()), "")?;
    if let (Some(before), Some(after)) = (before, server.bytes()) {
        say(
            "memory of the server for each",
            format!("{} bytes", after.saturating_sub(before) / u64::from(pages)),
            "",
        )?;
    }
    let rounds = Rounds { crawl: VALUED, date: |_| 0, queues: 1000, each: 10 };
    let pace = paced(server, rounds.until(client, 2 * pages)).await?;
    say("GetURLs and PutURLs, what is worth it, each twice", pace.to_string(), "")
}

/// A crawl: URLs are fetched, and what is known of them is sent back.
struct Rounds {
    crawl: &'static str,
    /// The date of the n-th URL that is sent back.
    date: fn(u64) -> u64,
    /// How much a call asks for: queues, and URLs of each.
    queues: u32,
    each: u32,
}

impl Rounds {
    /// Crawls until so many URLs were served and sent back.
    async fn until(&self, client: &mut Client, urls: u32) -> Result<u64, Failure> {
        let mut served = 0_u64;
        while served < u64::from(urls) {
            let params = GetParams {
                max_urls_per_queue: self.each,
                max_queues: self.queues,
                delay_requestable: LEASE,
                item: Some(Of::CrawlId(self.crawl.to_owned())),
                ..GetParams::default()
            };
            let mut given = client.get_ur_ls(params).await.map_err(broken)?.into_inner();
            let mut seen = Vec::new();
            while let Some(mut info) = given.message().await.map_err(broken)? {
                let number = served + seen.len() as u64;
                info.metadata = metadata::of([
                    ("fetch.statusCode", "200"),
                    ("signature", &format!("{number:032x}")),
                    ("depth", "3"),
                    ("url.path", "http://h1.example/section/"),
                    ("discoveryDate", "2026-11-19T05:20:07.123456Z"),
                    ("lastProcessedDate", "2026-11-19T05:20:07.123456Z"),
                ]);
                let known = KnownUrlItem { info: Some(info), refetchable_from_date: (self.date)(number) };
                seen.push(UrlItem { item: Some(Item::Known(known)), ..UrlItem::default() });
            }
            if seen.is_empty() {
                // Values grow.
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                continue;
            }
            served += seen.len() as u64;
            let acks = client.put_ur_ls(tokio_stream::iter(seen)).await.map_err(broken)?;
            let mut acks = acks.into_inner();
            while acks.message().await.map_err(broken)?.is_some() {}
        }
        Ok(served)
    }
}

/// How fast it is: so many as `work` says.
async fn paced(server: &Server, work: impl Future<Output = Result<u64, Failure>>) -> Result<Pace, Failure> {
    let (watch, before) = (Stopwatch::start(), server.worked());
    let done = work.await?.max(1) as f64;
    let micros = 1e6 * (server.worked() - before) / done;
    Ok(Pace { each_second: done / watch.elapsed().as_secs_f64(), micros })
}

fn info(crawl: &str, number: u32) -> Info {
    let (queue, page) = (number % QUEUES, number / QUEUES);
    Info {
        url: format!("http://h{queue}.example/section/page-{page}"),
        key: format!("h{queue}.example"),
        crawl: crawl.to_owned(),
        metadata: metadata::of(match crawl {
            VALUED => [("refrain.schedule", "server")],
            _ => [("depth", "3")],
        }),
    }
}

/// New URLs, many in a message.
async fn discover(client: &mut Client, crawl: &'static str, urls: u32) -> Result<u64, Failure> {
    let batches = (0..urls).step_by(BATCH as usize).map(move |start| {
        let items = (start..urls.min(start + BATCH)).map(|number| info(crawl, number)).collect();
        DiscoveredBatch { id: start.to_string(), items }
    });
    let acks = client.put_discovered(tokio_stream::iter(batches)).await.map_err(broken)?;
    let (mut acks, mut taken) = (acks.into_inner(), 0);
    while let Some(ack) = acks.message().await.map_err(broken)? {
        taken += ack.statuses.iter().filter(|status| **status == 0).count() as u64;
    }
    all(taken, urls)
}

/// The date of the n-th URL of a crawl that has gone on for long: what is due together came at different times, and is far from each other on the disk.
fn shuffled(number: u64) -> u64 {
    1 + number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000_000
}

/// New URLs, one in a message.
async fn put(client: &mut Client, urls: u32) -> Result<u64, Failure> {
    let items = (0..urls).map(|number| {
        let date = shuffled(number.into());
        let item = KnownUrlItem { info: Some(info("put", number)), refetchable_from_date: date };
        UrlItem { item: Some(Item::Known(item)), ..UrlItem::default() }
    });
    let acks = client.put_ur_ls(tokio_stream::iter(items)).await.map_err(broken)?;
    let (mut acks, mut taken) = (acks.into_inner(), 0);
    while let Some(ack) = acks.message().await.map_err(broken)? {
        taken += u64::from(ack.status == 0);
    }
    all(taken, urls)
}

fn all(taken: u64, urls: u32) -> Result<u64, Failure> {
    if taken == u64::from(urls) {
        return Ok(taken);
    }
    Err(Failure::OnTheWay(format!("{taken} of {urls} URLs were taken")))
}

/// What is due, call after call, until nothing is.
async fn get(client: &mut Client, crawl: &str, queues: u32, each: u32) -> Result<u64, Failure> {
    let mut served = 0;
    loop {
        let params = GetParams {
            max_urls_per_queue: each,
            max_queues: queues,
            delay_requestable: LEASE,
            item: Some(Of::CrawlId(crawl.to_owned())),
            ..GetParams::default()
        };
        let mut given = client.get_ur_ls(params).await.map_err(broken)?.into_inner();
        let before = served;
        while given.message().await.map_err(broken)?.is_some() {
            served += 1;
        }
        if served == before {
            return Ok(served);
        }
    }
}
