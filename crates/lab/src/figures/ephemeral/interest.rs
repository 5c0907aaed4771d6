//! How interest in new pages falls, and how well an exponential says it.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};
use refrain_core::estimate::interest::clicks::{Clicks, Interest, InterestFit};

use super::super::{
    Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look, Measured, Point, Table, Verdict,
};
use super::repeated::{Kind, Repeated, half};
use super::words::{linear, list, percent, share};

const HOUR: f64 = 3600.0;
/// Ages at which curves are read: every twentieth of their time.
const AGES: usize = 20;
const HALVES: u64 = 8;
/// Pages by chance: 5 clicks each, a mean life of 20 hours, seen for a week, in bins of 20 minutes as in the paper.
const MADE_UP: Interest = Interest { profit: 5.0, decay: 1.0 / (20.0 * HOUR) };
const PAGES: usize = 200;
const BIN: f64 = 1200.0;
const WEEK: f64 = 168.0 * HOUR;

/// The mean over pages of what had been counted by some ages, each page's in units of its last count.
fn mean_curve(curves: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let end = curves.iter().filter_map(|curve| curve.last()).map(|(age, _)| *age).fold(0.0, f64::max);
    let by = |curve: &[(f64, f64)], age: f64| {
        let after = curve.partition_point(|(other, _)| *other <= age);
        let count = if after == 0 { 0.0 } else { curve[after - 1].1 };
        count / curve.last().map_or(1.0, |(_, last)| last.max(f64::MIN_POSITIVE))
    };
    let ages = (1..=AGES).map(|k| end * k as f64 / AGES as f64);
    ages.map(|age| (age, curves.iter().map(|curve| by(curve, age)).sum::<f64>() / curves.len().max(1) as f64))
        .collect()
}

fn fit(curve: &[(f64, f64)]) -> Result<InterestFit, FigureError> {
    let points: Result<Vec<Clicks>, _> = curve.iter().map(|(age, total)| Clicks::new(*age, *total)).collect();
    let points = points.map_err(|why| FigureError(why.to_string()))?;
    Interest::fit(&points, None).ok_or_else(|| FigureError("there are no clicks to fit".into()))
}

/// Profit, half-life in hours and the share of variance explained; then the curve.
fn numbers(curve: &[(f64, f64)]) -> Result<Vec<f64>, FigureError> {
    let InterestFit { interest, explained, .. } = fit(curve)?;
    let half_life = std::f64::consts::LN_2 / interest.decay / HOUR;
    let points = curve.iter().flat_map(|(age, total)| [*age, *total]);
    Ok([interest.profit, half_life, explained].into_iter().chain(points).collect())
}

/// Cumulative clicks of pages by chance: in each bin a Poisson number.
fn by_chance(seed: u64) -> Vec<(f64, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut total = 0.0;
    let bins = (WEEK / BIN) as usize;
    (1..=bins)
        .map(|bin| {
            let age = bin as f64 * BIN;
            let expected = PAGES as f64 * (MADE_UP.at(age) - MADE_UP.at(age - BIN));
            total += Poisson::new(expected).map_or(0.0, |counts| counts.sample(&mut random));
            (age, total / PAGES as f64)
        })
        .collect()
}

/// What a set of pages says.
struct Fitted {
    name: String,
    profit: Measured,
    half_life: Measured,
    explained: Measured,
    curve: Vec<(f64, f64)>,
}

