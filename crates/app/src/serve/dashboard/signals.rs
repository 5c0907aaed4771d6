//! What sites announce, and how far it is believed.

use std::collections::HashMap;

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::estimate::signals::pool::SignalPool;
use refrain_core::estimate::signals::sure::Sure;
use refrain_core::estimate::signals::trust::Trust;
use refrain_engine::TOGETHER;
use refrain_store::{Reader, StoreError, Voice, WhichVoices};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::Place;
use super::words::{self, Portion};
use crate::chart::{counted, grouped, percent};
use crate::data::harmless::harmless;
use crate::serve::problem::Answer;

/// So many are shown at a time.
const SHOWN: usize = 50;
/// What a kind is elsewhere is learned from at most so many hosts.
const MOST_HOSTS: usize = 5000;

/// Which of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    host: String,
    kind: String,
    skip: usize,
}

impl Asked {
    fn path(&self, skip: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("host", &self.host)
            .append_pair("kind", &self.kind)
            .append_pair("skip", &skip.to_string());
        format!("/signals?{}", query.finish())
    }
}

/// A voice, and how sure its figures are.
type Judged = (Voice, Option<Sure>);

/// What sites announce
pub(super) async fn page(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let which = WhichVoices { host: asked.host.trim().to_ascii_lowercase(), kind: asked.kind.clone() };
    let skip = asked.skip;
    let read = move |reader: &Reader| {
        let voices = judged(reader, reader.some_voices(&which, skip, SHOWN)?)?;
        Ok::<(usize, Vec<Judged>, Vec<String>), StoreError>((
            reader.count_voices(&which)?,
            voices,
            reader.voice_kinds()?,
        ))
    };
    let (all, voices, kinds) = desk.read(read).await?;
    let main = html! {
        h1 { "Signals" }
        p.lead { "Sites announce that pages changed, and programs say so. Each kind is believed as far as it came true, host by host: "
            strong { "true" } " is the share of its signals after which a change was found, " strong { "announced" }
            " the share of changes that it tells of." }
        @if kinds.is_empty() {
            p.empty { "Nothing is announced here, as far as is known: no sitemap, no feed, nothing pushed. Sitemaps and feeds are found by themselves; "
                "programs push to " code { "/v1/signals" } "." }
        } @else {
            form.filters method="get" action="/signals" {
                div { label for="host" { "Host has" } input #host type="search" name="host" value=(asked.host); }
                div { label for="kind" { "Kind" } select #kind name="kind" {
                    option value="" { "any" }
                    @for kind in &kinds { option value=(kind) selected[*kind == asked.kind] { (harmless(kind)) } }
                } }
                button.main { "Show" }
            }
            section #voices data-live {
                @if voices.is_empty() { p.empty { "No such signals. " a href="/signals" { "Show all" } "." } } @else { (table(&voices, all)) }
                (words::pager("signals", &Portion { skip, shown: voices.len(), most: SHOWN, all }, |skip| asked.path(skip)))
                p.small.soft { "Each figure leans on what the kind is elsewhere, as far as little was seen here, and so does the interval in which it lies in 19 of 20 cases: "
                    "every figure that makes what was seen not much less likely than the best one does, as far as changes were expected rightly." }
            }
        }
    };
    Ok(desk.show(Place::Signals, "Signals", &main))
}

/// How sure figures are: they are the top of a posterior that leans on what their kind is elsewhere, and these are the intervals of the same one.
fn judged(reader: &Reader, voices: Vec<Voice>) -> Result<Vec<Judged>, StoreError> {
    let mut elsewhere: HashMap<String, Trust> = HashMap::new();
    for voice in &voices {
        if !elsewhere.contains_key(&voice.kind) {
            elsewhere.insert(voice.kind.clone(), trust_in(reader, &voice.kind)?);
        }
    }
    let sure = |voice: &Voice| {
        let pool = SignalPool::from_bytes(&voice.learned)?;
        Some(Sure::of(&pool, *elsewhere.get(&voice.kind)?))
    };
    Ok(voices.into_iter().map(|voice| (sure(&voice), voice)).map(|(sure, voice)| (voice, sure)).collect())
}

/// What a kind of signals is on all hosts together; of very many, on some of them.
fn trust_in(reader: &Reader, kind: &str) -> Result<Trust, StoreError> {
    let which = WhichVoices { host: String::new(), kind: kind.to_owned() };
    let mut all = SignalPool::default();
    for voice in reader.some_voices(&which, 0, MOST_HOSTS)? {
        if let Some(pool) = SignalPool::from_bytes(&voice.learned) {
            all.absorb(&pool);
        }
    }
    Ok(all.trust(Trust::START))
}

fn table(voices: &[Judged], all: usize) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption { (counted(all, "voice")) "; judged by: intervals between two looks; " (TOGETHER) ": as pages count them" }
                thead { tr {
                    th scope="col" { "host" } th scope="col" { "kind" } th.n scope="col" { "true" } th.n scope="col" { "95 %" }
                    th.n scope="col" { "announced" } th.n scope="col" { "95 %" } th.n scope="col" { "judged by" } th scope="col" { "counts" }
                } }
                tbody { @for (voice, sure) in voices { tr {
                    th.address scope="row" { (words::host(&voice.host)) }
                    td data-name="kind" { (harmless(&voice.kind)) }
                    td.n data-name="true" { (percent(voice.precision)) } td.n.soft data-name="95 %" { (interval(voice.precision, sure.map(|sure| sure.precision))) }
                    td.n data-name="announced" { (percent(voice.recall)) } td.n.soft data-name="95 %" { (interval(voice.recall, sure.map(|sure| sure.recall))) }
                    td.n data-name="judged by" { (grouped(voice.intervals.round() as usize)) }
                    td data-name="counts" { @if voice.heard { span.tag.on { "yes" } } @else { span.tag { "no" } } }
                } } }
            }
        }
    }
}

/// Where a share lies, in whole percent, rounded outwards: the figure beside it is rounded to less. (The figure was fitted a little earlier, which
/// may move it by a hair.)
fn interval(share: f64, sure: Option<(f64, f64)>) -> String {
    let Some((low, high)) = sure else { return "–".to_owned() };
    format!("{:.0} – {:.0} %", (100.0 * low.min(share)).floor(), (100.0 * high.max(share)).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_believed_lies_within() {
        assert_eq!(interval(0.996, Some((0.9912, 0.9961))), "99 – 100 %");
        assert_eq!(interval(0.5, Some((0.254, 0.75))), "25 – 75 %");
        assert_eq!(interval(0.9, Some((0.25, 0.75))), "25 – 90 %");
        assert_eq!(interval(0.5, None), "–");
    }
}
