//! The paper's pages: a million on 2000 hosts, a day, ten crawlers of ten fetches a second, fifteen seconds between two requests to a host.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::plan::{PlanPage, Problem, Timing};
use refrain_core::time::Span;

use super::super::{Cell, Curve, Desk, FigureError, Look, Measured, Table};

const HOUR: f64 = 3600.0;
const HORIZON: Span = Span::from_whole_secs(86_400);
const HOSTS: usize = 2000;
/// Changes per hour, at least and at most.
const RATES: (f64, f64) = (0.01, 1.0);

/// What is compared, in the order of what cells measure: three bounds, three plans of the paper, ours.
pub(super) const NAMES: [&str; 7] = ["NonPolite", "WP", "InfCrawlers", "PSP", "MP2", "M-Wolf", "Refrain"];
pub(super) const NON_POLITE: usize = 0;
pub(super) const WP: usize = 1;
pub(super) const INF_CRAWLERS: usize = 2;
pub(super) const PSP: usize = 3;
pub(super) const MP2: usize = 4;
pub(super) const M_WOLF: usize = 5;
pub(super) const REFRAIN: usize = 6;

/// How large it is. A smaller world has fewer pages, fetches and requests to a host in the same proportions: all shares stay as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    smaller: u64,
    pub(super) repetitions: u64,
}

impl Size {
    pub(super) fn of(desk: &Desk<'_>) -> Self {
        desk.pick(Self { smaller: 20, repetitions: 3 }, Self { smaller: 1, repetitions: 5 })
    }

    fn pages(self) -> usize {
        1_000_000 / self.smaller as usize
    }

    /// As many fetches as the crawlers can make.
    pub(super) fn capacity(self) -> u64 {
        8_640_000 / self.smaller
    }

    fn gap(self) -> Span {
        Span::from_whole_secs(15 * self.smaller)
    }

    fn crawlers(self) -> Vec<Span> {
        vec![Span::from_millis(100 * self.smaller); 10]
    }

    /// In a sentence.
    pub(super) fn said(self) -> String {
        let scaled = if self.smaller == 1 {
            "the paper's size".to_owned()
        } else {
            format!(
                "one {}th of the paper's pages, fetches and requests to a host, so that all shares are the paper's",
                self.smaller
            )
        };
        format!(
            "{} thousand pages on {HOSTS} hosts, 24 hours, {} thousand fetches by 10 crawlers, {} s between two requests to a host ({scaled}); all pages matter alike, and all copies \
             are fresh at the start. Staleness is integrated exactly over the plan as it is carried out. {} repetitions with other rates.",
            self.pages() / 1000,
            self.capacity() / 1000,
            self.gap().as_secs(),
            self.repetitions
        )
    }
}

/// A world to plan for.
#[derive(Clone, Copy, Debug)]
pub(super) struct World {
    pub(super) size: Size,
    /// Zipf's exponent of pages on hosts.
    pub(super) pages: f64,
    /// The exponent of rates: their density falls with this power, from once in 100 hours to once an hour.
    pub(super) rates: f64,
    /// Fetches that are planned for.
    pub(super) budget: u64,
}

impl World {
    /// A cell for each repetition; its name says what is special about the world.
    pub(super) fn cells(self, name: &str, seed: u64) -> Vec<Cell<'static>> {
        let cell = |repetition: u64| {
            Cell::new(format!("{name}, repetition {repetition}"), move || {
                Ok(self.problem(seed, repetition)?.staleness(self.size))
            })
        };
        (0..self.size.repetitions).map(cell).collect()
    }

    fn problem(self, seed: u64, repetition: u64) -> Result<Planned, FigureError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(repetition);
        let host_of = host_of(self.size.pages(), self.pages);
        let page = |_: &u32| PlanPage::new(rate(rng.random(), self.rates) / HOUR, 1.0);
        let pages: Result<Vec<PlanPage>, _> = host_of.iter().map(page).collect();
        let problem = pages
            .and_then(|pages| {
                Problem::new(HORIZON, self.budget, &pages, &host_of, &vec![self.size.gap(); HOSTS])
            })
            .map_err(|why| FigureError(why.to_string()))?;
        Ok(Planned(problem))
    }
}

