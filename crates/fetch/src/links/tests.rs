use super::*;
use crate::change::{Look, Rules};
use crate::client::ContentType;
use proptest::prelude::*;

fn page(html: &str) -> Links {
    links(html, &PageUrl::parse("https://example.org/a/b").expect("a URL"), "Refrain")
}

fn targets(html: &str) -> Vec<String> {
    page(html).links.iter().map(|link| link.url.to_string()).collect()
}

#[test]
fn links_are_found_in_malformed_pages() {
    let html = "<body><a href=x>one<a HREF='/y?a=1&amp;b=2'><b>two<map><area href=\"//other.example\"></p></td>\
                <a>none</a><a href='mailto:x@y'>mail</a><a href = \" z \n\">three<!-- <a href=no> --><script>'<a href=no>'\
                </script><a href='javascript:x'><a href='&#x2f;w'>";
    assert_eq!(
        targets(html),
        [
            "https://example.org/a/x",
            "https://example.org/y?a=1&b=2",
            "https://other.example/",
            "https://example.org/a/z",
            "https://example.org/w",
        ]
    );
}

/// A crawler runs no scripts: what a page has for such readers leads on as well, wherever it stands.
#[test]
fn links_without_scripts_are_found() {
    let html = "<head><noscript><meta http-equiv=refresh content='0;url=/plain'><base href=/no/></noscript></head>\
                <a href=1></a><noscript><p><a href=2 rel=nofollow>two</a><!-- <a href=no> --><iframe></noscript><a href=3></a>\
                <noscript>&lt;a href=no><a href='/?a=1&amp;b=2'></noscript><noscript><a href=4 title='<noscript><a href=5></noscript>\
                <svg><noscript><a href=6>&lt;a href=no></noscript></svg><noscript><a href=no>";
    assert_eq!(
        targets(html),
        [
            "https://example.org/plain",
            "https://example.org/a/1",
            "https://example.org/a/2",
            "https://example.org/a/3",
            "https://example.org/?a=1&b=2",
            "https://example.org/a/6",
        ]
    );
    assert!(page(html).links[2].nofollow);
}

#[test]
fn a_refresh_is_a_link() {
    let html = "<base href=/c/><META HTTP-EQUIV=Refresh CONTENT='3; URL=next?a&amp;b'><meta name=refresh content='0;no'>\
                <meta http-equiv=refresh content=30>";
    assert_eq!(targets(html), ["https://example.org/c/next?a&b"]);
}

/// Forms of a windows-1251 page send their queries in it, and so do links.
#[test]
fn queries_are_in_the_encoding_of_the_page() {
    let url = PageUrl::parse("https://example.org/").expect("a URL");
    let html = b"<meta charset=windows-1251><link rel=canonical href='/?c=\xff'><a href='/\xff?q=\xff&amp;e=&eacute;'>";
    let kind = ContentType::parse("text/html");
    let (_, links) = Look::with_links(html, kind.as_ref(), &Rules::default(), (&url, "Refrain"));
    let links = links.expect("an HTML page");
    assert_eq!(links.links[0].url.as_str(), "https://example.org/%D1%8F?q=%FF&e=%26%23233%3B");
    assert_eq!(links.related[0].url.as_str(), "https://example.org/?c=%FF");
}

#[test]
fn an_ampersand_that_starts_no_entity_is_itself() {
    assert_eq!(targets("<a href='/?a=1&copy=2&lang=en'>"), ["https://example.org/?a=1&copy=2&lang=en"]);
}

#[test]
fn the_first_base_counts_wherever_it_stands() {
    let html = "<a href=x></a><base href='/c/'><base href='/d/'><a href=y></a>";
    assert_eq!(targets(html), ["https://example.org/c/x", "https://example.org/c/y"]);
    assert_eq!(targets("<base href='ftp://x/'><a href=y>"), ["https://example.org/a/y"]);
}

