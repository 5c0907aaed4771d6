//! `refrain lab invent`: a history that never happened, as a trace.

use std::io::{self, Write};

use refrain_lab::made_up::MadeUp;
use refrain_lab::trace::{Trace, World};

use super::replay::introduce;
use super::written::Written;
use crate::cli::InventArgs;
use crate::failure::Failure;
use crate::output::to_stdout;

pub(super) fn run(args: &InventArgs) -> Result<(), Failure> {
    if args.pages == 0 || args.hosts == 0 {
        return Err(Failure::input("--pages or --hosts is 0; expected at least one"));
    }
    for (name, share) in [("--daily", args.daily), ("--weekly", args.weekly)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(Failure::input(format!("{name} is {share}; expected a number from 0 to 1")));
        }
    }
    let world = World {
        pages: MadeUp {
            pages: args.pages,
            change_rate: args.change_rate,
            importance: args.importance,
            recall: args.recall,
            false_rate: args.false_rate,
        },
        hosts: args.hosts,
        host_factor: args.host_factor,
        days: args.days,
        life: args.life,
        delay: args.delay,
        daily: args.daily,
        weekly: args.weekly,
        drift: args.drift,
    };
    let trace = world.draw(args.seed).map_err(|why| Failure::input(why.to_string()))?;
    let page = |number: u32| number.to_string();
    let group = |number: u32| format!("host-{number}");
    Written { trace: &trace, page: &page, group: &group }.write_to(&args.out)?;
    to_stdout(|out| summary(out, &trace, args))
}

fn summary(out: &mut dyn Write, trace: &Trace, args: &InventArgs) -> io::Result<()> {
    introduce(out, trace)?;
    writeln!(out, "\n\n  refrain lab replay --trace {}", args.out.display())
}
