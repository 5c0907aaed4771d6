//! Things that many pages show, as they are shown: in the words of the command line.

use maud::{Markup, PreEscaped, html};
use refrain_core::time::{Span, Time};
use refrain_store::{PageId, PageState};

use crate::chart::{grouped, short};
use crate::data::harmless::harmless;
use crate::data::{spelled, written};
use crate::units;

/// A share, or that it is not known.
pub(super) fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), crate::chart::percent)
}

/// A number as people read it: what is large with its thousands apart.
pub(super) fn number(number: f64) -> String {
    if (1000.0..1e12).contains(&number) { grouped(number.round() as usize) } else { short(number) }
}

/// A moment that has passed.
pub(super) fn ago(time: Time, now: Time) -> Markup {
    let text = if time > now {
        format!("in {}", units::about(time.since(now)))
    } else {
        format!("{} ago", units::about(now.since(time)))
    };
    html! { time datetime=(written(time)) title={ (spelled(time)) " UTC" } data-ago { (text) } }
}

/// The same, if it ever came.
pub(super) fn ago_or(time: Option<Time>, now: Time, never: &str) -> Markup {
    time.map_or_else(|| html! { span.soft { (never) } }, |time| ago(time, now))
}

/// A moment as it is written.
pub(super) fn moment(time: Time) -> Markup {
    html! { time datetime=(written(time)) { (spelled(time)) } }
}

/// How often something happens: `every 3 h`.
pub(super) fn every(rate: f64) -> String {
    /// Whoever changes more rarely is not known to change at all.
    const LONGEST: f64 = 10.0 * 365.0 * 86_400.0;
    if !(rate * LONGEST >= 1.0) {
        return "more than 10 years".to_owned();
    }
    units::about(Span::from_secs(1.0 / rate))
}

/// A rate as budgets are said: per second, or in a longer unit if that is less than one.
pub(super) fn per(rate: f64) -> String {
    for (name, seconds) in [("a second", 1.0), ("a minute", 60.0), ("an hour", 3600.0)] {
        if rate * seconds >= 1.0 {
            return format!("{} {name}", short(rate * seconds));
        }
    }
    format!("{} a day", short(rate * 86_400.0))
}

/// A page, by its address, which leads to what is known of it.
pub(super) fn page(id: PageId, url: &str) -> Markup {
    html! { a href={ "/pages/" (id.0) } { (harmless(url)) } }
}

/// The page itself, elsewhere; only if that is an address of the web.
pub(super) fn outside(url: &str) -> Markup {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    html! {
        @if is_web { a href=(url) rel="noreferrer noopener external" { (harmless(url)) } }
        @else { (harmless(url)) }
    }
}

/// Where a host is shown.
pub(super) fn host_path(name: &str) -> String {
    let name: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    format!("/hosts/{}", name.replace('+', "%20"))
}

pub(super) fn host(name: &str) -> Markup {
    html! { a href=(host_path(name)) { (harmless(name)) } }
}

/// The state of a page, if it is worth a word.
pub(super) fn state(state: PageState, failures: u32) -> Markup {
    html! {
        @if state != PageState::Active { span.tag { (state.as_str()) } }
        @if failures > 0 && state != PageState::Gone { " " span.tag.bad { "failed " (failures) "×" } }
    }
}

/// A bar that shows a share, for the eye only.
pub(super) fn bar(share: f64, name: Option<&str>) -> Markup {
    let width = format!("{:.1}", 100.0 * share.clamp(0.0, 1.0));
    html! {
        svg.bar viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect.all width="100" height="6" {}
            rect.part width=(width) height="6" data-n=[name] {}
        }
    }
}

/// How long something goes on.
pub(super) fn left(until: Time, now: Time) -> Markup {
    html! { time datetime=(written(until)) title={ "until " (spelled(until)) " UTC" } { "for " (units::about(until.since(now))) } }
}

