//! The view, drawn: one screen, most important things first.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span as Run};
use ratatui::widgets::{Block, Borders, Paragraph, Sparkline};
use refrain_core::time::Time;
use refrain_engine::{HostPulse, Pulse, Told};
use refrain_store::{Outcome, Role};

use super::{Extra, State};
use crate::chart::{counted, grouped, percent, short};
use crate::crawl::lines::{of_day, size, spoken_outcome};
use crate::units;

/// The one colour that means something good happened.
const ACCENT: Color = Color::Cyan;
const LABEL: u16 = 11;

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, extra: &[Extra]) {
    let Some(pulse) = state.pulses.front() else {
        frame.render_widget(Paragraph::new("Starting…"), frame.area());
        return;
    };
    let hosts = pulse.hosts.len().clamp(1, 5) as u16 + 1;
    let under_way = pulse.under_way.len().clamp(1, 6) as u16 + 1;
    let extra_rows = if extra.is_empty() { 0 } else { extra.len() as u16 + 1 };
    let both = state.board.is_some() && state.warning.is_some();
    let rows = [
        Constraint::Length(2 + u16::from(both)),
        Constraint::Length(if pulse.summary.hubs > 0 { 5 } else { 4 }),
        Constraint::Length(extra_rows),
        Constraint::Length(under_way),
        Constraint::Min(3),
        Constraint::Length(hosts),
    ];
    let [title, figures, truth, now, visits, hosts] = Layout::vertical(rows).areas(frame.area());
    draw_title(frame, title, state, pulse);
    draw_figures(frame, figures, state, pulse);
    draw_extra(frame, truth, extra);
    draw_under_way(frame, now, pulse);
    draw_visits(frame, visits, state);
    draw_hosts(frame, hosts, pulse);
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, state: &State, pulse: &Pulse) {
    let [left, right] = Layout::horizontal([Constraint::Min(20), Constraint::Length(28)]).areas(area);
    let what = format!(
        "  {} on {}",
        counted(pulse.summary.pages as usize, "page"),
        counted(pulse.summary.hosts as usize, "host")
    );
    frame.render_widget(Line::from(vec!["Refrain".bold().fg(ACCENT), what.into()]), left);
    let age = units::clock(state.age());
    frame.render_widget(Line::from(vec![age.into(), "  q stops".dim()]).right_aligned(), right);
    let board = state.board.as_ref().map(|board| Line::from(vec![named("watch it"), board.as_str().into()]));
    let warning = state.warning.as_ref().map(|warning| Line::from(warning.as_str().fg(Color::Yellow)));
    for (line, row) in [board, warning].into_iter().flatten().zip(1..) {
        let below = Rect { y: area.y + row, height: area.height.saturating_sub(row).min(1), ..area };
        frame.render_widget(line, below);
    }
}

fn draw_figures(frame: &mut Frame<'_>, area: Rect, state: &State, pulse: &Pulse) {
    let summary = &pulse.summary;
    let last = Constraint::Length(u16::from(summary.hubs > 0));
    let rows = [Constraint::Length(1); 4].into_iter().chain([last]);
    let [fresh, budget, changes, looks, news] = Layout::vertical(rows).areas(area);
    let [label, picture] =
        Layout::horizontal([Constraint::Length(LABEL + 32), Constraint::Min(0)]).areas(fresh);
    let share = pulse.freshness.map_or("—".to_owned(), percent);
    let line = vec![
        named("fresh"),
        share.bold().fg(ACCENT),
        if label.width < LABEL { "".into() } else { "  expected".dim() },
    ];
    frame.render_widget(Line::from(line), label);
    let history = state.freshness(picture.width as usize);
    frame.render_widget(Sparkline::default().data(history).max(100).style(Style::new().fg(ACCENT)), picture);
    let used = state.used().map_or("—".to_owned(), |used| format!("{}/s", short(rounded(used))));
    let price = match (pulse.waiting, summary.price) {
        (0, Some(price)) => format!("price {}", short(price)),
        (0, None) => "price not known yet".to_owned(),
        (waiting, _) => format!("{} wait for a first visit", counted(waiting, "page")),
    };
    let line = vec![
        named("budget"),
        format!("{used} of {}/s", short(pulse.rate)).into(),
        format!("  {}, {price}", counted(summary.requests as usize, "request")).dim(),
    ];
    frame.render_widget(Line::from(line), budget);
    let per_minute = state.changes_per_minute();
    let line = vec![
        named("changes"),
        format!("{} a minute", grouped(per_minute)).into(),
        format!("  {} in all", grouped(summary.changed as usize)).dim(),
    ];
    frame.render_widget(Line::from(line), changes);
    let outlets = match summary.outlets {
        0 => String::new(),
        outlets => format!(", {} to sitemaps and feeds", grouped(outlets as usize)),
    };
    let line = vec![
        named("visits"),
        grouped(summary.looks as usize).into(),
        format!(
            "  {} unchanged, {} new{outlets}, {} gone, {} failed, {} received",
            grouped(summary.unchanged as usize),
            grouped(summary.first as usize),
            grouped(summary.gone as usize),
            grouped(summary.failed as usize),
            size(summary.bytes)
        )
        .dim(),
    ];
    frame.render_widget(Line::from(line), looks);
    if summary.hubs > 0 {
        let line = vec![
            named("news"),
            counted(summary.signals as usize, "signal").into(),
            format!(
                "  {} came true; {}, {} found",
                grouped(summary.came_true as usize),
                counted(summary.hubs as usize, "hub"),
                counted(summary.found as usize, "new page"),
            )
            .dim(),
        ];
        frame.render_widget(Line::from(line), news);
    }
}

