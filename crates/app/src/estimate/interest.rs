//! What a link is worth, and how fast that falls.

use std::path::Path;

use refrain_core::estimate::interest::clicks::Interest;
use serde_json::json;

use crate::chart::{percent, short};
use crate::cli::EstimateArgs;
use crate::failure::Failure;
use crate::input::read_clicks;
use crate::output::to_stdout;

pub(super) fn run(args: &EstimateArgs, path: &Path) -> Result<(), Failure> {
    let points = read_clicks(path)?;
    let fit = Interest::fit(&points, None)
        .ok_or_else(|| Failure::input(format!("{}: no curve fits these points", path.display())))?;
    let Interest { profit, decay } = fit.interest;
    if args.json {
        return to_stdout(|out| {
            let found = json!({
                "profit": profit,
                "decay": decay,
                "explained": fit.explained,
                "saturates": fit.saturates,
            });
            writeln!(out, "{found}")
        });
    }
    to_stdout(|out| {
        writeln!(out, "clicks by age ≈ {} (1 - e^(-{} age))\n", short(profit), short(decay))?;
        writeln!(out, "  profit  {:>12}  clicks in the end", short(profit))?;
        let unit = args.unit.name();
        writeln!(
            out,
            "  decay   {:>12}  per {unit}: half of the clicks come in the first {}",
            short(decay),
            short(2f64.ln() / decay)
        )?;
        writeln!(out, "  fit     {:>12}  of the variance is explained", percent(fit.explained))?;
        if !fit.saturates {
            writeln!(
                out,
                "\nThe clicks have not begun to level off: only their start is known, {} per {unit}.",
                short(profit * decay)
            )?;
        }
        Ok(())
    })
}
