use super::*;
use crate::octets;
use proptest::prelude::*;

fn page(path: &str) -> PageUrl {
    PageUrl::parse(&format!("https://example.org{path}")).expect("a URL")
}

fn allows(robots: &str, path: &str) -> bool {
    Robots::parse(robots.as_bytes(), "FooBot").allows(&page(path))
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
    assert!(!robots.allows(&page("/a")));
    assert!(robots.allows(&page("/b")));
    assert!(robots.allows(&page("/bcd")));
}

/// A rule compares equal with the URLs that it names, as the URL parser and [`PageUrl`] write them, raw or encoded, in a path and in a
/// query, and behind a star.
#[test]
fn rules_are_compared_as_urls_are_written() {
    for octet in (0u8..=0xff).filter(|octet| !b"*$#\n\r".contains(octet)) {
        let (raw, encoded) = ([&b"x"[..], &[octet], b"y"].concat(), format!("x%{octet:02x}y"));
        for prefix in ["/", "/a?", "/*", "/*?"] {
            let rule = [b"User-agent: *\nDisallow: ", prefix.as_bytes(), &raw, b"\n"].concat();
            let robots = Robots::parse(&rule, "FooBot");
            let start = prefix.replace('*', "b");
            // The URL parser leaves tabs out, and reads bytes beyond ASCII as parts of letters.
            if octet.is_ascii() && octet != b'\t' {
                let url = page(&format!("{start}x{}y", char::from(octet)));
                assert!(!robots.allows(&url), "{prefix}x{}y {url}", octet.escape_ascii());
            }
            let has_one_spelling =
                octets::is_unreserved(octet) || octets::must_be_encoded(octet) || octet == b'\'';
            let is_slash = octet == b'\\' && !prefix.contains('?');
            let url = page(&format!("{start}{encoded}"));
            assert_eq!(robots.allows(&url), !has_one_spelling || is_slash, "{prefix} {url}");
            let robots = format!("User-agent: *\nDisallow: {prefix}{encoded}\n");
            assert!(!allows(&robots, &format!("{start}{encoded}")), "{robots}");
            assert!(!allows(
                &robots,
                &format!("{start}{}", encoded.to_uppercase().replace('X', "x").replace('Y', "y"))
            ));
        }
    }
    for (rule, path) in [
        ("/my files/", "/my files/a"),
        ("/my files/", "/my%20files/a"),
        ("/a<b", "/a%3cb"),
        ("/s?q='x", "/s?q='x"),
        ("/s?q='x", "/s?q=%27x"),
        ("/*?*'x'", "/s?q=%27x%27"),
        ("/*[]=", "/s?a%5B%5D=1"),
        ("/*%5B%5d=", "/s?a[]=1"),
        ("/\u{30c4}", "/%E3%83%84"),
        ("/%e3%83%84$", "/\u{30c4}"),
        ("/a\\b", "/a\\b"),
        ("/a?b\\c", "/a?b\\c"),
    ] {
        assert!(!allows(&format!("User-agent: *\nDisallow: {rule}\n"), path), "{rule} {path}");
    }
    for (rule, path) in
        [("/a%2Fb", "/a/b"), ("/a/b", "/a%2Fb"), ("/a%3Fb", "/a?b"), ("/a%26b", "/a&b"), ("/a?b%23", "/a?b#")]
    {
        assert!(allows(&format!("User-agent: *\nDisallow: {rule}\n"), path), "{rule} {path}");
    }
}

/// Octets are counted as a URL has them (RFC 9309, section 2.2.2), however the rule was written.
#[test]
fn the_longest_rule_is_the_one_with_the_most_encoded_octets() {
    let robots = "User-agent: *\nAllow: /\u{30c4}\nDisallow: /*abcd\n";
    assert!(allows(robots, "/\u{30c4}abcd"));
    assert!(allows(&robots.replace('\u{30c4}', "%e3%83%84"), "/\u{30c4}abcd"));
}

