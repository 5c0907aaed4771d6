//! Hosts: how they are treated, how they answer, and what they ask for.

use axum::Extension;
use axum::extract::{FromRequestParts, Query, State};
use axum::response::Response;
use http::request::Parts;
use maud::{Markup, html};
use refrain_core::time::Time;
use refrain_engine::HostNow;
use refrain_store::{HostId, HostRow, Reader, StoreError, Voice};
use serde::Deserialize;

use super::door::Visitor;
use super::frame::{self, Place};
use super::{Shared, words};
use crate::chart::{counted, grouped, percent};
use crate::data::harmless::harmless;
use crate::serve::api::input::named;
use crate::serve::problem::{Answer, Problem};
use crate::units;

/// So many are shown at a time, of so many that are looked at.
const SHOWN: usize = 100;
const LOOKED_AT: usize = 100_000;
/// So much of a robots.txt is shown.
const LONGEST_ROBOTS: usize = 48_000;

/// Which hosts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    q: String,
    only: String,
    after: i64,
}

/// All hosts
pub(super) async fn list(
    State(board): State<Shared>,
    Extension(visitor): Extension<Visitor>,
    Query(asked): Query<Asked>,
) -> Answer<Response> {
    let now = board.app.clock.now();
    let own = asked.clone();
    let mut rows = board.app.readers.scan(move |reader| select(reader, &own, now)).await?;
    let more = rows.len() > SHOWN;
    rows.truncate(SHOWN);
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let treated = board.app.handle.hosts(names).await.unwrap_or_else(|_| vec![None; rows.len()]);
    let next = rows.last().filter(|_| more).map(|row| row.id.0);
    let main = html! {
        h1 { "Hosts" }
        form.filters method="get" action="/hosts" role="search" {
            div { label for="q" { "Name has" } input #q type="search" name="q" value=(asked.q); }
            div { label for="only" { "Only" } select #only name="only" {
                @for (value, name) in [("", "all"), ("trouble", "in trouble"), ("paused", "paused")] {
                    option value=(value) selected[value == asked.only] { (name) }
                }
            } }
            button.main { "Show" }
        }
        section #hosts data-live {
            @if rows.is_empty() { p.empty { "No such hosts. " a href="/hosts" { "Show all" } "." } }
            @else { (table(&rows, &treated, now)) }
            @if let Some(next) = next {
                nav.pager aria-label="More hosts" {
                    a href={ "/hosts?" (form_urlencoded::Serializer::new(String::new()).append_pair("q", &asked.q).append_pair("only", &asked.only).append_pair("after", &next.to_string()).finish()) } rel="next" { "More" }
                }
            }
        }
    };
    Ok(frame::page(&board, visitor, Place::Hosts, "Hosts", &main))
}

/// One more than are shown, to know whether there are more.
fn select(reader: &Reader, asked: &Asked, now: Time) -> Result<Vec<HostRow>, StoreError> {
    /// Rows are read by so many.
    const AT_A_TIME: usize = 2000;
    let text = asked.q.trim().to_ascii_lowercase();
    let is_all = text.is_empty() && asked.only.is_empty();
    let fits = |row: &HostRow| {
        let is_left_alone = row.paused || row.back_off_until.is_some_and(|until| until > now);
        row.name.contains(&text)
            && match asked.only.as_str() {
                "trouble" => row.failures > 0 || is_left_alone,
                "paused" => row.paused,
                _ => true,
            }
    };
    let (mut after, mut found) = (HostId(asked.after), Vec::new());
    for _ in 0..LOOKED_AT / AT_A_TIME {
        let rows = reader.hosts_after(after, if is_all { SHOWN + 1 } else { AT_A_TIME })?;
        let Some(last) = rows.last().map(|row| row.id) else { break };
        found.extend(rows.into_iter().filter(&fits));
        after = last;
        if found.len() > SHOWN {
            break;
        }
    }
    found.truncate(SHOWN + 1);
    Ok(found)
}

