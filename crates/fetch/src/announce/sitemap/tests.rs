use std::fmt::Write;
use std::io::Write as _;

use super::*;
use crate::announce::when::{Precision, When};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

fn home() -> PageUrl {
    PageUrl::parse("https://example.org/sitemap.xml").expect("a URL")
}

fn read_in(body: &[u8], piece: usize, limits: Limits) -> (Vec<Announced>, Tally) {
    let mut found = Vec::new();
    let mut reader = Reader::new(&home(), None, limits);
    for chunk in body.chunks(piece.max(1)) {
        if !reader.push(chunk, |one| found.push(one)) {
            break;
        }
    }
    let tally = reader.finish(|one| found.push(one));
    (found, tally)
}

fn all(body: &str) -> (Vec<Announced>, Tally) {
    read_in(body.as_bytes(), usize::MAX, Limits::default())
}

fn pages(body: &str) -> Vec<Page> {
    let page = |found| if let Announced::Page(page) = found { Some(page) } else { None };
    all(body).0.into_iter().filter_map(page).collect()
}

fn paths(body: &str) -> Vec<String> {
    pages(body).iter().map(|page| page.url.path_and_query().to_owned()).collect()
}

const PROPER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/style.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
        xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>https://example.org/harbour?from=1&amp;to=2</loc>
    <lastmod>2026-11-14</lastmod>
    <changefreq>weekly</changefreq>
    <priority>0.8</priority>
    <image:image><image:loc>https://example.org/harbour.jpg</image:loc><image:title>Boats</image:title></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="https://example.org/de/hafen"/>
  </url>
  <url>
    <image:loc>https://example.org/astray.jpg</image:loc>
    <loc><![CDATA[ https://example.org/story?a=1&b=2 ]]></loc>
    <news:news>
      <news:publication><news:name>The Harbour</news:name><news:language>en</news:language></news:publication>
      <news:publication_date>2026-11-15T07:30:00+01:00</news:publication_date>
      <news:title>A ship &amp; its crew</news:title>
    </news:news>
  </url>
</urlset>"#;

#[test]
fn a_proper_sitemap() {
    let found = pages(PROPER);
    assert_eq!(paths(PROPER), ["/harbour?from=1&to=2", "/story?a=1&b=2"]);
    let first = &found[0];
    assert_eq!(first.last_modified.map(When::precision), Some(Precision::Day));
    assert_eq!((first.change_frequency, first.priority), (Some(ChangeFrequency::Weekly), Some(0.8)));
    let news = found[1].news.as_ref().expect("news");
    assert_eq!(news.title.as_deref(), Some("A ship & its crew"));
    assert_eq!(news.published, When::parse("2026-11-15T06:30:00Z"));
    assert_eq!(found[1].last_modified, None);
    let tally = all(PROPER).1;
    assert_eq!((tally.pages, tally.bad, tally.bad_dates, tally.cut), (2, 0, 0, None));
    assert_eq!(tally.to_string(), "2 pages");
}

#[test]
fn pieces_and_gzip_make_no_difference() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(PROPER.as_bytes()).expect("memory");
    let zipped = encoder.finish().expect("memory");
    let whole = all(PROPER);
    for piece in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(read_in(PROPER.as_bytes(), piece, Limits::default()), whole, "{piece}");
        assert_eq!(read_in(&zipped, piece, Limits::default()), whole, "{piece}");
    }
}

#[test]
fn an_index_names_sitemaps() {
    let (found, tally) = all(
        "<sitemapindex xmlns='x'><sitemap><loc>https://example.org/1.xml.gz</loc><lastmod>2026-11-15T12:00Z</lastmod></sitemap>\
        <sitemap><loc>https://cdn.example/2.xml</loc></sitemap></sitemapindex>",
    );
    let places: Vec<(&str, Scope, bool)> = found
        .iter()
        .filter_map(|one| match one {
            Announced::Sitemap(map) => Some((map.url.as_str(), map.scope, map.last_modified.is_some())),
            Announced::Page(_) => None,
        })
        .collect();
    assert_eq!(
        places,
        [
            ("https://example.org/1.xml.gz", Scope::Below, true),
            ("https://cdn.example/2.xml", Scope::Elsewhere, false),
        ]
    );
    assert_eq!((tally.body, tally.sitemaps, tally.elsewhere), (Some(Body::SitemapIndex), 2, 1));
}

