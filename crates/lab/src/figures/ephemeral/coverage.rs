//! How few sources show most of what is new.

use super::super::{Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look, Point, Table, Verdict};
use super::words::{magnitudes, percent, share};
use super::worlds::Place;
use crate::discover::HubWorld;

/// How much is most.
const MOST: f64 = 0.8;
/// The paper: 3000 sources for 80 % of 50,000 pages.
const PAPER: f64 = 3000.0 / (MOST * 50_000.0);
/// Points of a curve.
const POINTS: usize = 60;

/// The greedy cover: sources in the order of what they add. (Here every page is on one source, so that is the order of how much they have.)
/// Returns what is covered by the first, the first two, and so on, as shares.
fn cover(mut sources: Vec<f64>) -> Vec<f64> {
    sources.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = sources.iter().sum();
    let mut covered = 0.0;
    let add = |source: f64| {
        covered += source;
        covered / all.max(f64::MIN_POSITIVE)
    };
    sources.into_iter().map(add).collect()
}

/// How many sources it takes to cover so much.
fn needed(covered: &[f64], level: f64) -> usize {
    covered.partition_point(|share| *share < level) + 1
}

/// What one world says: sources, items, those needed for most items and for most of the profit; then both curves.
fn numbers(world: &HubWorld) -> Vec<f64> {
    let items = cover(world.hubs.iter().map(|hub| hub.items.len() as f64).collect());
    let profit = cover(world.hubs.iter().map(|hub| hub.items.iter().map(|item| item.profit).sum()).collect());
    let count = world.hubs.len();
    let mut numbers =
        vec![count as f64, world.links() as f64, needed(&items, MOST) as f64, needed(&profit, MOST) as f64];
    for k in 1..=POINTS {
        // Evenly in the logarithm of the number of sources.
        let sources = ((count as f64).powf(k as f64 / POINTS as f64).round() as usize).clamp(1, count);
        numbers.extend([sources as f64, items[sources - 1], profit[sources - 1]]);
    }
    numbers
}

/// One place.
struct Covered {
    name: String,
    numbers: Vec<f64>,
}

impl Covered {
    /// Sources per page that they cover.
    fn per_page(&self) -> f64 {
        self.numbers[2] / (MOST * self.numbers[1])
    }

    fn part_of_sources(&self) -> f64 {
        self.numbers[2] / self.numbers[0]
    }
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let places = Place::all(desk);
    // Everything that is recorded, and the first world by chance: counts have no error.
    let cells: Vec<Cell<'_>> = places
        .iter()
        .map(|place| Cell::new(place.name().to_owned(), move || Ok(numbers(&place.world(desk.seed, 0)?))))
        .collect();
    let measured = desk.measure(&cells)?;
    let covered: Vec<Covered> = places
        .iter()
        .zip(measured)
        .map(|(place, numbers)| Covered { name: place.name().to_owned(), numbers })
        .collect();
    Ok(Findings {
        asked: "New pages are linked from front pages, sections and feeds. How many of those must be visited to find most of what is new?".into(),
        setting: format!(
            "Sources in the order of what they add, the greedy cover of the paper. There, pages were found on several sources, by where a sample of readers \
             came from; recorded items here have one source each (a section, a community, a site), so the order is that of how much they show. {}. \
             These are counts, without error.",
            covered.iter().map(|of| format!("{}: {} items of {} sources", of.name, of.numbers[1], of.numbers[0])).collect::<Vec<_>>().join("; ")
        ),
        claims: vec![few(&covered), wanted(&covered)],
        use_of_it: "Refrain visits hubs that it was told of or has found to show links, as often as what they show is worth. Those that show little are seldom \
                    visited; there is no list to be kept small."
            .into(),
        charts: vec![chart(&covered)],
        tables: vec![table(&covered)],
        ..Findings::default()
    })
}

