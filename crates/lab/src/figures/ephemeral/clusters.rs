//! Six shapes of interest, and how many new pages are short-lived.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};

use super::super::{
    Cell, Chart, Claim, Curve, Desk, FigureError, Findings, InterestSet, Look, Measured, Point, Table,
    Verdict,
};
use super::kmeans::{Clusters, kmeans};
use super::repeated::{Kind, Repeated, half};
use super::words::{linear, percent, share};
use crate::made_up::Numbers;

/// The paper: visits on each of 14 days, scaled to a maximum of 1, in 6 groups.
const PARTS: usize = 14;
const GROUPS: usize = 6;
/// A group is short-lived if its mean in the last third of the time is less than this part of its peak.
const LEFT: f64 = 0.25;
/// Of the paper's pages, and so of those by chance.
const EPHEMERAL: f64 = 0.96;
/// Random halves, for the errors.
const HALVES: u64 = 8;

/// A curve as its increments in equal parts of the time, the largest 1; `None` if there was no interest.
fn shape(curve: &[(f64, f64)]) -> Option<Vec<f64>> {
    let end = curve.last()?.0;
    let at = |time: f64| {
        let after = curve.partition_point(|(age, _)| *age <= time);
        if after == 0 { 0.0 } else { curve[after - 1].1 }
    };
    let parts: Vec<f64> = (0..PARTS)
        .map(|part| {
            (at(end * (part + 1) as f64 / PARTS as f64) - at(end * part as f64 / PARTS as f64)).max(0.0)
        })
        .collect();
    let most = parts.iter().copied().fold(0.0, f64::max);
    (most > 0.0).then(|| parts.iter().map(|part| part / most).collect())
}

/// Whether interest in a group has gone in the last third of the time.
fn is_ephemeral(centre: &[f64]) -> bool {
    let late = &centre[centre.len() - centre.len() / 3..];
    let peak = centre.iter().copied().fold(0.0, f64::max);
    late.iter().sum::<f64>() / (late.len() as f64) < LEFT * peak
}

/// The share of points in short-lived groups.
fn ephemeral(clusters: &Clusters) -> f64 {
    let all: usize = clusters.sizes.iter().sum();
    let own = clusters.centres.iter().zip(&clusters.sizes).filter(|(centre, _)| is_ephemeral(centre));
    own.map(|(_, size)| size).sum::<usize>() as f64 / all.max(1) as f64
}

/// Visits by day, by chance: short-lived pages with mean lives from 3 hours to 2 days, and some that are visited alike for ever.
fn by_chance(count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let lasting = ((1.0 - EPHEMERAL) * count as f64).round() as usize;
    let mut points = Vec::new();
    for page in 0..count {
        let visits = Numbers::LogUniform(10.0, 1000.0).draw(&mut random);
        let decay = Numbers::LogUniform(0.5, 8.0).draw(&mut random);
        let expected = |day: f64| {
            let falls = visits * ((-decay * day).exp() - (-decay * (day + 1.0)).exp());
            if page < lasting { visits / PARTS as f64 } else { falls }
        };
        let days: Vec<f64> = (0..PARTS)
            .map(|day| Poisson::new(expected(day as f64)).map_or(0.0, |counts| counts.sample(&mut random)))
            .collect();
        let most = days.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            points.push(days.iter().map(|visits| visits / most).collect());
        }
    }
    points
}

/// The share, then size and centre of each group.
fn numbers(clusters: &Clusters) -> Vec<f64> {
    let groups = clusters.centres.iter().zip(&clusters.sizes);
    let each = groups.flat_map(|(centre, size)| std::iter::once(*size as f64).chain(centre.iter().copied()));
    std::iter::once(ephemeral(clusters)).chain(each).collect()
}

/// One set of pages.
struct Shapes {
    name: String,
    ephemeral: Measured,
    groups: Vec<(f64, Vec<f64>)>,
}

impl Shapes {
    fn new(name: &str, cells: &[Vec<f64>]) -> Self {
        let ephemeral = Repeated::new(cells.iter().map(|of| of[0]).collect(), Kind::Halves).measured();
        let groups = cells[0][1..].chunks_exact(PARTS + 1).map(|group| (group[0], group[1..].to_vec()));
        Self { name: name.to_owned(), ephemeral, groups: groups.collect() }
    }
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let count = desk.pick(5000, 50_000);
    let sets: Vec<(&str, Vec<Vec<f64>>)> = std::iter::once(("by chance", by_chance(count, desk.seed)))
        .chain(desk.recorded.interest.iter().map(|InterestSet { name, curves }| {
            (name.as_str(), curves.iter().filter_map(|curve| shape(curve)).collect())
        }))
        .collect();
    let mut cells = Vec::new();
    for (name, points) in &sets {
        for repetition in 0..=HALVES {
            cells.push(Cell::new(format!("{name}, {repetition}"), move || {
                Ok(numbers(&kmeans(&half(points, desk.seed, repetition), GROUPS, desk.seed)))
            }));
        }
    }
    let measured = desk.measure(&cells)?;
    let shapes: Vec<Shapes> = sets
        .iter()
        .zip(measured.chunks(HALVES as usize + 1))
        .map(|((name, _), cells)| Shapes::new(name, cells))
        .collect();
    Ok(Findings {
        asked: "Readers of a new page come at once, and soon no more; or they come for ever. How many new pages are of which kind?".into(),
        setting: format!(
            "k-means with {GROUPS} groups, on the interest in {PARTS} equal parts of the time, scaled to a maximum of 1, as in the paper. {count} pages by chance \
             (14 days; {} of them short-lived, visits are Poisson numbers); recorded curves{}: shares of news on social networks over 48 hours, votes on a \
             discussion site over a day. The paper's pages were watched for two weeks: what lasts longer than two days is not told apart here. A group is \
             short-lived if in the last third of the time it is, in the mean, below {} of its peak. ±: over random halves of the pages.",
            percent(EPHEMERAL),
            sets.iter().skip(1).map(|(name, points)| format!(" {name} ({})", points.len())).collect::<Vec<_>>().join(","),
            LEFT
        ),
        claims: vec![most(&shapes), method(&shapes)],
        use_of_it: "Refrain gives a new page the worth P e^{-δ·age} until its first fetch; from then on it is a page like others, whose own changes decide. \
                    What is not short-lived loses nothing by that."
            .into(),
        charts: shapes.iter().enumerate().map(chart).collect(),
        tables: vec![table(&shapes)],
        ..Findings::default()
    })
}