impl Fitted {
    fn new(name: &str, cells: &[Vec<f64>], kind: Kind) -> Self {
        let of = |number: usize| Repeated::new(cells.iter().map(|of| of[number]).collect(), kind).measured();
        let curve = cells[0][3..].chunks_exact(2).map(|point| (point[0], point[1])).collect();
        Self { name: name.to_owned(), profit: of(0), half_life: of(1), explained: of(2), curve }
    }
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let repetitions = desk.pick(20, 200);
    let mut cells: Vec<Cell<'_>> = (0..repetitions)
        .map(|repetition: u64| {
            let seed = desk.seed.wrapping_add(repetition);
            Cell::new(format!("by chance, {repetition}"), move || numbers(&by_chance(seed)))
        })
        .collect();
    for set in &desk.recorded.interest {
        for repetition in 0..=HALVES {
            cells.push(Cell::new(format!("{}, {repetition}", set.name), move || {
                numbers(&mean_curve(&half(&set.curves, desk.seed, repetition)))
            }));
        }
    }
    let measured = desk.measure(&cells)?;
    let (chance, recorded) = measured.split_at(repetitions as usize);
    let mut fitted = vec![Fitted::new("by chance", chance, Kind::Alike)];
    let sets = desk.recorded.interest.iter().zip(recorded.chunks(HALVES as usize + 1));
    fitted.extend(sets.map(|(set, cells)| Fitted::new(&set.name, cells, Kind::Halves)));
    Ok(findings(
        &fitted,
        &desk.recorded.interest.iter().map(|set| set.curves.len()).collect::<Vec<_>>(),
        repetitions,
    ))
}

fn findings(fitted: &[Fitted], sizes: &[usize], repetitions: u64) -> Findings {
    Findings {
        asked: "How fast does the interest in a new page fall? A crawler that comes late gets what is left of it.".into(),
        setting: format!(
            "P (1 - e^{{-δ·age}}) is fitted by least squares to the clicks that pages had gathered by their age, as in the paper; there a gradient is descended, \
             here δ is searched for and P follows. Clicks by chance: {PAGES} pages with {} clicks each and a half-life of {:.1} hours, in bins of 20 minutes, \
             {repetitions} times. Recorded: the mean of {} curves, each in units of its last count. The paper's pages are those of a news site and a blog, over a \
             week; these are seen for 48 hours and a day, so that what comes later is not counted. ±: over repetitions, or random halves of the pages.",
            MADE_UP.profit,
            std::f64::consts::LN_2 / MADE_UP.decay / HOUR,
            list(&fitted.iter().skip(1).zip(sizes).map(|(of, size)| format!("{size} {}", of.name)).collect::<Vec<_>>()),
        ),
        claims: vec![shape(fitted), recovered(&fitted[0]), first_days(fitted)],
        use_of_it: "`refrain estimate --intervals FILE --kind interest` fits this curve; the frontier takes P and δ of each hub from the clicks that are reported to it. Recorded items in \
                    `refrain lab discover` have a half-life of 6 hours unless told otherwise."
            .into(),
        charts: vec![chart(fitted)],
        tables: vec![table(fitted)],
        ..Findings::default()
    }
}

fn shape(fitted: &[Fitted]) -> Claim {
    let recorded: Vec<&Fitted> = fitted.iter().skip(1).collect();
    let told: Vec<String> = recorded.iter().map(|of| format!("{} {:.3}", of.name, of.explained)).collect();
    Claim {
        paper: "An exponential describes cumulative clicks of a site's pages pretty well.".into(),
        measured: format!(
            "Share of the variance that it explains: {}. (At least 0.95 agrees.)",
            told.join(", ")
        ),
        verdict: shape_verdict(recorded.iter().map(|of| of.explained.mean)),
    }
}

fn shape_verdict(explained: impl Iterator<Item = f64>) -> Verdict {
    Verdict::of_all(explained.map(|explained| explained >= 0.95))
}

/// Does the fit find what is there?
fn recovered(chance: &Fitted) -> Claim {
    let half_life = std::f64::consts::LN_2 / MADE_UP.decay / HOUR;
    let near =
        |found: Measured, truth: f64| (found.mean - truth).abs() < (2.0 * found.error).min(0.05 * truth);
    Claim {
        paper: "Profit and decay of a source can be had by least squares.".into(),
        measured: format!(
            "From clicks by chance: profit {:.3} (true {}), half-life {:.2} hours (true {half_life:.2}). (Within two standard errors, and 5 %, agrees.)",
            chance.profit, MADE_UP.profit, chance.half_life
        ),
        verdict: Verdict::of_all([near(chance.profit, MADE_UP.profit), near(chance.half_life, half_life)]),
    }
}

