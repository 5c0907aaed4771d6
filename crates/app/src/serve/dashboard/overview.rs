//! The overview: in five seconds, whether the collection is fresh, what the budget buys, and what is the matter.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::time::{Span, Time};
use refrain_engine::Pulse;
use refrain_store::{Change, Sample, Seq};
use serde::Deserialize;

use super::chart::{Chart, Points, Scale, Table, line, line_mark, moments};
use super::door::Visitor;
use super::frame::{self, Place};
use super::plan::Outlook;
use super::{Board, Shared, live, words};
use crate::chart::{counted, grouped, percent, short};
use crate::data::harmless::harmless;
use crate::data::spelled;
use crate::serve::problem::Answer;

/// So many changes are shown.
const CHANGES: usize = 12;
/// What is measured "lately" is measured over this.
const LATELY: Span = Span::from_whole_secs(3600);
/// A chart that would be shorter says little.
const SHORTEST: Span = Span::from_whole_secs(120);

const SPANS: [(&str, &str, u64); 3] =
    [("1h", "1 hour", 3600), ("24h", "24 hours", 86_400), ("30d", "30 days", 30 * 86_400)];

/// How long ago charts begin.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    span: String,
}

/// The overview
pub(super) async fn page(
    State(board): State<Shared>,
    Extension(visitor): Extension<Visitor>,
    Query(asked): Query<Asked>,
) -> Answer<Response> {
    let now = board.app.clock.now();
    let pulse = board.app.pulse.borrow().clone();
    let outlook = board.plans.known(&board.app).await;
    let (name, long, seconds) = SPANS.into_iter().find(|(name, ..)| *name == asked.span).unwrap_or(SPANS[0]);
    let samples = board.samples(now, Span::from_whole_secs(seconds)).await?;
    let lately = board.samples(now, LATELY).await?.into_iter().reduce(|before, later| before.and(&later));
    let last = Seq(board.app.changes.borrow().0.saturating_sub(10 * CHANGES as i64));
    let mut changes = board.app.readers.look(|reader| reader.changes_since(last, 10 * CHANGES))?;
    changes.reverse();
    changes.truncate(CHANGES);
    let main = html! {
        h1.unseen { "Overview" }
        @match pulse.as_deref() {
            None => { p.empty { "The crawl has not begun yet. This page shows it as soon as it has." } }
            Some(pulse) if pulse.summary.pages == 0 => { (nothing_yet()) }
            Some(pulse) => {
                div.hero {
                    (headline(pulse, lately.as_ref(), outlook.as_deref()))
                    (facts(&board, pulse, lately.as_ref()))
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
                    (freshness(&samples, now, long))
                    div.columns.three {
                        section { h3 { "Requests a second" } (spending(&samples, now)) }
                        section { h3 { "Changes seen, an hour" } (changing(&samples, now)) }
                        section { h3 { "Price of a fetch" } (pricing(&samples, now)) }
                    }
                }
                div.columns {
                    div {
                        section #trouble data-live { (trouble(pulse, now)) }
                        section #under-way data-live { (under_way(pulse, now)) }
                    }
                    section #changes data-live { (recent(&changes, now)) }
                }
            }
        }
    };
    Ok(frame::page(&board, visitor, Place::Overview, "Overview", &main))
}

fn nothing_yet() -> Markup {
    html! {
        div.empty {
            h2 { "There are no pages yet" }
            p { "Add some, and this page shows how fresh their copies are:" }
            pre { code { "printf '\"https://example.org/\"\\n' | curl --data-binary @- -H 'Content-Type: application/x-ndjson' http://127.0.0.1:7070/v1/pages" } }
        }
    }
}

fn headline(pulse: &Pulse, lately: Option<&Sample>, outlook: Option<&Outlook>) -> Markup {
    let measured = lately.and_then(Sample::measured);
    html! {
        div #headline data-live {
            p.figure { span data-n="fresh" { (words::share(pulse.freshness)) } small { " fresh" } }
            p.verdict {
                "Expected share of fresh copies now, by importance"
                @if let Some(measured) = measured { "; " strong { (percent(measured)) } " measured at fetches in the last hour" }
                "."
            }
            p.verdict { (verdict(pulse, outlook)) }
        }
    }
}

/// What the budget buys, in a sentence.
fn verdict(pulse: &Pulse, outlook: Option<&Outlook>) -> Markup {
    let waiting = pulse.waiting as u64;
    html! {
        @if waiting * 20 > pulse.summary.pages {
            strong { (grouped(pulse.waiting)) " of " (counted(pulse.summary.pages as usize, "page")) }
            " wait for their first visit: freshness rises as they are fetched. "
        }
        @if let Some(outlook) = outlook {
            "As pages are believed to change, " (words::per(pulse.rate)) " buys about " strong { (percent(outlook.polite_at(pulse.rate))) }
            " without signals; half of it " (percent(outlook.polite_at(0.5 * pulse.rate)))
            ", twice as much " (percent(outlook.polite_at(2.0 * pulse.rate))) ". "
            a href="/plan" { "Plan" }
        }
    }
}

