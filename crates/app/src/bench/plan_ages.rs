//! Plans of Refrain beside the paper's, for copies of all ages, importances in several units, and hosts with and without room.

use std::io::{self, Write};

use refrain_core::plan::{PlanPage, Problem};
use refrain_core::time::Span;
use serde::Serialize;

use super::plan::staleness;
use crate::chart::{grouped, percent};
use crate::cli::PlanMethod;
use crate::failure::Failure;
use crate::synthetic::Synthetic;

const PAGES: u64 = 200;
/// A second more than eight hours: no gap divides it.
const HORIZON: u64 = 28_801;
const HOUR: f64 = 3600.0;
/// The oldest copy: two days.
const OLDEST: f64 = 48.0 * HOUR;
const UNITS: [f64; 3] = [1.0, 1e-9, 1e6];
const AGES: [Ages; 4] = [Ages::Fresh, Ages::Old, Ages::Missing, Ages::Mixed];
const HOSTS: [Hosts; 4] = [
    Hosts { name: "with room", gaps: &[20], crawler_busy: 1, budget: 300 },
    Hosts { name: "full", gaps: &[180], crawler_busy: 1, budget: 1000 },
    Hosts { name: "both", gaps: &[20, 100, 1000, 61], crawler_busy: 1, budget: 600 },
    Hosts { name: "busy crawler", gaps: &[20, 100, 1000, 61], crawler_busy: 60, budget: 1000 },
];

/// Copies at the start.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Ages {
    Fresh,
    /// Up to two days old.
    Old,
    /// Never fetched.
    Missing,
    /// A quarter missing, a quarter fresh, half of them old.
    Mixed,
}

impl Ages {
    fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Old => "old",
            Self::Missing => "missing",
            Self::Mixed => "mixed",
        }
    }

    fn draw(self, random: &mut Synthetic) -> f64 {
        let (kind, age) = (random.uniform(), OLDEST * random.uniform());
        match self {
            Self::Fresh => 0.0,
            Self::Missing => f64::INFINITY,
            Self::Mixed if kind < 0.25 => f64::INFINITY,
            Self::Mixed if kind < 0.5 => 0.0,
            Self::Old | Self::Mixed => age,
        }
    }
}

/// The gap of each host in seconds, the fetches that are paid for, and how long the one crawler is busy with each.
struct Hosts {
    name: &'static str,
    gaps: &'static [u64],
    crawler_busy: u64,
    budget: u64,
}

/// Mean staleness over seeds and units, for one kind of instance.
#[derive(Debug, Serialize)]
pub(super) struct ComparedPlans {
    copies: Ages,
    hosts: &'static str,
    bound: f64,
    psp: f64,
    mp2: f64,
    m_wolf: f64,
    refrain: f64,
    plans: u64,
    /// Plans that are staler than one of the paper's.
    worse: u64,
    /// The greatest difference between plans for the same pages with importance in other units.
    between_units: f64,
}

/// Compares plans for so many random instances of each kind, each in several units.
pub(super) fn compare(seeds: u64) -> Result<Vec<ComparedPlans>, Failure> {
    let mut all = Vec::new();
    for copies in AGES {
        for hosts in &HOSTS {
            let mut row = ComparedPlans {
                copies,
                hosts: hosts.name,
                bound: 0.0,
                psp: 0.0,
                mp2: 0.0,
                m_wolf: 0.0,
                refrain: 0.0,
                plans: 0,
                worse: 0,
                between_units: 0.0,
            };
            for seed in 0..seeds {
                row.add(hosts, seed)?;
            }
            let plans = row.plans as f64;
            for sum in [&mut row.bound, &mut row.psp, &mut row.mp2, &mut row.m_wolf, &mut row.refrain] {
                *sum /= plans;
            }
            all.push(row);
        }
    }
    Ok(all)
}

impl ComparedPlans {
    /// One random instance in all units.
    fn add(&mut self, hosts: &Hosts, seed: u64) -> Result<(), Failure> {
        let crawlers = [Span::from_whole_secs(hosts.crawler_busy)];
        let (mut least, mut greatest) = (f64::INFINITY, 0.0f64);
        for unit in UNITS {
            let problem = problem(hosts, self.copies, unit, seed)?;
            let own = |method| staleness(&problem, method, &crawlers);
            let [psp, mp2, m_wolf, refrain] =
                [PlanMethod::Psp, PlanMethod::Mp2, PlanMethod::MWolf, PlanMethod::Refrain].map(own);
            self.bound += problem.clone().within_reach(&crawlers).allocate().staleness(&problem);
            self.psp += psp;
            self.mp2 += mp2;
            self.m_wolf += m_wolf;
            self.refrain += refrain;
            self.plans += 1;
            self.worse += u64::from(refrain > psp.min(mp2).min(m_wolf));
            least = least.min(refrain);
            greatest = greatest.max(refrain);
        }
        self.between_units = self.between_units.max(greatest - least);
        Ok(())
    }
}

/// Pages that change from once in six weeks to four times an hour, and matter from 0.1 to 10 units.
fn problem(hosts: &Hosts, copies: Ages, unit: f64, seed: u64) -> Result<Problem, Failure> {
    let mut random = Synthetic::new(seed);
    let (mut pages, mut host_of) = (Vec::new(), Vec::new());
    let refused = |why: refrain_core::plan::PlanError| Failure::input(why.to_string());
    for _ in 0..PAGES {
        let (rate, importance) = (random.log_uniform(0.001, 4.0) / HOUR, random.log_uniform(0.1, 10.0));
        let age = copies.draw(&mut random);
        let page = PlanPage::new(rate, importance * unit).and_then(|page| page.fetched_before(age));
        pages.push(page.map_err(refused)?);
        host_of.push((random.uniform() * hosts.gaps.len() as f64) as u32);
    }
    let gaps: Vec<Span> = hosts.gaps.iter().map(|gap| Span::from_whole_secs(*gap)).collect();
    Problem::new(Span::from_whole_secs(HORIZON), hosts.budget, &pages, &host_of, &gaps).map_err(refused)
}

pub(super) fn write(out: &mut dyn Write, compared: &[ComparedPlans]) -> io::Result<()> {
    let plans: u64 = compared.iter().map(|row| row.plans).sum();
    writeln!(
        out,
        "Plans by the age of copies: {PAGES} pages, 8 h and a second, importance in {} units (mean staleness; in percent above the bound)",
        UNITS.len()
    )?;
    writeln!(
        out,
        "  {:<8} {:<13} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6} {:>14}",
        "copies", "hosts", "bound", "psp", "mp2", "m-wolf", "refrain", "", "plans", "worse", "between units"
    )?;
    for row in compared {
        writeln!(
            out,
            "  {:<8} {:<13} {:>8.4} {:>8.4} {:>8.4} {:>8.4} {:>8.4} {:>8} {:>6} {:>6} {:>14.0e}",
            row.copies.name(),
            row.hosts,
            row.bound,
            row.psp,
            row.mp2,
            row.m_wolf,
            row.refrain,
            percent(row.refrain / row.bound - 1.0),
            row.plans,
            row.worse,
            row.between_units
        )?;
    }
    let worse: u64 = compared.iter().map(|row| row.worse).sum();
    writeln!(
        out,
        "  {} of {} plans are staler than psp, mp2 or m-wolf",
        grouped(worse as usize),
        grouped(plans as usize)
    )
}
