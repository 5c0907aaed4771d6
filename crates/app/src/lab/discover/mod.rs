//! `refrain lab discover`.

mod report;
mod world;

use std::io::{self, Write};

use refrain_core::time::{Span, Time};
use refrain_lab::discover::{self, DiscoverError, Expectation, Fetch, HubPolicy, Setting};

use crate::cli::{DiscoverArgs, HubRate};
use crate::failure::Failure;
use crate::input::csv_field;
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;
use report::Report;
use world::Worlds;

pub(super) fn run(args: &DiscoverArgs) -> Result<(), Failure> {
    let policies = policies(&args.policy)?;
    if args.log.is_some() && policies.len() != 1 {
        return Err(Failure::input("--log is for one policy; expected --policy with one name"));
    }
    let log_to_stdout = args.log.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if args.json && log_to_stdout {
        return Err(Failure::input("--json and --log - both go to standard output; expected one of them"));
    }
    let unit = args.unit.seconds();
    let worlds = Worlds::read(args)?;
    let rate = match args.rate {
        HubRate::PerUnit(fetches) => fetches / unit,
        HubRate::Times(times) => times * worlds.link_rate()?,
    };
    let setting = Setting {
        from: span(args.from.unwrap_or(0.0) * unit, "--from")?,
        logs_every: args.logs_every.unwrap_or(Span::ZERO),
        unknown: args.default_profit.map_or(Expectation::LikeKnown, Expectation::Fixed),
        ..Setting::at_rate(rate)
    };
    if let Some(path) = &args.log {
        let world = worlds.draw(0)?;
        let mut log = Vec::new();
        discover::run(policies[0], &world, &setting, |time, fetch| log.push((time, fetch)))?;
        to_file(path, |out| write_log(out, &log, world.start, &worlds, unit))?;
    }
    if log_to_stdout {
        return Ok(());
    }
    let steps = Progress::steps("discovering", args.reps * policies.len() as u64);
    let world = |repetition| worlds.draw(repetition);
    let results = discover::repeat(&policies, args.reps, world, &setting, || steps.step());
    drop(steps);
    let report = Report::new(&results?, &worlds, rate, args)?;
    to_stdout(|out| if args.json { report.write_json(out) } else { report.write_table(out) })
}

impl From<DiscoverError> for Failure {
    fn from(why: DiscoverError) -> Self {
        Self::input(why.to_string())
    }
}

/// Policies by name, or all of them.
fn policies(names: &[String]) -> Result<Vec<HubPolicy>, Failure> {
    let mut policies = Vec::new();
    for name in names {
        if name == "all" {
            policies.extend(HubPolicy::all());
        } else {
            let policy = name.parse::<HubPolicy>();
            policies.push(policy.map_err(|why| Failure::input(format!("--policy: {why}")))?);
        }
    }
    Ok(policies)
}

fn span(seconds: f64, name: &str) -> Result<Span, Failure> {
    if seconds < 9e9 {
        return Ok(Span::from_secs(seconds));
    }
    Err(Failure::input(format!("{name} is {seconds:.1e} seconds; expected less than 280 years")))
}

fn write_log(
    out: &mut dyn Write,
    log: &[(Time, Fetch)],
    start: Time,
    worlds: &Worlds,
    unit: f64,
) -> io::Result<()> {
    writeln!(out, "time,hub_id,item_id")?;
    for (time, fetch) in log {
        let time = time.since(start).as_secs() / unit;
        let (hub, item) = match *fetch {
            Fetch::Hub(hub) => (hub, None),
            Fetch::Item(hub, item) => (hub, Some(worlds.item(hub, item))),
        };
        let item = item.unwrap_or_default();
        writeln!(out, "{time},{},{}", csv_field(&worlds.hub(hub)), csv_field(&item))?;
    }
    Ok(())
}