fn few(covered: &[Covered]) -> Claim {
    let told: Vec<String> = covered
        .iter()
        .map(|of| {
            format!(
                "{} {} sources ({:.3} per page covered, {} of all)",
                of.name,
                of.numbers[2],
                of.per_page(),
                percent(of.part_of_sources())
            )
        })
        .collect();
    Claim {
        paper: format!(
            "3000 sources cover 80 % of a sample of 50,000 new pages: {PAPER:.3} sources for each page covered. A small set is enough."
        ),
        measured: format!(
            "For 80 % it takes: {}. (At most twice the paper's number of sources per page agrees.)",
            told.join("; ")
        ),
        verdict: few_verdict(covered.iter().map(Covered::per_page)),
    }
}

fn few_verdict(per_page: impl Iterator<Item = f64>) -> Verdict {
    Verdict::of_all(per_page.map(|sources| sources <= 2.0 * PAPER))
}

fn wanted(covered: &[Covered]) -> Claim {
    let told: Vec<String> = covered
        .iter()
        .map(|of| format!("{} {} instead of {}", of.name, of.numbers[3], of.numbers[2]))
        .collect();
    Claim {
        paper: "(Not in the paper's figure.) Of what people want, fewer sources cover as much: interest is more concentrated than pages.".into(),
        measured: format!("Sources for 80 % of the interest, instead of 80 % of the pages: {}.", told.join("; ")),
        verdict: Verdict::of_all(covered.iter().map(|of| of.numbers[3] < of.numbers[2])),
    }
}

fn chart(covered: &[Covered]) -> Chart {
    let curves = covered.iter().flat_map(|of| {
        let points = of.numbers[4..].chunks_exact(3);
        let line = |name: &str, look, which: usize| Curve {
            name: format!("{}, {name}", of.name),
            look,
            points: points.clone().map(|point| Point::at(point[0], point[which])).collect(),
        };
        [line("pages", Look::Line, 1), line("interest", Look::Dashes, 2)]
    });
    Chart {
        file: "coverage",
        title: "What the first sources cover".into(),
        x: magnitudes("sources"),
        y: share("share covered", 1.0),
        curves: curves.collect(),
    }
}

fn table(covered: &[Covered]) -> Table {
    let row = |of: &Covered| {
        let [sources, items, pages, interest] = [0, 1, 2, 3].map(|k| format!("{:.0}", of.numbers[k]));
        vec![of.name.clone(), sources, items, pages, interest, format!("{:.3}", of.per_page())]
    };
    Table {
        file: "sources",
        title: "Sources that cover 80 %".into(),
        columns: [
            "items",
            "sources",
            "pages",
            "for 80 % of pages",
            "for 80 % of interest",
            "sources per page covered",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: covered.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::worlds::tests::small_set;
    use super::*;

    #[test]
    fn the_largest_sources_come_first() {
        let covered = cover(vec![1.0, 6.0, 3.0]);
        assert_eq!(covered, [0.6, 0.9, 1.0]);
        assert_eq!((needed(&covered, 0.5), needed(&covered, 0.9), needed(&covered, 0.95)), (1, 2, 3));
    }

    #[test]
    fn numbers_are_those_of_the_world() {
        let set = small_set();
        let numbers = numbers(&Place::Recorded(&set).world(1, 0).unwrap());
        assert_eq!(numbers[0], 8.0);
        assert_eq!(numbers[1] as usize, set.sources.iter().map(Vec::len).sum::<usize>());
        assert!(numbers[3] >= numbers[2], "later sources are worth more: {numbers:?}");
        assert_eq!(numbers[numbers.len() - 3..], [8.0, 1.0, 1.0]);
    }

    #[test]
    fn verdicts_turn_with_the_numbers() {
        assert_eq!(few_verdict([0.05, 0.1].into_iter()), Verdict::Agrees);
        assert_eq!(few_verdict([0.05, 0.5].into_iter()), Verdict::Partly);
        assert_eq!(few_verdict([0.5].into_iter()), Verdict::Disagrees);
    }
}
