//! Starting from nothing, when access logs arrive seldom.

use refrain_core::time::Span;

use super::super::{Chart, Claim, Curve, Desk, FigureError, Findings, Look, Table, Verdict};
use super::repeated::Repeated;
use super::table::file_of;
use super::words::{linear, share_of};
use super::worlds::{Answers, Asked, Place, Plan, mean_profit, policy, possible, setting};
use crate::discover::{Expectation, HubWorld, Setting, Takings, run as crawl};

const PER_LINK: f64 = 0.5;
/// How often logs arrive: the paper's periods, in hours.
const PERIODS: [(&str, u64); 4] = [("1 hour", 1), ("12 hours", 12), ("24 hours", 24), ("1 week", 168)];
/// Who learns, as it is called here; who that is; and whether unknown hubs are believed to be worth little, as in the paper.
const LEARNERS: [(&str, &str, bool); 3] = [
    ("echo-newpages", "echo-newpages", false),
    ("echo-newpages, pessimistic", "echo-newpages", true),
    ("refrain", "refrain", false),
];
/// What pessimists believe of unknown hubs, in units of the mean.
const PESSIMISTIC: f64 = 0.01;
/// What was earned is counted by so much time.
const STEP: Span = Span::from_whole_secs(24 * 3600);
/// Weeks that are told apart: the first, and the rest of three.
const WEEK: usize = 7;
const STEPS: usize = 3 * WEEK;

/// What was earned in each day, of what all links that appeared then were worth; then the share in the first week, and in the third.
fn measure(
    desk: &Desk<'_>,
    (_, name, pessimistic): (&str, &str, bool),
    world: &HubWorld,
    hours: u64,
) -> Result<Vec<f64>, FigureError> {
    let small = Expectation::Fixed(PESSIMISTIC * mean_profit(world));
    let unknown = if pessimistic { small } else { Expectation::LikeKnown };
    let setting = Setting {
        logs_every: Span::from_whole_secs(3600 * hours),
        unknown,
        ..setting(desk, world, PER_LINK)
    };
    let mut takings = Takings::new(world, STEP);
    crawl(policy(name)?, world, &setting, |time, fetch| takings.note(world, time, fetch))?;
    let possible = possible(world, STEP);
    let (earned, possible) = (takings.steps(), possible.steps());
    let share = |from: usize, to: usize| {
        let sum = |steps: &[f64]| steps.iter().take(to).skip(from).sum::<f64>();
        sum(earned) / sum(possible).max(f64::MIN_POSITIVE)
    };
    let mut numbers: Vec<f64> = (0..STEPS).map(|step| share(step, step + 1)).collect();
    numbers.extend([share(0, WEEK), share(2 * WEEK, STEPS)]);
    Ok(numbers)
}

/// One place: what was measured for each policy and period.
struct Warming<'a> {
    place: Place<'a>,
    asked: Vec<(&'static str, usize, Asked)>,
}

/// The first week and the third of one policy, by period.
type Weeks = Vec<(Repeated, Repeated)>;

impl Warming<'_> {
    fn weeks(&self, answers: &Answers, name: &str) -> Weeks {
        let here = self.asked.iter().filter(|(policy, _, _)| *policy == name);
        let of = |asked, number| answers.repeated(&self.place, asked, number);
        here.map(|(_, _, asked)| (of(*asked, STEPS), of(*asked, STEPS + 1))).collect()
    }
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let mut plan = Plan::new();
    let mut places: Vec<Warming<'_>> = Vec::new();
    for place in Place::busy(desk) {
        let mut asked = Vec::new();
        for learner in LEARNERS {
            for (k, (period, hours)) in PERIODS.into_iter().enumerate() {
                let cell = format!("{}, logs every {period}, by day", learner.0);
                let asking = plan.ask(&cell, place, desk, move |world| measure(desk, learner, world, hours));
                asked.push((learner.0, k, asking));
            }
        }
        places.push(Warming { place, asked });
    }
    let answers = plan.measure(desk)?;
    Ok(Findings {
        asked: "What readers want is known from access logs, which a crawler gets every hour, every day or every week. How much does it lose at the start, \
                and how much in the long run?"
            .into(),
        setting: format!(
            "As in `ephemeral-table`, with {PER_LINK} fetches for each link. Nothing is known at the start. What a page was worth is known when the next \
             log arrives. Unknown hubs are believed to be like the mean of known ones; a pessimist, as in the paper, believes them to be worth little: \
             {PESSIMISTIC} of the mean. Profit in percent of what all links that appeared in that time were worth. Not repeated: \
             histories of 3 to 10 visits for link rates, of which the paper says that they make no difference; Refrain counts all visits."
        ),
        claims: vec![start(&places, &answers), end(&places, &answers), ours(&places, &answers)],
        use_of_it: "Refrain reads access logs and click counts whenever they come, and expects of unknown hubs the mean of known ones, so that a late log costs \
                    little: it explores before it knows."
            .into(),
        charts: places.iter().map(|of| chart(of, &answers)).collect(),
        tables: places.iter().map(|of| table(of, &answers)).collect(),
        ..Findings::default()
    })
}

