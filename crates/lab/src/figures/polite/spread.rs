//! Fig 3 and 4: staleness over the exponent of Zipf's law, of pages on hosts, and of rates.

use super::super::{Axis, Chart, Claim, Desk, FigureError, Findings, Scaling, Verdict};
use super::world::{
    INF_CRAWLERS, M_WOLF, MP2, NON_POLITE, PSP, Place, REFRAIN, Size, WP, World, above, above_bound, better,
    curves, farthest, places, table,
};

const EXPONENTS: [f64; 9] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0];
/// Bounds and plans that differ by less are extremely close.
const EXTREMELY_CLOSE: f64 = 0.005;
/// Close to a bound: a few percent.
const CLOSE: f64 = 0.05;

/// Fig 3.
pub(super) fn of_pages(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let size = Size::of(desk);
    let places =
        measure(desk, size, |theta| World { size, pages: theta, rates: 0.0, budget: size.capacity() })?;
    let politeness: Vec<f64> = places.iter().map(|place| place.mean(WP) - place.mean(NON_POLITE)).collect();
    let grows = politeness.windows(2).filter(|pair| pair[1] >= pair[0] - 1e-4).count();
    let (wolf, bound) = (above(&places, M_WOLF, PSP), above(&places, PSP, WP));
    let mut claims = vec![better_than_mp2(&places), close_to_infinity(&places)];
    claims.push(Claim {
        paper: "PSP is close to WP, the bound for all polite plans: 3 % above it on average.".to_owned(),
        measured: format!(
            "{} above it on average, {} at θ = 1",
            percent(bound),
            percent(places[4].above(PSP, WP).mean)
        ),
        verdict: Verdict::of((bound - 0.03).abs() <= 0.01, bound <= CLOSE),
    });
    claims.push(Claim {
        paper: "M-Wolf, which plans without politeness and then obeys it, is 9.5 % staler than PSP on average.".to_owned(),
        measured: format!(
            "{} staler on average, {} at θ = 1; the average depends on which exponents there are, which the paper does not say",
            percent(wolf),
            percent(places[4].above(M_WOLF, PSP).mean)
        ),
        verdict: Verdict::of((wolf - 0.095).abs() <= 0.025, wolf > 0.05),
    });
    claims.push(Claim {
        paper: "Politeness (WP against NonPolite) costs the more, the more pages are on few hosts."
            .to_owned(),
        measured: format!(
            "from {:.4} at θ = 0 to {:.4} at θ = 2, rising at {grows} of {} steps",
            politeness[0],
            politeness[politeness.len() - 1],
            politeness.len() - 1
        ),
        verdict: Verdict::of(grows + 1 == politeness.len(), grows + 2 >= politeness.len()),
    });
    Ok(findings(
        &places,
        "Pages are on hosts, and hosts may be asked only so often. If most pages are on few hosts, those hosts cannot be asked often enough for all their pages. How stale do copies get, and \
         which plan comes closest to what is possible?",
        found(&places),
        format!(
            "{} Pages per host by Zipf's law with exponent θ; rates uniform from once in 100 hours to once an hour.",
            size.said()
        ),
        "θ: how unevenly pages are spread over hosts (Zipf's exponent)",
        claims,
    ))
}

/// Fig 4.
pub(super) fn of_rates(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let size = Size::of(desk);
    let places =
        measure(desk, size, |theta| World { size, pages: 1.0, rates: theta, budget: size.capacity() })?;
    let wolf = better(&places, PSP, M_WOLF);
    let bound = above(&places, PSP, WP);
    let mut claims = vec![better_than_mp2(&places), close_to_infinity(&places)];
    claims.push(Claim {
        paper: "PSP is better than M-Wolf for every distribution of rates.".to_owned(),
        measured: format!(
            "better at {wolf} of {} exponents, by {} on average",
            places.len(),
            percent(above(&places, M_WOLF, PSP))
        ),
        verdict: Verdict::of(wolf == places.len(), wolf * 2 > places.len()),
    });
    claims.push(Claim {
        paper: "PSP is close to the bound WP.".to_owned(),
        measured: format!(
            "{} above it on average, {} at most",
            percent(bound),
            percent(farthest(&places, PSP, WP))
        ),
        verdict: Verdict::of(farthest(&places, PSP, WP) <= CLOSE, bound <= CLOSE),
    });
    Ok(findings(
        &places,
        "Some pages change every hour, most hardly ever. Does the plan that suits pages of all kinds also suit a web in which few pages change often?",
        None,
        format!(
            "{} Pages per host by Zipf's law with exponent 1. The paper draws rates by Zipf's law but does not say over which values: here they are between once in 100 hours and once an \
             hour, with a density that falls with the power θ, so that θ = 0 is the uniform distribution of the other figures.",
            size.said()
        ),
        "θ: how few pages change often (exponent of the density of rates)",
        claims,
    ))
}

