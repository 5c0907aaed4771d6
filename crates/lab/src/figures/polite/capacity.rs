//! Fig 5: plans for more or fewer fetches than the crawlers can make.

use super::super::{Axis, Chart, Claim, Desk, FigureError, Findings, Scaling, Verdict};
use super::world::{PSP, Place, REFRAIN, Size, World, curves, places, table};

/// As shares of what crawlers can make.
const BUDGETS: [f64; 11] = [0.25, 0.5, 0.75, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0];

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let size = Size::of(desk);
    let world = |share: f64| World {
        size,
        pages: 1.0,
        rates: 0.0,
        budget: (share * size.capacity() as f64).round() as u64,
    };
    let cells: Vec<_> =
        BUDGETS.iter().flat_map(|share| world(*share).cells(&format!("R = {share}"), desk.seed)).collect();
    let places = places(&BUDGETS, &desk.measure(&cells)?, size);
    let at = |share: f64, name: usize| -> f64 {
        let place = places.iter().find(|place| place.x == share);
        place.map_or(f64::NAN, |place| place.mean(name))
    };
    let best = least(&places, PSP);
    let (half, full, double) = (at(0.5, PSP), at(1.0, PSP), at(2.0, PSP));
    let claims = vec![
        Claim {
            paper: "Staleness has its minimum where R is what the crawlers can really make.".to_owned(),
            measured: format!("the minimum of PSP, {:.4}, is at {} times that", best.mean(PSP), best.x),
            verdict: Verdict::of(best.x == 1.0, (best.x - 1.0).abs() <= 0.1),
        },
        Claim {
            paper: "With a smaller R, crawlers make fewer fetches than they could, and copies are staler.".to_owned(),
            measured: format!("{half:.4} at half of it, {full:.4} at all of it"),
            verdict: Verdict::of(half > full, false),
        },
        Claim {
            paper: "With a greater R, less important fetches take the place of more important ones, and copies are staler.".to_owned(),
            measured: format!("{double:.4} at twice of it, {full:.4} at all of it"),
            verdict: Verdict::of(double > full, false),
        },
    ];
    let (ours, ours_twice) = (at(1.0, REFRAIN), at(2.0, REFRAIN));
    Ok(Findings {
        asked:
            "A plan needs to know how many fetches there will be. What if one expects too many, or too few?"
                .to_owned(),
        setting: format!(
            "{} Pages per host by Zipf's law with exponent 1; rates uniform from once in 100 hours to once an hour. R is what the plan allows for.",
            size.said()
        ),
        claims,
        use_of_it: format!(
            "`refrain plan` knows how fast its crawlers are and plans for no more fetches than they can make: it is at {ours:.4} with the right R and at {ours_twice:.4} with twice as many."
        ),
        charts: vec![Chart {
            file: "staleness",
            title: "Staleness over the number of fetches that is planned for".to_owned(),
            x: Axis {
                label: "R, as a multiple of the fetches that crawlers can make".to_owned(),
                scaling: Scaling::Linear,
                range: None,
            },
            y: Axis {
                label: "share of the day in which a copy is stale, mean over pages".to_owned(),
                scaling: Scaling::Share,
                range: None,
            },
            curves: curves(&places),
        }],
        tables: vec![table("R", &places, |share| format!("{share} × capacity"))],
        ..Findings::default()
    })
}

fn least(places: &[Place], name: usize) -> &Place {
    let mut best = &places[0];
    for place in places {
        if place.mean(name) < best.mean(name) {
            best = place;
        }
    }
    best
}