/// In the paper's policies: place, policy, weeks.
fn paper<'a>(places: &'a [Warming<'_>], answers: &Answers) -> Vec<(&'a str, &'static str, Weeks)> {
    let each = places.iter().flat_map(|of| {
        ["echo-newpages", "echo-newpages, pessimistic"]
            .map(|name| (of.place.name(), name, of.weeks(answers, name)))
    });
    each.collect()
}

fn start(places: &[Warming<'_>], answers: &Answers) -> Claim {
    let all = paper(places, answers);
    let told: Vec<String> = all
        .iter()
        .map(|(place, name, weeks)| {
            let periods = [0, 2, 3].map(|k| weeks[k].0.percent());
            format!("{place}, {name}: {}", periods.join(", "))
        })
        .collect();
    Claim {
        paper: "During the warm-up the period has a really big influence: the smaller, the better.".into(),
        measured: format!(
            "Share earned in the first week, with logs every hour, every 24 hours, every week: {}. (Every week less than every hour by two standard \
             errors and by a tenth agrees.){}",
            told.join("; "),
            if all.iter().any(|(_, _, weeks)| rises(weeks)) { LATE_IS_BETTER } else { "" }
        ),
        verdict: Verdict::of_all(all.iter().map(|(_, _, weeks)| falls(weeks))),
    }
}

/// Why somebody earns more when it hears less.
const LATE_IS_BETTER: &str = " Who thinks little of unknown hubs is better off with late logs: until the first one arrives all hubs are alike to it, and \
    it looks at many; from then on those that it knows leave no fetches for the others.";

fn rises(weeks: &Weeks) -> bool {
    weeks[1..].iter().any(|(first, _)| weeks[0].0.is_below(first))
}

fn falls(weeks: &Weeks) -> bool {
    let (often, seldom) = (&weeks[0].0, &weeks[PERIODS.len() - 1].0);
    seldom.is_below(often) && seldom.mean() < 0.9 * often.mean()
}

fn end(places: &[Warming<'_>], answers: &Answers) -> Claim {
    let all = paper(places, answers);
    let told: Vec<String> = all
        .iter()
        .map(|(place, name, weeks)| {
            let periods = [0, 2].map(|k| weeks[k].1.percent());
            format!("{place}, {name}: {}", periods.join(" and "))
        })
        .collect();
    Claim {
        paper: "In the end the period makes no difference.".into(),
        measured: format!(
            "Share earned in the third week, with logs every hour and every 24 hours: {}. (No difference of more than two standard errors and a \
             twentieth agrees.)",
            told.join("; ")
        ),
        verdict: Verdict::of_all(all.iter().map(|(_, _, weeks)| same_in_the_end(weeks))),
    }
}

fn same_in_the_end(weeks: &Weeks) -> bool {
    let (often, daily) = (&weeks[0].1, &weeks[2].1);
    let differs = often.is_below(daily) || daily.is_below(often);
    !(differs && (often.mean() - daily.mean()).abs() > 0.05 * often.mean())
}

fn ours(places: &[Warming<'_>], answers: &Answers) -> Claim {
    let daily = |of: &Warming<'_>, name| of.weeks(answers, name)[2].0.clone();
    let pairs: Vec<(&str, Repeated, Repeated)> = places
        .iter()
        .map(|of| (of.place.name(), daily(of, "refrain"), daily(of, "echo-newpages, pessimistic")))
        .collect();
    let told: Vec<String> = pairs
        .iter()
        .map(|(place, ours, theirs)| format!("{place} {} and {}", ours.percent(), theirs.percent()))
        .collect();
    Claim {
        paper: "(Not in the paper.) Who expects unknown hubs to be like known ones needs the logs less: with a log a day, Refrain earns more in the first week than a pessimist.".into(),
        measured: format!("Refrain and a pessimistic ECHO-newpages in the first week, logs every 24 hours: {}.", told.join("; ")),
        verdict: first_week_verdict(pairs.iter().map(|(_, ours, theirs)| (ours, theirs))),
    }
}

fn first_week_verdict<'a>(pairs: impl Iterator<Item = (&'a Repeated, &'a Repeated)>) -> Verdict {
    Verdict::of_all(pairs.map(|(ours, theirs)| theirs.is_below(ours)))
}

fn chart(of: &Warming<'_>, answers: &Answers) -> Chart {
    let days = STEP.as_secs() / 86_400.0;
    let curve = |(name, k, asked): &(&'static str, usize, Asked)| Curve {
        name: format!("{name}, {}", PERIODS[*k].0),
        look: if *name == "echo-newpages" { Look::Line } else { Look::Dashes },
        points: (0..STEPS)
            .map(|step| answers.repeated(&of.place, *asked, step).measured().at((step as f64 + 0.5) * days))
            .collect(),
    };
    let shown = |(name, k, _): &&(&'static str, usize, Asked)| *name == "echo-newpages" || *k == 2;
    let curves: Vec<Curve> = of.asked.iter().filter(shown).map(curve).collect();
    Chart {
        file: file_of(&of.place, ["warm-chance", "warm-reddit", "warm-bbc", "warm-hn"]),
        title: format!("Warm-up by how often logs arrive ({})", of.place.name()),
        x: linear("days since the start"),
        y: share_of("profit of a day, of what all links that appeared in it were worth", &curves),
        curves,
    }
}

fn table(of: &Warming<'_>, answers: &Answers) -> Table {
    let rows = LEARNERS.iter().flat_map(|(name, _, _)| {
        let weeks = of.weeks(answers, name);
        weeks.into_iter().zip(PERIODS).map(move |((first, third), (period, _))| {
            vec![format!("{name}, {period}"), first.percent(), third.percent()]
        })
    });
    Table {
        file: file_of(&of.place, ["weeks-chance", "weeks-reddit", "weeks-bbc", "weeks-hn"]),
        title: format!("Share earned, by how often logs arrive ({})", of.place.name()),
        columns: ["policy and period", "first week", "third week"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeated::tests::always;
    use super::super::worlds::tests::{at_a_desk, small_set};
    use super::*;

    #[test]
    fn verdicts_turn_with_the_numbers() {
        let weeks = |first: [f64; 4], third: [f64; 4]| -> Weeks {
            first.into_iter().zip(third).map(|(a, b)| (always(a), always(b))).collect()
        };
        assert!(falls(&weeks([0.5, 0.45, 0.4, 0.2], [0.6; 4])));
        assert!(!falls(&weeks([0.5, 0.5, 0.5, 0.48], [0.6; 4])));
        assert!(!falls(&weeks([0.5, 0.5, 0.5, 0.7], [0.6; 4])));
        assert!(
            rises(&weeks([0.2, 0.2, 0.3, 0.3], [0.6; 4])) && !rises(&weeks([0.5, 0.45, 0.4, 0.2], [0.6; 4]))
        );
        assert!(same_in_the_end(&weeks([0.5; 4], [0.6, 0.6, 0.59, 0.2])));
        assert!(!same_in_the_end(&weeks([0.5; 4], [0.6, 0.6, 0.5, 0.2])));
        let verdict = |ours| first_week_verdict([(&always(ours), &always(0.5))].into_iter());
        assert_eq!((verdict(0.6), verdict(0.5)), (Verdict::Agrees, Verdict::Disagrees));
    }

    #[test]
    fn late_logs_do_not_help() {
        let set = small_set();
        let world = Place::Recorded(&set).world(1, 0).unwrap();
        let first_week = |hours| at_a_desk(|desk| measure(desk, LEARNERS[0], &world, hours)).unwrap()[STEPS];
        assert!(first_week(1) >= first_week(168), "{} {}", first_week(1), first_week(168));
    }
}