fn draw_extra(frame: &mut Frame<'_>, area: Rect, extra: &[Extra]) {
    let lines: Vec<Line<'_>> = extra
        .iter()
        .map(|extra| {
            let value =
                if extra.main { extra.value.as_str().bold().fg(ACCENT) } else { extra.value.as_str().into() };
            Line::from(vec![format!("{:<28}", extra.name).into(), value, format!("  {}", extra.note).dim()])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines).block(titled("the truth")), area);
}

fn draw_under_way(frame: &mut Frame<'_>, area: Rect, pulse: &Pulse) {
    let mut lines: Vec<Line<'_>> = pulse
        .under_way
        .iter()
        .map(|visit| {
            let since = units::about(pulse.time.since(visit.since));
            Line::from(vec![format!("{since:>9}  ").dim(), visit.url.as_str().into()])
        })
        .collect();
    if lines.is_empty() {
        lines.push("  nothing at this moment".dim().into());
    }
    let title = format!("being fetched: {}", pulse.summary.under_way);
    frame.render_widget(Paragraph::new(lines).block(titled(title)), area);
}

fn draw_visits(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let lines: Vec<Line<'_>> = state.visits.iter().take(area.height as usize).filter_map(visit).collect();
    frame.render_widget(Paragraph::new(lines).block(titled("visits")), area);
}

fn visit(told: &Told) -> Option<Line<'_>> {
    let Told::Looked { time, url, role, outcome, note, status, .. } = told else { return None };
    let word = format!("{:<10} ", spoken_outcome(*outcome, *role));
    let word = match outcome {
        _ if outcome.is_fresh() && *role != Role::Page => word.dim(),
        Outcome::Changed => word.fg(ACCENT).bold(),
        Outcome::First => word.fg(ACCENT),
        Outcome::Unchanged | Outcome::NotModified => word.dim(),
        _ => word.fg(Color::Yellow),
    };
    let status = status.map_or("---".to_owned(), |status| status.to_string());
    let note = note.as_ref().map(|note| format!("  ({note})")).unwrap_or_default();
    Some(Line::from(vec![
        format!("{}  ", of_day(*time)).dim(),
        word,
        format!("{status}  ").dim(),
        url.as_str().into(),
        note.dim(),
    ]))
}

fn draw_hosts(frame: &mut Frame<'_>, area: Rect, pulse: &Pulse) {
    let lines: Vec<Line<'_>> = pulse.hosts.iter().map(|host| self::host(host, pulse.time)).collect();
    frame.render_widget(Paragraph::new(lines).block(titled("slowest hosts")), area);
}

fn host(host: &HostPulse, now: Time) -> Line<'_> {
    let state = match host.back_off {
        Some(until) => format!("left alone for {}", units::about(until.since(now))).fg(Color::Yellow),
        None => format!("answers in {}", units::about(host.response)).dim(),
    };
    Line::from(vec![format!("{:<44}  ", host.name).into(), state])
}

fn named(name: &str) -> Run<'_> {
    format!("{name:<width$}", width = LABEL as usize).dim()
}

fn titled<'a>(title: impl Into<String>) -> Block<'a> {
    Block::new()
        .borders(Borders::TOP)
        .border_style(Style::new().dim())
        .title(format!(" {} ", title.into()).dim())
}

/// Two digits after the point: a tenth of a percent of a request means nothing.
fn rounded(rate: f64) -> f64 {
    (100.0 * rate).round() / 100.0
}