fn table(rows: &[HostRow], treated: &[Option<HostNow>], now: Time) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption { (counted(rows.len(), "host")) ", in the order in which they were met" }
                thead { tr {
                    th.n scope="col" { "pages" } th.n scope="col" { "gap" } th.n scope="col" { "answers in" } th.n scope="col" { "failures" }
                    th.n scope="col" { "robots.txt" } th scope="col" { "host" }
                } }
                tbody { @for (row, is) in rows.iter().zip(treated) { tr {
                    td.n data-name="pages" { (is.as_ref().map_or_else(|| "–".to_owned(), |is| grouped(is.pages as usize))) }
                    td.n data-name="gap" { (is.as_ref().map(|is| is.gap).or(row.gap).map_or_else(|| "–".to_owned(), units::about)) }
                    td.n data-name="answers in" { (is.as_ref().and_then(|is| is.response).map_or_else(|| "–".to_owned(), units::about)) }
                    td.n data-name="failures" { (is.as_ref().map_or(row.failures, |is| is.failures)) }
                    td.n data-name="robots.txt" { (robots_status(row)) }
                    th.address scope="row" { (words::host(&row.name)) " " (standing(row, is.as_ref(), now)) }
                } } }
            }
        }
    }
}

fn robots_status(row: &HostRow) -> String {
    match &row.robots {
        None => "not asked".to_owned(),
        Some(robots) => robots.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string()),
    }
}

/// What is the matter with a host, if something is.
fn standing(row: &HostRow, is: Option<&HostNow>, now: Time) -> Markup {
    let back_off = is.map_or(row.back_off_until, |is| is.back_off).filter(|until| *until > now);
    html! {
        @if is.map_or(row.paused, |is| is.paused) { span.tag { "paused" } " " }
        @if let Some(until) = back_off { span.tag.bad { "left alone, " (words::ago(until, now)) } }
    }
}

/// The name of a host, in the path.
pub(super) struct Name(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "name").await.map(Self)
    }
}

pub(super) fn no_host() -> Problem {
    Problem::missing("no-such-host", "there is no such host here; the list of hosts has them all")
}

/// What was done.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Done {
    pub(super) done: Option<String>,
}

/// One host
pub(super) async fn one(
    State(board): State<Shared>,
    Extension(visitor): Extension<Visitor>,
    Name(name): Name,
    Query(done): Query<Done>,
) -> Answer<Response> {
    let now = board.app.clock.now();
    let (row, voices) = board
        .app
        .readers
        .scan(move |reader| {
            let row = reader.host(&name)?.ok_or_else(no_host)?;
            let mut voices = reader.voices()?;
            voices.retain(|voice| voice.host == row.name);
            Ok::<_, Problem>((row, voices))
        })
        .await?;
    let is =
        board.app.handle.hosts(vec![row.name.clone()]).await.ok().and_then(|mut all| all.pop()).flatten();
    let main = html! {
        (frame::flash(done.done.as_deref()))
        h1 { (harmless(&row.name)) }
        p.answer { (why(&row, is.as_ref(), now)) }
        @if visitor.may_write { (actions(&row, is.as_ref(), now)) }
        div.columns {
            section #facts data-live { h2 { "How it is treated" } (facts(&row, is.as_ref(), now)) }
            section { h2 { "What it announces" } (announces(&voices)) }
        }
        section { (robots(&row, now)) }
    };
    Ok(frame::page(&board, visitor, Place::Hosts, &row.name, &main))
}

fn why(row: &HostRow, is: Option<&HostNow>, now: Time) -> Markup {
    let back_off = is.map_or(row.back_off_until, |is| is.back_off).filter(|until| *until > now);
    html! {
        @if is.map_or(row.paused, |is| is.paused) { "It is paused: it is left alone until somebody takes that back." }
        @else if let Some(until) = back_off { "It is left alone until " (words::moment(until)) " (" (words::ago(until, now)) "): it did not answer, or asked for that." }
        @else if let Some(is) = is { "It is visited, with at least " (units::about(is.gap)) " between two requests." }
        @else { "No crawl runs: it is not visited at the moment." }
    }
}

