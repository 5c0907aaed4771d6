//! One page: why it is fetched, or not; what was seen of it, what is believed of it, and what it will be worth.

mod curves;
mod learned;
mod timeline;

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::estimate::prior::Prior;
use refrain_core::estimate::{Confidence, Posterior};
use refrain_core::frontier::{AttentivePast, WaitsFor};
use refrain_core::time::{Span, Time};
use refrain_engine::{
    Believed, CrawlError, Outlook, PageNow, Prospect, RobotsSay, Standing, not_before, robots_say,
};
use refrain_fetch::url::PageUrl;
use refrain_store::{HostRow, Observation, PageRecord, PageState, Reader, Signal, Version};

use super::desk::Desk;
use super::frame::{self, Place};
use super::hosts::Done;
use super::words;
use crate::chart::{counted, short};
use crate::data::explain::{Facts, Left, beliefs, sheet, why};
use crate::data::harmless::harmless;
use crate::data::ignored::{self as data, Noise};
use crate::serve::api::input::Number;
use crate::serve::api::pages::diff::rules;
use crate::serve::api::pages::known;
use crate::serve::problem::{Answer, Problem};
use crate::units;

/// So many looks and signals are drawn, and so many are listed.
const DRAWN: usize = 500;
const LISTED: usize = 15;
/// So many versions are listed.
const VERSIONS: usize = 20;
/// How sure intervals are.
const SURE: f64 = 0.95;
/// So many moments of the value are drawn.
const MOMENTS: usize = 60;

/// All that is shown.
struct Shown {
    facts: Facts,
    /// As the crawl has it; `None` if it is not crawled at the moment.
    is: Option<PageNow>,
    prospect: Option<(Vec<Time>, Prospect)>,
    versions: Vec<Version>,
    /// What learned from its looks.
    past: AttentivePast,
}

/// One page
pub(super) async fn page(desk: Desk, Number(id): Number, Query(done): Query<Done>) -> Answer<Response> {
    let shown = gather(&desk, id).await?;
    let page = &shown.facts.page;
    let title = page.title.as_deref().filter(|title| !title.trim().is_empty());
    let main = html! {
        (frame::flash(done.done.as_deref()))
        h1 { (title.map_or_else(|| harmless(&page.url), harmless)) }
        p.lead { (words::outside(&page.url)) " " (words::state(page.state, page.failures)) }
        div #why data-live { p.answer { (why(&shown.facts)) "." @if let Some(more) = waits(&shown) { " " (more) } } }
        @if desk.may_change() { (actions(page)) }
        section #value data-live { h2 { "What a fetch is worth, and when it is worth the price" } (curves::value(&shown)) }
        section #timeline data-live { h2 { "What was seen, and what was announced" } (timeline::draw(&shown)) }
        section #rate data-live { h2 { "How often it changes, and how that was learned" } (learned::draw(&shown)) }
        div.columns {
            section #facts data-live {
                h2 { "Page" } (words::rows(sheet::page_rows(&shown.facts)))
                h3 { "Changes" } (words::rows(sheet::change_rows(&shown.facts).into_iter().filter(|(name, _)| *name != "about every")))
                h3 { "Host" } (words::rows(sheet::host_rows(&shown.facts)))
                p.small { (words::host(&shown.facts.host.name)) }
            }
            section #versions data-live { (versions(&shown)) }
        }
        @if let Some(noise) = &shown.facts.noise { section #noise data-live { (ignored(noise)) } }
        section #looks data-live { (looks(&shown)) }
    };
    let name = title.unwrap_or(&page.url).chars().take(80).collect::<String>();
    Ok(desk.show(Place::Pages, &harmless(&name), &main))
}

