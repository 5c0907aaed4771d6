use super::*;
use proptest::prelude::*;

fn home() -> PageUrl {
    PageUrl::parse("https://example.org/blog/feed").expect("a URL")
}

fn feed(body: &str) -> Feed {
    read(body.as_bytes(), &home(), None, Limits::default()).expect("a feed")
}

fn urls(feed: &Feed) -> Vec<&str> {
    feed.entries.iter().map(|entry| entry.url.as_str()).collect()
}

const RSS: &str = r#"<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:feedburner="x">
<channel>
  <title>Notes from the pier</title>
  <link>https://example.org/blog/</link>
  <atom:link href="https://example.org/blog/feed" rel="self" type="application/rss+xml"/>
  <atom:link rel="hub" href="https://hub.example/"/>
  <lastBuildDate>Sun, 15 Nov 2026 12:00:00 +0000</lastBuildDate>
  <sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>
  <ttl>90</ttl>
  <image><url>https://example.org/logo.png</url><title>Logo</title><link>https://example.org/logo</link></image>
  <item>
    <title>Low tide</title>
    <link>https://example.org/blog/low-tide</link>
    <description>Mud &amp; <br> gulls <p>and <link>https://example.org/no</link></description>
    <pubDate>Sat, 14 Nov 2026 08:00:00 GMT</pubDate>
    <guid isPermaLink="false">tag:example.org,2026:17</guid>
    <enclosure url="https://example.org/a.mp3" length="1" type="audio/mpeg"/>
    <atom:link rel="replies" href="/replies"/>
    <source url="https://other.example/feed">Other</source>
  </item>
  <item><guid>https://example.org/blog/high-tide</guid><dc:date>2026-11-13</dc:date></item>
  <item><link>https://counter.example/1</link><feedburner:origLink>https://example.org/blog/ferry?a=1&amp;b=2</feedburner:origLink></item>
  <item><title>Nothing else</title><guid isPermaLink="false">19</guid></item>
</channel></rss>"#;

#[test]
fn rss_two() {
    let found = feed(RSS);
    assert_eq!(
        urls(&found),
        [
            "https://example.org/blog/low-tide",
            "https://example.org/blog/high-tide",
            "https://example.org/blog/ferry?a=1&b=2",
        ]
    );
    assert_eq!(found.entries[0].id.as_deref(), Some("tag:example.org,2026:17"));
    assert_eq!(found.entries[0].changed(), When::parse("2026-11-14T08:00:00Z"));
    assert_eq!(found.entries[1].published, When::parse("2026-11-13"));
    assert_eq!(found.home.as_ref().map(PageUrl::as_str), Some("https://example.org/blog/"));
    assert_eq!(found.itself, Some(home()));
    assert_eq!(found.hubs.len(), 1);
    assert_eq!(found.updated, When::parse("2026-11-15T12:00:00Z"));
    assert_eq!(found.keep_for, Some(Span::from_whole_secs(5400)));
    assert_eq!(found.updated_every, Some(Span::from_whole_secs(1800)));
    assert_eq!((found.bad, found.first_bad.as_deref()), (1, Some("entry 4: it has no link")));
}

#[test]
fn rss_one_names_items_by_their_pages() {
    let found = feed(
        "<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/' xmlns:dc='d'><channel rdf:about='x'><link>https://example.org/</link>\
         <items><rdf:Seq><rdf:li rdf:resource='https://example.org/1'/></rdf:Seq></items></channel>\
         <item rdf:about='https://example.org/1'><title>One</title><dc:date>2026-11-15T12:00+00:00</dc:date></item>\
         <item rdf:about='https://example.org/2'><link>https://example.org/two</link></item></rdf:RDF>",
    );
    assert_eq!(urls(&found), ["https://example.org/1", "https://example.org/two"]);
    assert_eq!(found.entries[0].published, When::parse("2026-11-15T12:00Z"));
    assert_eq!(found.home.as_ref().map(PageUrl::as_str), Some("https://example.org/"));
}

