//! What to believe of sources that nobody has looked at.

use super::super::{Chart, Claim, Curve, Desk, FigureError, Findings, Look, Point, Verdict};
use super::repeated::Repeated;
use super::table::file_of;
use super::words::{magnitudes, share_of};
use super::worlds::{Asked, Place, Plan, mean_profit, policy, setting};
use crate::discover::{Expectation, HubWorld, Setting, run as crawl};

const PER_LINK: f64 = 0.25;
/// Default profits, in units of the mean profit of a link.
const DEFAULTS: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
const POLICIES: [&str; 3] = ["echo-schedule", "echo-newpages", "refrain"];

/// The share of all profit that is earned from the start on, and the share of hubs of which something was fetched.
fn measure(
    desk: &Desk<'_>,
    name: &str,
    world: &HubWorld,
    default: Option<f64>,
) -> Result<Vec<f64>, FigureError> {
    let unknown =
        default.map_or(Expectation::LikeKnown, |times| Expectation::Fixed(times * mean_profit(world)));
    let setting = Setting { unknown, ..setting(desk, world, PER_LINK) };
    let mut known = vec![false; world.hubs.len()];
    let run = crawl(policy(name)?, world, &setting, |_, fetch| {
        if let crate::discover::Fetch::Item(hub, _) = fetch {
            known[hub as usize] = true;
        }
    })?;
    let explored = known.iter().filter(|known| **known).count() as f64 / known.len() as f64;
    Ok(vec![run.share, explored])
}

/// What was earned, and explored.
type Tried = (Repeated, Repeated);

/// One policy in one place: earned and explored with each default, and with the mean of known hubs.
struct Believed<'a> {
    place: Place<'a>,
    policy: &'static str,
    fixed: Vec<Tried>,
    like_known: Tried,
}

impl Believed<'_> {
    /// The best default of all.
    fn best(&self) -> (f64, &Repeated) {
        let all = DEFAULTS.into_iter().zip(self.fixed.iter().map(|(earned, _)| earned));
        all.max_by(|a, b| a.1.mean().total_cmp(&b.1.mean())).unwrap_or((f64::NAN, &self.like_known.0))
    }

    /// Whether a default below a tenth of the mean is as good as any other, within the errors.
    fn pessimism_pays(&self) -> bool {
        let best = self.best().1;
        self.fixed[..2]
            .iter()
            .any(|(earned, _)| !earned.is_below(best) && !earned.is_below(&self.like_known.0))
    }
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let mut plan = Plan::new();
    let mut asked = Vec::new();
    let places = desk.pick(Place::busy(desk), Place::all(desk));
    for place in places.iter().copied() {
        for name in POLICIES {
            let mut ask = |default: Option<f64>| {
                let cell = default.map_or("mean of known".to_owned(), |times| times.to_string());
                plan.ask(&format!("{name}, {cell}"), place, desk, move |world| {
                    measure(desk, name, world, default)
                })
            };
            let fixed: Vec<Asked> = DEFAULTS.into_iter().map(|times| ask(Some(times))).collect();
            asked.push((place, name, (fixed, ask(None))));
        }
    }
    let answers = plan.measure(desk)?;
    let believed: Vec<Believed<'_>> = asked
        .into_iter()
        .map(|(place, policy, (fixed, like_known))| {
            let tried = |asked| (answers.repeated(&place, asked, 0), answers.repeated(&place, asked, 1));
            let fixed = fixed.into_iter().map(tried).collect();
            Believed { place, policy, fixed, like_known: tried(like_known) }
        })
        .collect();
    Ok(findings(&believed, &places))
}

fn findings(believed: &[Believed<'_>], places: &[Place<'_>]) -> Findings {
    Findings {
        asked: "At the start nothing is known of any source. Should a crawler think little of those it does not know, or expect them to be like the others?".into(),
        setting: format!(
            "As in `ephemeral-table`, with {PER_LINK} fetches for each link, and everything counts from the start. Defaults are in units of the mean profit \
             of all links, which no crawler knows. A default holds until one link of the source is known, and the mean of its own links from then on. \
             The mean of known sources is learned, and sources of which little is known lean on it."
        ),
        claims: vec![pessimism(believed), mean_of_known(believed), exploring(believed)],
        use_of_it: "Refrain expects of a hub of which it knows nothing the mean of those it knows, and leans on it the more, the more links of the same hub differ."
            .into(),
        charts: places.iter().map(|place| chart(believed, place)).collect(),
        ..Findings::default()
    }
}

fn of_paper<'a, 'b>(believed: &'a [Believed<'b>]) -> impl Iterator<Item = &'a Believed<'b>> {
    believed.iter().filter(|of| of.policy != "refrain")
}

