//! The demo as a page to open: no script, nothing from elsewhere.

use std::fmt::Write as _;

use super::finders::{Finder, News};
use super::news::HALF_LIFE;
use super::outcome::Outcome;
use super::story::spoken;
use super::voices::Compared;
use crate::chart::{Series, SeriesLabelPosition, Style, SvgChart, XAxis, YAxis, percent, short};

const STYLE: &str = "
:root { color-scheme: light; --ink: #222; --soft: #667; --line: #dde; --accent: #1b6e8c; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: #fff; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0; }
th, td { text-align: right; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); } th:first-child, td:first-child { text-align: left; }
tr.ours td { color: var(--accent); font-weight: 700; }
figure { margin: .6rem 0; } svg { width: 100%; height: auto; }
code { background: #f3f5f7; padding: .1rem .3rem; border-radius: 3px; }";

/// The page.
pub(super) fn html(outcome: &Outcome) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Refrain: a small web, kept fresh</title><style>{STYLE}</style></head><body>\n"
    );
    let _ = writeln!(
        page,
        "<h1>A small web, kept fresh</h1>\n<p class=soft>{} pages that change {} times a second, {} requests a second, {}. \
         Nothing was known of the pages at the start. The small web wrote down what it showed and when, so this is the truth, not an estimate.</p>",
        outcome.pages,
        short((10.0 * outcome.change_rate).round() / 10.0),
        short(outcome.rate),
        spoken(outcome.seconds),
    );
    freshness(&mut page, outcome);
    news(&mut page, outcome);
    learned(&mut page, outcome);
    voices(&mut page, outcome);
    politeness(&mut page, outcome);
    page + "</body></html>\n"
}

fn freshness(page: &mut String, outcome: &Outcome) {
    page.push_str(
        "<h2>Fresh copies</h2>\n<p>The share of what people ask for whose copy was like the page itself. The others are given the same \
         fetches at the same moments, are let off politeness, and never fail.</p>\n\
         <table><tr><th>who decides<th>all along<th>last third</tr>\n",
    );
    for (rank, contestant) in outcome.contestants.iter().enumerate() {
        let _ = writeln!(
            page,
            "<tr{}><td>{}<td>{}<td>{}</tr>",
            if rank == 0 { " class=ours" } else { "" },
            contestant.name,
            percent(contestant.whole),
            percent(contestant.last_third)
        );
    }
    page.push_str("</table>\n");
    let series: Vec<Series> = outcome
        .contestants
        .iter()
        .map(|one| Series { name: one.name, points: one.curve.clone(), style: Style::Line })
        .collect();
    picture(
        page,
        &SvgChart {
            title: "Fresh copies over time",
            x_label: "seconds",
            y_label: "share, weighted by importance",
            series: &series,
            mark: Some((outcome.last_third, "the last third")),
            x: XAxis::Linear,
            y: YAxis::Share,
            legend: SeriesLabelPosition::LowerRight,
        },
    );
}

fn news(page: &mut String, outcome: &Outcome) {
    let News { articles, fetches, finders, possible } = &outcome.news;
    let _ = writeln!(
        page,
        "<h2>New articles</h2>\n<p>Three hosts show links to {articles} articles, which vanish again; every {} half as many people ask for one. \
         A fetch is worth the requests that are still to come. All this is in the same budget as the pages above; the others are given the same \
         {fetches} fetches on these hosts at the same moments, know the front pages from the start, and are spared what is of no interest.</p>\n\
         <table><tr><th>who decides<th>of what was possible<th>articles</tr>",
        spoken(HALF_LIFE),
    );
    for (rank, finder) in finders.iter().enumerate() {
        let _ = writeln!(
            page,
            "<tr{}><td>{}<td>{}<td>{}</tr>",
            if rank == 0 { " class=ours" } else { "" },
            finder.name,
            percent(finder.share()),
            finder.found
        );
    }
    page.push_str("</table>\n");
    let line = |one: &Finder| Series { name: one.name, points: one.curve.clone(), style: Style::Line };
    let mut series: Vec<Series> = finders.iter().map(line).collect();
    series.push(Series { name: "all at once", points: possible.clone(), style: Style::Bound });
    picture(
        page,
        &SvgChart {
            title: "What fetches of new articles were worth, all together",
            x_label: "seconds",
            y_label: "share of what was possible",
            series: &series,
            mark: None,
            x: XAxis::Linear,
            y: YAxis::Share,
            legend: SeriesLabelPosition::UpperLeft,
        },
    );
}