fn most(shapes: &[Shapes]) -> Claim {
    let recorded: Vec<&Shapes> = shapes.iter().skip(1).collect();
    let told: Vec<String> =
        recorded.iter().map(|of| format!("{} {}", of.name, of.ephemeral.percent())).collect();
    Claim {
        paper: "96 % of new pages are short-lived.".into(),
        measured: format!("In short-lived groups: {}. (More than 90 % agrees.)", told.join(", ")),
        verdict: most_verdict(recorded.iter().map(|of| of.ephemeral.mean)),
    }
}

fn most_verdict(shares: impl Iterator<Item = f64>) -> Verdict {
    Verdict::of_all(shares.map(|share| share > 0.9))
}

/// Does the method find what is there?
fn method(shapes: &[Shapes]) -> Claim {
    let share = shapes[0].ephemeral;
    Claim {
        paper: "With six groups, pages that are not short-lived have one of their own.".into(),
        measured: format!(
            "By chance, where {:.0} % are short-lived, {} are in short-lived groups, and {} of {} groups are not short-lived. (Within a percent agrees.)",
            100.0 * EPHEMERAL,
            share.percent(),
            shapes[0].groups.iter().filter(|(_, centre)| !is_ephemeral(centre)).count(),
            shapes[0].groups.len()
        ),
        verdict: Verdict::of((share.mean - EPHEMERAL).abs() <= 0.01, false),
    }
}

fn chart((set, of): (usize, &Shapes)) -> Chart {
    let all: f64 = of.groups.iter().map(|(size, _)| size).sum();
    let curve = |(size, centre): &(f64, Vec<f64>)| Curve {
        name: format!("{:.1} %{}", 100.0 * size / all, if is_ephemeral(centre) { "" } else { ", lasting" }),
        look: Look::Line,
        points: centre
            .iter()
            .enumerate()
            .map(|(part, interest)| Point::at(part as f64 + 1.0, *interest))
            .collect(),
    };
    Chart {
        file: ["shapes-chance", "shapes-first", "shapes-second", "shapes-third"][set.min(3)],
        title: format!("Six shapes of interest ({})", of.name),
        x: linear(&format!("time, in {PARTS} parts")),
        y: share("interest, of its largest", 1.0),
        curves: of.groups.iter().map(curve).collect(),
    }
}

fn table(shapes: &[Shapes]) -> Table {
    Table {
        file: "short-lived",
        title: "Pages in short-lived groups".into(),
        columns: ["pages", "short-lived", "short-lived groups", "groups"].map(str::to_owned).to_vec(),
        rows: shapes
            .iter()
            .map(|of| {
                let short = of.groups.iter().filter(|(_, centre)| is_ephemeral(centre)).count();
                vec![of.name.clone(), of.ephemeral.percent(), short.to_string(), of.groups.len().to_string()]
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_become_increments() {
        let steady: Vec<(f64, f64)> = (1..=28).map(|k| (f64::from(k), f64::from(2 * k))).collect();
        assert!(shape(&steady).unwrap().iter().all(|part| (part - 1.0).abs() < 1e-9));
        let sudden = [(1.0, 50.0), (28.0, 50.0)];
        assert_eq!(shape(&sudden).unwrap()[..3], [1.0, 0.0, 0.0]);
        assert_eq!(shape(&[(1.0, 0.0), (2.0, 0.0)]), None);
        assert_eq!(shape(&[]), None);
    }

    #[test]
    fn lasting_groups_are_told_from_short_lived_ones() {
        assert!(is_ephemeral(&[1.0, 0.3, 0.1, 0.0, 0.0, 0.0]));
        assert!(!is_ephemeral(&[1.0; 6]));
        let points = by_chance(2000, 1);
        let found = ephemeral(&kmeans(&points, GROUPS, 1));
        assert!((found - EPHEMERAL).abs() < 0.01, "{found}");
    }

    #[test]
    fn verdicts_turn_with_the_numbers() {
        assert_eq!(most_verdict([0.95, 0.91].into_iter()), Verdict::Agrees);
        assert_eq!(most_verdict([0.95, 0.5].into_iter()), Verdict::Partly);
        assert_eq!(most_verdict([0.5].into_iter()), Verdict::Disagrees);
        assert_eq!(most_verdict(std::iter::empty()), Verdict::Unclear);
        let shapes = |mean| {
            let ephemeral = Measured { mean, error: 0.0 };
            [Shapes { name: "by chance".into(), ephemeral, groups: Vec::new() }]
        };
        assert_eq!(method(&shapes(0.955)).verdict, Verdict::Agrees);
        assert_eq!(method(&shapes(0.90)).verdict, Verdict::Disagrees);
    }
}