fn pessimism(believed: &[Believed<'_>]) -> Claim {
    let told: Vec<String> = of_paper(believed)
        .map(|of| {
            let (times, best) = of.best();
            format!(
                "{}, {}: {} with 0.01 of the mean, best {} with {times} times it",
                of.place.name(),
                of.policy,
                of.fixed[1].0.percent(),
                best.percent()
            )
        })
        .collect();
    Claim {
        paper: "Default profits must be pessimistic (a small number), so that poor sources are not crawled too often before they are known.".into(),
        measured: format!(
            "{}. (Agrees where a hundredth of the mean or less is as good as any other default, and as the mean of known sources.)",
            told.join("; ")
        ),
        verdict: Verdict::of_all(of_paper(believed).map(Believed::pessimism_pays)),
    }
}

fn mean_of_known(believed: &[Believed<'_>]) -> Claim {
    let told: Vec<String> = believed
        .iter()
        .map(|of| {
            let (mean, small) = (&of.like_known.0, &of.fixed[1].0);
            format!("{}, {}: {} and {}", of.place.name(), of.policy, mean.percent(), small.percent())
        })
        .collect();
    Claim {
        paper: "(Not in the paper.) The mean of known sources as the default earns more than a small number."
            .into(),
        measured: format!("The mean of known sources, and 0.01 of the true mean: {}.", told.join("; ")),
        verdict: better_verdict(believed),
    }
}

fn better_verdict(believed: &[Believed<'_>]) -> Verdict {
    Verdict::of_all(believed.iter().map(|of| of.fixed[1].0.is_below(&of.like_known.0)))
}

fn exploring(believed: &[Believed<'_>]) -> Claim {
    let told: Vec<String> = of_paper(believed)
        .map(|of| {
            let explored =
                [&of.fixed[0].1, &of.like_known.1, &of.fixed[DEFAULTS.len() - 1].1].map(Repeated::percent);
            format!("{}, {}: {}", of.place.name(), of.policy, explored.join(", "))
        })
        .collect();
    Claim {
        paper: "(Not in the paper.) A small default leaves sources alone of which nothing is known, for good or ill.".into(),
        measured: format!(
            "Sources of which something was ever fetched, with 0.001 of the mean, the mean of known ones, and 100 times the mean: {}.",
            told.join("; ")
        ),
        verdict: Verdict::of_all(of_paper(believed).map(|of| of.fixed[0].1.is_below(&of.like_known.1))),
    }
}

fn chart(believed: &[Believed<'_>], place: &Place<'_>) -> Chart {
    let here = believed.iter().filter(|of| of.place.name() == place.name());
    let curves = here.flat_map(|of| {
        let points =
            DEFAULTS.into_iter().zip(&of.fixed).map(|(times, (earned, _))| earned.measured().at(times));
        let line = Curve { name: of.policy.to_owned(), look: Look::Line, points: points.collect() };
        let level = [DEFAULTS[0], DEFAULTS[DEFAULTS.len() - 1]].map(|x| Point::at(x, of.like_known.0.mean()));
        let mean = Curve {
            name: format!("{}, mean of known", of.policy),
            look: Look::Dashes,
            points: level.to_vec(),
        };
        [line, mean]
    });
    let curves: Vec<Curve> = curves.collect();
    Chart {
        file: file_of(place, ["defaults-chance", "defaults-reddit", "defaults-bbc", "defaults-hn"]),
        title: format!("Profit by what is believed of unknown sources ({})", place.name()),
        x: magnitudes("default profit, in units of the mean"),
        y: share_of("share of all profit", &curves),
        curves,
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeated::tests::always;
    use super::super::worlds::tests::{at_a_desk, small_set};
    use super::*;

    #[test]
    fn verdicts_turn_with_the_numbers() {
        let set = small_set();
        let believed = |small: f64, large: f64, mean: f64| Believed {
            place: Place::Recorded(&set),
            policy: "echo-schedule",
            fixed: [small, small, large, large, large, large].map(|x| (always(x), always(x))).to_vec(),
            like_known: (always(mean), always(mean)),
        };
        let (starved, fine) = (believed(0.3, 0.5, 0.5), believed(0.5, 0.4, 0.5));
        assert!(!starved.pessimism_pays() && fine.pessimism_pays());
        assert!(!believed(0.5, 0.4, 0.6).pessimism_pays());
        assert_eq!(pessimism(&[believed(0.3, 0.5, 0.5)]).verdict, Verdict::Disagrees);
        assert_eq!(pessimism(&[believed(0.3, 0.5, 0.5), believed(0.5, 0.4, 0.5)]).verdict, Verdict::Partly);
        assert_eq!(better_verdict(&[believed(0.3, 0.5, 0.5)]), Verdict::Agrees);
        assert_eq!(better_verdict(&[believed(0.5, 0.5, 0.5)]), Verdict::Disagrees);
        assert_eq!(starved.best().1, &always(0.5));
    }

    #[test]
    fn a_small_default_explores_no_more_than_a_large_one() {
        let set = small_set();
        let world = Place::Recorded(&set).world(1, 0).unwrap();
        let explored =
            |default| at_a_desk(|desk| measure(desk, "echo-schedule", &world, default)).unwrap()[1];
        assert!(explored(Some(0.001)) <= explored(Some(100.0)));
        assert!(at_a_desk(|desk| measure(desk, "echo-schedule", &world, None)).unwrap()[0] > 0.0);
    }
}
