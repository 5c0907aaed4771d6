//! The polite-policy paper: a day of fetches that no host is asked too often for.

mod capacity;
mod spread;
mod world;

use super::{Experiment, Paper};

pub(super) const EXPERIMENTS: [Experiment; 3] = [
    Experiment {
        name: "polite-3",
        paper: Paper::Polite,
        figure: "Fig 3",
        title: "staleness of plans and bounds, the more pages are on few hosts",
        run: spread::of_pages,
    },
    Experiment {
        name: "polite-4",
        paper: Paper::Polite,
        figure: "Fig 4",
        title: "the same, the fewer pages change often",
        run: spread::of_rates,
    },
    Experiment {
        name: "polite-5",
        paper: Paper::Polite,
        figure: "Fig 5",
        title: "staleness of plans that allow for more or fewer fetches than crawlers can make",
        run: capacity::run,
    },
];