async fn gather(desk: &Desk, id: i64) -> Answer<Shown> {
    let (app, now, agent) = (&desk.app, desk.now, desk.app.agent.clone());
    let own = desk.app.clone();
    let read = move |reader: &Reader| {
        let page = known(reader, id)?;
        let host = reader.host_by_id(page.host)?.ok_or_else(Problem::ours)?;
        let url = PageUrl::parse(&page.url).ok();
        let robots = host.robots.as_ref().zip(url).map(|(robots, url)| robots_say(robots, &url, &agent));
        let looks = reader.observations_of(page.id, DRAWN)?;
        let signals = reader.signals_of(page.id, DRAWN)?;
        let (under_way, versions) = (reader.is_under_way(page.id)?, reader.versions_of(page.id)?);
        let standing = Standing::read(reader)?;
        let noise = data::noise(reader, &page, &rules(&own, &page)?)?;
        Ok::<_, Problem>((page, host, robots, under_way, looks, signals, versions, standing, noise))
    };
    let (page, host, robots, is_under_way, looks, signals, versions, standing, noise) =
        desk.read(read).await?;
    let answer = app.handle.explain(vec![page.id]).await;
    if answer.is_err() {
        return left(desk, page, host, Kept { robots, looks, signals, versions, noise }).await;
    }
    let is = answer.ok().and_then(|mut all| all.pop()).flatten();
    let prospect = match is {
        Some(is) => {
            let at = curves::moments(&page, &is, now, MOMENTS);
            app.handle.prospect(&page, at.clone()).await.ok().flatten().map(|prospect| (at, prospect))
        }
        None => None,
    };
    let past = page.history.as_deref().and_then(AttentivePast::from_bytes).unwrap_or_default();
    let changes = is
        .and_then(|is| is.changes)
        .or(past.belief())
        .unwrap_or_else(|| Posterior::of(past.history(), &Prior::default()));
    let believed = Believed {
        changes,
        counts: past.history().counts(),
        signals: None,
        stale: match (is, page.fetched) {
            (Some(is), _) => is.stale,
            (None, Some(fetched)) => Some(-changes.log_survival(now.since(fetched).as_secs()).exp_m1()),
            (None, None) => None,
        },
        value: is.map_or(0.0, |is| is.value),
    };
    let value = is.map(|is| is.value);
    let outlook = Outlook {
        due: is.and_then(|is| is.due),
        not_before: not_before(&page.row(), now).filter(|until| *until > now),
    };
    // What the crawl says now goes before what it wrote down last.
    let standing =
        standing.map(|standing| Standing { price: is.map_or(standing.price, |is| is.price), ..standing });
    let confidence = Confidence::new(SURE).ok_or_else(Problem::ours)?;
    let facts = Facts {
        now,
        rate: changes.estimate(confidence),
        sure: SURE,
        page,
        host,
        robots,
        believed,
        value,
        left: None,
        standing,
        outlook: Some(outlook),
        is_under_way,
        looks,
        signals,
        // To find it in queues takes a look at all of them.
        queued: Vec::new(),
        noise,
    };
    Ok(Shown { facts, is, prospect, versions, past })
}

/// What the store has of a page beside its row.
struct Kept {
    robots: Option<RobotsSay>,
    looks: Vec<Observation>,
    signals: Vec<Signal>,
    versions: Vec<Version>,
    noise: Option<Noise>,
}

/// The same when the crawl is over, as it left the page: nothing is believed any more, so that is made of what was written down.
async fn left(
    desk: &Desk,
    page: PageRecord,
    host: HostRow,
    Kept { robots, looks, signals, versions, noise }: Kept,
) -> Answer<Shown> {
    let now = desk.now;
    let (own, own_host) = (page.clone(), host.clone());
    let read = move |reader: &Reader| {
        let standing = Standing::read(reader)?;
        let left = standing.as_ref().and_then(|standing| standing.time).map_or(now, |time| time.min(now));
        let (believed, outlook) = beliefs(reader, &own, &own_host, standing.as_ref(), left)?;
        Ok::<_, CrawlError>((standing, left, believed, outlook))
    };
    let read = desk.read(move |reader| {
        read(reader).map_err(|why| {
            tracing::error!(%why, "what the crawl believed cannot be read");
            Problem::ours()
        })
    });
    let (standing, time, believed, outlook) = read.await?;
    let past = page.history.as_deref().and_then(AttentivePast::from_bytes).unwrap_or_default();
    let confidence = Confidence::new(SURE).ok_or_else(Problem::ours)?;
    let facts = Facts {
        now,
        rate: believed.changes.estimate(confidence),
        sure: SURE,
        value: Some(believed.value),
        left: Some(Left { time, ended: true }),
        page,
        host,
        robots,
        believed,
        standing,
        outlook,
        is_under_way: false,
        looks,
        signals,
        queued: Vec::new(),
        noise,
    };
    Ok(Shown { facts, is: None, prospect: None, versions, past })
}

/// What it waits for at this moment, where the sentence does not say it already.
fn waits(shown: &Shown) -> Option<Markup> {
    let (is, now) = (shown.is?, shown.facts.now);
    let until = |until: Time| (until < Time::LAST && until > now).then(|| words::ago(until, now));
    match is.waits_for {
        WaitsFor::Host(time) => Some(
            html! { "Its host is next free " @match until(time) { Some(time) => (time), None => "after the fetch under way" } "." },
        ),
        WaitsFor::Budget(time) => {
            until(time).map(|time| html! { "The budget has its next fetch " (time) "." })
        }
        WaitsFor::Age(time) => until(time).map(|time| html! { "It is left alone, " (time) "." }),
        WaitsFor::Value | WaitsFor::Nothing | WaitsFor::Answer => None,
    }
}