fn facts(row: &HostRow, is: Option<&HostNow>, now: Time) -> Markup {
    let gap = is.map(|is| is.gap).or(row.gap);
    html! {
        dl.rows {
            dt { "pages" } dd { @if let Some(is) = is { (grouped(is.pages as usize)) ", " } a href={ "/pages?host=" (form_urlencoded::byte_serialize(row.name.as_bytes()).collect::<String>()) } { "show them" } }
            dt { "gap" } dd { @match gap { Some(gap) => { (units::about(gap)) " between two requests, robots.txt and slowness considered" } None => "the usual one" } }
            dt { "wanted gap" } dd { (row.wanted_gap.map_or_else(|| "none".to_owned(), units::spoken)) }
            @if let Some(is) = is {
                dt { "answers in" } dd { (is.response.map_or_else(|| "it has not answered yet".to_owned(), units::about)) }
                dt { "under way" } dd { (is.in_flight) " requests" }
            }
            dt { "failures" } dd { (is.map_or(row.failures, |is| is.failures)) " in a row" }
            @if let Some(until) = row.back_off_until.filter(|until| *until > now) { dt { "left alone" } dd { "until " (words::moment(until)) } }
        }
    }
}

fn actions(row: &HostRow, is: Option<&HostNow>, now: Time) -> Markup {
    let path = words::host_path(&row.name);
    let is_paused = is.map_or(row.paused, |is| is.paused);
    let back_off = is.map_or(row.back_off_until, |is| is.back_off).filter(|until| *until > now);
    let gap = row.wanted_gap.map_or_else(String::new, |gap| crate::chart::short(gap.as_secs()));
    html! {
        div.actions role="group" aria-label="Change how it is treated" {
            form method="post" action=(path) {
                @if is_paused { button.main name="do" value="resume" { "Visit it again" } } @else { button name="do" value="pause" { "Pause" } }
            }
            @if back_off.is_some() && !is_paused { form method="post" action=(path) { button name="do" value="back-off" { "Visit it at once" } } }
            form method="post" action=(path) {
                div { label for="gap" { "Gap, in seconds" } input.short #gap name="gap" inputmode="decimal" value=(gap) placeholder="the usual"; }
                button name="do" value="gap" { "Set" }
            }
        }
    }
}

fn announces(voices: &[Voice]) -> Markup {
    html! {
        @if voices.is_empty() { p.soft { "Nothing, as far as is known." } } @else {
            table {
                thead { tr { th scope="col" { "kind" } th.n scope="col" { "true" } th.n scope="col" { "announced" } th.n scope="col" { "judged by" } th scope="col" { "counts" } } }
                tbody { @for voice in voices { tr {
                    th scope="row" { (harmless(&voice.kind)) } td.n { (percent(voice.precision)) } td.n { (percent(voice.recall)) }
                    td.n { (grouped(voice.intervals.round() as usize)) } td { @if voice.heard { "yes" } @else { "no" } }
                } } }
            }
        }
    }
}

fn robots(row: &HostRow, now: Time) -> Markup {
    html! {
        h2 { "robots.txt, as it was understood" }
        @match &row.robots {
            None => p.soft { "It was not asked for yet: that comes before the first page." },
            Some(robots) => {
                @let text = String::from_utf8_lossy(&robots.text);
                p.soft { "Asked for " (words::ago(robots.fetched, now)) ", "
                    (robots.status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"))) "." }
                @if text.trim().is_empty() { p.soft { "It says nothing that concerns us: everything may be fetched, unless it could not be had." } }
                @else {
                    pre tabindex="0" { @for line in text.chars().take(LONGEST_ROBOTS).collect::<String>().lines() { (harmless(line)) "\n" } }
                    @if text.chars().count() > LONGEST_ROBOTS { p.soft { "There is more of it." } }
                }
            }
        }
    }
}
