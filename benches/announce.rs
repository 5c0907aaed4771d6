//! What it costs to listen: sitemaps, feeds and access logs.
#![allow(missing_docs, reason = "criterion's macros")]

use std::hint::black_box;
use std::io::Write;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::write::GzEncoder;
use refrain_core::time::Time;
use refrain_engine::requests::{Requests, Rules};
use refrain_fetch::announce::{feed, sitemap};
use refrain_fetch::url::PageUrl;

/// As many as the protocol allows.
const ENTRIES: usize = 50_000;

/// As a body comes from the network.
const PIECE: usize = 16 * 1024;

fn home() -> PageUrl {
    PageUrl::parse("https://example.org/sitemap.xml").expect("a URL")
}

/// What sites with a plugin write: every field, and an image for each page.
fn full_sitemap() -> String {
    let mut body = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n",
    );
    for number in 0..ENTRIES {
        let (day, hour) = (number % 28 + 1, number % 24);
        body.push_str(&format!(
            "  <url>\n    <loc>https://example.org/articles/2026/{number}/what-was-seen-from-the-pier?page=1&amp;from={number}</loc>\n    \
             <lastmod>2026-10-{day:02}T{hour:02}:15:30+01:00</lastmod>\n    <changefreq>weekly</changefreq>\n    <priority>0.6</priority>\n    \
             <image:image><image:loc>https://example.org/images/{number}.jpg</image:loc></image:image>\n  </url>\n"
        ));
    }
    body.push_str("</urlset>\n");
    body
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

fn read_sitemap(body: &[u8], home: &PageUrl) -> sitemap::Tally {
    let mut reader = sitemap::Reader::new(home, None, sitemap::Limits::default());
    let mut each = |found| {
        black_box(found);
    };
    for piece in body.chunks(PIECE) {
        reader.push(piece, &mut each);
    }
    reader.finish(each)
}

fn sitemaps(c: &mut Criterion) {
    let home = home();
    let full = full_sitemap();
    let compressed = zipped(full.as_bytes());
    let list: Vec<String> =
        (0..ENTRIES).map(|number| format!("https://example.org/articles/2026/{number}\n")).collect();
    let list = list.concat();
    assert_eq!(read_sitemap(full.as_bytes(), &home).pages, ENTRIES as u64);
    let mut group = c.benchmark_group("sitemap of 50,000 entries");
    group.sample_size(20);
    group.throughput(Throughput::Bytes(full.len() as u64));
    group.bench_function("xml", |b| b.iter(|| read_sitemap(full.as_bytes(), &home)));
    group.bench_function("xml.gz", |b| b.iter(|| read_sitemap(&compressed, &home)));
    group.throughput(Throughput::Bytes(list.len() as u64));
    group.bench_function("list", |b| b.iter(|| read_sitemap(list.as_bytes(), &home)));
    group.finish();
}

fn feeds(c: &mut Criterion) {
    let home = home();
    let text = "<p>What was seen from the pier &amp; what was not.</p>".repeat(60);
    let items: Vec<String> = (0..50)
        .map(|number| {
            format!(
                "<item><title>Number {number}</title><link>https://example.org/{number}</link><guid isPermaLink=\"false\">{number}</guid>\
                 <pubDate>Sun, 15 Nov 2026 12:00:00 +0000</pubDate><content:encoded><![CDATA[{text}]]></content:encoded></item>"
            )
        })
        .collect();
    let body = format!("<rss version=\"2.0\"><channel><title>x</title>{}</channel></rss>", items.concat());
    let mut group = c.benchmark_group("feed of 50 entries");
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("rss", |b| {
        b.iter(|| feed::read(body.as_bytes(), &home, None, feed::Limits::default()));
    });
    group.finish();
}

fn logs(c: &mut Criterion) {
    const LINES: usize = 10_000;
    let log: Vec<String> = (0..LINES)
        .map(|number| {
            format!(
                "203.0.113.{} - - [15/Nov/2026:{:02}:00:05 +0100] \"GET /articles/2026/{number}?a=b HTTP/1.1\" 200 5120 \
                 \"https://example.org/\" \"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\"\n",
                number % 256,
                number % 12
            )
        })
        .collect();
    let log = log.concat();
    let rules = Rules { site: Some(home()), bots: false, now: Time::from_nanos(1_800_000_000_000_000_000) };
    let mut group = c.benchmark_group("access log");
    group.throughput(Throughput::Elements(LINES as u64));
    group.bench_function("combined", |b| {
        b.iter(|| Requests::new(log.as_bytes(), &rules).map(black_box).count());
    });
    group.finish();
}

criterion_group!(benches, sitemaps, feeds, logs);
criterion_main!(benches);
