//! What policies earn over a week, by day and by night.

use refrain_core::time::Span;

use super::super::{Chart, Claim, Curve, Desk, FigureError, Findings, Look, Measured, Point, Verdict};
use super::table::file_of;
use super::words::{linear, percent};
use super::worlds::{OF_PAPER, Place, Plan, policy, possible, setting};
use crate::discover::{HubWorld, Takings, run as crawl};

/// Fetches for each link that appears.
const PER_LINK: f64 = 0.5;
/// The dynamic profit counts what was fetched within the last 5 hours, as in the paper; it is looked at every half hour.
const STEP: Span = Span::from_whole_secs(1800);
const WINDOW: usize = 10;
/// The last week of the world.
const STEPS: usize = 7 * 48;
const ECHO: [&str; 3] = ["echo-greedy", "echo-schedule", "echo-newpages"];

fn policies() -> impl Iterator<Item = &'static str> {
    OF_PAPER.into_iter().chain(["refrain"])
}

/// The last week's windows; all but the first are half an hour after the one before.
fn last(windows: &[f64]) -> Vec<f64> {
    windows[windows.len().saturating_sub(STEPS)..].to_vec()
}

fn earned(desk: &Desk<'_>, name: &str, world: &HubWorld) -> Result<Vec<f64>, FigureError> {
    let mut takings = Takings::new(world, STEP);
    crawl(policy(name)?, world, &setting(desk, world, PER_LINK), |time, fetch| {
        takings.note(world, time, fetch);
    })?;
    Ok(last(&takings.windows(WINDOW)))
}

/// The windows of each repetition in one place.
struct Week<'a> {
    place: Place<'a>,
    possible: Vec<Vec<f64>>,
    earned: Vec<(&'static str, Vec<Vec<f64>>)>,
}

impl Week<'_> {
    fn of(&self, name: &str, repetition: usize) -> &[f64] {
        self.earned.iter().find(|(policy, _)| *policy == name).map_or(&[], |(_, all)| &all[repetition])
    }

    /// The share of windows in which something holds, by repetition, summed up. `which` chooses windows by what was possible in them.
    fn share(&self, which: impl Fn(&[f64], usize) -> bool, holds: impl Fn(usize, usize) -> bool) -> Measured {
        let of = |repetition: usize| {
            let possible = &self.possible[repetition];
            let chosen: Vec<usize> = (0..possible.len()).filter(|window| which(possible, *window)).collect();
            let count = chosen.iter().filter(|window| holds(repetition, **window)).count();
            count as f64 / chosen.len().max(1) as f64
        };
        self.place.repeated((0..self.possible.len()).map(of).collect()).measured()
    }

    fn best_of(&self, names: &[&str], repetition: usize, window: usize) -> f64 {
        names.iter().map(|name| self.of(name, repetition)[window]).fold(0.0, f64::max)
    }
}

/// Whether a window is one of the quietest quarter.
fn quiet(possible: &[f64], window: usize) -> bool {
    4 * possible.iter().filter(|other| **other < possible[window]).count() < possible.len()
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let mut plan = Plan::new();
    let mut asked = Vec::new();
    for place in Place::busy(desk) {
        let all = plan.ask("possible", place, desk, |world| Ok(last(&possible(world, STEP).windows(WINDOW))));
        let mut each = Vec::new();
        for name in policies() {
            each.push((name, plan.ask(name, place, desk, move |world| earned(desk, name, world))));
        }
        asked.push((place, all, each));
    }
    let answers = plan.measure(desk)?;
    let weeks = asked.into_iter().map(|(place, all, each)| Week {
        place,
        possible: answers.of(all).to_vec(),
        earned: each.into_iter().map(|(name, asked)| (name, answers.of(asked).to_vec())).collect(),
    });
    Ok(findings(&weeks.collect::<Vec<_>>()))
}