fn voices(page: &mut String, outcome: &Outcome) {
    if outcome.voices.is_empty() {
        return;
    }
    page.push_str(
        "<h2>What hosts announce</h2>\n<p>How many of a host's announcements are about a change (precision), and how many changes are announced \
         (recall), as they could be heard by asking as often as Refrain did.</p>\n\
         <table><tr><th>host<th>in a<th>precision<th>learned<th>recall<th>learned</tr>\n",
    );
    for Compared { truth, learned } in &outcome.voices {
        let _ = writeln!(
            page,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            truth.host,
            truth.kind,
            percent(truth.precision),
            percent(learned.0),
            percent(truth.recall),
            percent(learned.1)
        );
    }
    page.push_str("</table>\n");
}

fn learned(page: &mut String, outcome: &Outcome) {
    page.push_str(
        "<h2>What was learned</h2>\n<p>Every dot is a page: how often it truly changes, and what Refrain has come to believe after a few \
         visits. Pages that change too fast to be kept fresh are left alone as soon as that is clear; of pages that hardly change a \
         minute can only tell that they hardly do.</p>\n",
    );
    let dots = outcome.learned.iter().map(|one| (one.rate, one.learned)).collect();
    let rates = || outcome.learned.iter().map(|one| one.rate);
    let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    let series = [
        Series { name: "pages", points: dots, style: Style::Dots },
        Series { name: "the truth", points: ends.map(|rate| (rate, rate)).to_vec(), style: Style::Bound },
    ];
    picture(
        page,
        &SvgChart {
            title: "Changes per second: learned against true",
            x_label: "true changes per second",
            y_label: "learned",
            series: &series,
            mark: None,
            x: XAxis::Logarithmic,
            y: YAxis::Logarithmic,
            legend: SeriesLabelPosition::LowerRight,
        },
    );
    page.push_str("<table><tr><th>a page changes every<th>pages<th>truth<th>learned</tr>\n");
    for (end, count, truth, learned) in outcome.classes() {
        let upto = if end.is_finite() { format!("up to {}", spoken(end)) } else { "longer".to_owned() };
        let _ = writeln!(page, "<tr><td>{upto}<td>{count}<td>{}<td>{}</tr>", spoken(truth), spoken(learned));
    }
    page.push_str("</table>\n");
}

fn politeness(page: &mut String, outcome: &Outcome) {
    let _ = writeln!(
        page,
        "<h2>Politeness</h2>\n<p>{} requests, never more than {} in a second. Of {} pages that robots.txt forbids {} were asked for.</p>\n\
         <table><tr><th>host<th>requests<th>shortest gap<th>said 429</tr>",
        outcome.summary.requests, outcome.busiest_second, outcome.forbidden, outcome.trespasses
    );
    for host in &outcome.hosts {
        let gap = host.shortest_gap.map_or("—".to_owned(), spoken);
        let _ =
            writeln!(page, "<tr><td>{}<td>{}<td>{gap}<td>{}</tr>", host.name, host.requests, host.refused);
    }
    page.push_str("</table>\n");
}

fn picture(page: &mut String, chart: &SvgChart<'_>) {
    if let Some(svg) = chart.draw() {
        let _ = writeln!(page, "<figure>{svg}</figure>");
    }
}