#[test]
fn atom_with_bases() {
    let found = feed(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://example.org/notes/'>\
         <link rel='self' href='feed.atom'/><link href='.'/><link rel='hub' href='https://hub.example/'/><link rel='hub' href='https://hub.example/'/>\
         <link rel='next' href='?page=2'/><updated>2026-11-15T12:00:00Z</updated><id>urn:x</id>\
         <entry><id>urn:1</id><link rel='enclosure' href='/a.mp3'/><link rel='alternate' href='one'/><published>2026-11-01T00:00:00Z</published><updated>2026-11-02T00:00:00Z</updated>\
           <content type='xhtml'><div><link href='no'/><updated>1999</updated></div></content></entry>\
         <entry xml:base='old/'><link href='two'/></entry>\
         <entry><link xml:base='https://example.com/' href='three'/><updated>soon</updated></entry>\
         <entry><id>https://example.org/four</id></entry></feed>",
    );
    assert_eq!(
        urls(&found),
        [
            "https://example.org/notes/one",
            "https://example.org/notes/old/two",
            "https://example.com/three",
            "https://example.org/four",
        ]
    );
    assert_eq!(found.itself.as_ref().map(PageUrl::as_str), Some("https://example.org/notes/feed.atom"));
    assert_eq!(found.next.as_ref().map(PageUrl::as_str), Some("https://example.org/notes/?page=2"));
    assert_eq!(found.hubs.len(), 1);
    assert_eq!(found.entries[0].changed(), When::parse("2026-11-02T00:00:00Z"));
    assert_eq!((found.bad, found.bad_dates), (0, 1));
    assert_eq!(found.first_bad.as_deref(), Some("entry 3: 'soon' is no date that can be read"));
}

#[test]
fn a_link_to_something_else_names_no_page_in_its_text_either() {
    let found = feed(
        "<feed><link rel='self'>https://example.org/no</link><entry><link rel='alternate' href='/a'/><link rel='enclosure'>/a.mp3</link></entry>\
         <entry><link rel='Enclosure'>/b.mp3</link><link>/b</link></entry><entry><link rel='alternate'>/c</link></entry>\
         <entry><link rel='related'>/d</link></entry></feed>",
    );
    assert_eq!(urls(&found), ["https://example.org/a", "https://example.org/b", "https://example.org/c"]);
    assert_eq!((found.bad, found.home), (1, None));
}

/// Dublin Core's date is that of the last change, and of the publication only if nothing else is.
#[test]
fn dublin_core_dates() {
    let found = feed(
        "<rss xmlns:dc='d'><channel><dc:date>2026-11-09</dc:date>\
         <item><link>/a</link><pubDate>Sun, 01 Nov 2026 00:00:00 GMT</pubDate><dc:date>2026-11-05</dc:date></item>\
         <item><link>/b</link><dc:date>2026-11-06</dc:date></item>\
         <item><link>/c</link><dc:date>2026-11-06</dc:date><dcterms:modified>2026-11-07</dcterms:modified></item>\
         <item><link>/d</link><dc:date>soon</dc:date><pubDate>2026-11-08</pubDate></item></channel></rss>",
    );
    let dates: Vec<_> = found.entries.iter().map(|entry| (entry.published, entry.changed())).collect();
    let on = |day: &str| When::parse(&format!("2026-11-{day}"));
    assert_eq!(dates[0], (When::parse("2026-11-01T00:00:00Z"), on("05")));
    assert_eq!(dates[1..], [(on("06"), on("06")), (on("06"), on("07")), (on("08"), on("08"))]);
    assert_eq!((found.bad_dates, found.updated), (1, on("09")));
}

