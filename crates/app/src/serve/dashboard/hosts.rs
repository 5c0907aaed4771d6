//! Hosts: how they are treated, how they answer, and what they ask for.

use axum::extract::{FromRequestParts, Query};
use axum::response::Response;
use http::request::Parts;
use maud::{Markup, html};
use refrain_core::time::{Span, Time};
use refrain_engine::HostNow;
use refrain_fetch::robots::Robots;
use refrain_store::{HostId, HostRow, Reader, StoreError, Voice};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::{self, Place};
use super::words;
use crate::chart::{counted, grouped, percent};
use crate::data::harmless::harmless;
use crate::serve::api::input::named;
use crate::serve::problem::{Answer, Problem};
use crate::units;

/// So many are shown at a time, of so many that are looked at.
const SHOWN: usize = 100;
const LOOKED_AT: usize = 100_000;
/// So much of a robots.txt is shown, in bytes of the page.
const LONGEST_ROBOTS: usize = 36_000;

/// Which hosts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    q: String,
    only: String,
    after: i64,
}

impl Asked {
    /// Those after this one.
    fn path(&self, after: HostId) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("q", &self.q)
            .append_pair("only", &self.only)
            .append_pair("after", &after.0.to_string());
        format!("/hosts?{}", query.finish())
    }
}

/// A host as the crawl treats it; where none runs, as it was written down.
struct Treated {
    /// What only a crawl knows.
    is: Option<HostNow>,
    gap: Option<Span>,
    failures: u32,
    paused: bool,
    /// Until when it is left alone, if it is.
    back_off: Option<Time>,
}

impl Treated {
    fn new(row: &HostRow, is: Option<HostNow>, now: Time) -> Self {
        let back_off = is.as_ref().map_or(row.back_off_until, |is| is.back_off);
        Self {
            gap: is.as_ref().map(|is| is.gap).or(row.gap),
            failures: is.as_ref().map_or(row.failures, |is| is.failures),
            paused: is.as_ref().map_or(row.paused, |is| is.paused),
            back_off: back_off.filter(|until| *until > now),
            is,
        }
    }

    fn response(&self) -> Option<Span> {
        self.is.as_ref().and_then(|is| is.response)
    }
}

/// All hosts
pub(super) async fn list(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let (own, now) = (asked.clone(), desk.now);
    let (rows, next) = desk.read(move |reader| select(reader, &own, now)).await?;
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let known = desk.app.handle.hosts(names).await.unwrap_or_else(|_| vec![None; rows.len()]);
    let treated: Vec<Treated> =
        rows.iter().zip(known).map(|(row, is)| Treated::new(row, is, desk.now)).collect();
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
            @if !rows.is_empty() { (table(&rows, &treated, desk.now)) }
            @else if next.is_some() { p.empty { "None of the next " (grouped(LOOKED_AT)) " hosts is one of these." } }
            @else { p.empty { "No such hosts. " a href="/hosts" { "Show all" } "." } }
            @if let Some(next) = next {
                nav.pager aria-label="More hosts" { a href=(asked.path(next)) rel="next" { "More" } }
            }
        }
    };
    Ok(desk.show(Place::Hosts, "Hosts", &main))
}

/// Those that are shown; and, if there may be more, after which one.
fn select(reader: &Reader, asked: &Asked, now: Time) -> Result<(Vec<HostRow>, Option<HostId>), StoreError> {
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
        let Some(last) = rows.last().map(|row| row.id) else { return Ok((found, None)) };
        found.extend(rows.into_iter().filter(&fits));
        after = last;
        if found.len() > SHOWN {
            found.truncate(SHOWN);
            after = found[SHOWN - 1].id;
            break;
        }
    }
    Ok((found, Some(after)))
}