fn actions(page: &PageRecord) -> Markup {
    let path = format!("/pages/{}", page.id.0);
    let age = page.max_age.map_or_else(String::new, typed);
    html! {
        div.actions role="group" aria-label="Change what is wanted of it" {
            form method="post" action=(path) {
                button.main name="do" value="fetch" disabled[page.state == PageState::Paused] { "Fetch now" }
                @if page.state == PageState::Paused { button name="do" value="resume" { "Crawl it again" } }
                @else { button name="do" value="pause" { "Pause" } }
            }
            form method="post" action=(path) {
                div { label for="importance" { "Importance" } input.short #importance name="importance" inputmode="decimal" value=(short(page.importance)) required; }
                button name="do" value="importance" { "Set" }
            }
            form method="post" action=(path) {
                div { label for="max-age" { "Maximum age" } input.short #max-age name="max-age" value=(age) placeholder="any, or 6h"; }
                button name="do" value="max-age" { "Set" }
            }
        }
    }
}

/// A span as it is typed.
fn typed(span: Span) -> String {
    let seconds = span.as_secs();
    let (unit, name) = [(86_400.0, "d"), (3600.0, "h"), (60.0, "m")]
        .into_iter()
        .find(|(unit, _)| seconds >= *unit && seconds % unit == 0.0)
        .unwrap_or((1.0, "s"));
    format!("{}{name}", short(seconds / unit))
}

/// What of the page does not count as a change.
fn ignored(noise: &Noise) -> Markup {
    html! {
        h2 { "What is ignored" }
        p { (sheet::noise_line(noise)) ". Changes there do not count." }
        @if !noise.shown.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="What is ignored" { table {
                caption { "In the copy that was kept last" @if noise.places > noise.shown.len() { ", the first " (noise.shown.len()) } }
                thead { tr { th scope="col" { "text" } th scope="col" { "why" } } }
                tbody { @for place in &noise.shown { tr { th scope="row" { (harmless(&place.text)) } td { (place.why()) } } } }
            } }
        }
    }
}

fn versions(shown: &Shown) -> Markup {
    let (page, versions) = (&shown.facts.page, &shown.versions);
    html! {
        h2 { "Copies" }
        @if versions.is_empty() { p.soft { "None is kept." } } @else {
            @if versions.len() > 1 { p { a href={ "/pages/" (page.id.0) "/changes" } { "What changed last" } } }
            table {
                caption { (counted(versions.len(), "version")) @if versions.len() > VERSIONS { ", the latest " (VERSIONS) } }
                thead { tr { th scope="col" { "seen" } th scope="col" { "copy" } th scope="col" { span.unseen { "difference" } } } }
                tbody { @for (place, version) in versions.iter().take(VERSIONS).enumerate() { tr {
                    th scope="row" { (words::moment(version.time)) }
                    td { a href={ "/pages/" (page.id.0) "/copy/" (version.id.0) } { "version " (version.id.0) } @if version.body != version.id { " " span.tag { "seen again" } } }
                    td { @if let Some(before) = versions.get(place + 1).filter(|before| before.digest != version.digest) {
                        a href={ "/pages/" (page.id.0) "/changes?from=" (before.id.0) "&to=" (version.id.0) } { "what changed" } } }
                } } }
            }
        }
    }
}

fn looks(shown: &Shown) -> Markup {
    let facts = &shown.facts;
    html! {
        div.columns {
            section {
                h2 { "Looks" }
                @if facts.looks.is_empty() { p.soft { "It was not looked at yet." } } @else {
                    div.scroll tabindex="0" role="group" aria-label="Looks" { table {
                        caption { "The latest first" }
                        thead { tr { th scope="col" { "time (UTC)" } th scope="col" { "outcome" } th.n scope="col" { "status" } th.n scope="col" { "after" } th.n scope="col" { "took" } th scope="col" { "what counted" } } }
                        tbody { @for look in facts.looks.iter().take(LISTED) { tr {
                            th scope="row" { (words::moment(look.time)) } td { (look.outcome.as_str()) }
                            td.n { (look.status.map_or_else(|| "–".to_owned(), |status| status.to_string())) }
                            td.n { (look.elapsed.map_or_else(|| "–".to_owned(), units::about)) } td.n { @if look.duration == Span::ZERO { "< 1 ms" } @else { (units::about(look.duration)) } }
                            td { (harmless(look.counted.as_deref().unwrap_or_default())) }
                        } } }
                    } }
                }
            }
            @if !facts.signals.is_empty() {
                section {
                    h2 { "Signals" }
                    div.scroll tabindex="0" role="group" aria-label="Signals" { table {
                        caption { "The latest first" }
                        thead { tr { th scope="col" { "time (UTC)" } th scope="col" { "kind" } th scope="col" { "what came of it" } th.n scope="col" { "worth" } } }
                        tbody { @for signal in facts.signals.iter().take(LISTED) { tr {
                            th scope="row" { (words::moment(signal.time)) } td { (harmless(&signal.kind)) }
                            td { (match signal.came_true { Some(true) => "came true", Some(false) => "nothing had changed", None => "not looked at since" }) }
                            td.n { (signal.worth.map_or_else(|| "–".to_owned(), short)) }
                        } } }
                    } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_typed_again() {
        for seconds in [30.0, 90.0, 3600.0, 5400.0, 86_400.0, 1.5] {
            let span = Span::from_secs(seconds);
            assert_eq!(units::span(&typed(span)), Ok(span), "{seconds}");
        }
    }
}
