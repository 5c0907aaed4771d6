//! `refrain import`: pages, and what another crawler saw of them. It writes, so no crawl may be at work.

use refrain_engine::{Clock, InheritError, Inherited, add_seeds, inherit};
use refrain_store::{Options, Store};

use crate::chart::{counted, grouped};
use crate::cli::{ImportDataArgs, ImportHistoryArgs, ImportSeedsArgs, ImportWhat};
use crate::crawl::seeds;
use crate::failure::Failure;
use crate::input::Visits;
use crate::output::to_stdout;
use crate::progress::Progress;

pub(crate) fn run(args: &ImportDataArgs) -> Result<(), Failure> {
    match &args.what {
        ImportWhat::Seeds(args) => import_seeds(args),
        ImportWhat::History(args) => import_history(args),
    }
}

fn import_seeds(args: &ImportSeedsArgs) -> Result<(), Failure> {
    let seeds = seeds::read(&args.seeds)?;
    if seeds.is_empty() {
        return Err(Failure::input("there are no addresses; expected at least one"));
    }
    let mut store = Store::open(&args.place.data, Options::default())?;
    let new = add_seeds(&mut store, &seeds, Clock::start().now())? as usize;
    let known = seeds.len() - new;
    to_stdout(|out| writeln!(out, "{} added{}", counted(new, "page"), already(known)))
}

fn import_history(args: &ImportHistoryArgs) -> Result<(), Failure> {
    let now = Clock::start().now();
    let visits = Visits::read(&args.file, now)?;
    let mut store = Store::open(&args.place.data, Options::default())?;
    let done = {
        let _progress = Progress::spinner("learning");
        inherit(&mut store, &visits.pages, now)
    };
    let Inherited { new_pages, looks, known } = done.map_err(|why| match why {
        InheritError::Store(why) => why.into(),
        InheritError::Contradiction { page, look } => Failure::input(format!(
            "{}: line {}: this visit {why}; nothing is imported",
            visits.name, visits.lines[page][look]
        )),
    })?;
    to_stdout(|out| {
        writeln!(
            out,
            "{} of {}{} learned from{}",
            counted(looks as usize, "visit"),
            counted(visits.pages.len(), "page"),
            if new_pages > 0 { format!(" ({} new)", grouped(new_pages as usize)) } else { String::new() },
            already((known + visits.repeated) as usize)
        )
    })
}

fn already(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; 1 was there already".to_owned(),
        many => format!("; {} were there already", grouped(many)),
    }
}