fn findings(weeks: &[Week<'_>]) -> Findings {
    Findings {
        asked: "Links appear by day more than by night, and less on weekends. Who earns more at which time?".into(),
        setting: format!(
            "As in `ephemeral-table`, with {PER_LINK} fetches for each link that appears in the mean, all the time the same. The dynamic profit is \
             what was fetched within the last 5 hours, per second, looked at every half hour of the last week. Quiet windows are the quarter of them \
             in which the links that appeared were worth least."
        ),
        claims: vec![most_of_the_time(weeks), at_night(weeks), quotas(weeks)],
        use_of_it: "A constant budget is too small by day and large enough at night, for everybody. `refrain crawl` spends its rate evenly; \
                    with a fixed price instead of a rate (`PUT /v1/budget`) it spends more by day."
            .into(),
        charts: weeks.iter().map(chart).collect(),
        ..Findings::default()
    }
}

fn told(weeks: &[Week<'_>], numbers: &[Measured]) -> String {
    let each =
        weeks.iter().zip(numbers).map(|(week, number)| format!("{} {}", week.place.name(), number.percent()));
    each.collect::<Vec<_>>().join(", ")
}

fn most_of_the_time(weeks: &[Week<'_>]) -> Claim {
    let shares: Vec<Measured> = weeks
        .iter()
        .map(|week| {
            week.share(
                |_, _| true,
                |repetition, window| {
                    let base = week.best_of(&["bfs", "quota", "frequency"], repetition, window);
                    week.best_of(&ECHO, repetition, window) > base
                },
            )
        })
        .collect();
    Claim {
        paper: "ECHO-based policies are best most of the time.".into(),
        measured: format!(
            "The best of them is ahead of the best of the others in {} of the windows.",
            told(weeks, &shares)
        ),
        verdict: Verdict::of_all(shares.iter().map(|share| share.mean > 0.5)),
    }
}

fn at_night(weeks: &[Week<'_>]) -> Claim {
    let ahead = |week: &Week<'_>, quiet_ones: bool| {
        week.share(
            |possible, window| quiet(possible, window) == quiet_ones,
            |repetition, window| {
                week.of("bfs", repetition)[window] > week.of("echo-newpages", repetition)[window]
            },
        )
    };
    let nights: Vec<Measured> = weeks.iter().map(|week| ahead(week, true)).collect();
    let days: Vec<Measured> = weeks.iter().map(|week| ahead(week, false)).collect();
    Claim {
        paper: "At night breadth-first shows better results than by day, and better than ECHO: it catches up with what others fetched before.".into(),
        measured: format!(
            "Breadth-first is ahead of ECHO-newpages in {} of the quiet windows, and in {} of the others. (More than half of the quiet ones agrees.)",
            told(weeks, &nights),
            told(weeks, &days)
        ),
        verdict: night_verdict(&nights, &days),
    }
}

/// Ahead at night agrees; ahead at night more often than by day agrees in part.
fn night_verdict(nights: &[Measured], days: &[Measured]) -> Verdict {
    match Verdict::of_all(nights.iter().map(|share| share.mean > 0.5)) {
        Verdict::Disagrees if nights.iter().zip(days).any(|(night, day)| night.mean > day.mean) => {
            Verdict::Partly
        }
        verdict => verdict,
    }
}

fn quotas(weeks: &[Week<'_>]) -> Claim {
    let ratio = |week: &Week<'_>, quiet_ones: bool| {
        let of = |repetition: usize| {
            let possible = &week.possible[repetition];
            let chosen: Vec<usize> =
                (0..possible.len()).filter(|window| quiet(possible, *window) == quiet_ones).collect();
            let sum = |name| chosen.iter().map(|window| week.of(name, repetition)[*window]).sum::<f64>();
            sum("quota") / sum("echo-newpages")
        };
        week.place.repeated((0..week.possible.len()).map(of).collect()).measured()
    };
    let quiet_ones: Vec<Measured> = weeks.iter().map(|week| ratio(week, true)).collect();
    let others: Vec<Measured> = weeks.iter().map(|week| ratio(week, false)).collect();
    let holds = quiet_ones.iter().zip(&others).map(|(quiet, other)| quiet.mean > other.mean);
    Claim {
        paper: "Fixed quotas do well when little appears (on weekends): then there are fetches enough for all that is good.".into(),
        measured: format!(
            "Quotas earn, of what ECHO-newpages does, {} in quiet windows and {} in the others. (A greater share in quiet ones agrees.)",
            told(weeks, &quiet_ones),
            told(weeks, &others)
        ),
        verdict: Verdict::of_all(holds),
    }
}

fn chart(week: &Week<'_>) -> Chart {
    let hours = STEP.as_secs() / 3600.0;
    let line = |name: &str, look, windows: &[f64]| Curve {
        name: name.to_owned(),
        look,
        points: windows
            .iter()
            .enumerate()
            .map(|(k, profit)| Point::at(k as f64 * hours / 24.0, 3600.0 * profit))
            .collect(),
    };
    let shown = ["bfs", "quota", "echo-newpages", "refrain"];
    let mut curves =
        vec![line("all links at once", Look::Dashes, week.possible.first().map_or(&[], Vec::as_slice))];
    curves.extend(shown.map(|name| line(name, Look::Line, week.of(name, 0))));
    let total = |windows: &[f64]| windows.iter().sum::<f64>();
    let part = total(week.of("refrain", 0)) / week.possible.first().map_or(1.0, |all| total(all));
    Chart {
        file: file_of(&week.place, ["week-chance", "week-reddit", "week-bbc", "week-hn"]),
        title: format!(
            "Dynamic profit over the last week ({}; refrain {} of all)",
            week.place.name(),
            percent(part)
        ),
        x: linear("days"),
        y: linear("profit per hour, over the last 5 hours"),
        curves,
    }
}

#[cfg(test)]
mod tests {
    use super::super::worlds::tests::{at_a_desk, small_set};
    use super::*;

    fn made_up<'a>(place: Place<'a>, bfs: &[f64], echo: &[f64]) -> Week<'a> {
        let of = |name| if name == "bfs" { bfs } else { echo };
        Week {
            place,
            possible: vec![vec![1.0, 4.0, 5.0, 6.0]; 2],
            earned: policies().map(|name| (name, vec![of(name).to_vec(); 2])).collect(),
        }
    }

    #[test]
    fn verdicts_turn_with_the_numbers() {
        let set = small_set();
        let place = Place::Recorded(&set);
        // Window 0 is the quiet one.
        let night = made_up(place, &[2.0, 1.0, 1.0, 1.0], &[1.0, 2.0, 2.0, 2.0]);
        assert_eq!(night.share(|_, _| true, |_, window| window < 1).mean, 0.25);
        assert_eq!(at_night(&[night]).verdict, Verdict::Agrees);
        let day = made_up(place, &[1.0, 3.0, 3.0, 3.0], &[2.0, 2.0, 2.0, 2.0]);
        assert_eq!(at_night(&[day]).verdict, Verdict::Disagrees);
        let share = |mean| Measured { mean, error: 0.0 };
        assert_eq!(night_verdict(&[share(0.4)], &[share(0.1)]), Verdict::Partly);
        let ahead = |bfs: &[f64], echo: &[f64]| {
            let mut week = made_up(place, bfs, echo);
            for (name, windows) in &mut week.earned {
                if !ECHO.contains(name) && *name != "bfs" {
                    *windows = vec![vec![0.5; 4]; 2];
                }
            }
            most_of_the_time(&[week]).verdict
        };
        assert_eq!(ahead(&[1.0; 4], &[2.0; 4]), Verdict::Agrees);
        assert_eq!(ahead(&[3.0; 4], &[2.0; 4]), Verdict::Disagrees);
    }

    #[test]
    fn nobody_earns_more_than_appears() {
        let set = small_set();
        let world = Place::Recorded(&set).world(1, 0).unwrap();
        let (all, some) = (
            last(&possible(&world, STEP).windows(WINDOW)),
            at_a_desk(|desk| earned(desk, "refrain", &world)).unwrap(),
        );
        assert_eq!((all.len(), some.len()), (STEPS, STEPS));
        assert!(some.iter().sum::<f64>() < all.iter().sum::<f64>() && some.iter().sum::<f64>() > 0.0);
    }
}
