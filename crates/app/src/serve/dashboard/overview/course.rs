//! How it went, as charts along time.

use maud::{Markup, html};
use refrain_core::time::{Span, Time};
use refrain_store::Sample;

use super::super::chart::{Chart, Points, Scale, Table, line, line_mark, moments};
use super::super::{history, words};
use crate::chart::short;
use crate::data::spelled;

/// A chart that would be shorter says little.
const SHORTEST: Span = Span::from_whole_secs(10);

/// Samples along time.
pub(super) struct Course<'a> {
    samples: &'a [Sample],
    from: Time,
    now: Time,
}

/// What a sample is worth in a chart, if anything.
type Value<'a> = &'a dyn Fn(usize, &Sample) -> Option<f64>;

/// Something beside it, by its name.
type Beside = (&'static str, fn(&Sample) -> f64);

impl<'a> Course<'a> {
    pub(super) fn new(samples: &'a [Sample], now: Time) -> Self {
        let least = now - SHORTEST;
        let from = samples.first().map_or(least, history::start).min(least);
        Self { samples, from, now }
    }

    /// Where a moment is, from 0 to 1.
    fn place(&self, time: Time) -> f64 {
        time.since(self.from).as_secs() / self.now.since(self.from).as_secs().max(1e-9)
    }

    /// A line through all samples; interrupted where nobody looked.
    fn path(&self, scale: &Scale, of: Value<'_>) -> String {
        let mut points = Vec::with_capacity(self.samples.len());
        let mut last: Option<&Sample> = None;
        for (number, sample) in self.samples.iter().enumerate() {
            if let Some(last) = last {
                let gap = sample.time.since(last.time).as_secs() - sample.span.as_secs();
                if gap > 2.5 * sample.span.as_secs().max(last.span.as_secs()) + 1.0 {
                    points.push(None);
                }
            }
            last = Some(sample);
            points.push(of(number, sample).map(|value| (self.place(sample.time), scale.at(value))));
        }
        line(points)
    }

    /// Each sample in words: to be read out, and as rows.
    fn told(&self, say: impl Fn(usize, &Sample) -> (String, Vec<String>)) -> (Points, Vec<Vec<String>>) {
        let (mut points, mut rows) = (Points::default(), Vec::new());
        for (number, sample) in self.samples.iter().enumerate() {
            let at = spelled(sample.time);
            let (said, cells) = say(number, sample);
            points.add(self.place(sample.time), format!("{at}: {said}"));
            rows.push([at].into_iter().chain(cells).collect());
        }
        (points, rows)
    }

    /// The share of fresh copies, as looks found it up to this sample.
    fn found(&self, number: usize) -> Option<f64> {
        let lately = &self.samples[(number + 1).saturating_sub(history::GATHERED)..=number];
        let gathered = lately.iter().copied().reduce(|before, later| before.and(&later))?;
        history::found(self.samples[number].freshness, gathered)
    }

    pub(super) fn freshness(&self, long: &str) -> Markup {
        let found: Vec<Option<f64>> = (0..self.samples.len()).map(|number| self.found(number)).collect();
        let expected = |_: usize, sample: &Sample| sample.freshness;
        let shares =
            self.samples.iter().map(|sample| sample.freshness).chain(found.iter().copied()).flatten();
        let scale = Scale::shares(shares.fold(f64::INFINITY, f64::min));
        let (points, rows) = self.told(|number, sample| {
            let cells = [words::share(sample.freshness), words::share(found[number])];
            (format!("expected {}, by looks {}", cells[0], cells[1]), cells.to_vec())
        });
        Chart {
            id: "freshness",
            title: "Share of fresh copies",
            says: format!(
                "Over the last {long}. Now {} is expected, {} by what looks found.",
                words::share(self.samples.last().and_then(|sample| sample.freshness)),
                words::share(found.last().copied().flatten())
            ),
            class: "",
            ys: scale.labels(|share| format!("{:.0} %", 100.0 * share)),
            xs: moments(self.from, self.now, 5),
            drawing: html! {
                path.line.b d=(self.path(&scale, &|number, _| found[number])) {}
                path.line d=(self.path(&scale, &expected)) {}
            },
            points,
            legend: vec![
                (line_mark(""), "expected, as pages are believed to change".to_owned()),
                (line_mark("b"), "the same, corrected by what looks found of it".to_owned()),
            ],
            table: Some(Table { head: vec!["time (UTC)", "expected", "by looks"], rows }),
        }
        .html()
    }

    pub(super) fn spending(&self) -> Markup {
        let spent = |sample: &Sample| Some(sample.requests as f64 / sample.span.as_secs().max(1e-9));
        self.simple("spending", "Requests a second", spent, Some(("allowed", |sample| sample.rate)))
    }

    pub(super) fn pricing(&self) -> Markup {
        self.simple("pricing", "Price of a fetch", |sample| sample.price, None)
    }

    pub(super) fn changing(&self) -> Markup {
        let changes =
            |sample: &Sample| Some(3600.0 * sample.changed as f64 / sample.span.as_secs().max(1e-9));
        self.simple("changing", "Changes seen, an hour", changes, None)
    }

    /// Something that is there, and beside it something that could be, by its name.
    fn simple(
        &self,
        id: &'static str,
        title: &'static str,
        of: impl Fn(&Sample) -> Option<f64>,
        beside: Option<Beside>,
    ) -> Markup {
        let both =
            |sample: &Sample| of(sample).unwrap_or(0.0).max(beside.map_or(0.0, |(_, other)| other(sample)));
        let scale = Scale::up_to(self.samples.iter().map(both).fold(0.0, f64::max));
        let said = |sample: &Sample| of(sample).map_or_else(|| "not known yet".to_owned(), short);
        let (points, rows) = self.told(|_, sample| {
            let value = said(sample);
            match beside {
                Some((name, other)) => {
                    let other = short(other(sample));
                    (format!("{value} ({name} {other})"), vec![value, other])
                }
                None => (value.clone(), vec![value]),
            }
        });
        let other = beside.map(|(_, other)| self.path(&scale, &|_, sample| Some(other(sample))));
        Chart {
            id,
            title,
            says: self.samples.last().map_or_else(String::new, |last| format!("Now {}.", said(last))),
            class: "low",
            ys: scale.labels(words::number),
            xs: moments(self.from, self.now, 3),
            drawing: html! {
                @if let Some(other) = other { path.line.b d=(other) {} }
                path.line d=(self.path(&scale, &|_, sample| of(sample))) {}
            },
            points,
            legend: beside.map_or_else(Vec::new, |(name, _)| {
                vec![(line_mark(""), "spent".to_owned()), (line_mark("b"), name.to_owned())]
            }),
            table: Some(Table {
                head: ["time (UTC)", title].into_iter().chain(beside.map(|(name, _)| name)).collect(),
                rows,
            }),
        }
        .html()
    }
}
