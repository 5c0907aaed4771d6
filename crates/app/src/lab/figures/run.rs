//! `refrain lab run`: experiment by experiment, what was found as soon as it is known.

use std::io::{self, Write};
use std::path::Path;

use refrain_lab::figures::{self, Desk, Experiment, Recorded};

use super::chosen::chosen;
use super::notebook::{self, Notebook, Whose};
use super::record::{Record, said};
use super::report::{Scores, write_report};
use super::{files, recorded};
use crate::chart::counted;
use crate::cli::FigureRunArgs;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::progress::Progress;
use crate::stopwatch::{Stopwatch, spoken};

pub(in super::super) fn run(args: &FigureRunArgs) -> Result<(), Failure> {
    let watch = Stopwatch::start();
    let experiments = chosen(&figures::all(), &args.names)?;
    let recorded = recorded::recorded()?;
    let cells = args.out.join("cells");
    notebook::folder(&cells)?;
    notebook::folder(&files::folder(&args.out))?;
    let (mut scores, mut failed) = (Scores::default(), Vec::new());
    for (place, experiment) in experiments.iter().enumerate() {
        let watch = Stopwatch::start();
        let progress =
            Progress::growing(format!("{} ({} of {})", experiment.name, place + 1, experiments.len()));
        match measure(experiment, args, &cells, &recorded, progress)? {
            Ok(record) => {
                files::write(&args.out, &record)?;
                scores.add(&record);
                to_stdout(|out| write(out, &record, watch))?;
            }
            // The others may be all right.
            Err(why) => {
                eprintln!("refrain: {}: {why}", experiment.name);
                failed.push(experiment.name);
            }
        }
    }
    let report = if failed.len() < experiments.len() { Some(write_report(&args.out)?) } else { None };
    to_stdout(|out| {
        writeln!(out, "{}; {}", scores.sentence(), spoken(watch.elapsed()))?;
        report.iter().try_for_each(|path| writeln!(out, "{}", path.display()))
    })?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::OnTheWay(format!(
        "{} not measured: {}",
        counted(failed.len(), "experiment"),
        failed.join(", ")
    )))
}

type Measured = Result<Record, figures::FigureError>;

/// What one experiment finds, or why it finds nothing; fails if that cannot be kept.
fn measure(
    experiment: &Experiment,
    args: &FigureRunArgs,
    cells: &Path,
    recorded: &Recorded,
    progress: Progress,
) -> Result<Measured, Failure> {
    let whose = Whose {
        version: env!("CARGO_PKG_VERSION"),
        experiment: experiment.name,
        scale: args.scale.name(),
        seed: args.seed,
    };
    let watch = Stopwatch::start();
    let notebook = Notebook::open(cells, &whose, args.again, progress)?;
    let found = (experiment.run)(&Desk::new(args.scale.into(), args.seed, recorded, &notebook));
    let at_once = notebook.found() == 0;
    notebook.close()?;
    Ok(found.map(|found| {
        let seconds = at_once.then_some(watch.elapsed().as_secs_f64());
        Record { seconds, ..Record::new(experiment, whose.scale, args.seed, found) }
    }))
}

fn write(out: &mut dyn Write, record: &Record, watch: Stopwatch) -> io::Result<()> {
    writeln!(out, "{} ({}): {}, {}", record.name, record.figure, record.title, spoken(watch.elapsed()))?;
    for claim in &record.claims {
        writeln!(out, "  {:<10} {}", said(claim.verdict), claim.paper)?;
        writeln!(out, "  {:<10} measured: {}", "", claim.measured)?;
    }
    writeln!(out)
}
