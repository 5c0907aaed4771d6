//! One figure of a paper: the question, the charts, the claims, and how to make it again.

use maud::{Markup, html};
use refrain_lab::figures::Verdict;

use super::super::draw;
use super::super::record::{Claim, Record, Table, capital, said};
use super::prose;

/// A verdict: a word, a sign and a colour.
pub(super) fn tag(verdict: Verdict) -> Markup {
    let sign = match verdict {
        Verdict::Agrees => "✓",
        Verdict::Partly => "≈",
        Verdict::Disagrees => "✗",
        Verdict::Unclear => "?",
    };
    html! { span.tag.(said(verdict)) { span aria-hidden="true" { (sign) } " " (said(verdict)) } }
}

pub(super) fn article(record: &Record) -> Markup {
    html! {
        article.figure id=(record.name) {
            p.kicker { (record.figure) " · " (record.name) }
            h3 { a.here href={ "#" (record.name) } { (capital(&record.title)) } }
            p { (prose(&record.asked)) }
            @if let Some(found) = &record.found { p.found { (found) } }
            @for chart in &record.charts { (draw::html(chart, &format!("{}-{}", record.name, chart.file))) }
            (claims(&record.claims))
            @for table in &record.tables { (rows(table)) }
            p.ours { strong { "In Refrain. " } (prose(&record.use_of_it)) }
            p.setting { strong { "How it was measured. " } (prose(&record.setting)) }
            p.setting {
                code { (record.command) }
                @if let Some(seconds) = record.seconds { span.soft { " · " (taken(seconds)) } }
            }
        }
    }
}

fn taken(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => "less than a second".to_owned(),
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 6000.0 => format!("{:.0} minutes", seconds / 60.0),
        seconds => format!("{:.1} hours", seconds / 3600.0),
    }
}

fn claims(claims: &[Claim]) -> Markup {
    html! {
        @if !claims.is_empty() {
            table.claims {
                thead { tr { th scope="col" { "The paper says" } th scope="col" { "Measured" } th scope="col" { "Verdict" } } }
                tbody { @for claim in claims {
                    tr { td data-of="The paper says" { (claim.paper) } td data-of="Measured" { (capital(&claim.measured)) } td { (tag(claim.verdict)) } }
                } }
            }
        }
    }
}

fn rows(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(table.title) {
            table {
                caption { (table.title) }
                thead { tr { @for (place, name) in table.columns.iter().enumerate() { th scope="col" .n[place > 0] { (name) } } } }
                tbody { @for row in &table.rows {
                    tr { @for (place, cell) in row.iter().enumerate() {
                        @if place == 0 { th scope="row" { (cell) } } @else { td.n { (cell) } }
                    } }
                } }
            }
        }
    }
}
