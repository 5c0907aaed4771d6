//! From numbers to places along an axis, and the ticks that people read.

use refrain_lab::figures::Scaling;

use super::super::record::Axis;
use crate::chart::{grouped, short};

/// An axis with numbers on it: places go from 0 to 1.
#[derive(Clone, Debug)]
pub(super) struct Line {
    low: f64,
    high: f64,
    scaling: Scaling,
    pub(super) ticks: Vec<Tick>,
}

/// A number that is written on the axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// What the ends of an axis do if nobody says where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Where the numbers end.
    Tight,
    /// At the next tick.
    Round,
    /// At the next tick, and 0 is among them.
    FromZero,
}

/// Not many more ticks than this.
const TICKS: f64 = 6.0;
const MOST: f64 = 1e290;

impl Line {
    pub(super) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>, ends: Ends) -> Self {
        // Beyond these nothing can be reckoned with.
        let usable = |number: &f64| {
            number.abs() < MOST && (*number > 1.0 / MOST || axis.scaling != Scaling::Logarithmic)
        };
        let given = axis.range.filter(|(low, high)| low < high && usable(low) && usable(high));
        let spread = numbers.filter(usable).fold(None, |spread: Option<(f64, f64)>, number| {
            Some(spread.map_or((number, number), |(low, high)| (low.min(number), high.max(number))))
        });
        let (low, high) = given.or(spread).unwrap_or((1.0, 2.0));
        let ends = if given.is_some() { Ends::Tight } else { ends };
        match axis.scaling {
            Scaling::Logarithmic => logarithmic(low, high, ends),
            scaling => linear(low, high, ends, scaling),
        }
    }

    /// Where a number is; beyond 0 and 1 if it is beyond the axis.
    pub(super) fn at(&self, number: f64) -> Option<f64> {
        let place = if self.scaling == Scaling::Logarithmic {
            (number / self.low).ln() / (self.high / self.low).ln()
        } else {
            (number - self.low) / (self.high - self.low)
        };
        place.is_finite().then_some(place)
    }

    /// Where bars stand.
    pub(super) fn ground(&self) -> f64 {
        if self.scaling == Scaling::Logarithmic { 0.0 } else { self.at(0.0).unwrap_or(0.0).clamp(0.0, 1.0) }
    }

    /// A number as it is said beside its chart.
    pub(super) fn said(&self, number: f64) -> String {
        if self.scaling == Scaling::Share {
            return format!("{} %", short(100.0 * number));
        }
        if number.fract() == 0.0 && number.abs() >= 1000.0 && number.abs() < 1e12 {
            let sign = if number < 0.0 { "−" } else { "" };
            return format!("{sign}{}", grouped(number.abs() as usize));
        }
        short(number).replace('-', "−")
    }
}

