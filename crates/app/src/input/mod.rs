//! Reading what users give: CSV tables, and the crawler's own logs, plain or gzip'ed, from files or standard input.
//!
//! Everything is bounded but the number of rows, and every complaint names file, line, column and what was expected.

mod ahead;
mod bing;
mod clicks;
mod crawl_log;
mod decisions;
mod hubs;
mod ids;
mod interest;
mod intervals;
mod items;
mod lines;
mod pages;
mod plan;
mod signals;
mod source;
mod table;
mod trace;
mod visits;

pub(crate) use bing::Bing;
pub(crate) use clicks::read_clicks;
pub(crate) use crawl_log::CrawlLog;
pub(crate) use decisions::Recorded;
pub(crate) use hubs::Hubs;
pub(crate) use ids::Ids;
pub(crate) use interest::interest_within;
pub(crate) use intervals::{Intervals, PageIntervals};
pub(crate) use items::RecordedItems;
pub(crate) use pages::{Hosts, Pages, Signals};
pub(crate) use plan::read_gaps;
pub(crate) use signals::read_signals;
pub(crate) use table::csv_field;
pub(crate) use trace::NamedTrace;
pub(crate) use visits::Visits;