fn first_days(fitted: &[Fitted]) -> Claim {
    let left = |of: &Fitted| 0.5f64.powf(168.0 / of.half_life.mean);
    let recorded: Vec<&Fitted> = fitted.iter().skip(1).collect();
    let told: Vec<String> = recorded
        .iter()
        .map(|of| format!("{}: half-life {:.1} hours, {} left", of.name, of.half_life, percent(left(of))))
        .collect();
    Claim {
        paper: "Almost all clicks come in the first week of a page's life.".into(),
        measured: format!(
            "What the fitted curves leave after a week, {}. (Less than 5 % agrees.)",
            told.join("; ")
        ),
        verdict: first_week_verdict(recorded.iter().map(|of| left(of))),
    }
}

fn first_week_verdict(left: impl Iterator<Item = f64>) -> Verdict {
    Verdict::of_all(left.map(|left| left < 0.05))
}

fn chart(fitted: &[Fitted]) -> Chart {
    let mut curves = Vec::new();
    for of in fitted {
        let last = of.curve.last().map_or(1.0, |(_, total)| *total);
        let seen = of.curve.iter().filter(|(age, _)| *age <= 48.0 * HOUR);
        let dots = seen.clone().step_by(if of.curve.len() > 2 * AGES { 6 } else { 1 });
        curves.push(Curve {
            name: of.name.clone(),
            look: Look::Dots,
            points: dots.map(|(age, total)| Point::at(age / HOUR, total / last)).collect(),
        });
        let fitted =
            Interest { profit: of.profit.mean, decay: std::f64::consts::LN_2 / (of.half_life.mean * HOUR) };
        curves.push(Curve {
            name: format!("{}, fitted", of.name),
            look: Look::Line,
            points: seen.map(|(age, _)| Point::at(age / HOUR, fitted.at(*age) / last)).collect(),
        });
    }
    Chart {
        file: "clicks-by-age",
        title: "Interest gathered by age, and the exponential".into(),
        x: linear("hours since the page appeared"),
        y: share("of what was counted in the end", 1.05),
        curves,
    }
}

fn table(fitted: &[Fitted]) -> Table {
    let row = |of: &Fitted| {
        vec![
            of.name.clone(),
            format!("{:.1}", of.half_life),
            format!("{:.3}", of.profit),
            format!("{:.3}", of.explained),
        ]
    };
    Table {
        file: "fits",
        title: "Exponentials through cumulative interest".into(),
        columns: ["pages", "half-life, hours", "P", "variance explained"].map(str::to_owned).to_vec(),
        rows: fitted.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_averaged_in_units_of_their_ends() {
        let small = vec![(10.0, 1.0), (20.0, 2.0)];
        let large = vec![(10.0, 30.0), (20.0, 40.0)];
        let mean = mean_curve(&[small, large]);
        assert_eq!((mean.len(), mean[0].1), (AGES, 0.0));
        assert_eq!((mean[AGES / 2], mean[AGES - 1]), ((11.0, 0.625), (20.0, 1.0)));
    }

    #[test]
    fn clicks_by_chance_give_back_what_they_are_made_of() {
        let cells: Vec<Vec<f64>> = (0..40).map(|seed| numbers(&by_chance(seed)).unwrap()).collect();
        let fitted = Fitted::new("by chance", &cells, Kind::Alike);
        assert_eq!(recovered(&fitted).verdict, Verdict::Agrees);
        assert_eq!(
            recovered(&Fitted { profit: Measured { mean: 6.0, error: 0.1 }, ..fitted }).verdict,
            Verdict::Partly
        );
    }

    #[test]
    fn verdicts_turn_with_the_numbers() {
        assert_eq!(shape_verdict([0.99, 0.96].into_iter()), Verdict::Agrees);
        assert_eq!(shape_verdict([0.99, 0.5].into_iter()), Verdict::Partly);
        assert_eq!(shape_verdict([0.5].into_iter()), Verdict::Disagrees);
        assert_eq!(shape_verdict(std::iter::empty()), Verdict::Unclear);
        assert_eq!(first_week_verdict([0.01, 0.2].into_iter()), Verdict::Partly);
        assert_eq!(first_week_verdict([0.2].into_iter()), Verdict::Disagrees);
    }
}