fn facts(board: &Board, pulse: &Pulse, lately: Option<&Sample>) -> Markup {
    let numbers = live::numbers(board);
    let number =
        |name: &str| numbers.iter().find(|(own, _)| *own == name).map_or("–", |(_, text)| text.as_str());
    let per_hour = |count: u64| {
        let seconds = lately.map_or(0.0, |lately| lately.span.as_secs());
        if seconds > 0.0 {
            words::number((3600.0 * count as f64 / seconds * 10.0).round() / 10.0)
        } else {
            "–".to_owned()
        }
    };
    let share = number("spent-width").parse::<f64>().unwrap_or(0.0) / 100.0;
    let failed = lately.map_or(0, |lately| lately.failed);
    let looks = lately.map_or(0, |lately| lately.looks);
    html! {
        dl.facts {
            div { dt { "Budget" } dd { span data-n="spending" { (number("spending")) } small { " of " span data-n="rate" { (number("rate")) } " requests/s" }
                (words::bar(share, Some("spent-width"))) } }
            div { dt { "Price of a fetch" } dd { span data-n="price" { (number("price")) } div.more { "seconds of fresh copy, times importance" } } }
            div { dt { "Changes seen" } dd { (per_hour(lately.map_or(0, |lately| lately.changed))) small { " an hour" }
                div.more { span data-n="changed" { (number("changed")) } " since it was started" } } }
            div { dt { "Pages" } dd { span data-n="pages" { (number("pages")) }
                div.more { "on " span data-n="hosts" { (number("hosts")) } " hosts; " span data-n="waiting" { (number("waiting")) } " never fetched" } } }
            div { dt { "Being fetched" } dd { span data-n="under-way" { (number("under-way")) }
                div.more { span data-n="requests" { (number("requests")) } " requests so far" } } }
            div { dt { "Failed looks" } dd .bad[looks > 0 && 20 * failed > looks] { @if looks > 0 { (percent(failed as f64 / looks as f64)) } @else { "–" }
                div.more { span data-n="failed" { (number("failed")) } " since the start; " (grouped(pulse.backed_off)) " hosts left alone" } } }
        }
    }
}

/// When a chart begins: where there is something to be seen.
fn start(samples: &[Sample], now: Time) -> Time {
    let begin = |sample: &Sample| {
        Time::from_nanos(sample.time.as_nanos().saturating_sub_unsigned(sample.span.as_nanos()))
    };
    let least = Time::from_nanos(now.as_nanos().saturating_sub_unsigned(SHORTEST.as_nanos()));
    samples.first().map_or(least, begin).min(least)
}

/// A value of each sample, along time; interrupted where nobody looked.
fn along(
    samples: &[Sample],
    from: Time,
    now: Time,
    of: impl Fn(&Sample) -> Option<f64>,
) -> Vec<Option<(f64, f64)>> {
    let whole = now.since(from).as_secs().max(1e-9);
    let mut points = Vec::with_capacity(samples.len());
    let mut last: Option<&Sample> = None;
    for sample in samples {
        if let Some(last) = last {
            let gap = sample.time.since(last.time).as_secs() - sample.span.as_secs();
            if gap > 2.5 * sample.span.as_secs().max(last.span.as_secs()) + 1.0 {
                points.push(None);
            }
        }
        last = Some(sample);
        points.push(of(sample).map(|value| (sample.time.since(from).as_secs() / whole, value)));
    }
    points
}

