//! Fig 9: a budget that changes while everything runs.

use refrain_core::page::Belief;
use refrain_core::time::Span;
use refrain_core::value::ValueFunction;

use super::sweep::{draw, seed};
use super::{RATE, accuracy, figure};
use crate::figures::measured::Measured;
use crate::figures::{
    Axis, Cell, Chart, Claim, Curve, Desk, Experiment, FigureError, Findings, Look, Point, Scaling, Table,
    Verdict,
};
use crate::made_up::MadeUp;
use crate::policy::Policy;
use crate::simulate::{self, Setting, World};

pub(super) const FIGURE: Experiment =
    figure("signals-9", "Fig 9", "accuracy over time as the budget rises by half and falls back", run);

const PAGES: usize = 1000;
const MORE: f64 = 150.0;
/// When there is more, when no longer, and when it ends.
const TURNS: [f64; 3] = [150.0, 275.0, 400.0];
/// Accuracy is that of the time of so many fetches.
const WINDOW: f64 = 1000.0;
/// Each stage is judged by its last so many units of time.
const SETTLED: f64 = 25.0;
/// As near as this to the optimum is there.
const NEAR: f64 = 0.005;

/// Budgets of the three stages.
const STAGES: [f64; 3] = [RATE, MORE, RATE];

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let repetitions = desk.pick(8, 40);
    let trials = [("GREEDY", ValueFunction::Greedy), ("GREEDY-NCIS", ValueFunction::GreedyNcis)];
    let cells: Vec<Cell<'_>> = (0..repetitions)
        .flat_map(|repetition| trials.map(|(name, function)| (name, function, repetition)))
        .map(|(name, function, repetition)| {
            let seed = seed(desk, PAGES, repetition);
            Cell::new(format!("{name}, {repetition}"), move || instance(function, seed))
        })
        .collect();
    let measured = desk.measure(&cells)?;
    let stages: Vec<Stages<'_>> = (0..trials.len())
        .map(|trial| Stages { runs: measured.iter().skip(trial).step_by(trials.len()).collect() })
        .collect();
    let mut curves = Vec::new();
    for ((name, _), stages) in trials.iter().zip(&stages) {
        curves.push(Curve { name: (*name).into(), look: Look::Line, points: stages.course() });
        curves.push(Curve {
            name: format!("optimum of {name}"),
            look: Look::Steps,
            points: stages.optimum(),
        });
    }
    let row = |name: &str, stages: &Stages<'_>, stage: usize| {
        let settled = stages.settling(stage).map_or_else(|| "not".into(), |time| format!("{time:.0}"));
        let optimum = Measured::of(stages.runs.iter().map(|run| run[stage]));
        vec![
            format!("{name}, {}", STAGES[stage]),
            optimum.to_string(),
            format!("{:+}", stages.gap(stage)),
            settled,
        ]
    };
    let rows = trials
        .iter()
        .zip(&stages)
        .flat_map(|((name, _), stages)| [0, 1, 2].map(|stage| row(name, stages, stage)));
    Ok(Findings {
        asked: "A schedule that was computed for one budget has to be computed again for another. A policy that compares crawl values has \
                nothing to compute: does it find the new optimum by itself, and how soon?"
            .into(),
        setting: format!(
            "{PAGES} pages, 100 fetches per unit of time, 150 from {} to {} (the paper does not say when), until 400; accuracy of the time of the \
             last 1000 fetches; {repetitions} instances (the paper draws one run). Copies are fresh at the start. GREEDY-NCIS, which the paper \
             does not show here, sees noisy signals as in Fig 4.",
            TURNS[0], TURNS[1]
        ),
        claims: claims(&stages[0]),
        use_of_it: "A budget may be changed while `refrain crawl` runs, and hosts may come and go: the next fetch is the best one at once.".into(),
        charts: vec![Chart {
            file: "course",
            title: "Accuracy of the last 1000 fetches as the budget changes".into(),
            x: Axis { label: "units of time".into(), scaling: Scaling::Linear, range: Some((0.0, TURNS[2])) },
            y: accuracy(),
            curves,
        }],
        tables: vec![Table {
            file: "stages",
            title: format!("Each stage: its optimum, how far from it the last {SETTLED} units of time are, and after how many units it was within {NEAR}"),
            columns: ["policy, fetches per unit", "optimum", "difference to it", "units until there"].map(String::from).into(),
            rows: rows.collect(),
        }],
        ..Findings::default()
    })
}

/// The optimum of each stage, then the freshness of each unit of time.
fn instance(function: ValueFunction, seed: u64) -> Result<Vec<f64>, FigureError> {
    let mut pages = draw(&MadeUp::paper(PAGES), seed)?;
    if function == ValueFunction::Greedy {
        // Signals that nobody listens to would only be noise.
        for page in &mut pages {
            *page = Belief::new(page.change_rate(), page.importance())
                .map_err(|why| FigureError(why.to_string()))?;
        }
    }
    let setting = Setting {
        then: vec![(Span::from_secs(TURNS[0]), MORE), (Span::from_secs(TURNS[1]), RATE)],
        every: Some(Span::from_whole_secs(1)),
        ..Setting::steady(RATE, Span::from_secs(TURNS[2]), seed)
    };
    let run = simulate::run(Policy::Value(function), World::known(&pages, None), &setting, |_, _| {})?;
    let mut numbers =
        vec![simulate::bound(&pages, RATE)?, simulate::bound(&pages, MORE)?, simulate::bound(&pages, RATE)?];
    numbers.extend(run.series);
    Ok(numbers)
}

