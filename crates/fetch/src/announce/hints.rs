//! What the head of an answer, and the weaker words of sitemaps, say of how often a page changes: numbers for priors, no more.

use refrain_core::time::{Span, Time};

use super::sitemap::ChangeFrequency;
use super::when::{Judgement, When};
use crate::client::Headers;

/// A page that was "modified" within so much of the answer's own date was made for the answer.
const JUST_NOW: Span = Span::from_whole_secs(2);

/// Nobody plans further; servers say ten years and mean "for ever".
const LONGEST: Span = Span::from_whole_secs(10 * 365 * 86_400);

/// What an answer says of its own age and future.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// For how long from when it was made the page may be taken for unchanged: `max-age`, or `Expires` after `Date`. Zero means
    /// that the server makes no such promise.
    pub fresh_for: Option<Span>,
    /// The same for caches that many share: `s-maxage`. Often the better guess, as it is purged at changes.
    pub fresh_for_shared: Option<Span>,
    /// `no-cache` or `no-store`: ask each time. It says nothing of how often the page changes.
    pub no_cache: bool,
    /// It never changes under this URL.
    pub immutable: bool,
    /// How old the answer was already when it came: a cache stands between.
    pub age: Span,
    /// The server's clock, by its own word.
    pub date: Option<Time>,
    /// When the page changed last.
    pub last_modified: LastModified,
}

/// What `Last-Modified` is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastModified {
    /// Not there, or no date.
    #[default]
    Unknown,
    /// A moment at which the page may have changed.
    At(Time),
    /// The moment of the answer: the page is made when it is asked for.
    Now,
    /// A moment that has not come yet.
    Future,
    /// A moment before there were pages.
    Ancient,
}

impl Hints {
    /// Reads the head of an answer that came at `now`.
    pub fn of(headers: &Headers, now: Time) -> Self {
        let date = headers.text("date").and_then(exact);
        let mut hints = Self {
            date,
            age: headers.text("age").and_then(seconds).unwrap_or(Span::ZERO),
            last_modified: last_modified(headers.text("last-modified"), date, now),
            ..Self::default()
        };
        for line in headers.all("cache-control") {
            for directive in std::str::from_utf8(line).unwrap_or_default().split(',') {
                hints.add(directive);
            }
        }
        // Whatever `Expires` says, `max-age` says it better (RFC 9111, section 5.3). A date that is none means "already".
        if hints.fresh_for.is_none()
            && let Some(expires) = headers.text("expires")
        {
            let made = date.unwrap_or(now);
            hints.fresh_for = Some(exact(expires).map_or(Span::ZERO, |then| then.since(made)).min(LONGEST));
        }
        hints
    }

    fn add(&mut self, directive: &str) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let value = value.trim().trim_matches('"');
        match name.trim().to_ascii_lowercase().as_str() {
            // Of several, the shortest.
            "max-age" => self.fresh_for = shorter(self.fresh_for, seconds(value)),
            "s-maxage" => self.fresh_for_shared = shorter(self.fresh_for_shared, seconds(value)),
            // `no-cache="set-cookie"` is about that line of the head only.
            "no-cache" if value.is_empty() => self.no_cache = true,
            "no-store" => self.no_cache = true,
            "immutable" => self.immutable = true,
            _ => {}
        }
    }

    /// How long the page is promised to stay as it is, from when it came: the shared promise if there is one, less its age.
    /// `None` if nothing is promised.
    pub fn promised(&self) -> Option<Span> {
        if self.immutable {
            return Some(LONGEST);
        }
        let promise = self.fresh_for_shared.or(self.fresh_for).filter(|_| !self.no_cache)?;
        let left = Span::from_nanos(promise.as_nanos().saturating_sub(self.age.as_nanos()));
        (promise > Span::ZERO).then_some(left)
    }

    /// When the page changed last, by the clock of whom the answer came to at `now`: servers' clocks are wrong, but their dates are all of
    /// the same clock.
    pub fn changed(&self, now: Time) -> Option<Time> {
        let LastModified::At(moment) = self.last_modified else { return None };
        let before = self.date.unwrap_or(now).since(moment);
        Some(Time::from_nanos(
            now.as_nanos().saturating_sub(before.as_nanos().try_into().unwrap_or(i64::MAX)),
        ))
    }

    /// When the page changed between two looks, if `Last-Modified` can tell: later than the look before, not later than this one.
    pub fn changed_between(&self, before: Time, now: Time) -> Option<Time> {
        match self.last_modified {
            LastModified::At(moment) if before < moment && moment <= now => Some(moment),
            _ => None,
        }
    }
}

