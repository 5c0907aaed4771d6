//! The first page, for people who do not know the papers.

use maud::{Markup, html};
use refrain_lab::figures::Verdict;

use super::super::record::{Claim, Record, said};
use super::figure::tag;
use super::scores::{ORDER, Scores};
use super::{Chapter, prose};
use crate::chart::counted;

pub(super) fn page(chapters: &[Chapter<'_>]) -> Markup {
    let records = || chapters.iter().flat_map(|chapter| chapter.records.iter().copied());
    let scores = Scores::of(records());
    html! {
        header.front {
            p.kicker { "Refrain · the papers' figures, measured anew" }
            h1 { "Does the theory hold?" }
            p.lead {
                "Who keeps copies of web pages (a search engine, an archive, anyone who watches prices or laws) cannot look at all of them all the time. Pages change, copies grow \
                 stale, and fetches are limited. Five papers say how to spend them well. Refrain is a crawler built on these five; this report measures their figures again, with \
                 the code that Refrain runs, and says claim by claim whether they hold."
            }
        }
        section.score aria-label="How many claims hold" {
            p.figure { (scores.get(Verdict::Agrees)) small { " of " (counted(scores.all(), "claim")) " agree" } }
            (bar(&scores))
            ul.counts {
                @for verdict in ORDER {
                    li { (tag(verdict)) " " (scores.get(verdict)) " " span.soft { (meaning(verdict)) } }
                }
            }
        }
        section {
            h2 { "Asked, found, used" }
            @for chapter in chapters { (summary(chapter)) }
        }
        (parted(chapters))
        section {
            h2 { "How to read this" }
            p {
                "Each figure begins with the question, in plain words. In the charts, the green line is what Refrain does; upright lines are one standard error up and down; point at a mark to \
                 read its numbers. Below, the paper's claims stand beside what was measured. A verdict is computed from the numbers of this run, and would be another one if \
                 they were others."
            }
            p {
                "Every figure can be made again: the command under it gives the same numbers on any machine of the same kind. At quick scale there are fewer repetitions than in the papers, and \
                 some experiments are smaller; how large they were is said with each. " code { "--scale paper" } " repeats them at full size."
            }
        }
    }
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "within the error of the measurement, or the same order and size of effects",
        Verdict::Partly => "some of it holds; the measurement says what",
        Verdict::Disagrees => "it was not found",
        Verdict::Unclear => "the paper gives no number, or one that does not follow from its text",
    }
}

/// The shares of verdicts.
fn bar(scores: &Scores) -> Markup {
    let all = scores.all().max(1) as f64;
    html! {
        div.verdicts aria-hidden="true" {
            @for verdict in ORDER {
                @let share = 100.0 * scores.get(verdict) as f64 / all;
                @if share > 0.0 { span.(said(verdict)) style={ "width:" (format!("{share:.2}")) "%" } {} }
            }
        }
    }
}

fn summary(chapter: &Chapter<'_>) -> Markup {
    let about = chapter.about;
    let scores = Scores::of(chapter.records.iter().copied());
    html! {
        article.asked {
            h3 { a href={ "#" (about.name) } { (about.short) } }
            (bar(&scores))
            dl {
                div { dt { "Asked" } dd { (about.asked) } }
                div { dt { "Found" } dd {
                    @for found in chapter.records.iter().filter_map(|record| record.found.as_ref()) { p { (found) } }
                    p.soft { "In all, " (counted(chapter.records.len(), "figure")) ", " (scores.sentence()) "." }
                } }
                div { dt { "Used" } dd { (prose(about.use_of_it)) } }
            }
        }
    }
}

/// Where the papers and the measurements part, with the way there.
fn parted(chapters: &[Chapter<'_>]) -> Markup {
    let all = |verdict: Verdict| -> Vec<(&Record, &Claim)> {
        let records = chapters.iter().flat_map(|chapter| chapter.records.iter().copied());
        let claims = records.flat_map(|record| record.claims.iter().map(move |claim| (record, claim)));
        claims.filter(|(_, claim)| claim.verdict == verdict).collect()
    };
    let others: Vec<Verdict> = [Verdict::Disagrees, Verdict::Partly, Verdict::Unclear]
        .into_iter()
        .filter(|verdict| !all(*verdict).is_empty())
        .collect();
    html! {
        @if !others.is_empty() {
            section.parted id="parted" {
                h2 { "Where papers and measurements part" }
                @for verdict in others {
                    h3 { (tag(verdict)) }
                    // What holds in part is told where it is measured: here it would bury what does not hold.
                    @let says_what = verdict != Verdict::Partly;
                    ul { @for (record, claim) in all(verdict) {
                        li { a href={ "#" (record.name) } { (record.name) } " " (claim.paper) @if says_what { " " span.soft { "Measured: " (claim.measured) } } }
                    } }
                }
            }
        }
    }
}

/// What measured this.
pub(super) fn colophon(records: &[Record]) -> Markup {
    let mut runs: Vec<String> = records
        .iter()
        .map(|record| format!("refrain {}, {} scale, seed {}", record.refrain, record.scale, record.seed))
        .collect();
    runs.sort();
    runs.dedup();
    html! { p.soft { "Measured by " (runs.join("; ")) ". Numbers and pictures of every chart are in the folder " code { "figures" } " beside this file." } }
}