struct Planned(Problem);

impl Planned {
    /// The staleness of all that is compared.
    fn staleness(&self, size: Size) -> Vec<f64> {
        let (problem, crawlers) = (&self.0, size.crawlers());
        let (paper, impolite) = (problem.allocate_by_paper(), problem.allocate_impolitely());
        let mut found = vec![0.0; NAMES.len()];
        found[NON_POLITE] = impolite.staleness(problem);
        found[WP] = problem.allocate().staleness(problem);
        found[INF_CRAWLERS] = paper.programme(problem, Timing::Merged, &crawlers).staleness(problem);
        for (plan, allocation, timing) in
            [(PSP, &paper, Timing::Merged), (MP2, &paper, Timing::Ideal), (M_WOLF, &impolite, Timing::Ideal)]
        {
            let mut programme = allocation.programme(problem, timing, &crawlers);
            programme.assign(problem, &crawlers, |_| {});
            found[plan] = programme.staleness(problem);
        }
        found[REFRAIN] = problem.plan(&crawlers).staleness;
        found
    }
}

/// The host of each page: sizes by Zipf's law, rounded such that they add up.
fn host_of(pages: usize, theta: f64) -> Vec<u32> {
    let weights: Vec<f64> = (1..=HOSTS).map(|rank| (rank as f64).powf(-theta)).collect();
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total * pages as f64).collect();
    let mut sizes: Vec<usize> = shares.iter().map(|share| share.floor() as usize).collect();
    let mut by_rest: Vec<usize> = (0..HOSTS).collect();
    by_rest.sort_by(|a, b| shares[*b].fract().total_cmp(&shares[*a].fract()).then(a.cmp(b)));
    let missing = pages - sizes.iter().sum::<usize>();
    by_rest.iter().take(missing).for_each(|host| sizes[*host] += 1);
    sizes.iter().enumerate().flat_map(|(host, size)| std::iter::repeat_n(host as u32, *size)).collect()
}

/// Changes per hour of the page at this share of all, slow ones first.
fn rate(share: f64, theta: f64) -> f64 {
    let (low, high) = RATES;
    let ratio: f64 = high / low;
    if (theta - 1.0).abs() < 1e-9 {
        return low * ratio.powf(share);
    }
    let power = 1.0 - theta;
    low * (1.0 + share * (ratio.powf(power) - 1.0)).powf(1.0 / power)
}

/// What repetitions at one place measured, for each that is compared.
pub(super) struct Place {
    pub(super) x: f64,
    runs: Vec<Vec<f64>>,
}

/// Places from the numbers of their repetitions.
pub(super) fn places(xs: &[f64], numbers: &[Vec<f64>], size: Size) -> Vec<Place> {
    let groups = numbers.chunks(size.repetitions as usize);
    xs.iter().zip(groups).map(|(x, runs)| Place { x: *x, runs: runs.to_vec() }).collect()
}

impl Place {
    fn found(&self, name: usize) -> Measured {
        Measured::of(self.runs.iter().map(|run| run[name]))
    }

    pub(super) fn mean(&self, name: usize) -> f64 {
        self.found(name).mean
    }

    /// By how much one is above another, as a share of the other: repetition by repetition, since pages move both together.
    pub(super) fn above(&self, name: usize, other: usize) -> Measured {
        Measured::of(self.runs.iter().map(|run| run[name] / run[other] - 1.0))
    }
}

/// The mean over places of by how much one is above another.
pub(super) fn above(places: &[Place], name: usize, other: usize) -> f64 {
    let ratios: f64 = places.iter().map(|place| place.above(name, other).mean).sum();
    ratios / places.len() as f64
}