/// Lines that strangers wrote, as far as they fit into so many bytes of a page; and how many lines are not, or not all of them, among it.
pub(super) fn excerpt<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> (Markup, usize) {
    let (mut shown, mut left) = (String::new(), 0);
    for line in lines {
        // There is always room for the end of a line.
        if left > 0 || shown.len() + 1 >= most {
            left += 1;
            continue;
        }
        // Nothing becomes shorter by being made harmless.
        let start: String = line.chars().take(most).collect();
        for letter in harmless(&start).chars() {
            let letter = html! { (letter) }.into_string();
            if shown.len() + letter.len() >= most {
                left = 1;
                break;
            }
            shown.push_str(&letter);
        }
        shown.push('\n');
    }
    (PreEscaped(shown), left)
}

/// A part of a list.
pub(super) struct Portion {
    /// How many come before it,
    pub(super) skip: usize,
    /// how many are in it, of how many that could be,
    pub(super) shown: usize,
    pub(super) most: usize,
    /// and how many there are in all.
    pub(super) all: usize,
}

/// The way to the parts before and after.
pub(super) fn pager(of: &str, portion: &Portion, path: impl Fn(usize) -> String) -> Markup {
    let Portion { skip, shown, most, all } = *portion;
    let next = skip.saturating_add(most);
    html! {
        nav.pager aria-label={ "More " (of) } {
            @if skip > 0 && shown > 0 { a href=(path(skip.saturating_sub(most))) rel="prev" { "The " (most) " before" } }
            @if shown > 0 && next < all { a href=(path(next)) rel="next" { "The next " (most) } }
        }
    }
}

/// A name and what it is.
pub(super) fn rows<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    html! { dl.rows { @for (name, value) in rows { dt { (name) } dd { (value) } } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_do_nothing() {
        let shown = page(PageId(7), "https://a.example/\"><script>alert(1)</script>").into_string();
        assert_eq!(
            shown,
            "<a href=\"/pages/7\">https://a.example/&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</a>"
        );
        assert!(!outside("javascript:alert(1)").into_string().contains("href"));
        assert!(outside("https://a.example/").into_string().contains("noreferrer"));
        assert_eq!(
            host_path("https://a.example:8443/x?\"'"),
            "/hosts/https%3A%2F%2Fa.example%3A8443%2Fx%3F%22%27"
        );
    }

    #[test]
    fn strangers_fill_no_page() {
        let (shown, left) = excerpt(["a <b>", "c", "\u{1b}"].into_iter(), 1000);
        assert_eq!((shown.into_string().as_str(), left), ("a &lt;b&gt;\nc\n\\u{1b}\n", 0));
        let quotes = "\"".repeat(100);
        let (shown, left) = excerpt(["short", &quotes, "c"].into_iter(), 150);
        let shown = shown.into_string();
        assert!(shown.len() <= 150 && left == 2, "{shown}");
        let (empty, left) = excerpt(std::iter::repeat_n("", 100), 10);
        assert_eq!((empty.into_string().len(), left), (9, 91));
        assert!(shown.starts_with("short\n&quot;&quot;") && shown.ends_with("&quot;\n"), "{shown}");
    }

    #[test]
    fn parts_of_lists_lead_to_others() {
        let pager = |skip, shown, all| {
            let portion = Portion { skip, shown, most: 10, all };
            pager("things", &portion, |skip| format!("/?skip={skip}")).into_string()
        };
        assert!(pager(0, 10, 11).contains("skip=10") && !pager(0, 10, 10).contains("skip"));
        assert!(pager(15, 5, 20).contains("skip=5\"") && !pager(15, 5, 20).contains("next"));
        assert!(!pager(usize::MAX, 0, 20).contains("href"));
    }

    #[test]
    fn rates_are_said_in_the_unit_that_fits() {
        assert_eq!((number(0.25), number(12_345.6)), ("0.25".to_owned(), "12,346".to_owned()));
        assert_eq!(every(1.0 / 7200.0), "2 h");
        assert_eq!(
            (every(0.0), every(1e-12)),
            ("more than 10 years".to_owned(), "more than 10 years".to_owned())
        );
        assert_eq!(per(14.0), "14 a second");
        assert_eq!(per(0.5), "30 a minute");
        assert_eq!(per(1.0 / 3600.0), "1 an hour");
        assert_eq!(per(1e-5), "0.864 a day");
    }
}
