//! What a crawler saw, read from the metadata that it sends with a URL: the keys of StormCrawler, which others use as well.

use refrain_engine::queues::{FetchFailure, SeenByOthers};
use refrain_fetch::announce::when::When;
use refrain_fetch::url::PageUrl;
use refrain_store::Schedule;

use super::metadata::entries;

/// A longer validator (RFC 9110, 8.8) is none that a server sends.
const LONGEST_VALIDATOR: usize = 1024;
/// What a crawler says of a failure is kept up to so many characters.
const LONGEST_REASON: usize = 200;
/// The `error.cause` of a page that robots.txt forbids.
const ROBOTS: &str = "robots.txt";
/// Causes for which the crawler made no request: they say nothing of the host.
const NOT_ASKED: [&str; 2] = ["crawl_delay", "malformed URL"];
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
    let mut trouble = Trouble::default();
    for (key, values) in entries(metadata) {
        let Some(value) = values.first().map(str::trim).filter(|value| !value.is_empty()) else { continue };
        match key {
            "signature" => seen.signature = Some(value.to_owned()),
            "signatureOld" => seen.signature_before = Some(value.to_owned()),
            "fetch.statusCode" => seen.status = status(value),
            "fetch.error.count" => trouble.is_counted = value.parse::<u64>().is_ok_and(|count| count > 0),
            "fetch.exception" => trouble.exception = Some(value),
            "error.cause" => trouble.cause = Some(value),
            "_redirTo" => seen.redirect = PageUrl::parse(value).ok(),
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
    seen.is_forbidden = trouble.is_forbidden();
    seen.failure = trouble.failure(seen.status);
    seen
}

/// What a crawler says of a fetch that went wrong. StormCrawler keeps what it said of earlier fetches: a status until the next answer, a cause until the
/// page is fetched, an exception until the next fetch, a count of errors while one error follows another.
#[derive(Default)]
struct Trouble<'a> {
    exception: Option<&'a str>,
    cause: Option<&'a str>,
    is_counted: bool,
}

impl Trouble<'_> {
    /// Whether robots.txt forbids the page: a cause of the last fetch, since that is no counted error and no exception.
    fn is_forbidden(&self) -> bool {
        self.cause.is_some_and(|cause| cause.eq_ignore_ascii_case(ROBOTS))
            && self.exception.is_none()
            && !self.is_counted
    }

    /// Why the last fetch failed, unless its status says that: "404, NOT FOUND" is an answer.
    fn failure(&self, status: Option<u16>) -> Option<FetchFailure> {
        let no_answer = |why: Option<&str>| Some(FetchFailure::NoAnswer(sentence(why)));
        if self.exception.is_some() {
            return no_answer(self.exception);
        }
        if self.is_forbidden() || status.is_some_and(|status| status >= 400) {
            return None;
        }
        // After an answer of use there is no count: the status is that of an earlier fetch.
        if self.is_counted {
            return no_answer(self.cause);
        }
        let cause = self.cause?;
        if status.is_some() || NOT_ASKED.contains(&cause) {
            Some(FetchFailure::OfPage(sentence(Some(cause))))
        } else {
            no_answer(Some(cause))
        }
    }
}

/// A failure as people read it.
fn sentence(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {}", why.chars().take(LONGEST_REASON).collect::<String>()));
    format!("its crawler could not fetch it{}", why.unwrap_or_default())
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
        const NO_ANSWER: &str = "no answer";
        const OF_PAGE: &str = "of the page";
        for (said, failure) in [
            (&[("fetch.statusCode", "200")][..], None),
            (&[("error.cause", "timeout")], Some(NO_ANSWER)),
            (&[("fetch.exception", "Socket timeout fetching")], Some(NO_ANSWER)),
            (&[("fetch.exception", "Socket timeout"), ("fetch.statusCode", "404")], Some(NO_ANSWER)),
            (&[("fetch.exception", "Unknown host"), ("error.cause", "robots.txt")], Some(NO_ANSWER)),
            // The status of an earlier visit.
            (&[("fetch.statusCode", "200"), ("fetch.error.count", "1")], Some(NO_ANSWER)),
            (&[("fetch.statusCode", "301"), ("fetch.error.count", "1")], Some(NO_ANSWER)),
            (&[("fetch.statusCode", "200"), ("fetch.error.count", "0")], None),
            (&[("fetch.statusCode", "200"), ("fetch.error.count", "some")], None),
            (&[("error.cause", "robots.txt"), ("fetch.error.count", "2")], Some(NO_ANSWER)),
            // The status says what it is.
            (&[("fetch.statusCode", "404"), ("fetch.error.count", "1")], None),
            (&[("fetch.statusCode", "410"), ("fetch.error.count", "2"), ("error.cause", "robots.txt")], None),
            (&[("fetch.statusCode", "404"), ("error.cause", "maxFetchErrors")], None),
            (&[("fetch.statusCode", "503"), ("fetch.error.count", "1")], None),
            (&[("error.cause", "NOT FOUND"), ("fetch.statusCode", "404")], None),
            // No fault of the host.
            (&[("error.cause", "content parsing"), ("fetch.statusCode", "200")], Some(OF_PAGE)),
            (&[("error.cause", "crawl_delay")], Some(OF_PAGE)),
            (&[("error.cause", "robots.txt")], None),
            (&[("error.cause", "robots.txt"), ("fetch.statusCode", "200")], None),
            (&[("error.cause", "")], None),
        ] {
            let found = read(said).failure.map(|failure| match failure {
                FetchFailure::NoAnswer(_) => NO_ANSWER,
                FetchFailure::OfPage(_) => OF_PAGE,
            });
            assert_eq!(found, failure, "{said:?}");
        }
    }

    #[test]
    fn what_robots_txt_forbids_is_forbidden_if_it_is_the_last_that_was_found() {
        for (said, expected) in [
            (&[("error.cause", "robots.txt")][..], true),
            (&[("error.cause", "robots.txt"), ("fetch.statusCode", "200")], true),
            (&[("error.cause", "robots.txt"), ("fetch.exception", "Unknown host")], false),
            (&[("error.cause", "robots.txt"), ("fetch.error.count", "1")], false),
            (&[("error.cause", "crawl_delay")], false),
        ] {
            assert_eq!(read(said).is_forbidden, expected, "{said:?}");
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