#[test]
fn namespaces_and_forms_that_are_wrong() {
    for body in [
        "<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>",
        "<sm:urlset xmlns:sm='http://wrong.example/'><sm:url><sm:loc>/a</sm:loc></sm:url><sm:url><sm:loc>/b</sm:loc></sm:url></sm:urlset>",
        "<URLSET><URL><LOC>\n/a\n</LOC></URL><Url><Loc>/b</Loc></Url></URLSET>",
        // Nobody closes.
        "<urlset><url><loc>/a</loc><url><loc>/b</loc></url>",
        "<urlset><url><loc>/a<lastmod>x</url><url><p><br></p><loc>/b</loc></url></urlset>",
        "<url><loc>/a</loc></url><url><loc>/b</loc></url>",
        "<urlset><url><image><loc>/c.jpg</loc></image><loc>/a</loc></url><!-- <url><loc>/d</loc></url> --><url><loc>/b</loc></url></urlset>",
        "# a list\nhttps://example.org/a\r\n\r\n  https://example.org/b  ",
    ] {
        let expected: &[&str] = if body.contains("<lastmod>x") { &["/ax", "/b"] } else { &["/a", "/b"] };
        assert_eq!(paths(body), expected, "{body}");
    }
}

#[test]
fn what_surrounds_a_url_is_not_of_it() {
    let body = "<urlset><url><loc>\u{a0}&nbsp;https://example.org/a\u{feff}\u{200b}&#160;</loc><lastmod>\u{a0}2026-11-15&nbsp;</lastmod></url>\
                <url><loc>https://example.org/b&nbsp;c</loc></url></urlset>";
    assert_eq!(paths(body), ["/a", "/b%C2%A0c"]);
    assert_eq!(pages(body)[0].last_modified, When::parse("2026-11-15"));
    assert_eq!(paths("\u{a0}https://example.org/a\u{a0}\n\u{200b}https://example.org/b"), ["/a", "/b"]);
}

/// What one says of the second it does not say of the first.
#[test]
fn two_urls_in_an_entry_are_two_entries() {
    let found = pages(
        "<urlset><url><loc>/a</loc><priority>0.3</priority><loc>/b</loc><lastmod>2026-11-15</lastmod></url>\
         <url><loc/><loc>/c</loc><image:loc>/no</image:loc></url><url><loc>ftp://no</loc><loc>/d</loc></url></urlset>",
    );
    let paths: Vec<&str> = found.iter().map(|page| page.url.path_and_query()).collect();
    assert_eq!(paths, ["/a", "/b", "/c", "/d"]);
    assert_eq!((found[0].priority, found[0].last_modified), (Some(0.3), None));
    assert_eq!((found[1].priority, found[1].last_modified.is_some()), (None, true));
    let index = "<sitemapindex><sitemap><loc>/1.xml</loc><loc>/2.xml</loc></sitemap></sitemapindex>";
    assert_eq!(all(index).1.sitemaps, 2);
    let limits = Limits { entries: 1, bytes: 1 << 20 };
    let (found, tally) = read_in(index.as_bytes(), usize::MAX, limits);
    assert_eq!((found.len(), tally.cut), (1, Some(Cut::Entries)));
}

#[test]
fn an_entry_may_be_its_own_url() {
    let (found, tally) = all(
        "<sitemapindex><sitemap>\nhttps://example.org/1.xml?a=1&amp;b=2\n</sitemap><sitemap><![CDATA[/2.xml]]><lastmod>2026-11-15</lastmod>\
         </sitemap><sitemap> \n </sitemap><sitemap>/&x;</sitemap><sitemap>no <loc>/3.xml</loc> text</sitemap></sitemapindex>",
    );
    let url = |one: &Announced| match one {
        Announced::Sitemap(map) => map.url.path_and_query().to_owned(),
        Announced::Page(page) => page.url.to_string(),
    };
    assert_eq!(found.iter().map(url).collect::<Vec<_>>(), ["/1.xml?a=1&b=2", "/2.xml", "/3.xml"]);
    assert_eq!((tally.bad, tally.first_bad.as_deref()), (2, Some("entry 3: it names no URL")));
    assert_eq!(paths("<urlset><url>/a</url><url><loc>/b</loc></url></urlset>"), ["/a", "/b"]);
}

#[test]
fn a_file_that_is_cut_keeps_the_last_url_that_is_whole() {
    let body = "<urlset><url><loc>/a</loc></url><url><loc>/b</loc><lastmod>2026-11-15";
    let (found, tally) = all(body);
    assert_eq!((found.len(), tally.bad), (2, 0));
    assert_eq!(pages(body)[1].last_modified, None);
    assert_eq!(paths("<urlset><url><loc>/a</loc></url><url><loc>/b</lo"), ["/a"]);
    let limits = Limits { entries: 9, bytes: 50 };
    let (found, tally) = read_in(body.as_bytes(), usize::MAX, limits);
    assert_eq!((found.len(), tally.bad, tally.cut), (2, 0, Some(Cut::Size)));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(body.as_bytes()).expect("memory");
    encoder.flush().expect("memory");
    let (found, tally) = read_in(encoder.get_ref(), usize::MAX, Limits::default());
    assert_eq!((found.len(), tally.cut), (2, Some(Cut::Gzip)));
}

