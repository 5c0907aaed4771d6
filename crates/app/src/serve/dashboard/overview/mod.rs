//! The overview: in five seconds, whether the collection is fresh, what the budget buys, and what is the matter.

mod course;

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::time::{Span, Time};
use refrain_engine::{Pulse, changed_share};
use refrain_store::{Change, ChangeKind, Roles};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::Place;
use super::plan::Outlook;
use super::{Board, live, words};
use crate::chart::{counted, grouped, percent};
use crate::data::harmless::harmless;
use crate::serve::problem::Answer;
use course::Course;

/// So many changes are shown.
const CHANGES: usize = 12;
/// They are looked for among so many lines of the feed: the rest may be first copies, sitemaps and feeds.
const AMONG: u32 = 1000;

const SPANS: [(&str, &str, u64); 3] =
    [("1h", "1 hour", 3600), ("24h", "24 hours", 86_400), ("30d", "30 days", 30 * 86_400)];

/// How long ago charts begin.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    span: String,
}

/// The overview
pub(super) async fn page(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let (now, board) = (desk.now, &*desk.board);
    let pulse = board.app.pulse.borrow().clone();
    // Charts end where the crawl did.
    let end = pulse.as_ref().filter(|_| board.is_over()).map_or(now, |pulse| pulse.time);
    let outlook = board.plans.known(&board.app).await;
    let (name, long, seconds) = SPANS.into_iter().find(|(name, ..)| *name == asked.span).unwrap_or(SPANS[0]);
    let samples = board.samples(end, Span::from_whole_secs(seconds)).await?;
    let course = Course::new(&samples, end);
    let changes = board.app.readers.look(|reader| reader.last_changes(CHANGES, AMONG, Roles::default()))?;
    let main = html! {
        h1.unseen { "Overview" }
        @match pulse.as_deref() {
            None => { p.empty { "The crawl has not begun yet. This page shows it as soon as it has." } }
            Some(pulse) if pulse.summary.pages == 0 => { (nothing_yet(board)) }
            Some(pulse) => {
                div.hero {
                    (headline(board, pulse, outlook.as_deref()))
                    (facts(board, pulse))
                }
                section #history data-live aria-label="Over time" {
                    div.head {
                        h2 { "Fresh copies over time" }
                        nav aria-label="How long" {
                            ul.tabs { @for (own, words, _) in SPANS {
                                li { a href={ "/?span=" (own) } aria-current=[(own == name).then_some("true")] { (words) } }
                            } }
                        }
                    }
                    (course.freshness(long))
                    div.columns.three {
                        section { h3 { "Requests a second" } (course.spending()) }
                        section { h3 { "Changes seen, an hour" } (course.changing()) }
                        section { h3 { "Price of a fetch" } (course.pricing()) }
                    }
                }
                div.columns {
                    div {
                        section #trouble data-live { (trouble(pulse, now)) }
                        section #under-way data-live { (under_way(pulse, now, board.is_over())) }
                    }
                    section #changes data-live { (recent(&changes, now)) }
                }
            }
        }
    };
    Ok(desk.show(Place::Overview, "Overview", &main))
}

fn nothing_yet(board: &Board) -> Markup {
    let token = if board.guard.is_open() { "" } else { "-H 'Authorization: Bearer TOKEN' " };
    let add = format!(
        "printf '\"https://example.org/\"\\n' | curl --data-binary @- {token}-H 'Content-Type: application/x-ndjson' {}/v1/pages",
        board.guard.base()
    );
    html! {
        div.empty {
            h2 { "There are no pages yet" }
            p { "Add some, and this page shows how fresh their copies are:" }
            pre { code { (add) } }
        }
    }
}

fn headline(board: &Board, pulse: &Pulse, outlook: Option<&Outlook>) -> Markup {
    html! {
        div #headline data-live {
            p.figure { span data-n="fresh" { (words::share(pulse.freshness)) } small { " fresh" } }
            p.verdict {
                "Expected share of fresh copies " span data-n="when" { (live::when(board)) } ", by importance"
                @if let Some(found) = board.recent.found(pulse) { "; " strong data-n="found" { (percent(found)) } " if corrected by what the latest looks found" }
                "."
            }
            p.verdict { (verdict(pulse, outlook, board.is_over())) }
        }
    }
}

/// What the budget buys, in a sentence.
fn verdict(pulse: &Pulse, outlook: Option<&Outlook>, is_over: bool) -> Markup {
    let waiting = pulse.waiting as u64;
    html! {
        @if waiting * 20 > pulse.summary.pages {
            strong { span data-n="waiting" { (grouped(pulse.waiting)) } " of " (counted(pulse.summary.pages as usize, "page")) }
            @if is_over { " were never visited. " } @else { " wait for their first visit: freshness rises as they are fetched. " }
        }
        // Before pages were looked at twice nothing is known of their changes, and any budget buys everything.
        @if let Some(outlook) = outlook.filter(|outlook| outlook.seen >= 0.5) {
            "As pages are believed to change, " (words::per(pulse.rate)) " buys about " strong { (percent(outlook.polite_at(pulse.rate))) }
            "; half of it " (percent(outlook.polite_at(0.5 * pulse.rate)))
            ", twice as much " (percent(outlook.polite_at(2.0 * pulse.rate))) ". "
            a href="/plan" { "Plan" }
        }
    }
}

