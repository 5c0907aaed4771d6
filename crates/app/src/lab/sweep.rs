//! `refrain lab sweep`: freshness against budget, on one trace.

use std::io::{self, Write};

use rayon::prelude::*;
use refrain_core::time::Span;
use refrain_lab::Policy;
use refrain_lab::replay::{self, Curve, Needed, Score, Setting};
use refrain_lab::simulate::SimulationError;
use refrain_lab::trace::Trace;

use super::policies;
use super::replay::{DAY, chosen, introduce};
use crate::chart::{LineChart, Series, SeriesLabelPosition, Style, SvgChart, XAxis, YAxis, short};
use crate::cli::SweepArgs;
use crate::failure::Failure;
use crate::input::NamedTrace;
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;

/// The curves of all policies, and the trace they belong to.
struct Sweep {
    trace: Trace,
    /// What it is called: the name of its directory.
    name: String,
    /// Fetches per day, rising.
    rates: Vec<f64>,
    curves: Vec<Curve>,
    /// The place of the policy that the others are compared with.
    reference: usize,
}

pub(super) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let policies = policies(&args.policy, |_| true)?;
    let reference: Policy =
        args.against.parse().map_err(|why| Failure::input(format!("--against: {why}")))?;
    let reference = policies.iter().position(|policy| *policy == reference).ok_or_else(|| {
        Failure::input(format!("--against {reference} is not among the policies; expected one of --policy"))
    })?;
    let trace = chosen(&NamedTrace::read(&args.trace)?.trace, &args.signals, args.from, args.to)?;
    let mut rates: Vec<f64> =
        args.rates.iter().map(|rate| rate.per_day(&trace, None)).collect::<Result<_, _>>()?;
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let curves = crawl(&trace, &policies, &rates, args.dated)?;
    let folder = args.trace.canonicalize().unwrap_or_else(|_| args.trace.clone());
    let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let sweep = Sweep { trace, name, rates, curves, reference };
    if let Some(path) = &args.svg {
        let picture = sweep.svg().ok_or_else(|| {
            Failure::input("nothing to draw: there is one budget; expected --rates with two or more")
        })?;
        to_file(path, |out| out.write_all(picture.as_bytes()))?;
    }
    if args.json {
        return to_stdout(|out| sweep.json(out));
    }
    to_stdout(|out| sweep.write(out))
}

/// Every policy with every budget, in parallel.
fn crawl(trace: &Trace, policies: &[Policy], rates: &[f64], dated: bool) -> Result<Vec<Curve>, Failure> {
    let all: Vec<(Policy, f64)> =
        policies.iter().flat_map(|policy| rates.iter().map(|rate| (*policy, *rate))).collect();
    let steps = Progress::steps("replaying", all.len() as u64);
    let scores: Result<Vec<Score>, SimulationError> = all
        .par_iter()
        // The longest first, so that none is left alone at the end.
        .rev()
        .map(|(policy, rate)| {
            let setting =
                Setting { rate: rate / DAY, dated, own_pace: false, floor: None, delay: Span::ZERO };
            let fetches = replay::fetches(*policy, trace, &setting)?;
            steps.step();
            Ok(Score::of(trace, &fetches))
        })
        .collect();
    let mut scores = scores?.into_iter().rev();
    let mut curve =
        |policy: &Policy| Curve { policy: *policy, points: rates.iter().copied().zip(&mut scores).collect() };
    Ok(policies.iter().map(&mut curve).collect())
}

impl Sweep {
    fn series(&self) -> Vec<Series> {
        let points =
            |curve: &Curve| curve.points.iter().map(|(rate, score)| (*rate, score.freshness)).collect();
        let series =
            |curve: &Curve| Series { name: curve.policy.name(), points: points(curve), style: Style::Line };
        let mut all: Vec<Series> = vec![series(&self.curves[self.reference])];
        let others = self.curves.iter().enumerate().filter(|(place, _)| *place != self.reference);
        all.extend(others.map(|(_, curve)| series(curve)));
        all
    }