fn freshness(samples: &[Sample], now: Time, long: &str) -> Markup {
    let from = start(samples, now);
    let shares = samples.iter().flat_map(|sample| [sample.freshness, sample.measured()]).flatten();
    let scale = Scale::shares(shares.fold(f64::INFINITY, f64::min));
    let height = |value: Option<f64>| value.map(|value| scale.at(value));
    let expected = along(samples, from, now, |sample| height(sample.freshness));
    let measured = along(samples, from, now, |sample| height(sample.measured()));
    let (mut points, mut rows) = (Points::default(), Vec::new());
    let whole = now.since(from).as_secs().max(1e-9);
    for sample in samples {
        let (expected, measured) = (words::share(sample.freshness), words::share(sample.measured()));
        let at = spelled(sample.time);
        points.add(
            sample.time.since(from).as_secs() / whole,
            format!("{at}: expected {expected}, measured {measured}"),
        );
        rows.push(vec![at, expected, measured]);
    }
    let last = samples.last();
    Chart {
        id: "freshness",
        title: "Share of fresh copies",
        says: format!(
            "Over the last {long}. Now {} is expected, {} measured.",
            words::share(last.and_then(|sample| sample.freshness)),
            words::share(last.and_then(Sample::measured))
        ),
        class: "",
        ys: scale.labels(|share| format!("{:.0} %", 100.0 * share)),
        xs: moments(from, now, 5),
        drawing: html! {
            path.line.b d=(line(measured)) {}
            path.line d=(line(expected)) {}
        },
        points,
        legend: vec![
            (line_mark(""), "expected, as pages are believed to change".to_owned()),
            (
                line_mark("b"),
                "measured: of the time between two looks, how long the copy was fresh".to_owned(),
            ),
        ],
        table: Some(Table { head: vec!["time (UTC)", "expected", "measured"], rows }),
    }
    .html()
}

fn spending(samples: &[Sample], now: Time) -> Markup {
    let spent = |sample: &Sample| sample.requests as f64 / sample.span.as_secs().max(1e-9);
    let most = samples.iter().map(|sample| spent(sample).max(sample.rate)).fold(0.0, f64::max);
    simple(
        "spending",
        "Requests a second",
        samples,
        now,
        (Scale::up_to(most), spent),
        Some(("allowed", |sample: &Sample| sample.rate)),
    )
}

fn pricing(samples: &[Sample], now: Time) -> Markup {
    let price = |sample: &Sample| sample.price;
    let most = samples.iter().map(price).fold(0.0, f64::max);
    simple("pricing", "Price of a fetch", samples, now, (Scale::up_to(most), price), None)
}

fn changing(samples: &[Sample], now: Time) -> Markup {
    let changes = |sample: &Sample| 3600.0 * sample.changed as f64 / sample.span.as_secs().max(1e-9);
    let most = samples.iter().map(changes).fold(0.0, f64::max);
    simple("changing", "Changes seen, an hour", samples, now, (Scale::up_to(most), changes), None)
}

/// A name, and what it is of.
type Beside = (&'static str, fn(&Sample) -> f64);

/// Something that is there, and beside it something that could be.
fn simple(
    id: &'static str,
    title: &'static str,
    samples: &[Sample],
    now: Time,
    (scale, of): (Scale, impl Fn(&Sample) -> f64),
    beside: Option<Beside>,
) -> Markup {
    let from = start(samples, now);
    let whole = now.since(from).as_secs().max(1e-9);
    let (mut points, mut rows) = (Points::default(), Vec::new());
    for sample in samples {
        let (at, value) = (spelled(sample.time), short(of(sample)));
        let other = beside.map(|(name, other)| (name, short(other(sample))));
        let more = other.as_ref().map_or_else(String::new, |(name, other)| format!(" ({name} {other})"));
        points.add(sample.time.since(from).as_secs() / whole, format!("{at}: {value}{more}"));
        rows.push([Some(at), Some(value), other.map(|(_, other)| other)].into_iter().flatten().collect());
    }
    let head = ["time (UTC)", title].into_iter().chain(beside.map(|(name, _)| name)).collect();
    let path = line(along(samples, from, now, |sample| Some(scale.at(of(sample)))));
    let other =
        beside.map(|(_, other)| line(along(samples, from, now, |sample| Some(scale.at(other(sample))))));
    Chart {
        id,
        title,
        says: samples.last().map_or_else(String::new, |last| format!("Now {}.", short(of(last)))),
        class: "low",
        ys: scale.labels(words::number),
        xs: moments(from, now, 3),
        drawing: html! { @if let Some(other) = other { path.line.b d=(other) {} } path.line d=(path) {} },
        points,
        legend: beside.map_or_else(Vec::new, |(name, _)| {
            vec![(line_mark(""), "spent".to_owned()), (line_mark("b"), name.to_owned())]
        }),
        table: Some(Table { head, rows }),
    }
    .html()
}

fn under_way(pulse: &Pulse, now: Time) -> Markup {
    html! {
        h2 { "Being fetched now" }
        @if pulse.under_way.is_empty() {
            p.soft { @if pulse.summary.leased > 0 { (counted(pulse.summary.leased, "fetch")) "es of other fetchers are under way." }
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
                        td { @if change.new.is_none() { span.tag.bad { "gone" } } @else if change.old.is_none() { span.tag { "first" } }
                            @else { a.small href={ "/pages/" (change.page.0) "/changes" } { "what changed" } } }
                        td.n { (words::ago(change.time, now)) } }
                } }
            }
        }
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
                            Some(until) => (words::ago(until, now)), None => "paused" } } }
                } }
            }
        }
    }
}
