//! What policies earn at three crawl rates, and at which rates they get nearly everything.

use std::collections::HashMap;

use super::super::{Chart, Claim, Curve, Desk, FigureError, Findings, Look, Table, Verdict};
use super::repeated::Repeated;
use super::words::{list, magnitudes, percent, share_of};
use super::worlds::{OF_PAPER, Place, Plan, last_third, policy, setting};
use crate::discover::{Fetch, HubWorld, Setting, run as crawl};

/// Fetches for each link that appears.
const RATES: [f64; 3] = [0.25, 0.5, 1.0];
/// Those of the search for the rate that is enough.
const MORE: [f64; 3] = [2.0, 4.0, 8.0];
const SEARCHED: [&str; 3] = ["bfs", "echo-newpages", "refrain"];
/// Nearly everything.
const ENOUGH: f64 = 0.9;
/// Who is visited less often than this per week is almost not visited.
const SELDOM: f64 = 1.0;

/// What one run gives: the share of all profit in the last third, and the share of hubs that are almost not visited then.
fn measure(desk: &Desk<'_>, name: &str, world: &HubWorld, per_link: f64) -> Result<Vec<f64>, FigureError> {
    let from = last_third(world);
    let setting = Setting { from, ..setting(desk, world, per_link) };
    let mut visits = vec![0u32; world.hubs.len()];
    let run = crawl(policy(name)?, world, &setting, |time, fetch| {
        if let Fetch::Hub(hub) = fetch
            && time >= world.start + from
        {
            visits[hub as usize] += 1;
        }
    })?;
    let weeks = world.end().since(world.start + from).as_secs() / (7.0 * 86_400.0);
    let seldom = visits.iter().filter(|visits| f64::from(**visits) < SELDOM * weeks).count();
    Ok(vec![run.share, seldom as f64 / visits.len() as f64])
}

/// What was measured in one place.
struct Results<'a> {
    place: Place<'a>,
    /// By policy and rate (by its place among all rates): share of profit, share of hubs seldom visited.
    runs: HashMap<(&'static str, usize), (Repeated, Repeated)>,
}

impl Results<'_> {
    fn earned(&self, policy: &'static str, rate: usize) -> &Repeated {
        &self.runs[&(policy, rate)].0
    }

    /// Policies at a rate that earn clearly less than another, in the same worlds.
    fn behind(&self, all: &[&'static str], policy: &'static str, rate: usize) -> usize {
        let own = self.earned(policy, rate);
        all.iter().filter(|other| self.earned(other, rate).is_below(own)).count()
    }

    /// No policy of the paper earns clearly more.
    fn is_not_behind(&self, policy: &'static str, rate: usize) -> bool {
        let own = self.earned(policy, rate);
        OF_PAPER.iter().all(|other| !own.is_below(self.earned(other, rate)))
    }

    /// Fetches per link at which a policy gets nearly everything, by interpolation in the logarithm of the rate.
    fn enough(&self, policy: &'static str) -> Option<f64> {
        let points: Vec<(f64, f64)> =
            all_rates().enumerate().map(|(k, rate)| (rate, self.earned(policy, k).mean())).collect();
        crossing(&points, ENOUGH)
    }
}

fn all_rates() -> impl Iterator<Item = f64> {
    RATES.into_iter().chain(MORE)
}

/// Where a curve first reaches a level: its first point, or between two.
fn crossing(points: &[(f64, f64)], level: f64) -> Option<f64> {
    if let Some((x, y)) = points.first()
        && *y >= level
    {
        return Some(*x);
    }
    let pair = points.windows(2).find(|pair| pair[0].1 < level && pair[1].1 >= level)?;
    let part = (level - pair[0].1) / (pair[1].1 - pair[0].1);
    Some(pair[0].0 * (pair[1].0 / pair[0].0).powf(part))
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let mut plan = Plan::new();
    let mut asked = Vec::new();
    for place in desk.pick(Place::learnable(desk), Place::all(desk)) {
        let mut here = Vec::new();
        for (k, per_link) in all_rates().enumerate() {
            for name in OF_PAPER.into_iter().chain(["refrain", "miniflux"]) {
                if k < RATES.len() || (place.is_busy() && SEARCHED.contains(&name)) {
                    let cell = format!("{name} at {per_link}");
                    here.push((
                        name,
                        k,
                        plan.ask(&cell, place, desk, move |world| measure(desk, name, world, per_link)),
                    ));
                }
            }
        }
        asked.push((place, here));
    }
    let answers = plan.measure(desk)?;
    let results: Vec<Results<'_>> = asked
        .into_iter()
        .map(|(place, here)| {
            let both = |asked| (answers.repeated(&place, asked, 0), answers.repeated(&place, asked, 1));
            Results {
                place,
                runs: here.into_iter().map(|(name, k, asked)| ((name, k), both(asked))).collect(),
            }
        })
        .collect();
    Ok(findings(&results))
}

