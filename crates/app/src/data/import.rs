//! `refrain import`: pages, what another crawler saw of them, and who asks for them. It writes, so no crawl may be at work.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use refrain_engine::requests::{Requests, Rules, Tally};
use refrain_engine::{Asked, Clock, InheritError, Inherited, Scale, add_seeds, inherit};
use refrain_fetch::url::PageUrl;

use super::open_to_write;
use crate::chart::{counted, grouped};
use crate::cli::{ImportDataArgs, ImportHistoryArgs, ImportRequestsArgs, ImportSeedsArgs, ImportWhat};
use crate::crawl::seeds;
use crate::failure::Failure;
use crate::input::Visits;
use crate::output::to_stdout;
use crate::progress::Progress;
use crate::units;

pub(crate) fn run(args: &ImportDataArgs) -> Result<(), Failure> {
    match &args.what {
        ImportWhat::Seeds(args) => import_seeds(args),
        ImportWhat::History(args) => import_history(args),
        ImportWhat::Requests(args) => import_requests(args),
    }
}

fn import_seeds(args: &ImportSeedsArgs) -> Result<(), Failure> {
    let seeds = seeds::read(&args.seeds)?;
    if seeds.is_empty() {
        return Err(Failure::input("there are no addresses; expected at least one"));
    }
    let mut store = open_to_write(&args.place.data)?;
    let new = add_seeds(&mut store, &seeds, Clock::start().now())? as usize;
    let known = seeds.len() - new;
    to_stdout(|out| writeln!(out, "{} added{}", counted(new, "page"), already(known)))
}

fn import_history(args: &ImportHistoryArgs) -> Result<(), Failure> {
    let now = Clock::start().now();
    let visits = Visits::read(&args.file, now)?;
    let mut store = open_to_write(&args.place.data)?;
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

fn import_requests(args: &ImportRequestsArgs) -> Result<(), Failure> {
    let now = Clock::start().now();
    let site = args.site.as_deref().map(PageUrl::parse).transpose();
    let site = site.map_err(|why| Failure::input(format!("--site: {why}; expected an address")))?;
    let rules = Rules { site, bots: args.bots, now };
    let mut store = open_to_write(&args.place.data)?;
    let mut asked = Asked::new(now, args.memory);
    asked.watch_news(store.read())?;
    let mut tally = Tally::default();
    for path in &args.files {
        let _progress = Progress::spinner("reading");
        let mut requests = Requests::new(opened(path)?, &rules);
        requests.by_ref().for_each(|request| asked.add(&request));
        let own = requests.tally();
        if let Some(why) = &own.broken {
            return Err(Failure::input(format!(
                "{}: cannot be read to its end ({why}); nothing is imported",
                path.display()
            )));
        }
        tally.add(own.clone());
    }
    if tally.requests == 0 {
        let hint = if tally.homeless > 0 { "; --site says where its paths are" } else { "" };
        return Err(Failure::input(format!("{tally}{hint}; expected an access log, or lines of 'time,url'")));
    }
    let weighed = asked.weigh(&mut store, if args.per_day { Scale::PerDay } else { Scale::Together })?;
    to_stdout(|out| {
        writeln!(out, "{tally}")?;
        if weighed.asked == 0 {
            return writeln!(out, "None of them is for a page that is known here; nothing has changed");
        }
        writeln!(
            out,
            "{} weighed by {} of requests: {} of them asked for; other addresses, not known here: {}",
            counted(weighed.pages as usize, "page"),
            units::spoken(weighed.span),
            grouped(weighed.asked as usize),
            grouped(weighed.strangers as usize),
        )?;
        match weighed.life {
            Some(life) => writeln!(
                out,
                "New pages are asked for {} in the mean; learned for {}",
                units::spoken(life),
                counted(weighed.hubs as usize, "hub")
            ),
            None => Ok(()),
        }
    })
}

fn opened(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let failed = |why| Failure::input(format!("{}: cannot be read ({why})", path.display()));
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(Failure::input(format!("{}: is a directory; expected an access log", path.display())));
    }
    Ok(Box::new(file))
}

fn already(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; 1 was there already".to_owned(),
        many => format!("; {} were there already", grouped(many)),
    }
}