fn table(rows: &[HostRow], treated: &[Treated], now: Time) -> Markup {
    let unknown = || "–".to_owned();
    html! {
        div.scroll {
            table.stack {
                caption { (counted(rows.len(), "host")) ", in the order in which they were met" }
                thead { tr {
                    th.n scope="col" { "pages" } th.n scope="col" { "gap" } th.n scope="col" { "answers in" } th.n scope="col" { "failures" }
                    th.n scope="col" { "robots.txt" } th scope="col" { "host" }
                } }
                tbody { @for (row, treated) in rows.iter().zip(treated) { tr {
                    td.n data-name="pages" { (treated.is.as_ref().map_or_else(unknown, |is| grouped(is.pages as usize))) }
                    td.n data-name="gap" { (treated.gap.map_or_else(unknown, units::about)) }
                    td.n data-name="answers in" { (treated.response().map_or_else(unknown, units::about)) }
                    td.n data-name="failures" { (treated.failures) }
                    td.n data-name="robots.txt" { (robots_status(row)) }
                    th.address scope="row" { (words::host(&row.name)) " "
                        @if treated.paused { span.tag { "paused" } } @else if let Some(until) = treated.back_off { span.tag.bad { "left alone " (words::left(until, now)) } }
                    }
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
pub(super) async fn one(desk: Desk, Name(name): Name, Query(done): Query<Done>) -> Answer<Response> {
    let read = move |reader: &Reader| {
        let row = reader.host(&name)?.ok_or_else(no_host)?;
        let voices = reader.voices_of(row.id)?;
        Ok::<_, Problem>((row, voices))
    };
    let (row, voices) = desk.read(read).await?;
    let is = desk.app.handle.hosts(vec![row.name.clone()]).await.ok().and_then(|mut all| all.pop()).flatten();
    let treated = Treated::new(&row, is, desk.now);
    let main = html! {
        (frame::flash(done.done.as_deref()))
        h1 { (harmless(&row.name)) }
        p.answer { (why(&treated, desk.now)) }
        // Without a crawl nobody would do it.
        @if desk.visitor.may_write && treated.is.is_some() { (actions(&row, &treated)) }
        div.columns {
            section #facts data-live { h2 { "How it is treated" } (facts(&row, &treated)) }
            section { h2 { "What it announces" } (announces(&voices)) }
        }
        section { (robots(&row, &desk.app.agent, desk.now)) }
    };
    Ok(desk.show(Place::Hosts, &row.name, &main))
}

fn why(treated: &Treated, now: Time) -> Markup {
    html! {
        @if treated.paused { "It is paused: it is left alone until somebody takes that back." }
        @else if let Some(until) = treated.back_off { "It is left alone until " (words::moment(until)) " (" (words::ago(until, now)) "): it did not answer, or asked for that." }
        @else if let Some(is) = &treated.is { "It is visited, with at least " (units::about(is.gap)) " between two requests." }
        @else { "No crawl runs: it is not visited at the moment." }
    }
}

fn facts(row: &HostRow, treated: &Treated) -> Markup {
    let pages =
        format!("/pages?host={}", form_urlencoded::byte_serialize(row.name.as_bytes()).collect::<String>());
    html! {
        dl.rows {
            dt { "pages" } dd { @if let Some(is) = &treated.is { (grouped(is.pages as usize)) ", " } a href=(pages) { "show them" } }
            dt { "gap" } dd { @match treated.gap { Some(gap) => { (units::about(gap)) " between two requests, robots.txt and slowness considered" } None => "the usual one" } }
            dt { "wanted gap" } dd { (row.wanted_gap.map_or_else(|| "none".to_owned(), units::spoken)) }
            @if let Some(is) = &treated.is {
                dt { "answers in" } dd { (is.response.map_or_else(|| "it has not answered yet".to_owned(), units::about)) }
                dt { "under way" } dd { (counted(usize::from(is.in_flight), "request")) }
            }
            dt { "failures" } dd { (treated.failures) " in a row" }
            @if let Some(until) = treated.back_off { dt { "left alone" } dd { "until " (words::moment(until)) } }
        }
    }
}

fn actions(row: &HostRow, treated: &Treated) -> Markup {
    let path = words::host_path(&row.name);
    let gap = row.wanted_gap.map_or_else(String::new, |gap| crate::chart::short(gap.as_secs()));
    html! {
        div.actions role="group" aria-label="Change how it is treated" {
            form method="post" action=(path) {
                @if treated.paused { button.main name="do" value="resume" { "Visit it again" } } @else { button name="do" value="pause" { "Pause" } }
            }
            @if treated.back_off.is_some() && !treated.paused { form method="post" action=(path) { button name="do" value="back-off" { "Visit it at once" } } }
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

fn robots(row: &HostRow, agent: &str, now: Time) -> Markup {
    let Some(robots) = &row.robots else {
        return html! { h2 { "robots.txt" } p.soft { "It was not asked for yet: that comes before the first page." } };
    };
    let came = String::from_utf8_lossy(&robots.text);
    let concerns = Robots::parse(&robots.text, agent).to_bytes();
    let is_kept_short = concerns == robots.text;
    // As people write it.
    let mut shown = String::with_capacity(concerns.len() + 64);
    for line in String::from_utf8_lossy(&concerns).lines() {
        shown.push_str(&line.replacen(':', ": ", 1));
        shown.push('\n');
    }
    let concerns = shown;
    let status = robots.status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
    html! {
        h2 { "robots.txt" }
        p.soft { "Asked for " (words::ago(robots.fetched, now)) ": " (status) "."
            @if came.trim().is_empty() { " It says nothing: everything may be fetched, unless it could not be had." } }
        @if came.trim().is_empty() {
        } @else if is_kept_short {
            h3 { "All of it that concerns " (harmless(agent)) } (text(&concerns))
        } @else if concerns.trim() == came.trim() {
            h3 { "As it came; all of it concerns " (harmless(agent)) } (text(&came))
        } @else {
            div.columns {
                section { h3 { "As it came" } (text(&came)) }
                section { h3 { "What of it concerns " (harmless(agent)) }
                    @if concerns.is_empty() { p.soft { "Nothing: everything may be fetched." } } @else { (text(&concerns)) } }
            }
        }
    }
}

fn text(text: &str) -> Markup {
    let (shown, left) = words::excerpt(text.lines(), LONGEST_ROBOTS);
    html! {
        pre tabindex="0" { (shown) }
        @if left > 0 { p.soft { "There is more: " (counted(left, "line")) "." } }
    }
}
