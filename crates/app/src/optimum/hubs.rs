//! `refrain optimum --hubs`.

use std::io::{self, Write};
use std::path::Path;

use refrain_core::optimum::hubs::{HubPlan, open_and_visit, visit_all};
use serde::Serialize;

use crate::chart::{bar, counted, grouped, percent, short};
use crate::cli::OptimumArgs;
use crate::failure::Failure;
use crate::input::{Hubs, csv_field};
use crate::output::{to_file, to_stdout};

#[derive(Serialize)]
struct HubLine<'a> {
    hub_id: &'a str,
    /// Whether it is visited and its links are fetched.
    open: bool,
    rate: f64,
    interval: Option<f64>,
    profit: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    price: f64,
    profit: f64,
    /// If every link were fetched the moment it appears.
    upper_bound: f64,
    /// What no choice within the budget exceeds.
    dual_bound: f64,
    rate: f64,
    hubs: Vec<HubLine<'a>>,
}

pub(super) fn run(args: &OptimumArgs, path: &Path) -> Result<(), Failure> {
    let Some(budget) = args.rate.map(|rate| rate.per(None)).transpose()? else {
        return Err(Failure::input("no budget given; expected --rate N with --hubs"));
    };
    let hubs = Hubs::read(path)?;
    let plan = if args.every_hub {
        visit_all(&hubs.hubs, budget).map_err(|why| {
            Failure::input(format!(
                "--rate {budget}: the links of all hubs alone need {}; expected more, or no --every-hub",
                short(why.needed)
            ))
        })?
    } else {
        open_and_visit(&hubs.hubs, budget)
    };
    let report = report(&hubs, &plan);
    if let Some(path) = &args.csv {
        to_file(path, |out| write_csv(out, &report))?;
    }
    if args.json {
        return to_stdout(|out| {
            serde_json::to_writer(&mut *out, &report)?;
            writeln!(out)
        });
    }
    if args.csv.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    to_stdout(|out| write_summary(out, &report))
}

fn report<'a>(hubs: &'a Hubs, plan: &HubPlan) -> Report<'a> {
    let lines = plan.hubs.iter().enumerate().map(|(index, hub)| HubLine {
        hub_id: hubs.ids.get(index),
        open: hub.open,
        rate: hub.rate,
        interval: (hub.rate > 0.0).then(|| 1.0 / hub.rate),
        profit: hub.profit,
    });
    Report {
        price: plan.price,
        profit: plan.profit,
        upper_bound: plan.instant_profit,
        dual_bound: plan.bound,
        rate: plan.rate,
        hubs: lines.collect(),
    }
}

fn write_csv(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    writeln!(out, "hub_id,open,rate,interval,profit")?;
    for hub in &report.hubs {
        let interval = hub.interval.map_or(String::new(), |interval| interval.to_string());
        writeln!(
            out,
            "{},{},{},{interval},{}",
            csv_field(hub.hub_id),
            u8::from(hub.open),
            hub.rate,
            hub.profit
        )?;
    }
    Ok(())
}

fn write_summary(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    const SHOWN: usize = 12;
    let open = report.hubs.iter().filter(|hub| hub.open).count();
    let share = |of: f64| if of > 0.0 { percent(report.profit / of) } else { "all".to_owned() };
    let visits: f64 = report.hubs.iter().map(|hub| hub.rate).sum();
    writeln!(out, "{}, {} of them visited\n", counted(report.hubs.len(), "hub"), grouped(open))?;
    writeln!(
        out,
        "  profit     {:>10}  per unit of time: {} of what instant fetches would earn",
        short(report.profit),
        share(report.upper_bound)
    )?;
    writeln!(
        out,
        "  bound      {:>10}  no choice within the budget earns more: {} reached",
        short(report.dual_bound),
        share(report.dual_bound)
    )?;
    writeln!(
        out,
        "  rate       {:>10}  fetches per unit of time: {} visits, {} links",
        short(report.rate),
        short(visits),
        short(report.rate - visits)
    )?;
    writeln!(out, "  price      {:>10}  what the last visit worth making earns\n", short(report.price))?;
    let mut order: Vec<&HubLine<'_>> = report.hubs.iter().filter(|hub| hub.open).collect();
    order.sort_by(|a, b| b.profit.total_cmp(&a.profit));
    let largest = order.first().map_or(0.0, |hub| hub.profit);
    writeln!(out, "  {:<24} {:>12}  {:<20} {:>12}", "hub", "visited every", "profit", "")?;
    for hub in order.iter().take(SHOWN) {
        let every = hub.interval.map_or("once".to_owned(), short);
        writeln!(
            out,
            "  {:<24} {every:>12}  {} {:>12}",
            hub.hub_id,
            bar(hub.profit / largest, 20),
            short(hub.profit)
        )?;
    }
    if order.len() > SHOWN {
        writeln!(out, "  … and {} more; --csv FILE or --json has all", grouped(order.len() - SHOWN))?;
    }
    Ok(())
}
