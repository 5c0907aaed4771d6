//! `refrain lab list`.

use std::io::{self, Write};

use refrain_lab::figures::{self, Experiment};
use serde_json::json;

use super::papers::About;
use crate::cli::FigureListArgs;
use crate::failure::Failure;
use crate::output::to_stdout;

pub(in super::super) fn list(args: &FigureListArgs) -> Result<(), Failure> {
    let all = figures::all();
    to_stdout(|out| if args.json { write_json(out, &all) } else { write(out, &all) })
}

fn write(out: &mut dyn Write, all: &[Experiment]) -> io::Result<()> {
    let longest = |text: fn(&Experiment) -> &str| all.iter().map(|one| text(one).chars().count()).max();
    let (name, figure) = (longest(|one| one.name).unwrap_or(0), longest(|one| one.figure).unwrap_or(0));
    for about in About::all() {
        let mut own = all.iter().filter(|experiment| experiment.paper == about.paper).peekable();
        if own.peek().is_none() {
            continue;
        }
        writeln!(out, "{}: {}", about.name, about.line)?;
        for experiment in own {
            let Experiment { name: own, figure: of, title, .. } = experiment;
            writeln!(out, "  {own:<name$}  {of:<figure$}  {title}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "refrain lab run NAME... measures them, refrain lab run all measures everything.")
}

fn write_json(out: &mut dyn Write, all: &[Experiment]) -> io::Result<()> {
    let line = |experiment: &Experiment| {
        json!({
            "name": experiment.name,
            "paper": About::of(experiment.paper).name,
            "figure": experiment.figure,
            "title": experiment.title,
        })
    };
    let papers: Vec<_> = About::all()
        .map(|about| json!({ "name": about.name, "title": about.title, "about": about.line }))
        .collect();
    let experiments: Vec<_> = all.iter().map(line).collect();
    serde_json::to_writer(&mut *out, &json!({ "papers": papers, "experiments": experiments }))?;
    writeln!(out)
}
