//! Plans for a limited time: so many fetches until morning, so many crawlers, so much politeness.
//!
//! The steps of the polite-policy paper are functions of their own:
//! [`Problem::allocate_by_paper`] says how many fetches each page gets, [`Allocation::programme`] when they should happen,
//! [`Programme::assign`] which crawler makes them, without ever asking a host too soon.
//! [`Problem::plan`] makes the best plan: it carries out all of the paper's and its own, gives the slots of each host to the pages that gain
//! most there, and keeps the least stale one. [`Problem::allocate`] bounds them all.
//!
//! ```
//! use refrain_core::plan::{PlanPage, Problem};
//! use refrain_core::time::Span;
//!
//! let hour = Span::from_whole_secs(3600);
//! let pages: Vec<_> = (1..=4).map(|k| PlanPage::new(f64::from(k) / 3600.0, 1.0).unwrap()).collect();
//! // Two hosts, one asked at most every ten minutes, the other every minute; 40 fetches in a day, one crawler.
//! let gaps = [Span::from_whole_secs(600), Span::from_whole_secs(60)];
//! let day = Span::from_whole_secs(86_400);
//! let problem = Problem::new(day, 40, &pages, &[0, 0, 1, 1], &gaps).unwrap();
//! let crawlers = [Span::from_whole_secs(1)];
//! let mut plan = problem.plan(&crawlers);
//! let carried_out = plan.programme.assign(&problem, &crawlers, |_fetch| {});
//! assert_eq!((carried_out.executed, carried_out.dropped), (40, 0));
//! assert!(plan.staleness < problem.staleness_without());
//! ```

mod allocate;
mod assign;
mod balance;
mod best;
mod improve;
mod problem;
mod programme;
mod slots;
mod staleness;
#[cfg(test)]
mod tests;
mod timeline;

pub use allocate::Allocation;
pub use assign::{Assigned, Fetch};
pub use best::BestPlan;
pub use problem::{PlanError, PlanHost, PlanPage, Problem};
pub use programme::{Programme, Timing};
pub use timeline::Timeline;