/// The greatest over places of how far one is from another, as a share of the other.
pub(super) fn farthest(places: &[Place], name: usize, other: usize) -> f64 {
    places.iter().map(|place| place.above(name, other).mean.abs()).fold(0.0, f64::max)
}

/// At how many places one is less stale than another.
pub(super) fn better(places: &[Place], name: usize, other: usize) -> usize {
    places.iter().filter(|place| place.mean(name) < place.mean(other)).count()
}

pub(super) fn curves(places: &[Place]) -> Vec<Curve> {
    let curve = |name: usize| Curve {
        name: NAMES[name].to_owned(),
        look: if name <= INF_CRAWLERS { Look::Dashes } else { Look::Line },
        points: places.iter().map(|place| place.found(name).at(place.x)).collect(),
    };
    [REFRAIN, PSP, MP2, M_WOLF, INF_CRAWLERS, WP, NON_POLITE].into_iter().map(curve).collect()
}

/// By how much each is above the bound for polite plans.
pub(super) fn above_bound(places: &[Place]) -> Vec<Curve> {
    let curve = |name: usize| Curve {
        name: NAMES[name].to_owned(),
        look: if name == INF_CRAWLERS { Look::Dashes } else { Look::Line },
        points: places.iter().map(|place| place.above(name, WP).at(place.x)).collect(),
    };
    [REFRAIN, PSP, MP2, M_WOLF, INF_CRAWLERS].into_iter().map(curve).collect()
}

pub(super) fn table(first: &str, places: &[Place], say: impl Fn(f64) -> String) -> Table {
    let mut columns = vec![first.to_owned()];
    columns.extend(NAMES.iter().map(|name| (*name).to_owned()));
    let row = |place: &Place| {
        let mut cells = vec![say(place.x)];
        cells.extend((0..NAMES.len()).map(|name| place.found(name).to_string()));
        cells
    };
    Table {
        file: "staleness",
        title: "Mean staleness ± standard error".to_owned(),
        columns,
        rows: places.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A world of a fiftieth, where the paper's has its figures: .3851, .5727, .5839, .5840, .5955, .6519 at full size.
    #[test]
    fn a_small_world_is_like_the_large_one() {
        let size = Size { smaller: 50, repetitions: 1 };
        let world = World { size, pages: 1.0, rates: 0.0, budget: size.capacity() };
        let found = world.problem(1, 0).unwrap().staleness(size);
        for (name, expected) in [
            (NON_POLITE, 0.3851),
            (WP, 0.5727),
            (INF_CRAWLERS, 0.5839),
            (PSP, 0.5840),
            (MP2, 0.5955),
            (M_WOLF, 0.6519),
        ] {
            assert!((found[name] - expected).abs() < 0.005, "{}: {}", NAMES[name], found[name]);
        }
        assert!(found[REFRAIN] < found[PSP] && found[REFRAIN] > found[WP], "{found:?}");
    }

    #[test]
    fn pages_are_spread_by_zipf_and_rates_from_once_in_a_hundred_hours_to_once_an_hour() {
        let hosts = host_of(100_000, 1.0);
        let of = |host: u32| hosts.iter().filter(|own| **own == host).count() as f64;
        assert_eq!(hosts.len(), 100_000);
        assert!((of(0) / of(9) - 10.0).abs() < 0.02, "{}", of(0) / of(9));
        assert!(host_of(4000, 0.0).chunks(2).enumerate().all(|(host, own)| own == [host as u32; 2]));
        for theta in [0.0, 0.5, 1.0, 2.0] {
            assert!((rate(0.0, theta) - 0.01).abs() < 1e-12 && (rate(1.0, theta) - 1.0).abs() < 1e-9);
        }
        assert!((rate(0.5, 0.0) - 0.505).abs() < 1e-12 && (rate(0.5, 1.0) - 0.1).abs() < 1e-9);
    }
}