fn last_modified(text: Option<&str>, date: Option<Time>, now: Time) -> LastModified {
    let Some(when) = text.and_then(When::parse) else { return LastModified::Unknown };
    let moment = when.earliest();
    // The server's own clock is what its dates are of; a cache may have kept both for a while.
    let answered = date.unwrap_or(now);
    let apart = answered.since(moment).max(moment.since(answered));
    match when.judged(now.max(answered)) {
        _ if apart <= JUST_NOW => LastModified::Now,
        _ if moment > answered => LastModified::Future,
        Judgement::Future => LastModified::Future,
        Judgement::Ancient => LastModified::Ancient,
        Judgement::Plausible => LastModified::At(moment),
    }
}

/// How often a page changes by `changefreq`. Sites that write `always` mean "often"; those that write `never` are seldom right.
pub fn change_every(frequency: ChangeFrequency) -> Span {
    let hours = match frequency {
        ChangeFrequency::Always | ChangeFrequency::Hourly => 1,
        ChangeFrequency::Daily => 24,
        ChangeFrequency::Weekly => 7 * 24,
        ChangeFrequency::Monthly => 30 * 24,
        ChangeFrequency::Yearly => 365 * 24,
        ChangeFrequency::Never => 5 * 365 * 24,
    };
    Span::from_whole_secs(hours * 3600)
}

/// By how much a page with this `priority` matters more than its neighbours: 1 for the protocol's default of 0.5, from a half to
/// twice that. Weak, because most sites write it without meaning it.
pub fn importance(priority: Option<f64>) -> f64 {
    let priority = priority.filter(|number| number.is_finite()).unwrap_or(0.5).clamp(0.0, 1.0);
    (2.0 * priority - 1.0).exp2()
}

fn exact(text: &str) -> Option<Time> {
    When::parse(text).map(When::earliest)
}

/// Whole seconds. Too many are the most.
fn seconds(text: &str) -> Option<Span> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Span::from_whole_secs(text.parse().unwrap_or(u64::MAX)).min(LONGEST))
}