#[test]
fn a_link_is_not_followed_if_no_link_to_it_may_be() {
    let html = "<a rel='NoFollow ugc' href=x></a><a rel=nofollow href=y></a><a href=x#part></a><a rel=next href=z></a>";
    let flags: Vec<bool> = page(html).links.iter().map(|link| link.nofollow).collect();
    assert_eq!(flags, [false, true, false]);
}

#[test]
fn machines_find_their_links() {
    let html = "<link rel=canonical href=/c><link rel='alternate' hreflang=de href=/de><link rel=stylesheet href=/s>\
                <link rel='alternate stylesheet' href=/t><link rel=alternate type='application/rss+xml' href=/f>\
                <link rel=next href=/n><link rel=prev href=/p><link rel=hub href=https://hub.example/><link rel=self href=/me>\
                <link rel=alternate type='application/json' href=/f.json><link rel=alternate type='application/json' href=/wp-json/1>\
                <link rel=sitemap type='application/xml' href=/map.xml>";
    let found: Vec<(String, Relation)> =
        page(html).related.iter().map(|one| (one.url.path_and_query().to_owned(), one.relation)).collect();
    let expected = [
        ("/c", Relation::Canonical),
        ("/de", Relation::Alternate),
        ("/f", Relation::Feed),
        ("/n", Relation::Next),
        ("/p", Relation::Previous),
        ("/", Relation::Hub),
        ("/me", Relation::Itself),
        ("/f.json", Relation::Feed),
        ("/wp-json/1", Relation::Alternate),
        ("/map.xml", Relation::Sitemap),
    ];
    assert_eq!(found, expected.map(|(path, relation)| (path.to_owned(), relation)));
}

#[test]
fn the_title_is_one_line() {
    assert_eq!(page("<title>\n A &amp;  B\n<i> </title>").title.as_deref(), Some("A & B <i>"));
    assert_eq!(page("<title>first</title><svg><title>second</title></svg>").title.as_deref(), Some("first"));
    assert_eq!(page("<title> </title>").title, None);
    assert_eq!(
        page(&format!("<title>{}</title>", "é".repeat(5000))).title.map(|title| title.len()),
        Some(1000)
    );
}

#[test]
fn requests_to_crawlers() {
    let both = Directives { noindex: true, nofollow: true, noarchive: false };
    assert_eq!(page("<meta name=ROBOTS content='NoIndex, NOFOLLOW'>").directives, both);
    assert_eq!(page("<meta name=refrain content=none>").directives, both);
    assert_eq!(page("<meta name=otherbot content=none>").directives, Directives::default());
    let header =
        |values: &[&str]| Directives::of_header(values.iter().map(|value| value.as_bytes()), "Refrain");
    assert_eq!(header(&["noindex", "Refrain: nofollow", "otherbot: noarchive"]), both);
    assert_eq!(header(&["unavailable_after: 1 Jan 2030"]), Directives::default());
}

#[test]
fn pages_of_links_are_bounded() {
    let html: Vec<String> = (0..2 * MOST).map(|number| format!("<a href={number}>")).collect();
    let html = html.concat();
    let found = page(&html);
    assert_eq!(found.links.len(), MOST);
    assert!(found.incomplete);
    let same = page(&"<a href=x>".repeat(20));
    assert_eq!((same.links.len(), same.incomplete), (1, false));
    assert!(targets(&format!("<a href='/{}'>", "x".repeat(20_000))).is_empty());
}

#[test]
fn depth_is_bounded_by_memory() {
    let deep = page(&"<div>".repeat(1_000_000));
    assert!(deep.links.is_empty());
}

proptest! {
    #[test]
    fn no_page_is_too_strange(parts in prop::collection::vec(
        prop::sample::select(vec!["<a href=", "<base href=", "'", "\"", ">", "x", "<!--", "-->", "<title>", "<script>", "</", "&", "&#", ";", "<![CDATA[", "é", "\0", "<svg>", "<table>", "<link rel=next href="]), 0..40)
    ) {
        let _ = page(&parts.concat());
    }
}
