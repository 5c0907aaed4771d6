//! What a person reads: the result in a few lines, and where the budget goes.

use std::io::{self, Write};

use refrain_core::optimum::{Allocation, Candidate, Page, Visit};

use super::problem::Goal;
use crate::chart::{bar, counted, grouped, percent, short};
use crate::input::{Hosts, Pages};

pub(super) struct Summary<'a> {
    pub(super) pages: &'a Pages,
    pub(super) optimum: &'a Allocation,
    /// The same with all signals ignored.
    pub(super) without_signals: Option<&'a Allocation>,
    pub(super) goal: Goal,
    /// Per unit of time, where costs are given.
    pub(super) cost: Option<f64>,
}

impl Summary<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { pages, optimum, .. } = *self;
        let signals = match (self.without_signals, pages.signals.is_some()) {
            (Some(_), _) => ", with signals",
            (None, true) => ", signals ignored",
            (None, false) => "",
        };
        writeln!(out, "{}{signals}\n", counted(pages.pages.len(), "page"))?;
        let compared = self
            .without_signals
            .map_or(String::new(), |without| format!(" (without signals {})", percent(without.freshness)));
        writeln!(
            out,
            "  freshness  {:>10}  of requests find a fresh copy{compared}",
            percent(optimum.freshness)
        )?;
        let spent = match self.goal {
            Goal::Budget(rate) if optimum.rate < rate * (1.0 - 1e-6) => {
                format!("of {} fetches {}: more would gain nothing", short(rate), pages.per())
            }
            _ => format!("fetches {}", pages.per()),
        };
        writeln!(out, "  rate       {:>10}  {spent}", short(optimum.rate))?;
        writeln!(
            out,
            "  price      {:>10}  what the last fetch worth making is worth",
            short(optimum.price)
        )?;
        if let Some(cost) = self.cost {
            writeln!(
                out,
                "  cost       {:>10}  {}, fetches and stale copies together",
                short(cost),
                pages.per()
            )?;
        }
        writeln!(out)?;
        write_spread(out, &pages.pages, &optimum.visits)?;
        if let Some(hosts) = &pages.hosts {
            write_hosts(out, hosts, &optimum.visits, pages.per())?;
        }
        Ok(())
    }
}

/// One group of pages that change about as often.
#[derive(Clone, Default)]
struct Group {
    pages: usize,
    importance: f64,
    rate: f64,
    fresh: f64,
    plain_fresh: f64,
    never: usize,
}

/// How many groups the chart has.
const GROUPS: usize = 8;
/// Group borders come from a sample of this many pages.
const SAMPLE: usize = 20_000;

/// A chart of how the budget is spread over pages that change often and pages that change rarely.
pub(crate) fn write_spread(out: &mut dyn Write, pages: &[Page], visits: &[Visit]) -> io::Result<()> {
    let borders = borders(pages);
    let mut groups = vec![Group::default(); borders.len() + 1];
    let mut still = Group::default();
    for (page, visit) in pages.iter().zip(visits) {
        let change = page.change_rate();
        let group = if change == 0.0 {
            &mut still
        } else {
            &mut groups[borders.partition_point(|border| change < *border)]
        };
        group.pages += 1;
        group.importance += page.importance();
        group.rate += visit.rate;
        group.fresh += page.importance() * visit.freshness;
        group.plain_fresh += visit.freshness;
        group.never += usize::from(visit.rate == 0.0);
    }
    let all = groups.iter().chain([&still]);
    let (rate, importance) = all.fold((0.0, 0.0), |(r, i), g| (r + g.rate, i + g.importance));
    let largest = groups.iter().map(|g| g.rate).fold(0.0, f64::max);
    writeln!(out, "Where the budget goes: pages by how long they stay unchanged")?;
    writeln!(
        out,
        "  {:<19} {:>11} {:>10}  {:<20} {:>7} {:>10} {:>11}",
        "unchanged for", "pages", "importance", "budget", "", "freshness", "not fetched"
    )?;
    let labels = labels(&borders);
    let rows = labels.into_iter().zip(&groups).chain([("ever".to_owned(), &still)]);
    for (label, group) in rows.filter(|(_, group)| group.pages > 0) {
        let of = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let freshness = if group.importance > 0.0 {
            group.fresh / group.importance
        } else {
            group.plain_fresh / group.pages as f64
        };
        writeln!(
            out,
            "  {label:<19} {:>11} {:>10}  {} {:>7} {:>10} {:>11}",
            grouped(group.pages),
            percent(of(group.importance, importance)),
            bar(of(group.rate, largest), 20),
            percent(of(group.rate, rate)),
            percent(freshness),
            if group.never == 0 { String::new() } else { grouped(group.never) },
        )?;
    }
    Ok(())
}

/// Change rates, falling, that part the pages into groups of about the same size.
fn borders(pages: &[Page]) -> Vec<f64> {
    let stride = (pages.len() / SAMPLE).max(1);
    let changing = pages.iter().step_by(stride).map(Page::change_rate).filter(|rate| *rate > 0.0);
    let mut sample: Vec<f64> = changing.collect();
    sample.sort_by(|a, b| b.total_cmp(a));
    let mut borders: Vec<f64> =
        (1..GROUPS).filter_map(|k| sample.get(k * sample.len() / GROUPS).copied()).collect();
    borders.dedup();
    // Nothing is faster than the fastest.
    if borders.first() == sample.first() && !borders.is_empty() {
        borders.remove(0);
    }
    borders
}

/// What each group is called: mean times between changes.
fn labels(borders: &[f64]) -> Vec<String> {
    let time = |rate: &f64| short(1.0 / rate);
    let (Some(first), Some(last)) = (borders.first(), borders.last()) else {
        return vec!["any time".to_owned()];
    };
    let between = borders.windows(2).map(|pair| format!("{} – {}", time(&pair[0]), time(&pair[1])));
    [format!("up to {}", time(first))]
        .into_iter()
        .chain(between)
        .chain([format!("over {}", time(last))])
        .collect()
}

/// The hosts that get the most fetches.
fn write_hosts(out: &mut dyn Write, hosts: &Hosts, visits: &[Visit], per: &str) -> io::Result<()> {
    const SHOWN: usize = 5;
    let mut rates = vec![(0.0, 0usize); hosts.names.len()];
    for (host, visit) in hosts.of_page.iter().zip(visits) {
        let entry = &mut rates[*host as usize];
        entry.0 += visit.rate;
        entry.1 += 1;
    }
    let total: f64 = rates.iter().map(|(rate, _)| rate).sum();
    let mut order: Vec<usize> = (0..rates.len()).collect();
    order.sort_by(|a, b| rates[*b].0.total_cmp(&rates[*a].0));
    writeln!(
        out,
        "\nThe busiest of {} (the optimum knows no politeness)",
        counted(hosts.names.len(), "host")
    )?;
    for host in order.into_iter().take(SHOWN) {
        let (rate, pages) = rates[host];
        let share = if total > 0.0 { rate / total } else { 0.0 };
        writeln!(
            out,
            "  {:<31} {:>11} pages {:>12} {per}  {:>7}",
            hosts.names[host],
            grouped(pages),
            short(rate),
            percent(share)
        )?;
    }
    Ok(())
}