#[test]
fn a_list_may_have_a_heading() {
    let (found, tally) = all("Pages\nhttps://example.org/a\nhttps://example.org/b\n");
    assert_eq!((found.len(), tally.bad), (2, 1));
}

#[test]
fn entities_never_expand() {
    let body = "<!DOCTYPE urlset [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY x SYSTEM 'file:///etc/passwd'>]>\
        <urlset><url><loc>https://example.org/&b;</loc></url><url><loc>https://example.org/&x;</loc></url><url><loc>https://example.org/ok&#47;</loc></url></urlset>";
    assert_eq!(paths(body), ["/ok/"]);
    let tally = all(body).1;
    assert_eq!(tally.bad, 2);
    assert_eq!(tally.first_bad.as_deref(), Some("entry 1: its URL refers to an entity that is not defined"));
}

#[test]
fn bad_entries_are_counted_with_the_first_reason() {
    let body = "<urlset><url><loc>/a</loc></url><url><loc>ftp://example.org/</loc></url><url></url><url><loc/></url><url><loc>n/a</loc></url>\
        <url><loc>/b</loc><lastmod>yesterday</lastmod><priority>high</priority><changefreq>often</changefreq></url><url><loc>/c";
    let (found, tally) = all(body);
    assert_eq!(found.len(), 2);
    assert_eq!((tally.bad, tally.bad_dates), (5, 1));
    assert_eq!(
        tally.to_string(),
        "2 pages; 5 bad entries, 1 bad dates (entry 2: the URL's scheme is `ftp`; expected http or https)"
    );
}

#[test]
fn what_is_no_sitemap_is_refused_in_a_line() {
    for (body, why) in [
        ("<!doctype html><p>404", "it is an HTML page; expected a sitemap"),
        ("<rss><channel>", "it is an RSS feed; expected a sitemap"),
        ("", "it is neither XML of a known kind nor a list of URLs; expected a sitemap"),
    ] {
        let (found, tally) = all(body);
        assert!(found.is_empty());
        assert_eq!(tally.first_bad.as_deref(), Some(why));
    }
}

fn many(count: usize) -> String {
    let mut body = "<urlset>".to_owned();
    for number in 0..count {
        write!(body, "<url><loc>https://example.org/{number}</loc></url>").expect("memory");
    }
    body
}

#[test]
fn limits_hold() {
    let body = many(1000);
    let (found, tally) = read_in(body.as_bytes(), 4096, Limits { entries: 100, bytes: 1 << 30 });
    assert_eq!((found.len(), tally.cut), (100, Some(Cut::Entries)));
    let (found, tally) = read_in(body.as_bytes(), 4096, Limits { entries: 10_000, bytes: 4096 });
    assert!(found.len() < 100 && !found.is_empty());
    assert_eq!((tally.cut, tally.bad), (Some(Cut::Size), 0));
    let deep = format!("<urlset>{}", "<url><a>".repeat(100_000));
    assert_eq!(all(&deep).1.cut, Some(Cut::Depth));
    let long =
        format!("<urlset><url><loc>/{}</loc></url><url><loc>/b</loc></url></urlset>", "x".repeat(1 << 20));
    assert_eq!(paths(&long), ["/b"]);
    let list = format!("https://example.org/a\n{}\nhttps://example.org/b", "x".repeat(1 << 20));
    assert_eq!(paths(&list), ["/a", "/b"]);
}

proptest! {
    #[test]
    fn no_sitemap_is_too_strange(parts in prop::collection::vec(prop::sample::select(vec![
        "<urlset>", "<url>", "</url>", "<loc>", "</loc>", "https://example.org/", "<lastmod>", "2026-11-15", "</lastmod>", "<image:loc>", "<news:news>", "<news:title>", "</news:news>", "<sitemap>",
        "<![CDATA[", "]]>", "&", "&amp;", "&x;", "<!DOCTYPE [", "<!--", "-->", "'", "<", ">", "/", "é", "\0", "<priority>", "NaN", "-1",
    ]), 0..40), piece in 1usize..50) {
        let body = format!("<urlset>{}", parts.concat());
        let (found, tally) = read_in(body.as_bytes(), piece, Limits::default());
        prop_assert_eq!(found.len() as u64, tally.pages + tally.sitemaps);
        prop_assert_eq!(&read_in(body.as_bytes(), usize::MAX, Limits::default()), &(found, tally));
    }

    #[test]
    fn nor_are_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1usize..50) {
        let _ = read_in(&bytes, piece, Limits::default());
    }
}
