//! Short-lived new content (ECHO, the ephemeral-content paper).
//!
//! The paper's data, the logs of a browser toolbar and of a search engine, cannot be had; so orders, shapes and ratios are compared, on worlds by
//! chance of about its size, and on recorded items of other sites.
//! - `interest`, `clusters`: how interest in new pages goes
//! - `coverage`: on how few sources they are found
//! - `budget`: whose links the budget pays for
//! - `table`, `dynamic`: what policies earn
//! - `warm_up`, `prior`: what it takes to learn
//! - `worlds`: where all that happens; `kmeans`, `words`: tools

mod budget;
mod clusters;
mod coverage;
mod dynamic;
mod interest;
mod kmeans;
mod prior;
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
