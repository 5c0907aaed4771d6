//! `refrain lab report`: what was found, as one file that a person reads.
//!
//! Everything is in the file: no script, no font, no picture comes from elsewhere.

mod figure;
mod front;
mod scores;

use std::path::{Path, PathBuf};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use refrain_lab::figures;

use super::files;
use super::papers::About;
use super::record::Record;
use crate::cli::FigureReportArgs;
use crate::failure::Failure;
use crate::output::{to_file, to_stdout};

pub(super) use scores::Scores;

const STYLE: &str = include_str!("report.css");

pub(in super::super) fn report(args: &FigureReportArgs) -> Result<(), Failure> {
    let path = write_report(&args.out)?;
    to_stdout(|out| writeln!(out, "{}", path.display()))
}

/// Makes the report of all that is in a folder, and says where it is.
pub(super) fn write_report(out: &Path) -> Result<PathBuf, Failure> {
    let mut records = files::read(out)?;
    let all = figures::all();
    // In the order of the papers; what this version does not know comes last.
    records.sort_by_key(|record| {
        let place = all.iter().position(|experiment| experiment.name == record.name);
        (place.unwrap_or(all.len()), record.name.clone())
    });
    let path = out.join("report.html");
    to_file(&path, |out| out.write_all(page(&records).into_string().as_bytes()))?;
    Ok(path)
}

/// A paper, and what was measured of it.
struct Chapter<'a> {
    about: &'static About,
    records: Vec<&'a Record>,
}

fn chapters(records: &[Record]) -> Vec<Chapter<'_>> {
    let own = |about: &'static About| Chapter {
        about,
        records: records.iter().filter(|record| record.paper == about.name).collect(),
    };
    About::all().map(own).filter(|chapter| !chapter.records.is_empty()).collect()
}

fn page(records: &[Record]) -> Markup {
    let chapters = chapters(records);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Refrain: the papers' figures, measured anew" }
                // An icon of nothing, so that no browser goes looking for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#start" { "To the text" }
                div.sides {
                    nav.toc aria-label="Contents" { (contents(&chapters)) }
                    main id="start" {
                        (front::page(&chapters))
                        @for chapter in &chapters { (paper(chapter)) }
                        footer { (front::colophon(records)) }
                    }
                }
            }
        }
    }
}

fn contents(chapters: &[Chapter<'_>]) -> Markup {
    html! {
        details open="open" {
            summary { "Contents" }
            ul {
                li { a href="#start" { "What was found" } }
                @for chapter in chapters {
                    li {
                        a href={ "#" (chapter.about.name) } { (chapter.about.short) }
                        ul { @for record in &chapter.records {
                            li { a href={ "#" (record.name) } { (record.figure) } " " span.soft { (record.title) } }
                        } }
                    }
                }
            }
        }
    }
}

fn paper(chapter: &Chapter<'_>) -> Markup {
    let about = chapter.about;
    html! {
        section.paper id=(about.name) {
            h2 { (about.short) }
            p.cited { cite { (about.title) } span.soft { ". " (about.authors) } }
            p { (about.asked) }
            p { (about.proposes) }
            p.ours { strong { "In Refrain. " } (prose(about.use_of_it)) }
            @for record in &chapter.records { (figure::article(record)) }
        }
    }
}

/// Words, of which those between backticks are typed: names and commands.
fn prose(text: &str) -> Markup {
    html! { @for (number, part) in text.split('`').enumerate() { @if number % 2 == 1 { code { (part) } } @else { (part) } } }
}

#[cfg(test)]
pub(super) mod tests;
