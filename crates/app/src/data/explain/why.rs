//! Why a page is fetched, or not, in a sentence or two. A sentence is said only if the state implies it; what is not known is said to be unknown.

use refrain_core::time::{Span, Time};
use refrain_engine::RobotsSay;
use refrain_store::{Observation, PageState, Role};

use super::sheet::{age, fetches, from_now, times};
use super::{Facts, Left};
use crate::chart::{percent, short};
use crate::data::harmless::harmless;
use crate::data::spelled;
use crate::units;

/// The answer, without the period at the end.
pub(crate) fn why(facts: &Facts) -> String {
    if let Some(excluded) = excluded(facts) {
        return excluded;
    }
    if let Some(left) = facts.left {
        return when_left(facts, left);
    }
    if let Some(held_up) = held_up(facts) {
        return held_up;
    }
    match (&facts.standing, facts.page.fetched) {
        (None, None) => "It was never fetched: no crawl has run here yet".to_owned(),
        (None, Some(fetched)) => format!("{}; no crawl has run here yet", copy(facts, fetched)),
        (Some(_), None) if is_redirect(facts) => {
            let target = facts.page.redirect.as_deref().map(|target| format!(" to {}", harmless(target)));
            format!("It redirects{}; it is asked for again once a day", target.unwrap_or_default())
        }
        (Some(_), None) => format!("It was never fetched{}", turn(facts)),
        (Some(_), Some(fetched)) => format!("{}{}", copy(facts, fetched), turn(facts)),
    }
}

/// Whether the last answer led elsewhere.
fn is_redirect(facts: &Facts) -> bool {
    facts.page.status.is_some_and(|status| (300..400).contains(&status) && status != 304)
}

/// Why it is not crawled at all.
fn excluded(facts: &Facts) -> Option<String> {
    let page = &facts.page;
    match page.state {
        PageState::Paused => {
            Some("It is paused: it is not fetched until somebody takes that back".to_owned())
        }
        PageState::Gone => {
            let said = page.status.map_or_else(String::new, |status| format!(" ({status})"));
            Some(format!(
                "It is gone, its server says{said}: it is asked for again after an hour, then after two, up to two months"
            ))
        }
        PageState::Disallowed => {
            let rule = match &facts.robots {
                Some(RobotsSay::Disallowed(rule)) => format!(" ({})", harmless(rule)),
                _ => String::new(),
            };
            Some(format!(
                "It is not fetched: robots.txt forbids it{rule}; while a crawl runs, that is read again once a day"
            ))
        }
        PageState::Active if facts.host.paused => {
            Some("Its host is paused: nothing is fetched from it until somebody takes that back".to_owned())
        }
        PageState::Active => None,
    }
}

/// How the last crawl left it.
fn when_left(facts: &Facts, left: Left) -> String {
    let when = if left.ended {
        format!("No crawl runs here. The last one ended {} ago", age(facts, left.time))
    } else {
        format!("No crawl seems to run here. The last one wrote nothing for {}", age(facts, left.time))
    };
    let Some(fetched) = facts.page.fetched else { return format!("{when}, and never fetched it") };
    let stale = facts
        .believed
        .stale
        .map_or_else(String::new, |stale| format!(", and stale with a probability of {}", percent(stale)));
    let old = units::about(left.time.since(fetched));
    let price = facts.standing.as_ref().and_then(|standing| standing.price);
    let worth = match (facts.value, price) {
        (Some(value), Some(price)) => {
            format!("; a fetch was worth {}, and had to be worth {}", short(value), short(price.value))
        }
        (Some(value), None) => format!("; a fetch was worth {}", short(value)),
        (None, _) => String::new(),
    };
    format!("{when}; then its copy was {old} old{stale}{worth}")
}

/// What keeps a crawl from fetching it, whatever it is worth.
fn held_up(facts: &Facts) -> Option<String> {
    if facts.is_under_way {
        return Some("It is being fetched at this moment".to_owned());
    }
    if let Some(until) = facts.host.back_off_until.filter(|until| *until > facts.now) {
        return Some(format!(
            "It waits for its host, which is left alone until {} ({})",
            spelled(until),
            from_now(facts, until)
        ));
    }
    let until = facts.outlook.and_then(|outlook| outlook.not_before)?;
    Some(format!(
        "It failed {} in a row, and is tried again from {} on ({})",
        times(facts.page.failures),
        spelled(until),
        from_now(facts, until)
    ))
}

fn copy(facts: &Facts, fetched: Time) -> String {
    match facts.believed.stale {
        Some(stale) => {
            format!(
                "Its copy is {} old, and stale with a probability of {}",
                age(facts, fetched),
                percent(stale)
            )
        }
        None => format!("Its copy is {} old", age(facts, fetched)),
    }
}

/// When it is fetched, as far as value and price say.
fn turn(facts: &Facts) -> String {
    if facts.page.origin.role != Role::Page {
        return format!(
            "; it is a {}, visited for what it announces, not for its copy",
            facts.page.origin.role.as_str()
        );
    }
    let Some(value) = facts.value else { return "; what a fetch is worth is not known".to_owned() };
    let value_is = format!("a fetch is worth {}", short(value));
    let Some(price) = facts.standing.as_ref().and_then(|standing| standing.price) else {
        return format!(
            "; {value_is}; what it must be worth is not known yet, as no page that had a copy was fetched"
        );
    };
    if !price.is_settled() {
        let fetches = fetches(price.fetches.unwrap_or(0));
        return format!(
            "; {value_is}; what it must be worth is not settled yet (about {}, from {fetches})",
            short(price.value)
        );
    }
    match facts.outlook.and_then(|outlook| outlook.due) {
        Some(due) if due <= facts.now => {
            ": it is worth a fetch, as soon as the budget and its host have one".to_owned()
        }
        Some(due) => format!("; its turn is expected at {} ({})", spelled(due), from_now(facts, due)),
        None if facts.page.importance == 0.0 => {
            "; its importance is 0, so no fetch is worth anything".to_owned()
        }
        None => match pace(facts) {
            Some(every) => format!(
                "; it was fetched about every {} lately, below the price ({}), when no other page was worth more",
                units::about(every),
                short(price.value)
            ),
            None => format!(
                "; at the present price ({}) waiting alone never makes it worth a fetch: a signal would, or a lower price",
                short(price.value)
            ),
        },
    }
}

/// The mean time between its last fetches, if it is still fetched at that pace.
fn pace(facts: &Facts) -> Option<Span> {
    let again: Vec<&Observation> = facts
        .looks
        .iter()
        .filter(|look| look.outcome.is_fresh() && look.elapsed.is_some())
        .take(10)
        .collect();
    let last = again.first()?;
    let sum: f64 = again.iter().filter_map(|look| look.elapsed).map(Span::as_secs).sum();
    let mean = sum / again.len() as f64;
    // Two fetches make no pace; one that was to come long ago is none any more.
    (again.len() >= 2 && facts.now.since(last.time).as_secs() <= 3.0 * mean).then(|| Span::from_secs(mean))
}

#[cfg(test)]
mod tests;