#[test]
fn a_delay_is_of_the_agents_right_above_it() {
    let text = "User-agent: FooBot\nCrawl-delay: 1\n\nUser-agent: *\nCrawl-delay: 10\nDisallow: /x\n\n\
                User-agent: BarBot\nUser-agent: BazBot\nDisallow: /y\nCrawl-delay: 3\n";
    let of = |agent: &str| {
        let robots = Robots::parse(text.as_bytes(), agent);
        (robots.crawl_delay().map(Span::as_secs), robots.allows(&page("/x")), robots.allows(&page("/y")))
    };
    // By RFC 9309 only a rule ends a group of rules, so that of the second group is FooBot's as well.
    assert_eq!(of("FooBot"), (Some(1.0), false, true));
    assert_eq!(of("Other"), (Some(10.0), false, true));
    assert_eq!(of("BarBot"), (Some(3.0), true, false));
    assert_eq!(of("BazBot"), (Some(3.0), true, false));
}

#[test]
fn misspelled_lines_are_understood() {
    for agent in ["User-agent", "useragent", "User Agent", "USER-AGENTS"] {
        for disallow in ["Disallow", "dissallow", "Dissalow", "disalow", "diasllow", "disallaw", "Disallowed"]
        {
            let robots = format!("{agent}: *\n{disallow}: /x\n");
            assert!(!allows(&robots, "/x") && allows(&robots, "/y"), "{robots}");
        }
    }
    for sitemap in ["Sitemap", "site-map", "SITEMAPS"] {
        let text = format!("{sitemap}: https://example.org/a.xml\n");
        assert_eq!(Robots::parse(text.as_bytes(), "FooBot").sitemaps(), ["https://example.org/a.xml"]);
    }
    assert!(allows("User: *\nDisallow: /x\n", "/x"));
    assert!(allows("User-agent: *\nNoallow: /x\n", "/x"));
}

#[test]
fn files_in_utf_16_are_read() {
    let text = "User-agent: *\nDisallow: /\u{e9}\n";
    let wide =
        |bytes: fn(u16) -> [u8; 2], text: &str| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        for mark in ["", "\u{feff}"] {
            let robots = Robots::parse(&wide(bytes, &format!("{mark}{text}")), "FooBot");
            assert!(!robots.allows(&page("/\u{e9}")) && robots.allows(&page("/e")));
        }
        // What lies beyond the limit is cut at the end of a line here as well.
        let long = format!("User-agent: *\n#{}\nDisallow: /bcd\n", "#".repeat(LARGEST - 28));
        assert!(Robots::parse(&wide(bytes, &long), "FooBot").allows(&page("/b")));
    }
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
    assert_eq!(robots.rule_for(&page("/a/x")).as_deref(), Some("Disallow: /a"));
    assert_eq!(robots.rule_for(&page("/a/b/1.html")).as_deref(), Some("Allow: /a/b*.html$"));
    assert_eq!(robots.rule_for(&page("/c")), None);
    assert_eq!(robots.rule_for(&page("/robots.txt")), None);
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
        lines in prop::collection::vec("(user-agent|allow|disallow|crawl-delay|sitemap)?[: ]{1,2}[a*/$%2AF5CoéÉ#?' \\\\.0-9]{0,12}", 0..30),
        path in "/[a*/$%2AF5Coé?' \\\\.0-9]{0,12}",
    ) {
        for robots in [bytes, lines.join("\n").into_bytes()] {
            let read = Robots::parse(&robots, "FooBot");
            let kept = read.to_bytes();
            let again = Robots::parse(&kept, "AnyOther");
            prop_assert_eq!(&again, &read);
            prop_assert_eq!(again.allows(&page(&path)), read.allows(&page(&path)));
            prop_assert!(kept.len() <= robots.len() + 100);
        }
    }

    #[test]
    fn evil_patterns_cost_little(stars in 1usize..200, tail in "[ab]{0,3}\\$?", length in 1usize..8000) {
        let robots = format!("User-agent: *\nDisallow: /{}{tail}\n", "*a".repeat(stars));
        let path = format!("/{}b", "a".repeat(length));
        let (_, steps) = Robots::parse(robots.as_bytes(), "FooBot").decide(&page(&path));
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