fn linear(low: f64, high: f64, ends: Ends, scaling: Scaling) -> Line {
    let (mut low, mut high) = (low, high);
    if ends == Ends::FromZero || (ends == Ends::Round && low > 0.0 && low < 0.5 * high) {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if !(high - low > (1e-12 * high.abs().max(low.abs())).max(1.0 / MOST)) {
        let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        (low, high) = (low - room, high + room);
    }
    let step = step(high - low);
    // A number that is a tick but for rounding is one.
    let (mut first, mut last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if ends != Ends::Tight {
        (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        (low, high) = (first * step, last * step);
    }
    let shown = if scaling == Scaling::Share { 100.0 * step } else { step };
    let decimals = (-(shown * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
    // 2.5 has a digit more than 2 or 5.
    let mantissa = shown / 10_f64.powf(shown.log10().floor() + 1e-9);
    let decimals = if (2.4..2.6).contains(&mantissa) && shown < 10.0 { decimals + 1 } else { decimals };
    let label = |number: f64| match scaling {
        Scaling::Share => format!("{} %", plain(100.0 * number, decimals)),
        _ => plain(number, decimals),
    };
    let ticks = (0..=(last - first).clamp(0.0, 50.0) as usize).map(|k| (first + k as f64) * step);
    let ticks = ticks.map(|number| Tick { at: (number - low) / (high - low), label: label(number) });
    Line { low, high, scaling, ticks: ticks.collect() }
}

/// 1, 2, 2.5 or 5 times a power of ten.
fn step(span: f64) -> f64 {
    let power = 10_f64.powf((span / TICKS).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| span / step <= TICKS).unwrap_or(10.0 * power)
}

/// With these decimals, thousands apart, millions by name.
fn plain(number: f64, decimals: usize) -> String {
    // No -0.
    let number = if number.abs() < 1e-12 { 0.0 } else { number };
    let sign = if number < 0.0 { "−" } else { "" };
    let size = number.abs();
    if size >= 1e12 {
        return format!("{sign}{}", short(size));
    }
    if size >= 1e6 {
        return format!("{sign}{} M", short(size / 1e6));
    }
    if size >= 1e4 {
        return format!("{sign}{}", grouped(size.round() as usize));
    }
    if decimals > 6 {
        return format!("{sign}{}", short(size));
    }
    format!("{sign}{size:.decimals$}")
}

fn logarithmic(low: f64, high: f64, ends: Ends) -> Line {
    let (mut low, mut high) = (low, high);
    if !(high > low * (1.0 + 1e-9)) {
        (low, high) = (low / 2.0, high * 2.0);
    }
    let decades = (high / low).log10();
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let steps: &[f64] = if decades > 3.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let each = if decades > 3.2 { ((decades / TICKS).ceil() as usize).max(1) } else { 1 };
    let numbers = (first..=last)
        .step_by(each)
        .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
    let numbers: Vec<f64> = numbers.collect();
    if ends != Ends::Tight {
        low =
            numbers.iter().copied().filter(|number| *number <= low * (1.0 + 1e-9)).fold(low / 10.0, f64::max);
        high = numbers
            .iter()
            .copied()
            .filter(|number| *number >= high * (1.0 - 1e-9))
            .fold(high * 10.0, f64::min);
    }
    let line = Line { low, high, scaling: Scaling::Logarithmic, ticks: Vec::new() };
    let inside = |number: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(number);
    let tick = |number: f64| Some(Tick { at: line.at(number)?.clamp(0.0, 1.0), label: power(number) });
    let ticks: Vec<Tick> = numbers.into_iter().filter(inside).filter_map(tick).collect();
    if ticks.len() < 2 {
        // Less than a step of 1, 2, 5: even steps say more.
        let even = linear(low, high, Ends::Tight, Scaling::Linear);
        let place = |tick: Tick| {
            let number = low + tick.at * (high - low);
            Some(Tick { at: line.at(number)?.clamp(0.0, 1.0), ..tick })
        };
        return Line { ticks: even.ticks.into_iter().filter_map(place).collect(), ..line };
    }
    Line { ticks, ..line }
}

/// Ordinary numbers while they are short.
fn power(number: f64) -> String {
    if (1e-3..1e6).contains(&number) {
        return plain(number, (-(number * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize);
    }
    let exponent = (number * (1.0 + 1e-9)).log10().floor() as i32;
    let digits = exponent.to_string();
    let digits = digits.chars().map(|digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => char::from_u32('⁰' as u32 + other.to_digit(10).unwrap_or(0)).unwrap_or(other),
    });
    let factor = (number / 10_f64.powi(exponent)).round();
    let factor = if factor == 1.0 { String::new() } else { format!("{factor}·") };
    format!("{factor}10{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scaling: Scaling, range: Option<(f64, f64)>, numbers: &[f64], ends: Ends) -> String {
        let axis = Axis { label: String::new(), scaling, range };
        let line = Line::new(&axis, numbers.iter().copied(), ends);
        assert!(line.ticks.iter().all(|tick| (-1e-9..=1.0 + 1e-9).contains(&tick.at)), "{line:?}");
        line.ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_easily_read() {
        use Ends::{FromZero, Round, Tight};
        use Scaling::{Linear, Logarithmic, Share};
        for (scaling, range, numbers, ends, expected) in [
            (Linear, None, &[0.385, 0.652][..], Round, "0.35 0.40 0.45 0.50 0.55 0.60 0.65 0.70"),
            (Linear, None, &[0.1, 0.9], Round, "0.0 0.2 0.4 0.6 0.8 1.0"),
            (Linear, None, &[3.0, 4.0], FromZero, "0 1 2 3 4"),
            (Linear, None, &[-3.0, 4.0], Tight, "−2 0 2 4"),
            (Linear, None, &[0.0, 12_000.0], Tight, "0 2000 4000 6000 8000 10,000 12,000"),
            (Linear, None, &[1e6, 2e7], Tight, "5 M 10 M 15 M 20 M"),
            (Linear, Some((0.0, 1.0)), &[5.0], Round, "0.0 0.2 0.4 0.6 0.8 1.0"),
            (Share, None, &[0.05, 0.31], Round, "0 % 10 % 20 % 30 % 40 %"),
            (Share, Some((0.0, 0.1)), &[], Round, "0 % 2 % 4 % 6 % 8 % 10 %"),
            (Logarithmic, None, &[0.0, 1.5, 80.0], Round, "1 2 5 10 20 50 100"),
            (Logarithmic, None, &[1e-5, 1e5], Tight, "10⁻⁵ 0.001 0.1 10 1000 100,000"),
            (Logarithmic, None, &[-1.0], Tight, "1 2"),
            (Logarithmic, None, &[3.0, 4.0], Tight, "3.0 3.2 3.4 3.6 3.8 4.0"),
            (Linear, None, &[], Round, "1.0 1.2 1.4 1.6 1.8 2.0"),
            (Linear, None, &[7.0, 7.0], Tight, "6.50 6.75 7.00 7.25 7.50"),
        ] {
            assert_eq!(labels(scaling, range, numbers, ends), expected, "{numbers:?}");
        }
    }

    proptest::proptest! {
        /// Whatever the numbers, there are some ticks and not too many.
        #[test]
        fn there_are_ticks(low in -1e9f64..1e9, log_span in -9f64..12.0, kind in 0usize..3) {
            let scaling = [Scaling::Linear, Scaling::Share, Scaling::Logarithmic][kind];
            let axis = Axis { label: String::new(), scaling, range: None };
            let low = if kind == 2 { low.abs().max(1e-9) } else { low };
            let numbers = [low, low + 10_f64.powf(log_span).max(1e-6 * low.abs())];
            let line = Line::new(&axis, numbers.into_iter(), Ends::Round);
            proptest::prop_assert!((1..=14).contains(&line.ticks.len()), "{:?}", line);
            let places: Vec<f64> = numbers.iter().filter_map(|number| line.at(*number)).collect();
            proptest::prop_assert!(places.iter().all(|place| (-1e-6..=1.0 + 1e-6).contains(place)), "{:?}", line);
        }
    }
}