fn shorter(one: Option<Span>, other: Option<Span>) -> Option<Span> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{HeaderMap, HeaderName, HeaderValue};
    use proptest::prelude::*;

    const NOON: i64 = 1_794_744_000;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    fn hints(lines: &[(&'static str, &str)]) -> Hints {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            if let Ok(value) = HeaderValue::from_str(value) {
                map.append(HeaderName::from_static(name), value);
            }
        }
        Hints::of(&Headers::from(map), at(NOON))
    }

    fn secs(seconds: u64) -> Span {
        Span::from_whole_secs(seconds)
    }

    #[test]
    fn clocks_that_are_wrong_do_not_matter() {
        // 13:00 by the server's clock, which is an hour fast.
        let ahead =
            [("date", "Sun, 15 Nov 2026 13:00:00 GMT"), ("last-modified", "Sun, 15 Nov 2026 12:50:00 GMT")];
        assert_eq!(hints(&ahead).changed(at(NOON)), Some(at(NOON - 600)));
        let alone = [("last-modified", "Sun, 15 Nov 2026 11:50:00 GMT")];
        assert_eq!(hints(&alone).changed(at(NOON)), Some(at(NOON - 600)));
        // Made when it was asked for.
        let now =
            [("date", "Sun, 15 Nov 2026 13:00:00 GMT"), ("last-modified", "Sun, 15 Nov 2026 13:00:00 GMT")];
        assert_eq!(hints(&now).changed(at(NOON)), None);
    }

    #[test]
    fn promises_of_caches() {
        let found = hints(&[("cache-control", "public, Max-Age=\"600\" , s-maxage=60"), ("age", "20")]);
        assert_eq!(
            (found.fresh_for, found.fresh_for_shared, found.promised()),
            (Some(secs(600)), Some(secs(60)), Some(secs(40)))
        );
        let found = hints(&[
            ("cache-control", "max-age=60"),
            ("cache-control", "no-cache, max-age=30"),
            ("expires", "0"),
        ]);
        assert_eq!((found.fresh_for, found.no_cache, found.promised()), (Some(secs(30)), true, None));
        assert_eq!(
            hints(&[("cache-control", "max-age=60, no-cache=\"set-cookie\"")]).promised(),
            Some(secs(60))
        );
        assert_eq!(
            hints(&[("cache-control", "max-age=99999999999999999999, immutable")]).promised(),
            Some(LONGEST)
        );
        let found =
            hints(&[("date", "Sun, 15 Nov 2026 11:00:00 GMT"), ("expires", "Sun, 15 Nov 2026 11:10:00 GMT")]);
        assert_eq!(found.promised(), Some(secs(600)));
        assert_eq!(hints(&[("expires", "-1")]).fresh_for, Some(Span::ZERO));
        assert_eq!(hints(&[("expires", "-1")]).promised(), None);
        assert_eq!(hints(&[("cache-control", "max-age=-5")]).fresh_for, None);
        assert_eq!(hints(&[]), Hints::default());
    }

    #[test]
    fn last_modified_is_believed_within_reason() {
        let date = ("date", "Sun, 15 Nov 2026 12:00:10 GMT");
        let judged = |text: &str| hints(&[date, ("last-modified", text)]).last_modified;
        assert_eq!(judged("Sun, 15 Nov 2026 11:00:00 GMT"), LastModified::At(at(NOON - 3600)));
        assert_eq!(judged("Sun, 15 Nov 2026 12:00:09 GMT"), LastModified::Now);
        assert_eq!(judged("Sun, 15 Nov 2026 12:00:11 GMT"), LastModified::Now);
        assert_eq!(judged("Sun, 15 Nov 2026 12:01:00 GMT"), LastModified::Future);
        assert_eq!(judged("Thu, 01 Jan 1970 00:00:00 GMT"), LastModified::Ancient);
        assert_eq!(judged("never"), LastModified::Unknown);
        assert_eq!(
            hints(&[("last-modified", "Sun, 15 Nov 2026 12:00:00 GMT")]).last_modified,
            LastModified::Now
        );
        let found = hints(&[date, ("last-modified", "Sun, 15 Nov 2026 11:00:00 GMT")]);
        assert_eq!(found.changed_between(at(NOON - 7200), at(NOON)), Some(at(NOON - 3600)));
        assert_eq!(found.changed_between(at(NOON - 1800), at(NOON)), None);
    }

    #[test]
    fn weak_words() {
        assert_eq!(importance(None), 1.0);
        assert_eq!(
            (importance(Some(0.0)), importance(Some(1.0)), importance(Some(f64::NAN))),
            (0.5, 2.0, 1.0)
        );
        assert!(change_every(ChangeFrequency::Weekly) > change_every(ChangeFrequency::Daily));
    }

    proptest! {
        #[test]
        fn no_head_is_too_strange(text in "[ -~]{0,40}", number in any::<u64>()) {
            let directive = format!("max-age={number}, s-maxage={text}");
            let found = hints(&[("cache-control", &text), ("cache-control", &directive), ("expires", &text), ("age", &text), ("last-modified", &text), ("date", &text)]);
            prop_assert!(found.promised().is_none_or(|span| span <= LONGEST));
        }
    }
}
