//! `refrain estimate --study`: how wrong every estimator is on made-up pages, in the settings of the change-rate paper.
//!
//! A page changes at rate Δ, and is fetched at random times of rate p. Errors are measured over many such pages, and stand
//! beside what theory says exactly.

mod beliefs;
mod figures;

use std::io::{self, Write};
use std::path::Path;

use refrain_core::estimate::lln::Offset;
use refrain_core::estimate::sa::Step;
use refrain_core::estimate::sam::Momentum;
use refrain_core::estimate::theory;
use refrain_core::estimate::{Method, Prior};
use refrain_lab::study::{Measured, Study};

use crate::chart::short;
use crate::failure::Failure;
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;
use figures::Figure;

/// Where errors are measured: after so many intervals.
const AFTER: [u32; 19] = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 418, 500, 700, 1000];
/// Where the table has a column.
const SHOWN: [u32; 3] = [10, 100, 1000];

/// Pages whose rate jumps: each is followed for thousands of intervals.
const FOLLOWED: u32 = 200;

/// A page to estimate the rate of, and what its picture is called.
struct Setting {
    file: &'static str,
    title: String,
    study: Study,
}

pub(super) fn run(folder: &Path, runs: u32, seed: u64) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|why| Failure::system(format!("{}: cannot be made", folder.display()), why))?;
    let settings = settings()?;
    let progress = Progress::steps("simulating", settings.len() as u64);
    let measured: Vec<Measured> = settings
        .iter()
        .map(|setting| {
            let measured = setting.study.run(runs, seed);
            progress.step();
            measured
        })
        .collect();
    drop(progress);
    for (setting, measured) in settings.iter().zip(&measured) {
        let path = folder.join(format!("learning-{}.svg", setting.file));
        let picture = Figure { setting, measured }
            .draw()
            .ok_or_else(|| Failure::input(format!("{}: nothing to draw", setting.title)))?;
        to_file(&path, |out| out.write_all(picture.as_bytes()))?;
    }
    to_stdout(|out| {
        writeln!(
            out,
            "The root mean squared error of every estimator, {runs} made-up pages each (seed {seed}); in brackets its own\n\
             standard error, then what theory says exactly.\n"
        )?;
        for (setting, measured) in settings.iter().zip(&measured) {
            write_table(out, setting, measured)?;
        }
        beliefs::write_following(out, runs.min(FOLLOWED), seed)?;
        beliefs::write_foretelling(out, seed)
    })
}

fn settings() -> Result<Vec<Setting>, Failure> {
    let first = Momentum::USUAL;
    let second = momentum(0.8, 0.5)?;
    let all = |delta: f64, p: f64, momentum: Momentum, file, steps: &str| Setting {
        file,
        title: format!("Δ = {delta}, p = {p} ({steps})"),
        study: study(
            delta,
            p,
            vec![
                ("refrain", Method::Refrain(Prior::around(1.0 / p))),
                ("naive", Method::Naive),
                ("lln", Method::Lln(Offset::One)),
                ("sa", Method::Sa(momentum.step())),
                ("sam", Method::Sam(momentum)),
                ("mle", Method::Mle),
                ("mm", Method::Mm),
                ("regular", Method::Regular),
                ("grimes", Method::Grimes(Prior::GRIMES.in_units_of(3600.0))),
            ],
        ),
    };
    let steps = |file, title: &str, methods| Setting {
        file,
        title: format!("Δ = 500, p = 10: {title}"),
        study: study(500.0, 10.0, methods),
    };
    Ok(vec![
        all(5.0, 3.0, first, "5-3", "η = .75, β = .6"),
        all(500.0, 3.0, second, "500-3", "η = .8, β = .5"),
        all(500.0, 50.0, second, "500-50", "η = .8, β = .5"),
        steps(
            "offsets",
            "the offset of LLN",
            vec![
                ("1", Method::Lln(Offset::One)),
                ("log k", Method::Lln(Offset::Log)),
                ("√k", Method::Lln(Offset::Root)),
            ],
        ),
        steps(
            "steps",
            "the steps of SA",
            vec![
                ("η = .55", Method::Sa(step(0.55)?)),
                ("η = .75", Method::Sa(step(0.75)?)),
                ("η = 1", Method::Sa(step(1.0)?)),
            ],
        ),
        steps(
            "momentum",
            "the momentum of SAM, η = .8",
            vec![
                ("β = .4", Method::Sam(momentum(0.8, 0.4)?)),
                ("β = .5", Method::Sam(momentum(0.8, 0.5)?)),
                ("β = .6", Method::Sam(momentum(0.8, 0.6)?)),
                ("β = .7", Method::Sam(momentum(0.8, 0.7)?)),
            ],
        ),
    ])
}

fn step(eta: f64) -> Result<Step, Failure> {
    Step::new(eta).ok_or_else(|| Failure::input(format!("η = {eta} is no step")))
}

fn momentum(eta: f64, beta: f64) -> Result<Momentum, Failure> {
    Momentum::new(step(eta)?, beta).ok_or_else(|| Failure::input(format!("β = {beta} is no momentum")))
}

fn study(delta: f64, p: f64, methods: Vec<(&'static str, Method)>) -> Study {
    Study { delta, p, methods, after: AFTER.to_vec() }
}

fn write_table(out: &mut dyn Write, setting: &Setting, measured: &Measured) -> io::Result<()> {
    writeln!(out, "{}", setting.title)?;
    write!(out, "  {:<9}", "")?;
    for k in SHOWN {
        write!(out, " {:>30}", format!("after {k}"))?;
    }
    writeln!(out)?;
    let study = &setting.study;
    for (row, (name, method)) in study.methods.iter().enumerate() {
        write!(out, "  {name:<9}")?;
        for k in SHOWN {
            let errors = measured.at(row, k);
            let exact = study.exact(method, k).map(|exact| exact.rmse(study.delta));
            let exact = exact.map_or_else(String::new, short);
            write!(
                out,
                " {:>9} ({:>8}) {exact:>9}",
                short(errors.rmse()),
                three_digits(errors.uncertainty())
            )?;
        }
        writeln!(out)?;
    }
    if study.methods.iter().any(|(name, _)| *name == "mle") {
        write!(out, "  {:<9}", "bound")?;
        for k in SHOWN {
            let bound = theory::best_deviation(study.delta, study.p, k);
            write!(out, " {:>30}", short(bound))?;
        }
        writeln!(out)?;
        write_ratios(out, setting, measured)?;
    }
    if let Some(k) = study.overtaken() {
        writeln!(out, "  LLN is better than SAM for good from k = {k} on.")?;
    }
    writeln!(out)
}

/// An uncertainty needs no more.
fn three_digits(number: f64) -> String {
    if number < 1e-3 { format!("{number:.0e}") } else { short((number * 1e4).round() / 1e4) }
}

/// The default beside the MLE that keeps every interval.
fn write_ratios(out: &mut dyn Write, setting: &Setting, measured: &Measured) -> io::Result<()> {
    let row = |wanted: &str| setting.study.methods.iter().position(|(name, _)| *name == wanted);
    let (Some(refrain), Some(mle)) = (row("refrain"), row("mle")) else { return Ok(()) };
    let ratio = |k: u32| measured.at(refrain, k).rmse() / measured.at(mle, k).rmse();
    let all = SHOWN.map(|k| format!("{:.3} after {k}", ratio(k)));
    writeln!(out, "  refrain / mle: {}", all.join(", "))
}