/// Runs of one policy.
struct Stages<'a> {
    runs: Vec<&'a Vec<f64>>,
}

impl Stages<'_> {
    /// The mean freshness from a moment to another, over all runs.
    fn between(&self, from: f64, to: f64) -> Measured {
        let of_run = |run: &&Vec<f64>| {
            let units = run.iter().skip(STAGES.len()).enumerate().map(|(unit, freshness)| {
                let start = unit as f64;
                freshness * (to.min(start + 1.0) - from.max(start)).max(0.0)
            });
            units.sum::<f64>() / (to - from)
        };
        Measured::of(self.runs.iter().map(of_run))
    }

    /// The accuracy of the last fetches at each moment.
    fn course(&self) -> Vec<Point> {
        let times = (1..=200).map(|step| TURNS[2] * f64::from(step) / 200.0);
        times.filter_map(|now| Some(self.between(before(now)?, now).at(now))).collect()
    }

    fn optimum(&self) -> Vec<Point> {
        let at = |time: f64, stage: usize| Measured::of(self.runs.iter().map(|run| run[stage])).at(time);
        vec![at(0.0, 0), at(TURNS[0], 1), at(TURNS[1], 2), at(TURNS[2], 2)]
    }

    /// How far from its optimum the end of a stage is, run by run.
    fn gap(&self, stage: usize) -> Measured {
        let end = TURNS[stage] as usize;
        let gap = |run: &&Vec<f64>| {
            let units = &run[STAGES.len() + end - SETTLED as usize..STAGES.len() + end];
            units.iter().sum::<f64>() / SETTLED - run[stage]
        };
        Measured::of(self.runs.iter().map(gap))
    }

    /// After how many units of time the freshness stays near the optimum of its stage.
    fn settling(&self, stage: usize) -> Option<f64> {
        let start = if stage == 0 { 0.0 } else { TURNS[stage - 1] };
        let optimum = Measured::of(self.runs.iter().map(|run| run[stage])).mean;
        let steps = (TURNS[stage] - start) as u32 / 5;
        let far = |step: &u32| {
            let from = start + 5.0 * f64::from(*step);
            (self.between(from, from + 5.0).mean - optimum).abs() > NEAR
        };
        let last = (0..steps).rev().find(far).map_or(0, |step| step + 1);
        (last < steps).then(|| 5.0 * f64::from(last))
    }
}

/// When the last fetches began; `None` if there were not as many yet.
fn before(now: f64) -> Option<f64> {
    let fetched = |time: f64| {
        let more = (time.min(TURNS[1]) - TURNS[0]).max(0.0);
        RATE * time + (MORE - RATE) * more
    };
    let wanted = fetched(now) - WINDOW;
    // Fetches grow with time: what is at most the longest window back is bracketed.
    let (mut low, mut high) = (0.0, now);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        (low, high) = if fetched(middle) < wanted { (middle, high) } else { (low, middle) };
    }
    (wanted >= 0.0).then_some(high)
}

fn claims(greedy: &Stages<'_>) -> Vec<Claim> {
    let gaps: Vec<Measured> = (0..STAGES.len()).map(|stage| greedy.gap(stage)).collect();
    let settled: Vec<Option<f64>> = (0..STAGES.len()).map(|stage| greedy.settling(stage)).collect();
    let times =
        settled.iter().map(|time| time.map_or_else(|| "never".into(), |time| format!("{time:.0} units")));
    vec![Claim {
        paper: "Accuracy rises to the new optimum by itself when the budget rises, and falls back to the old one when it falls.".into(),
        measured: format!(
            "The last {SETTLED} units of each stage differ from its optimum by {:+}, {:+} and {:+}; it is there within {}. There means within {NEAR}.",
            gaps[0],
            gaps[1],
            gaps[2],
            times.collect::<Vec<_>>().join(", ")
        ),
        verdict: Verdict::of_all(gaps[1..].iter().zip(&settled[1..]).map(|(gap, time)| gap.is_near_zero(NEAR) && time.is_some())),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_a_thousand_fetches_long() {
        assert_eq!(before(9.0), None);
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}");
        };
        near(before(100.0), 90.0);
        near(before(200.0), 200.0 - 1000.0 / 150.0);
        // 300 fetches at the new pace, 700 at the old one.
        near(before(152.0), 143.0);
        near(before(280.0), 275.0 - 500.0 / 150.0);
    }

    /// One world is enough for GREEDY: without signals nothing is left to chance.
    #[test]
    fn greedy_follows() {
        let run = instance(ValueFunction::Greedy, 3).unwrap();
        let claims = claims(&Stages { runs: vec![&run] });
        assert_eq!(claims[0].verdict, Verdict::Agrees, "{claims:?}");
    }

    /// A run that is where it should be, and one that does not notice.
    #[test]
    fn stages_are_judged_by_their_ends() {
        let course = |middle: f64| -> Vec<f64> {
            let units = (0..400).map(|unit| if (155..280).contains(&unit) { middle } else { 0.4 });
            [0.4, 0.5, 0.4].into_iter().chain(units).collect()
        };
        let (follows, deaf) = (course(0.5), course(0.4));
        let follows = Stages { runs: vec![&follows] };
        assert_eq!(claims(&follows)[0].verdict, Verdict::Agrees);
        assert_eq!([follows.settling(0), follows.settling(1)], [Some(0.0), Some(5.0)]);
        assert!((follows.between(154.5, 155.5).mean - 0.45).abs() < 1e-12);
        assert_eq!(claims(&Stages { runs: vec![&deaf] })[0].verdict, Verdict::Partly);
    }
}