#[test]
fn json() {
    let found = feed(
        r#"{"version": "https://jsonfeed.org/version/1.1", "title": "x", "home_page_url": "/", "feed_url": "https://example.org/feed.json",
            "hubs": [{"type": "WebSub", "url": "https://hub.example/"}, {"type": 3}], "next_url": "feed.json?2", "author": {"name": ["x"]},
            "items": [{"id": "1", "url": "one", "content_html": "<p>", "date_published": "2026-11-15T12:00:00Z", "date_modified": null},
                      {"id": 2, "url": {}}, {"id": "https://example.org/three", "tags": [[]]}]}"#,
    );
    assert_eq!(urls(&found), ["https://example.org/blog/one", "https://example.org/three"]);
    assert_eq!(found.entries[0].published, When::parse("2026-11-15T12:00:00Z"));
    assert_eq!(found.home.as_ref().map(PageUrl::as_str), Some("https://example.org/"));
    assert_eq!((found.hubs.len(), found.bad), (1, 1));
    let deep = format!("{{\"version\": \"https://jsonfeed.org/version/1\", \"x\": {}", "[".repeat(100_000));
    assert!(matches!(read(deep.as_bytes(), &home(), None, Limits::default()), Err(NoFeed::Json(_))));
}

#[test]
fn one_bad_item_of_a_json_feed_spoils_no_other() {
    for bad in [
        "null",
        "7",
        "1e999",
        "\"text\"",
        "[]",
        "[\"x\", \"https://example.org/no\"]",
        "{\"url\": \"https://example.org/a\", \"url\": \"https://example.org/b\"}",
        "{\"url\": \"\\ud800\", \"title\": \"\\ud800\"}",
        "{\"url\": 1e999}",
        "{\"url\": \"http://\"}",
        "{}",
    ] {
        let found = feed(&format!(
            "{{\"version\": \"https://jsonfeed.org/version/1.1\", \"home_page_url\": \"\\udfff\", \"hubs\": [{bad}],
              \"items\": [{{\"url\": \"/one\"}}, {bad}, {{\"url\": \"/two\", \"id\": 1e999, \"title\": \"\\ud800\"}}]}}"
        ));
        assert_eq!(urls(&found), ["https://example.org/one", "https://example.org/two"], "{bad}");
        assert_eq!((found.bad, found.home), (1, None), "{bad}");
        assert!(found.first_bad.is_some_and(|why| why.starts_with("entry 2: ")), "{bad}");
    }
    for nothing in ["7", "{}", "\"\"", "null"] {
        let found = feed(&format!(
            "{{\"version\": \"https://jsonfeed.org/version/1.1\", \"hubs\": {nothing}, \"items\": {nothing}}}"
        ));
        assert_eq!((found.entries.len(), found.bad), (0, 0), "{nothing}");
    }
}

#[test]
fn links_that_refer_to_what_is_not_defined_are_not_followed() {
    let found = feed(
        "<rss xmlns:atom='a'><channel><link>/&home;</link><atom:link rel='self' href='/&itself;'/><atom:link rel='hub' href='https://hub.example/&hub;'/>\
           <item><link>/caf&eacute;?a=1&amp;b=2&c=3</link></item><item><link>/&undefined;</link></item>\
           <item><link>/&pa;rt</link><guid>https://example.org/three</guid></item>\
           <item><guid>https://example.org/&undefined;</guid></item><item><guid isPermaLink='false'>&x;</guid><link>/five</link></item>\
           <item><link><![CDATA[/six?a=1&b;=2]]></link></item><item><atom:link href='/&undefined;'/></item></channel></rss>",
    );
    assert_eq!(
        urls(&found),
        [
            "https://example.org/caf%C3%A9?a=1&b=2&c=3",
            "https://example.org/five",
            "https://example.org/six?a=1&b;=2"
        ]
    );
    assert_eq!((found.bad, found.hubs.len(), &found.home, &found.itself), (4, 0, &None, &None));
    assert_eq!(found.first_bad.as_deref(), Some("entry 2: its link refers to an entity that is not defined"));
    let atom = feed(
        "<feed><link href='/&x;'/><entry><link href='/&x;'/></entry><entry xml:base='/&x;/'><link href='a'/></entry></feed>",
    );
    assert_eq!((urls(&atom), atom.bad), (vec!["https://example.org/blog/a"], 1));
}

