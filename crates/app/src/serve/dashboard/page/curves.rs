//! What a fetch is worth, moment by moment, and the price: where they meet, the page's turn comes.

use maud::{Markup, html};
use refrain_core::time::{Span, Time};
use refrain_engine::PageNow;
use refrain_store::PageRecord;

use super::super::chart::{
    Chart, HEIGHT, Points, Scale, Table, WIDTH, dot, line, line_mark, moments as labels, one, rule_mark,
};
use super::Shown;
use crate::chart::short;
use crate::data::spelled;
use crate::units;

/// Nobody looks further ahead.
const FURTHEST: f64 = 400.0 * 86_400.0;

/// Moments from the last fetch to some time after the page's turn comes.
pub(super) fn moments(page: &PageRecord, is: &PageNow, now: Time, count: usize) -> Vec<Time> {
    let from = page.fetched.unwrap_or(page.added).min(now);
    let age = now.since(from).as_secs().max(1.0);
    let turn = is.due.map(|due| due.since(from).as_secs());
    // If its turn never comes, as long again; or until it will have changed with some certainty.
    let change = is.changes.map_or(age, |changes| 1.0 / changes.mean());
    let whole = turn
        .map_or((2.0 * age).max(2.0 * change), |turn| (1.35 * turn.max(age)).max(age + 1.0))
        .min(FURTHEST.max(1.1 * age));
    (0..=count).map(|step| from + Span::from_secs(whole * step as f64 / count as f64)).collect()
}

pub(super) fn value(shown: &Shown) -> Markup {
    let (facts, now) = (&shown.facts, shown.facts.now);
    let (Some(is), Some((at, prospect))) = (&shown.is, &shown.prospect) else {
        let why = if facts.left.is_some() {
            "The crawl is over: nothing is fetched any more."
        } else {
            "It is not crawled at the moment, so a fetch has no value."
        };
        return html! { p.soft { (why) } };
    };
    let Some(price) = is.price else {
        return html! { p.soft { "A fetch is worth " (short(is.value)) " now. What it must be worth is not known yet: no page that had a copy was fetched." } };
    };
    let is_settled = price.is_settled();
    let price = price.value;
    if facts.page.fetched.is_none() {
        return html! { p.soft { "It has no copy yet. Its first fetch is worth " (short(is.value)) " now; the price is " (short(price)) "." } };
    }
    let (from, to) = (at[0], at[at.len() - 1]);
    let whole = to.since(from).as_secs().max(1e-9);
    let place = |time: Time| time.since(from).as_secs() / whole;
    let most = prospect.values.iter().copied().fold(price, f64::max).max(is.value.min(1e90));
    let scale = Scale::up_to(most);
    let (mut points, mut rows) = (Points::default(), Vec::new());
    for (time, value) in at.iter().zip(&prospect.values) {
        let is_worth = if *value >= price { "worth the price" } else { "not worth it yet" };
        points.add(
            place(*time),
            format!("{}: {}, {is_worth} ({})", spelled(*time), short(*value), short(price)),
        );
        rows.push(vec![spelled(*time), short(*value), short(price)]);
    }
    let level = one(HEIGHT * (1.0 - scale.at(price)));
    let today = one(WIDTH * place(now).clamp(0.0, 1.0));
    let meet = is.due.filter(|due| *due > now);
    let says = match is.due {
        _ if !is_settled => {
            "What a fetch must be worth is not settled yet: few pages that had a copy were fetched so far."
                .to_owned()
        }
        Some(due) if due <= now => "A fetch is worth the price now.".to_owned(),
        Some(due) => {
            format!("Value and price meet at {}, in {}.", spelled(due), units::about(due.since(now)))
        }
        None => "At this price waiting alone never makes a fetch worth it.".to_owned(),
    };
    let chart = Chart {
        id: "value-curve",
        title: "Value of a fetch over time, and the price",
        says: says.clone(),
        class: "",
        ys: scale.labels(short),
        xs: labels(from, to, 5),
        drawing: html! {
            line.mark.price x1="0" x2=(WIDTH) y1=(level) y2=(level) {}
            path.line d=(line(at.iter().zip(&prospect.values).map(|(time, value)| Some((place(*time), scale.at(*value)))))) {}
            line.mark x1=(today) x2=(today) y1="0" y2=(HEIGHT) {}
            path.pin.ring d=(dot(place(now), scale.at(is.value.min(most)))) {}
            @if let Some(due) = meet { path.pin d=(dot(place(due), scale.at(price))) {} }
        },
        points,
        legend: vec![
            (
                line_mark(""),
                format!("value: seconds of fresh copy, times importance; now {}", short(is.value)),
            ),
            (rule_mark("price"), format!("price: {}", short(price))),
            (html! { path.mark d="M12 0V10" {} }, "now".to_owned()),
        ],
        table: Some(Table { head: vec!["time (UTC)", "value", "price"], rows }),
    };
    html! { p { (says) } (chart.html()) }
}