    /// How many times the fetches of the reference a policy needs, for each budget of that.
    fn multiples(&self, curve: &Curve) -> Vec<Option<Needed>> {
        let reference = &self.curves[self.reference];
        let times = |(rate, score): &(f64, Score)| {
            curve.needs(score.freshness).map(|needed| match needed {
                Needed::Below(least) => Needed::Below(least / rate),
                Needed::About(about) => Needed::About(about / rate),
                Needed::Above(most) => Needed::Above(most / rate),
            })
        };
        reference.points.iter().map(times).collect()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        introduce(out, &self.trace)?;
        let reference = self.curves[self.reference].policy.name();
        if self.rates.len() > 1 {
            let chart = LineChart { width: 64, height: 13, x_label: "fetches per day" };
            writeln!(out, "\n\nFreshness for a budget: {reference}; the others dotted\n")?;
            writeln!(out, "{}", chart.draw(&self.series(), None))?;
        }
        let changes = self.trace.change_rate() * DAY;
        let head = |out: &mut dyn Write, title: &str, name: &dyn Fn(f64) -> String| {
            write!(out, "  {title:<18}")?;
            self.rates.iter().try_for_each(|rate| write!(out, " {:>8}", name(*rate)))?;
            writeln!(out)
        };
        head(out, "fetches per day", &short)?;
        head(out, "per change", &|rate| format!("{}x", short(rate / changes)))?;
        writeln!(out)?;
        for curve in &self.curves {
            write!(out, "  {:<18}", curve.policy.name())?;
            curve.points.iter().try_for_each(|(_, score)| write!(out, " {:>8.4}", score.freshness))?;
            writeln!(out)?;
        }
        writeln!(out, "\nFetches needed for the freshness of {reference}, as a multiple of its own\n")?;
        head(out, "per change", &|rate| format!("{}x", short(rate / changes)))?;
        for curve in
            self.curves.iter().enumerate().filter(|(at, _)| *at != self.reference).map(|(_, curve)| curve)
        {
            write!(out, "  {:<18}", curve.policy.name())?;
            for needed in self.multiples(curve) {
                let cell = match needed {
                    Some(Needed::Below(times)) => format!("< {times:.2}"),
                    Some(Needed::About(times)) => format!("{times:.2}"),
                    Some(Needed::Above(times)) => format!("> {times:.2}"),
                    None => String::new(),
                };
                write!(out, " {cell:>8}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn svg(&self) -> Option<String> {
        let series = self.series();
        let lowest =
            series.iter().flat_map(|curve| &curve.points).map(|(_, share)| *share).fold(1.0, f64::min);
        let chart = SvgChart {
            x: XAxis::Logarithmic,
            title: &format!("Freshness for a budget: {}", self.name),
            x_label: "fetches per day",
            y_label: "freshness, by importance",
            series: &series,
            mark: Some((self.trace.change_rate() * DAY, "changes per day")),
            // In steps of ten percent.
            y: YAxis::ShareFrom((lowest * 10.0).floor() / 10.0),
            legend: SeriesLabelPosition::LowerRight,
        };
        chart.draw()
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let multiple = |needed: &Option<Needed>| match needed {
            Some(Needed::About(times)) => serde_json::json!(times),
            Some(Needed::Below(times)) => serde_json::json!({ "below": times }),
            Some(Needed::Above(times)) => serde_json::json!({ "above": times }),
            None => serde_json::Value::Null,
        };
        let curves: Vec<serde_json::Value> = self
            .curves
            .iter()
            .map(|curve| {
                let scores = || curve.points.iter().map(|(_, score)| score);
                serde_json::json!({
                    "policy": curve.policy.name(),
                    "freshness": scores().map(|score| score.freshness).collect::<Vec<_>>(),
                    "plain_freshness": scores().map(|score| score.plain_freshness).collect::<Vec<_>>(),
                    "starved": scores().map(|score| score.starved).collect::<Vec<_>>(),
                    "multiple": self.multiples(curve).iter().map(multiple).collect::<Vec<_>>(),
                })
            })
            .collect();
        let all = serde_json::json!({
            "changes_per_day": self.trace.change_rate() * DAY,
            "rates_per_day": self.rates,
            "against": self.curves[self.reference].policy.name(),
            "policies": curves,
        });
        serde_json::to_writer(&mut *out, &all)?;
        writeln!(out)
    }
}
