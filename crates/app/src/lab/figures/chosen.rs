//! Which experiments a user means.

use refrain_lab::figures::Experiment;
use similar::get_close_matches;

use super::papers::About;
use crate::failure::Failure;

/// How near a name must be to be proposed, from 0 (nothing in common) to 1.
const NEAR: f32 = 0.6;

/// Those with these names, those of papers with these names, or all; each once, in their own order.
pub(super) fn chosen(all: &[Experiment], names: &[String]) -> Result<Vec<Experiment>, Failure> {
    let means = |name: &str, experiment: &Experiment| {
        name == "all" || name == experiment.name || name == About::of(experiment.paper).name
    };
    for name in names {
        if !all.iter().any(|experiment| means(name, experiment)) {
            return Err(unknown(all, name));
        }
    }
    let wanted = |experiment: &&Experiment| names.iter().any(|name| means(name, experiment));
    Ok(all.iter().filter(wanted).copied().collect())
}

fn unknown(all: &[Experiment], name: &str) -> Failure {
    let lower = name.to_lowercase();
    let mut known: Vec<&str> = About::all().map(|about| about.name).collect();
    known.extend(all.iter().map(|experiment| experiment.name));
    known.push("all");
    let mut near: Vec<&str> = get_close_matches(&lower, &known, 3, NEAR);
    if near.is_empty() {
        // Part of a name, or of what it is about.
        let about = |experiment: &&Experiment| {
            !lower.is_empty()
                && (experiment.name.contains(&lower) || experiment.title.to_lowercase().contains(&lower))
        };
        near = all.iter().filter(about).map(|experiment| experiment.name).take(3).collect();
    }
    let expected = match near.as_slice() {
        [] => "expected a name from refrain lab list, or all".to_owned(),
        near => format!("did you mean {}? refrain lab list has all", near.join(" or ")),
    };
    Failure::input(format!("'{name}' is no experiment and no paper; {expected}"))
}

#[cfg(test)]
mod tests {
    use refrain_lab::figures::{Findings, Paper};

    use super::*;

    fn experiment(name: &'static str, paper: Paper, title: &'static str) -> Experiment {
        Experiment { name, paper, figure: "Fig 1", title, run: |_| Ok(Findings::default()) }
    }

    fn names(wanted: &[&str]) -> Result<Vec<&'static str>, String> {
        let all = [
            experiment("signals-2", Paper::Signals, "GREEDY against LDS"),
            experiment("polite-3", Paper::Polite, "how pages are spread"),
            experiment("polite-5", Paper::Polite, "the number of fetches"),
        ];
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let found = chosen(&all, &wanted).map_err(|why| why.to_string())?;
        Ok(found.iter().map(|experiment| experiment.name).collect())
    }

    #[test]
    fn each_once_in_their_order() {
        assert_eq!(
            names(&["polite-5", "polite", "signals-2"]).unwrap(),
            ["signals-2", "polite-3", "polite-5"]
        );
        assert_eq!(names(&["all"]).unwrap().len(), 3);
        assert_eq!(names(&["polite-5"]).unwrap(), ["polite-5"]);
    }

    #[test]
    fn names_that_are_none() {
        let said = |name| names(&[name]).unwrap_err();
        assert!(said("polit-3").contains("'polit-3'") && said("polit-3").contains("did you mean polite-3"));
        assert!(said("lds").contains("did you mean signals-2?"));
        assert!(said("???").contains("expected a name from refrain lab list"));
        assert!(said("").contains("expected a name"));
    }
}
