use super::*;
use proptest::prelude::*;

fn allows(robots: &str, path: &str) -> bool {
    Robots::parse(robots.as_bytes(), "FooBot").allows(path)
}

#[test]
fn stars_and_dollars_in_paths_are_written_encoded() {
    assert!(!allows("User-agent: *\nDisallow: /a%2Ab\n", "/a*b"));
    assert!(allows("User-agent: *\nDisallow: /a%2Ab\n", "/axb"));
    assert!(!allows("User-agent: *\nDisallow: /a%24\n", "/a$b"));
    assert!(allows("User-agent: *\nDisallow: /a$\n", "/ab"));
    assert!(!allows("User-agent: *\nDisallow: /a$b\n", "/a$bc"));
}

#[test]
fn a_star_matches_nothing_as_well_and_the_end_is_the_end() {
    assert!(!allows("User-agent: *\nDisallow: /*\n", "/"));
    assert!(!allows("User-agent: *\nDisallow: *\n", "/x"));
    assert!(!allows("User-agent: *\nDisallow: /a*b*b$\n", "/abbb"));
    assert!(allows("User-agent: *\nDisallow: /a*b*b$\n", "/ab"));
    assert!(!allows("User-agent: *\nDisallow: *.php\n", "/x.php?y"));
}

#[test]
fn delays_and_sitemaps_are_kept() {
    let text = "Sitemap: https://e.org/1.xml\nUser-agent: foobot\nCrawl-delay: 2.5\nDisallow: /x\n\
                User-agent: *\nCrawl-delay: 9\nSitemap:/2.xml\n";
    let ours = Robots::parse(text.as_bytes(), "FooBot");
    assert_eq!(ours.crawl_delay(), Some(Span::from_secs(2.5)));
    assert_eq!(ours.sitemaps(), ["https://e.org/1.xml", "/2.xml"]);
    assert_eq!(Robots::parse(text.as_bytes(), "Other").crawl_delay(), Some(Span::from_whole_secs(9)));
    for nonsense in ["-1", "NaN", "inf", "1e9", "soon"] {
        let text = format!("User-agent: *\nCrawl-delay: {nonsense}\n");
        assert_eq!(Robots::parse(text.as_bytes(), "FooBot").crawl_delay(), None, "{nonsense}");
    }
}

#[test]
fn what_lies_beyond_the_limit_is_ignored_and_no_rule_is_cut_in_half() {
    let mut text = b"User-agent: *\nDisallow: /a\n".to_vec();
    text.resize(LARGEST - 12, b'#');
    text.extend_from_slice(b"\nDisallow: /bcd\n");
    let robots = Robots::parse(&text, "FooBot");
    assert!(!robots.allows("/a"));
    assert!(robots.allows("/b"));
    assert!(robots.allows("/bcd"));
}

/// Tries every way: what patterns mean, spelled out.
fn brute(pattern: &[u8], path: &[u8]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((b'$', [])) => path.is_empty(),
        Some((b'*', rest)) => (0..=path.len()).any(|skipped| brute(rest, &path[skipped..])),
        Some((literal, rest)) => path.first() == Some(literal) && brute(rest, &path[1..]),
    }
}

#[test]
fn the_rule_that_decides_can_be_shown() {
    let robots = Robots::parse(b"User-agent: *\nDisallow: /a\nAllow: /a/b*.html$\nDisallow:\n", "FooBot");
    assert_eq!(robots.rule_for("/a/x").as_deref(), Some("Disallow: /a"));
    assert_eq!(robots.rule_for("/a/b/1.html").as_deref(), Some("Allow: /a/b*.html$"));
    assert_eq!(robots.rule_for("/c"), None);
    assert_eq!(robots.rule_for("/robots.txt"), None);
}

proptest! {
    #[test]
    fn patterns_match_what_brute_force_matches(pattern in "[/*][ab*]{0,8}\\$?", path in "/[ab]{0,10}") {
        let robots = format!("User-agent: *\nDisallow: {pattern}\n");
        prop_assert_eq!(!allows(&robots, &path), brute(pattern.as_bytes(), path.as_bytes()));
    }

    #[test]
    fn nothing_panics_and_what_is_kept_means_the_same(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        lines in prop::collection::vec("(user-agent|allow|disallow|crawl-delay|sitemap)?[: ]{1,2}[a*/$%2AFoé#.0-9]{0,12}", 0..30),
        path in "/[a*/$%2AFoé.0-9]{0,12}",
    ) {
        for robots in [bytes, lines.join("\n").into_bytes()] {
            let read = Robots::parse(&robots, "FooBot");
            let kept = read.to_bytes();
            let again = Robots::parse(&kept, "AnyOther");
            prop_assert_eq!(&again, &read);
            prop_assert_eq!(again.allows(&path), read.allows(&path));
            prop_assert!(kept.len() <= robots.len() + 100);
        }
    }

    #[test]
    fn evil_patterns_cost_little(stars in 1usize..200, tail in "[ab]{0,3}\\$?", length in 1usize..8000) {
        let robots = format!("User-agent: *\nDisallow: /{}{tail}\n", "*a".repeat(stars));
        let path = format!("/{}b", "a".repeat(length));
        let (_, steps) = Robots::parse(robots.as_bytes(), "FooBot").decide(&path);
        prop_assert!(steps <= 2 * path.len() + 2 * robots.len(), "{steps} steps");
    }
}

#[test]
fn hosts_of_sitemaps_are_known() {
    let lines: Vec<String> =
        (0..1000).map(|number| format!("Sitemap: https://M{number}.example:443/a.xml\n")).collect();
    let text = lines.concat();
    let robots = Robots::parse(format!("Sitemap: /own.xml\n{text}").as_bytes(), "Refrain");
    assert!(
        robots.names_sitemap_on("https://m998.example") && !robots.names_sitemap_on("http://m998.example")
    );
    assert!(!robots.names_sitemap_on("https://m999.example"), "there are too many");
    assert_eq!(Robots::parse(&robots.to_bytes(), "Refrain"), robots, "kept and read again");
}
