//! How often pages change.

use std::path::Path;

use refrain_core::estimate::counts::Counts;
use refrain_core::estimate::score::Weighted;
use refrain_core::estimate::{
    Estimate, Group, History, Learned, Learner, Observation, Posterior, Prior, VeryStale,
};

use super::settings::Settings;
use super::signals::{Pool, SignalFindings};
use super::{machine, table};
use crate::cli::{EstimateArgs, MethodName, PriorName};
use crate::failure::Failure;
use crate::input::{Intervals, PageIntervals};
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;

/// What is found about one page, or about all as if they were one.
pub(super) struct Findings {
    pub(super) counts: Counts,
    pub(super) methods: Vec<(MethodName, Estimate)>,
    pub(super) risk: Risk,
    pub(super) signals: Option<SignalFindings>,
}

/// How likely a copy is to be very stale, if the page is fetched every so often.
pub(super) struct Risk {
    pub(super) every: f64,
    pub(super) very_stale: f64,
    pub(super) accepted: f64,
    pub(super) careful: f64,
}

/// Everything that is found in a file.
pub(super) struct Report {
    pub(super) together: Findings,
    /// Page by page, if the file names them.
    pub(super) pages: Option<Vec<(String, Findings)>>,
    /// The prior of refrain, if it is the same for all.
    pub(super) prior: Option<Prior>,
}

/// Rounds of fitting the prior to all pages; by then it does not move any more.
const ROUNDS: u32 = 40;

pub(super) fn run(args: &EstimateArgs, path: &Path) -> Result<(), Failure> {
    let settings = Settings::new(args)?;
    let intervals = {
        let _progress = Progress::spinner("reading");
        Intervals::read(path)?
    };
    let report = {
        let _progress = Progress::spinner("estimating");
        examine(args, &settings, &intervals)
    };
    if let Some(file) = &args.csv {
        let Some(pages) = &report.pages else {
            return Err(Failure::input(
                "--csv is a table of pages; expected intervals with a column page_id",
            ));
        };
        to_file(file, |out| machine::write_pages(out, pages, args.unit))?;
        if file.as_os_str() == "-" {
            return Ok(());
        }
    }
    if args.json {
        to_stdout(|out| machine::write(out, &report))
    } else {
        to_stdout(|out| table::write(out, &report, args, settings.terms.confidence.share()))
    }
}

fn examine(args: &EstimateArgs, settings: &Settings, intervals: &Intervals) -> Report {
    let several = intervals.pages.len() > 1;
    let prior = match args.prior {
        Some(PriorName::Gamma { shape, rate }) => Some(Prior::Gamma { shape, rate }),
        Some(PriorName::Grimes) => Some(settings.grimes()),
        Some(PriorName::Learned) => Some(learn_prior(intervals)),
        None if several => Some(learn_prior(intervals)),
        Some(PriorName::Broad) | None => None,
    };
    let examiner = Examiner { args, settings, prior };
    let alone = intervals.signals.then_some(Pool::ALONE);
    let all = intervals.all();
    let together = if several { believe_all } else { believe_last };
    let together = examiner.findings(&all, together, alone.as_ref());
    let pages = intervals.named.then(|| {
        let change_rate = |seen: &[Observation]| believe_last(seen, &examiner.prior(seen)).mean();
        let pool = alone.map(|alone| if several { Pool::new(intervals, change_rate) } else { alone });
        let page = |page: &PageIntervals| {
            (page.id.clone(), examiner.findings(&page.seen, believe_last, pool.as_ref()))
        };
        intervals.pages.iter().map(page).collect()
    });
    Report { together, pages, prior }
}

/// The Gamma distribution that the pages of the file look drawn from.
fn learn_prior(intervals: &Intervals) -> Prior {
    let all: Counts = intervals.pages.iter().flat_map(|page| &page.seen).collect();
    let mut learner = Learner::new(Prior::around(all.span / all.all));
    let group = Group { host: 0, shape: 0 };
    let mut pages: Vec<Learned> = intervals
        .pages
        .iter()
        .map(|page| {
            let mut learned = Learned::new(group);
            for interval in &page.seen {
                learner.observe(&mut learned, interval);
            }
            learned
        })
        .collect();
    for _ in 0..ROUNDS {
        for page in &mut pages {
            learner.refresh(page);
        }
    }
    learner.prior(Group { host: 1, shape: 0 })
}

/// Looks at pages one by one.
struct Examiner<'a> {
    args: &'a EstimateArgs,
    settings: &'a Settings,
    prior: Option<Prior>,
}

impl Examiner<'_> {
    /// What is believed of a page beforehand.
    fn prior(&self, seen: &[Observation]) -> Prior {
        self.prior.unwrap_or_else(|| {
            let counts: Counts = seen.iter().collect();
            Prior::around(counts.span / counts.all)
        })
    }

    fn findings(
        &self,
        seen: &[Observation],
        believe: fn(&[Observation], &Prior) -> Posterior,
        pool: Option<&Pool>,
    ) -> Findings {
        let Self { args, settings, .. } = self;
        let counts: Counts = seen.iter().collect();
        let belief = believe(seen, &self.prior(seen));
        let estimate = |name: &MethodName| {
            let classical = settings.classical(*name).map(|method| method.estimate(seen, settings.terms));
            (*name, classical.unwrap_or_else(|| belief.estimate(settings.terms.confidence)))
        };
        Findings {
            counts,
            methods: settings.names.iter().map(estimate).collect(),
            risk: Risk::new(&belief, args.every.unwrap_or(counts.span / counts.all), args.risk),
            signals: pool.map(|pool| pool.findings(seen, belief.mean(), settings.terms.confidence)),
        }
    }
}

/// What a page's history says, the recent more than the old.
fn believe_last(seen: &[Observation], prior: &Prior) -> Posterior {
    Posterior::of(&seen.iter().collect::<History>(), prior)
}

/// What all intervals say alike: of several pages none is more recent than the others.
fn believe_all(seen: &[Observation], prior: &Prior) -> Posterior {
    let weighted = |interval: &Observation| Weighted { length: interval.elapsed(), weight: 1.0 };
    let room = Weighted { length: 0.0, weight: 0.0 };
    let mut changed: Vec<_> =
        seen.iter().filter(|interval| interval.changed()).map(weighted).chain([room]).collect();
    let unchanged = seen.iter().filter(|interval| !interval.changed()).map(Observation::elapsed).sum();
    Posterior::from_intervals(&mut changed, unchanged, prior)
}

impl Risk {
    /// Whoever fetches every `every` and knew the rate would have no copy that is stale for longer than that.
    fn new(belief: &Posterior, every: f64, accepted: f64) -> Self {
        let limit = VeryStale::AfterChanges(every * belief.mean());
        let very_stale = belief.very_stale(every, limit);
        let careful = belief.careful_interval(every, limit, accepted);
        Self { every, very_stale, accepted, careful }
    }
}