fn findings(results: &[Results<'_>]) -> Findings {
    Findings {
        asked: "A crawler has a number of fetches, for front pages and feeds where links to new pages appear, and for those pages. What a page \
                is worth falls within hours. How should the fetches be shared, and how much does it matter?"
            .into(),
        found: results.first().map(found),
        setting: format!(
            "Three weeks of which the last counts (recorded items: the last third). Hubs by chance: link rates log-uniform from 0.05 to 40 a day, \
             profits from 0.01 to 10, each link's times an exponential number, mean lives from 3 hours to 2 days, fewer links at night and on \
             weekends. Recorded items: {} (those of sites with few stories each, `hn`, at paper scale only); the half-life is 6 hours. All must be learned. The budget is {} fetches for each link that appears: \
             of the paper's three rates our copy has only the highest, 0.2 per second. Profit is in percent of what all links were worth when they \
             were new, the paper's upper bound. ±: over worlds, or over random halves of the recorded sources. Policies are compared world by world, and \
             better means by more than two standard errors of the difference.",
            list(&results.iter().skip(1).map(|of| of.place.name().to_owned()).collect::<Vec<_>>()),
            list(&RATES.map(|rate| rate.to_string())),
        ),
        claims: vec![best(results), greedy(results), baselines(results), breadth_first(results), seldom(results), ours(results)],
        use_of_it: "Refrain puts visits to hubs and fetches of new pages into one currency, with the same price for both, instead of fixing intervals \
                    first and fitting new pages in. The paper's policies are there by name in `refrain lab discover`."
            .into(),
        charts: results.iter().map(chart).collect(),
        tables: results.iter().map(table).collect(),
    }
}

/// Of the world by chance, at the middle rate.
fn found(of: &Results<'_>) -> String {
    let percent = |name| percent(of.earned(name, 1).mean());
    format!(
        "With {} fetches for each link that appears, visiting sources in turn earns {} of what new pages are worth to readers, the paper's best rule {}, and Refrain {}.",
        RATES[1],
        percent("bfs"),
        percent("echo-newpages"),
        percent("refrain")
    )
}

/// The same at all rates of the table, in each place.
fn at_all_rates(results: &[Results<'_>], holds: impl Fn(&Results<'_>, usize) -> bool) -> Vec<bool> {
    results.iter().flat_map(|of| (0..RATES.len()).map(|k| holds(of, k)).collect::<Vec<_>>()).collect()
}

/// How often it holds.
fn often(holds: &[bool]) -> String {
    format!("{} of {} cases", holds.iter().filter(|holds| **holds).count(), holds.len())
}

/// Numbers at the middle rate.
fn in_the_middle(results: &[Results<'_>], names: &[&'static str]) -> String {
    let place = |of: &Results<'_>| {
        let each: Vec<String> =
            names.iter().map(|name| format!("{name} {}", of.earned(name, 1).percent())).collect();
        format!("{}: {}", of.place.name(), list(&each))
    };
    results.iter().map(place).collect::<Vec<_>>().join("; ")
}