fn facts(board: &Board, pulse: &Pulse) -> Markup {
    let numbers = live::numbers(board);
    let number =
        |name: &str| numbers.iter().find(|(own, _)| *own == name).map_or("–", |(_, text)| text.as_str());
    let share = number("spent-width").parse::<f64>().unwrap_or(0.0) / 100.0;
    let failed = 20 * pulse.summary.failed > pulse.summary.looks;
    html! {
        dl.facts {
            div { dt { "Budget" } dd { span data-n="spending" { (number("spending")) } small { " of " span data-n="rate" { (number("rate")) } " requests/s" }
                (words::bar(share, Some("spent-width"))) } }
            div { dt { "Price of a fetch" } dd { span data-n="price" { (number("price")) } div.more { "seconds of fresh copy, times importance" } } }
            div { dt { "Changes of pages" } dd { span data-n="changed-an-hour" { (number("changed-an-hour")) } small { " an hour" }
                div.more { span data-n="changed" { (number("changed")) } " since it was started" } } }
            div { dt { "Pages" } dd { span data-n="pages" { (number("pages")) }
                div.more { "on " span data-n="hosts" { (number("hosts")) } " hosts; " span data-n="waiting" { (number("waiting")) } " never fetched" } } }
            div { dt { "Being fetched" } dd { span data-n="under-way" { (number("under-way")) }
                div.more { span data-n="requests" { (number("requests")) } " requests so far" } } }
            div { dt { "Failed looks" } dd .bad[failed] { span data-n="failed-share" { (number("failed-share")) }
                div.more { span data-n="failed" { (number("failed")) } " since the start; " span data-n="left-alone" { (number("left-alone")) } " hosts left alone" } } }
        }
    }
}

fn under_way(pulse: &Pulse, now: Time, is_over: bool) -> Markup {
    html! {
        h2 { "Being fetched now" }
        @if is_over { p.soft { "Nothing: the crawl is over." } }
        @else if pulse.under_way.is_empty() {
            p.soft { @if pulse.summary.leased > 0 { "Other fetchers have " (counted(pulse.summary.leased, "page")) "." }
                @else { "Nothing at this moment." } }
        } @else {
            table.brief {
                thead { tr { th scope="col" { "page" } th.n.w1 scope="col" { "since" } } }
                tbody { @for visit in pulse.under_way.iter().take(CHANGES) {
                    tr { th.address scope="row" { a href={ "/pages?q=" (form_urlencoded::byte_serialize(visit.url.as_bytes()).collect::<String>()) } { (harmless(&visit.url)) } }
                        td.n { (words::ago(visit.since, now)) } }
                } }
            }
        }
    }
}

fn recent(changes: &[Change], now: Time) -> Markup {
    html! {
        h2 { "Changed last" }
        @if changes.is_empty() { p.soft { "No change was seen yet." } }
        @else {
            table.brief {
                thead { tr { th scope="col" { "page" } th.w2 scope="col" { span.unseen { "what" } } th.n.w1 scope="col" { "seen" } } }
                tbody { @for change in changes {
                    tr { th.address scope="row" { (words::page(change.page, &change.url)) }
                        td { @match change.kind {
                            ChangeKind::Gone => span.tag.bad { "gone" },
                            ChangeKind::Back | ChangeKind::First => span.tag { (change.kind.as_str()) },
                            ChangeKind::Changed => a.small href={ "/pages/" (change.page.0) "/changes" } { (how_much(change)) },
                        } }
                        td.n { (words::ago(change.time, now)) } }
                } }
            }
        }
    }
}

/// How much of a page changed, in two words.
fn how_much(change: &Change) -> String {
    match change.counted.as_deref().and_then(changed_share) {
        Some(share) => format!("{} of it", percent(share)),
        None => "what changed".to_owned(),
    }
}

fn trouble(pulse: &Pulse, now: Time) -> Markup {
    let in_trouble: Vec<_> = pulse.hosts.iter().filter(|host| host.back_off.is_some()).collect();
    html! {
        h2 { "Hosts in trouble" }
        @if in_trouble.is_empty() { p.soft { "None: every host answers, and none asks to be left alone." } }
        @else {
            table.brief {
                thead { tr { th scope="col" { "host" } th.n.w1 scope="col" { "answers in" } th.n.w2 scope="col" { "left alone" } } }
                tbody { @for host in in_trouble {
                    tr { th.address scope="row" { (words::host(&host.name)) }
                        td.n { @if host.response > Span::ZERO { (crate::units::about(host.response)) } @else { "–" } }
                        td.n { @match host.back_off.filter(|until| until.since(now) < Span::from_whole_secs(365 * 86_400)) {
                            Some(until) => (words::left(until, now)), None => "paused" } } }
                } }
            }
        }
    }
}
