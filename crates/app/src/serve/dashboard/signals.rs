//! What sites announce, and how far it is believed.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use refrain_engine::TOGETHER;
use refrain_store::Voice;
use serde::Deserialize;

use super::door::Visitor;
use super::frame::{self, Place};
use super::{Shared, words};
use crate::chart::{counted, grouped, percent};
use crate::data::harmless::harmless;
use crate::serve::problem::Answer;

/// So many are shown at a time.
const SHOWN: usize = 100;

/// Which of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    host: String,
    kind: String,
    skip: usize,
}

/// What sites announce
pub(super) async fn page(
    State(board): State<Shared>,
    Extension(visitor): Extension<Visitor>,
    Query(asked): Query<Asked>,
) -> Answer<Response> {
    let mut voices = board.app.readers.scan(refrain_store::Reader::voices).await?;
    let mut kinds: Vec<String> = voices.iter().map(|voice| voice.kind.clone()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let is_empty = voices.is_empty();
    let host = asked.host.trim().to_ascii_lowercase();
    voices.retain(|voice| voice.host.contains(&host) && (asked.kind.is_empty() || voice.kind == asked.kind));
    // Those first of which most is known.
    voices.sort_by(|one, two| two.intervals.total_cmp(&one.intervals).then(one.host.cmp(&two.host)));
    let main = html! {
        h1 { "Signals" }
        p.lead { "Sites announce that pages changed, and programs say so. Each kind is believed as far as it came true, host by host: "
            strong { "true" } " is the share of its signals after which a change was found, " strong { "announced" }
            " the share of changes that it tells of." }
        @if is_empty {
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
            (table(&voices, &asked))
        }
    };
    Ok(frame::page(&board, visitor, Place::Signals, "Signals", &main))
}

fn table(voices: &[Voice], asked: &Asked) -> Markup {
    let shown: Vec<&Voice> = voices.iter().skip(asked.skip).take(SHOWN).collect();
    let path = |skip: usize| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("host", &asked.host)
            .append_pair("kind", &asked.kind)
            .append_pair("skip", &skip.to_string());
        format!("/signals?{}", query.finish())
    };
    html! {
        section #voices data-live {
            @if shown.is_empty() { p.empty { "No such signals. " a href="/signals" { "Show all" } "." } } @else {
                div.scroll {
                    table.stack {
                        caption { (counted(voices.len(), "voice")) "; judged by: intervals between two looks; " (TOGETHER) ": as pages count them" }
                        thead { tr {
                            th scope="col" { "host" } th scope="col" { "kind" } th.n scope="col" { "true" } th.n scope="col" { "95 %" }
                            th.n scope="col" { "announced" } th.n scope="col" { "95 %" } th.n scope="col" { "judged by" } th scope="col" { "counts" }
                        } }
                        tbody { @for voice in shown { tr {
                            th.address scope="row" { (words::host(&voice.host)) }
                            td data-name="kind" { (harmless(&voice.kind)) }
                            td.n data-name="true" { (percent(voice.precision)) } td.n.soft data-name="95 %" { (interval(voice.precision, voice.intervals)) }
                            td.n data-name="announced" { (percent(voice.recall)) } td.n.soft data-name="95 %" { (interval(voice.recall, voice.intervals)) }
                            td.n data-name="judged by" { (grouped(voice.intervals.round() as usize)) }
                            td data-name="counts" { @if voice.heard { span.tag.on { "yes" } } @else { span.tag { "no" } } }
                        } } }
                    }
                }
                nav.pager aria-label="More signals" {
                    @if asked.skip > 0 { a href=(path(asked.skip.saturating_sub(SHOWN))) { "The " (SHOWN) " before" } }
                    @if asked.skip + SHOWN < voices.len() { a href=(path(asked.skip + SHOWN)) { "The next " (SHOWN) } }
                }
                p.small.soft { "The intervals are Wilson's, as if each interval between two looks were one judgement: they are about right where pages change once or so "
                    "between looks, and too narrow where most intervals have neither a signal nor a change." }
            }
        }
    }
}

/// Where a share that was seen in so many cases lies, in 19 of 20 cases (Wilson 1927).
fn interval(share: f64, cases: f64) -> String {
    let Some((low, high)) = wilson(share, cases) else { return "–".to_owned() };
    format!("{:.0} – {:.0} %", 100.0 * low, 100.0 * high)
}

fn wilson(share: f64, cases: f64) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_963_984_540_054;
    if !(cases >= 1.0 && (0.0..=1.0).contains(&share)) {
        return None;
    }
    let z2 = Z * Z / cases;
    let middle = share + 0.5 * z2;
    let reach = Z * (share * (1.0 - share) / cases + 0.25 * z2 / cases).sqrt();
    Some((((middle - reach) / (1.0 + z2)).max(0.0), ((middle + reach) / (1.0 + z2)).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // 7 of 10, as the textbooks have it.
        let (low, high) = wilson(0.7, 10.0).unwrap();
        assert!((low - 0.3968).abs() < 1e-4 && (high - 0.8922).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(1.0, 20.0).unwrap();
        assert!((low - 0.8389).abs() < 1e-4 && high == 1.0);
        assert_eq!((wilson(0.5, 0.0), wilson(f64::NAN, 9.0)), (None, None));
    }
}