fn best(results: &[Results<'_>]) -> Claim {
    let holds = at_all_rates(results, |of, k| of.is_not_behind("echo-newpages", k));
    Claim {
        paper: "ECHO-newpages earns most at all three crawl rates.".into(),
        measured: format!(
            "None of the paper's other policies is better in {} (places and rates). At {} fetches per link, {}.",
            often(&holds),
            RATES[1],
            in_the_middle(results, &["echo-newpages", "echo-schedule", "quota"])
        ),
        verdict: Verdict::of_all(holds),
    }
}

/// Why it may earn little.
const GREEDY_STARVES: &str = " It fetches all that it finds before it looks again, and so has no time to look where fetches are few; and it goes where most is waiting, \
    which is where it waited longest, however old that is.";

fn greedy(results: &[Results<'_>]) -> Claim {
    let holds = at_all_rates(results, |of, k| {
        of.earned("echo-greedy", k).mean() >= 0.8 * of.earned("echo-newpages", k).mean()
    });
    Claim {
        paper: "ECHO-greedy, which needs no schedule, earns nearly as much.".into(),
        measured: format!(
            "It earns at least 80 % of what ECHO-newpages does in {}. At {} fetches per link, {}.{}",
            often(&holds),
            RATES[1],
            in_the_middle(results, &["echo-greedy", "echo-newpages"]),
            if holds.contains(&false) { GREEDY_STARVES } else { "" }
        ),
        verdict: Verdict::of_all(holds),
    }
}

fn baselines(results: &[Results<'_>]) -> Claim {
    const BASE: [&str; 3] = ["bfs", "quota", "frequency"];
    let holds = at_all_rates(results, |of, k| of.behind(&BASE, "echo-newpages", k) == BASE.len());
    Claim {
        paper: "Breadth-first, fixed quotas, and frequency without clicks earn less than ECHO-newpages."
            .into(),
        measured: format!(
            "All three do in {}. At {} fetches per link, {}.",
            often(&holds),
            RATES[1],
            in_the_middle(results, &["bfs", "quota", "frequency"])
        ),
        verdict: Verdict::of_all(holds),
    }
}

/// How often as many fetches one policy needs as another, in a place; at least, if the first never gets there.
fn needs(of: &Results<'_>, one: &'static str, other: &'static str) -> Option<(f64, bool)> {
    let most = MORE[MORE.len() - 1];
    let other = of.enough(other)?;
    Some(of.enough(one).map_or((most / other, false), |one| (one / other, true)))
}

fn breadth_first(results: &[Results<'_>]) -> Claim {
    let searched = results.iter().filter(|of| of.place.is_busy());
    let ratios: Vec<(&str, Option<(f64, bool)>)> =
        searched.map(|of| (of.place.name(), needs(of, "bfs", "echo-newpages"))).collect();
    let told: Vec<String> = ratios
        .iter()
        .map(|(name, ratio)| match ratio {
            Some((ratio, exact)) => {
                format!("{name} {}{ratio:.1} times", if *exact { "" } else { "more than " })
            }
            None => format!(
                "{name}: not even ECHO-newpages gets there with {} fetches per link",
                MORE[MORE.len() - 1]
            ),
        })
        .collect();
    Claim {
        paper: "For 99 % of the bound breadth-first needs 1 fetch per second, ECHO 0.2: five times as many."
            .into(),
        measured: format!(
            "For {} of the bound it needs, of ECHO-newpages' fetches: {}. (At least 2.5 times agrees, more than once in part. Of the paper's sources most are worth next to nothing; here none is.)",
            percent(ENOUGH),
            told.join("; ")
        ),
        verdict: verdict_of_ratios(ratios.iter().filter_map(|(_, ratio)| ratio.map(|(ratio, _)| ratio))),
    }
}

/// Half of the paper's five times everywhere agrees; more fetches everywhere agrees in part; unclear if nobody got there.
fn verdict_of_ratios(ratios: impl Iterator<Item = f64>) -> Verdict {
    let ratios: Vec<f64> = ratios.collect();
    match ratios.iter().copied().reduce(f64::min) {
        None => Verdict::Unclear,
        Some(least) if least >= 2.5 => Verdict::Agrees,
        Some(least) if least > 1.0 => Verdict::Partly,
        Some(_) => Verdict::Disagrees,
    }
}

fn seldom(results: &[Results<'_>]) -> Claim {
    let all: Vec<(&str, &Repeated)> =
        results.iter().map(|of| (of.place.name(), &of.runs[&("echo-newpages", 1)].1)).collect();
    Claim {
        paper: "ECHO's schedule almost does not recrawl 70 % of the sources.".into(),
        measured: format!(
            "Less than once a week are visited, at {} fetches per link: {}. (50 to 90 % counts as agreeing.)",
            RATES[1],
            list(&all.iter().map(|(name, share)| format!("{name} {}", share.percent())).collect::<Vec<_>>())
        ),
        verdict: Verdict::of_all(all.iter().map(|(_, share)| (0.5..=0.9).contains(&share.mean()))),
    }
}

fn ours(results: &[Results<'_>]) -> Claim {
    let holds = at_all_rates(results, |of, k| of.is_not_behind("refrain", k));
    Claim {
        paper: "(Not in the paper.) Hubs and new pages in one currency, Refrain's policy, earn at least what the best of the paper's do.".into(),
        measured: format!(
            "None of them is better in {}. At {} fetches per link, {}.",
            often(&holds),
            RATES[1],
            in_the_middle(results, &["refrain", "echo-newpages"])
        ),
        verdict: Verdict::of_all(holds),
    }
}

/// Files have names that are known when the program is made.
pub(super) fn file_of(place: &Place<'_>, kind: [&'static str; 4]) -> &'static str {
    match place.name() {
        "by chance" => kind[0],
        "reddit" => kind[1],
        "bbc" => kind[2],
        _ => kind[3],
    }
}

fn chart(of: &Results<'_>) -> Chart {
    let curve = |name: &'static str| {
        let points = all_rates().enumerate().filter(|(k, _)| of.runs.contains_key(&(name, *k)));
        Curve {
            name: name.to_owned(),
            look: Look::Line,
            points: points.map(|(k, rate)| of.earned(name, k).measured().at(rate)).collect(),
        }
    };
    let curves: Vec<Curve> = OF_PAPER.into_iter().chain(["refrain"]).map(curve).collect();
    Chart {
        file: file_of(&of.place, ["rates-chance", "rates-reddit", "rates-bbc", "rates-hn"]),
        title: format!("Profit by crawl rate ({})", of.place.name()),
        x: magnitudes("fetches for each link that appears"),
        y: share_of("share of all profit", &curves),
        curves,
    }
}

fn table(of: &Results<'_>) -> Table {
    let row = |name: &'static str| {
        let cells = (0..RATES.len()).map(|k| of.earned(name, k).percent());
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    Table {
        file: file_of(&of.place, ["policies-chance", "policies-reddit", "policies-bbc", "policies-hn"]),
        title: format!("Profit in percent of the bound ({})", of.place.name()),
        columns: std::iter::once("policy".to_owned())
            .chain(RATES.map(|rate| format!("{rate} fetches per link")))
            .collect(),
        rows: OF_PAPER.into_iter().chain(["refrain", "miniflux"]).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeated::tests::always;
    use super::super::worlds::tests::{at_a_desk, small_set};
    use super::*;

    fn made_up(place: Place<'_>, newpages: f64, others: f64) -> Results<'_> {
        let mut runs = HashMap::new();
        for k in 0..RATES.len() {
            for name in OF_PAPER.into_iter().chain(["refrain"]) {
                let share = if name == "echo-newpages" { newpages } else { others };
                runs.insert((name, k), (always(share), always(0.7)));
            }
        }
        Results { place, runs }
    }

    #[test]
    fn verdicts_turn_with_the_numbers() {
        let set = small_set();
        let place = Place::Recorded(&set);
        let good = [made_up(place, 0.8, 0.7)];
        let bad = [made_up(place, 0.6, 0.7)];
        let both = [made_up(place, 0.8, 0.7), made_up(place, 0.6, 0.7)];
        for (results, verdict) in
            [(&good[..], Verdict::Agrees), (&bad[..], Verdict::Disagrees), (&both[..], Verdict::Partly)]
        {
            assert_eq!((best(results).verdict, baselines(results).verdict), (verdict, verdict));
        }
        assert_eq!(ours(&bad).verdict, Verdict::Agrees);
        assert_eq!(ours(&good).verdict, Verdict::Disagrees);
        assert_eq!(seldom(&good).verdict, Verdict::Agrees);
        assert_eq!(greedy(&good).verdict, Verdict::Agrees);
        assert_eq!(greedy(&[made_up(place, 0.9, 0.2)]).verdict, Verdict::Disagrees);
        assert_eq!(verdict_of_ratios([3.0, 2.6].into_iter()), Verdict::Agrees);
        assert_eq!(verdict_of_ratios([3.0, 2.0].into_iter()), Verdict::Partly);
        assert_eq!(verdict_of_ratios([3.0, 0.9].into_iter()), Verdict::Disagrees);
        assert_eq!(verdict_of_ratios(std::iter::empty()), Verdict::Unclear);
    }

    #[test]
    fn levels_are_found_between_points() {
        let points = [(1.0, 0.5), (4.0, 0.7), (16.0, 0.9)];
        assert_eq!(crossing(&points, 0.4), Some(1.0));
        assert!((crossing(&points, 0.8).unwrap() - 8.0).abs() < 1e-9);
        assert_eq!(crossing(&points, 0.95), None);
    }

    #[test]
    fn runs_count_hubs_that_are_left_alone() {
        let set = small_set();
        let world = Place::Recorded(&set).world(1, 0).unwrap();
        let numbers = |name, per_link| at_a_desk(|desk| measure(desk, name, &world, per_link)).unwrap();
        let [earned, seldom] = numbers("bfs", 4.0)[..] else { panic!("two numbers") };
        assert!(earned > 0.5 && seldom == 0.0, "{earned} {seldom}");
        let [_, seldom] = numbers("echo-newpages", 0.05)[..] else { panic!("two numbers") };
        assert!(seldom > 0.0, "{seldom}");
    }
}
