//! What a crawler saw, read from the metadata that it sends with a URL: the keys of StormCrawler, which others use as well.

use refrain_engine::queues::SeenByOthers;
use refrain_fetch::announce::when::When;
use refrain_store::Schedule;

use super::metadata::entries;

/// A longer validator (RFC 9110, 8.8) is none that a server sends.
const LONGEST_VALIDATOR: usize = 1024;
/// Who decides when to come back.
const SCHEDULE: &str = "refrain.schedule";

/// Who is to decide when to come back, if the metadata say so.
pub(super) fn schedule(metadata: &[u8]) -> Option<Schedule> {
    // Nearly nobody says it, and everybody is asked.
    memchr::memmem::find(metadata, SCHEDULE.as_bytes())?;
    let (_, said) = entries(metadata).filter(|(key, _)| *key == SCHEDULE).last()?;
    match said.first()? {
        "server" => Some(Schedule::Server),
        "client" => Some(Schedule::Client),
        _ => None,
    }
}

/// What came of a visit, and what else is said of the page.
pub(super) fn seen(metadata: &[u8]) -> SeenByOthers {
    let mut seen = SeenByOthers::default();
    let mut has_cause = false;
    for (key, values) in entries(metadata) {
        let Some(value) = values.first().map(str::trim).filter(|value| !value.is_empty()) else { continue };
        match key {
            "signature" => seen.signature = Some(value.to_owned()),
            "signatureOld" => seen.signature_before = Some(value.to_owned()),
            "fetch.statusCode" => seen.status = status(value),
            "fetch.error.count" => seen.failed |= value.parse::<u64>().is_ok_and(|count| count > 0),
            "fetch.exception" => seen.failed = true,
            "error.cause" => has_cause = true,
            "last-modified" => seen.last_modified = validator(value),
            // The same of the answer itself; what the parser made of it goes before.
            "protocol.last-modified" if seen.last_modified.is_none() => seen.last_modified = validator(value),
            "protocol.etag" => seen.etag = validator(value),
            "isFeed" => seen.is_feed = value.eq_ignore_ascii_case("true"),
            "isSitemap" => seen.is_sitemap = value.eq_ignore_ascii_case("true"),
            // Pages that led to it, one after the other.
            "url.path" => seen.shown_by = values.last().map(str::trim).map(str::to_owned),
            "sitemap.lastModified" => seen.announced = When::parse(value).map(When::earliest),
            _ => {}
        }
    }
    // An error whose status says what it is, is that: "404, NOT FOUND" is an answer.
    seen.failed |= has_cause && seen.status.is_none_or(|status| status < 400);
    seen
}

fn status(text: &str) -> Option<u16> {
    text.parse().ok().filter(|status| (100..600).contains(status))
}

fn validator(text: &str) -> Option<String> {
    (text.len() <= LONGEST_VALIDATOR).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use refrain_core::time::Time;

    use super::super::metadata::of;
    use super::*;

    fn read(said: &[(&str, &str)]) -> SeenByOthers {
        seen(&of(said.iter().copied()))
    }

    #[test]
    fn a_visit_as_stormcrawler_tells_it() {
        let found = read(&[
            ("fetch.statusCode", "200"),
            ("signature", "b"),
            ("signatureOld", "a"),
            ("last-modified", "Sun, 15 Nov 2026 12:00:00 GMT"),
            ("protocol.etag", "\"x\""),
            ("isFeed", "false"),
            ("isSitemap", "true"),
            ("depth", "3"),
        ]);
        let expected = SeenByOthers {
            signature: Some("b".to_owned()),
            signature_before: Some("a".to_owned()),
            status: Some(200),
            last_modified: Some("Sun, 15 Nov 2026 12:00:00 GMT".to_owned()),
            etag: Some("\"x\"".to_owned()),
            is_sitemap: true,
            ..SeenByOthers::default()
        };
        assert_eq!(found, expected);
        assert_eq!(read(&[]), SeenByOthers::default());
    }

    #[test]
    fn who_showed_it_comes_last() {
        let path = ["http://a.example/", " http://a.example/news "].map(str::to_owned).to_vec();
        let metadata =
            super::super::metadata::written(&std::iter::once(("url.path".to_owned(), path)).collect());
        assert_eq!(seen(&metadata).shown_by.as_deref(), Some("http://a.example/news"));
    }

    #[test]
    fn failures_are_told_in_several_ways() {
        for (said, failed) in [
            (&[("fetch.statusCode", "200")][..], false),
            (&[("error.cause", "timeout")], true),
            (&[("fetch.statusCode", "200"), ("fetch.error.count", "1")], true),
            (&[("fetch.statusCode", "200"), ("fetch.error.count", "0")], false),
            (&[("fetch.statusCode", "200"), ("fetch.error.count", "some")], false),
            (&[("fetch.exception", "Socket timeout"), ("fetch.statusCode", "404")], true),
            (&[("error.cause", "NOT FOUND"), ("fetch.statusCode", "404")], false),
            (&[("error.cause", "?"), ("fetch.statusCode", "200")], true),
            (&[("error.cause", "")], false),
        ] {
            assert_eq!(read(said).failed, failed, "{said:?}");
        }
    }

    #[test]
    fn nonsense_is_not_believed() {
        for text in ["abc", "-1", "99", "600", "999999999999", ""] {
            assert_eq!(read(&[("fetch.statusCode", text)]).status, None, "{text}");
        }
        let long = "y".repeat(100_000);
        assert_eq!(
            read(&[("protocol.etag", &long), ("isFeed", "perhaps"), ("signature", " ")]),
            SeenByOthers::default()
        );
    }

    #[test]
    fn dates_are_written_in_many_ways() {
        let noon = Some(Time::from_nanos(1_794_744_000_000_000_000));
        for text in [
            "2026-11-15T12:00:00Z",
            "2026-11-15T13:00:00+01:00",
            "Sun Nov 15 12:00:00 UTC 2026",
            "Sun Nov 15 12:00:00 GMT 2026",
            "Sun Nov 15 13:00:00 CET 2026",
            "Sun Nov 15 07:00:00 EST 2026",
            "Sun Nov 15 13:00:00 GMT+01:00 2026",
            "Sun, 15 Nov 2026 12:00:00 GMT",
        ] {
            assert_eq!(read(&[("sitemap.lastModified", text)]).announced, noon, "{text}");
        }
        for text in ["", "soon", "\0", "Sun Nov 35 12:00:00 UTC 2026"] {
            assert_eq!(read(&[("sitemap.lastModified", text)]).announced, None, "{text}");
        }
    }

    #[test]
    fn who_decides_may_be_said() {
        for (text, expected) in [
            ("server", Some(Schedule::Server)),
            ("client", Some(Schedule::Client)),
            ("nobody", None),
            ("", None),
        ] {
            assert_eq!(schedule(&of([("a", "b"), (SCHEDULE, text)])), expected);
        }
        assert_eq!(schedule(&of([("a", SCHEDULE)])), None);
    }
}