fn measure(desk: &Desk<'_>, size: Size, world: impl Fn(f64) -> World) -> Result<Vec<Place>, FigureError> {
    let cells: Vec<_> =
        EXPONENTS.iter().flat_map(|theta| world(*theta).cells(&format!("θ = {theta}"), desk.seed)).collect();
    Ok(places(&EXPONENTS, &desk.measure(&cells)?, size))
}

fn better_than_mp2(places: &[Place]) -> Claim {
    let better = better(places, PSP, MP2);
    Claim {
        paper: "PSP is less stale than MP2: to merge the fetches of a host pays.".to_owned(),
        measured: format!(
            "less stale at {better} of {} exponents, by {} on average",
            places.len(),
            percent(above(places, MP2, PSP))
        ),
        verdict: Verdict::of(better == places.len(), better * 2 > places.len()),
    }
}

fn close_to_infinity(places: &[Place]) -> Claim {
    let far = farthest(places, PSP, INF_CRAWLERS);
    Claim {
        paper: "PSP is extremely close to InfCrawlers: giving fetches to whichever crawler is free loses nothing.".to_owned(),
        measured: format!("at most {} from it", percent(far)),
        verdict: Verdict::of(far <= EXTREMELY_CLOSE, far <= 4.0 * EXTREMELY_CLOSE),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// At the exponent of the paper's table.
fn found(places: &[Place]) -> Option<String> {
    let place = places.iter().find(|place| place.x == 1.0)?;
    let percent = |name: usize| percent(place.mean(name));
    Some(format!(
        "If few servers have most pages, copies are stale for {} of a day even under a plan that no polite crawler can beat. The paper's plan comes to {}, Refrain's to {}; whoever \
         plans without politeness and then obeys it, to {}.",
        percent(WP),
        percent(PSP),
        percent(REFRAIN),
        percent(M_WOLF)
    ))
}

fn findings(
    places: &[Place],
    asked: &str,
    found: Option<String>,
    setting: String,
    axis: &str,
    claims: Vec<Claim>,
) -> Findings {
    let (psp, ours) = (above(places, PSP, WP), above(places, REFRAIN, WP));
    Findings {
        asked: asked.to_owned(),
        found,
        setting,
        claims,
        use_of_it: format!(
            "`refrain plan` makes the paper's plans and its own, gives the times of each host to the pages that gain most there, and keeps the best: {} above the bound on average, where PSP is {} above it.",
            percent(ours),
            percent(psp)
        ),
        charts: vec![
            Chart {
                file: "staleness",
                title: "How stale copies are over a day".to_owned(),
                x: Axis { label: axis.to_owned(), scaling: Scaling::Linear, range: None },
                y: Axis {
                    label: "share of the day in which a copy is stale, mean over pages".to_owned(),
                    scaling: Scaling::Share,
                    range: None,
                },
                curves: curves(places),
            },
            Chart {
                file: "above-bound",
                title: "The same, as far as it is above WP, which no polite plan can beat".to_owned(),
                x: Axis { label: axis.to_owned(), scaling: Scaling::Linear, range: None },
                y: Axis {
                    label: "staleness above the bound, as a share of it".to_owned(),
                    scaling: Scaling::Share,
                    range: None,
                },
                curves: above_bound(places),
            },
        ],
        tables: vec![table("θ", places, |theta| theta.to_string())],
    }
}