/// RSS borrows Atom's link; a hub is named by whole words, each counts once, and nobody needs dozens.
#[test]
fn hubs() {
    let found = feed(
        "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><link>https://example.org/</link>\
           <atom:link rel='hub' href='https://hub.example/'/><atom:link rel='HUB nofollow' href='/own-hub'/>\
           <atom:link rel='hub' href='https://hub.example/'/><atom:link rel='hubs' href='https://no.example/'/>\
           <atom:link rel='hub' href='ftp://no.example/'/><atom:link rel='self' href='https://example.org/feed'/>\
           <item><link>/one</link><atom:link rel='hub' href='https://evil.example/'/></item></channel></rss>",
    );
    let hubs: Vec<&str> = found.hubs.iter().map(PageUrl::as_str).collect();
    assert_eq!(hubs, ["https://hub.example/", "https://example.org/own-hub"]);
    assert_eq!(found.itself.as_ref().map(PageUrl::as_str), Some("https://example.org/feed"));
    let many: Vec<String> =
        (0..50).map(|n| format!("<link rel='hub' href='https://{n}.example/'/>")).collect();
    assert_eq!(feed(&format!("<feed>{}</feed>", many.concat())).hubs.len(), 10);
}

#[test]
fn what_is_no_feed_is_refused_in_a_sentence() {
    let refused =
        |body: &str| read(body.as_bytes(), &home(), None, Limits::default()).map_err(|why| why.to_string());
    assert_eq!(
        refused("<!doctype html><title>Log in</title>"),
        Err("it is an HTML page; expected a feed".to_owned())
    );
    assert_eq!(refused("<urlset>"), Err("it is a sitemap; expected a feed".to_owned()));
    assert_eq!(refused("no"), Err("it is something else; expected a feed".to_owned()));
}

#[test]
fn encodings_and_limits() {
    let body = b"<?xml version='1.0' encoding='iso-8859-1'?><rss><channel><item><link>/\xe9</link></item></channel></rss>";
    let found = read(body, &home(), None, Limits::default()).expect("a feed");
    assert_eq!(urls(&found), ["https://example.org/%C3%A9"]);
    let many = format!("<rss><channel>{}", "<item><link>/a</link></item>".repeat(100));
    let found = read(many.as_bytes(), &home(), None, Limits { entries: 10, bytes: 1 << 20 }).expect("a feed");
    assert_eq!((found.entries.len(), found.cut), (10, Some(Cut::Entries)));
    let found = read(many.as_bytes(), &home(), None, Limits { entries: 1000, bytes: 100 }).expect("a feed");
    assert_eq!((found.entries.len(), found.cut), (3, Some(Cut::Size)));
    let deep = format!("<rss>{}", "<channel>".repeat(100_000));
    assert_eq!(feed(&deep).cut, Some(Cut::Depth));
}

#[test]
fn entries_that_nobody_closes() {
    let found =
        feed("<rss><channel><item><link>/a</link><item><link>/b</link><p>x</item></channel><item><link>/c");
    assert_eq!(urls(&found), ["https://example.org/a", "https://example.org/b", "https://example.org/c"]);
}

proptest! {
    #[test]
    fn no_feed_is_too_strange(parts in prop::collection::vec(prop::sample::select(vec![
        "<rss>", "<channel>", "<item>", "</item>", "<entry>", "</entry>", "<link>", "</link>", "<link href='x'/>", "<guid>", "</guid>", "<pubDate>", "</pubDate>", "2026-11-15", "<feed xml:base='/x/'>",
        "https://example.org/", "<![CDATA[", "]]>", "&", "<ttl>", "</ttl>", "NaN", "'", "<", ">", "é", "<!--", "</channel>",
    ]), 0..40), start in prop::sample::select(vec!["<rss>", "<feed>", "<rdf:RDF>", "{\"version\": \"jsonfeed.org/version\", \"items\": ["])) {
        let _ = read(format!("{start}{}", parts.concat()).as_bytes(), &home(), None, Limits::default());
    }

    #[test]
    fn nor_is_any_json(parts in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"url\"", "\"items\"", "\"id\"", "1", "-1.5", "null", "true", "\"x\"", "\"hubs\"",
    ]), 0..30)) {
        let _ = read(format!("{{\"version\": \"jsonfeed.org/version\", {}", parts.concat()).as_bytes(), &home(), None, Limits::default());
    }
}
