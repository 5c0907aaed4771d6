//! Short-lived new content (ECHO, the ephemeral-content paper).
//!
//! The paper's data, the logs of a browser toolbar and of a search engine, cannot be had; so orders, shapes and ratios are compared, on worlds by
//! chance of about its size, and on recorded items of other sites.
//! - `interest`, `clusters`: how interest in new pages goes
//! - `coverage`: on how few sources they are found
//! - `budget`: whose links the budget pays for
//! - `table`, `dynamic`: what policies earn
//! - `warm_up`, `prior`: what it takes to learn
//! - `worlds`: where all that happens; `repeated`: again and again; `kmeans`, `words`: tools

mod budget;
mod clusters;
mod coverage;
mod dynamic;
mod interest;
mod kmeans;
mod prior;
mod repeated;
mod table;
mod warm_up;
mod words;
mod worlds;

use super::{Experiment, Paper};

pub(super) const EXPERIMENTS: [Experiment; 8] = [
    Experiment {
        name: "ephemeral-interest",
        paper: Paper::Ephemeral,
        figure: "Clicks by age",
        title: "how interest in new pages falls, and how well an exponential says it",
        run: interest::run,
    },
    Experiment {
        name: "ephemeral-clusters",
        paper: Paper::Ephemeral,
        figure: "Clusters of interest",
        title: "six shapes of interest, and how many new pages are short-lived",
        run: clusters::run,
    },
    Experiment {
        name: "ephemeral-coverage",
        paper: Paper::Ephemeral,
        figure: "Source coverage",
        title: "how few sources show most of what is new",
        run: coverage::run,
    },
    Experiment {
        name: "ephemeral-budget",
        paper: Paper::Ephemeral,
        figure: "The budget",
        title: "the budget sum, literal and mended",
        run: budget::run,
    },
    Experiment {
        name: "ephemeral-warm-up",
        paper: Paper::Ephemeral,
        figure: "Warm-up",
        title: "starting from nothing, when access logs arrive every hour, day or week",
        run: warm_up::run,
    },
    Experiment {
        name: "ephemeral-prior",
        paper: Paper::Ephemeral,
        figure: "Default profits",
        title: "what to believe of sources that nobody has looked at",
        run: prior::run,
    },
    Experiment {
        name: "ephemeral-table",
        paper: Paper::Ephemeral,
        figure: "Table 1",
        title: "what policies earn at three crawl rates, and how much breadth-first needs",
        run: table::run,
    },
    Experiment {
        name: "ephemeral-dynamic",
        paper: Paper::Ephemeral,
        figure: "Dynamic profit",
        title: "what policies earn over a week, by day and by night",
        run: dynamic::run,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::worlds::tests::at_a_desk;
    use super::*;

    /// Those that take no simulation are done in a moment: they say something, and the same each time.
    #[test]
    fn quick_ones_bring_back_the_same_each_time() {
        for name in ["ephemeral-interest", "ephemeral-clusters", "ephemeral-coverage", "ephemeral-budget"] {
            let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name == name).unwrap();
            let findings = at_a_desk(|desk| (experiment.run)(desk)).unwrap();
            assert_eq!(findings, at_a_desk(|desk| (experiment.run)(desk)).unwrap(), "{name}");
            let points = |chart: &super::super::Chart| {
                chart.curves.iter().map(|curve| curve.points.len()).sum::<usize>()
            };
            assert!(
                !findings.charts.is_empty() && findings.charts.iter().all(|chart| points(chart) > 5),
                "{name}"
            );
            let files = findings
                .charts
                .iter()
                .map(|chart| chart.file)
                .chain(findings.tables.iter().map(|table| table.file));
            let all = findings.charts.len() + findings.tables.len();
            assert_eq!(files.collect::<HashSet<_>>().len(), all, "{name}");
            assert!(
                findings
                    .tables
                    .iter()
                    .all(|table| table.rows.iter().all(|row| row.len() == table.columns.len()))
            );
            assert!(
                !findings.claims.iter().any(|claim| claim.measured.contains("NaN")),
                "{name}: {:?}",
                findings.claims
            );
        }
    }

    #[test]
    fn names_are_used_once() {
        let names: HashSet<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
    }
}
