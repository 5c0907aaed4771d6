//! How the belief about a page came about: its looks, one after the other, through the estimator.

use maud::{Markup, html};
use refrain_core::estimate::history::History;
use refrain_core::estimate::observation::Observation;
use refrain_core::estimate::prior::Prior;
use refrain_core::estimate::{self, Posterior};
use refrain_core::time::Time;
use refrain_store::{self as store, Outcome};

use super::super::chart::{Chart, Points, Scale, Table, between, line, line_mark, moments};
use super::super::words;
use super::{SURE, Shown};
use crate::chart::{counted, short};
use crate::data::spelled;

const DAY: f64 = 86_400.0;

/// What was believed after a look: changes per day.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    time: Time,
    low: f64,
    mean: f64,
    high: f64,
}

impl Step {
    fn new(time: Time, belief: &Posterior) -> Self {
        let tail = 0.5 * (1.0 - SURE);
        let mean = belief.mean();
        // As in `Posterior::estimate`: where little is known the mean may lie above the upper bound.
        let (low, high) = (belief.quantile(tail).min(mean), belief.quantile(1.0 - tail).max(mean));
        Self { time, low: DAY * low, mean: DAY * mean, high: DAY * high }
    }
}

/// What would have been believed after each look, the earliest first, with what is known of pages like it now.
fn steps(looks: &[store::Observation], prior: &Prior) -> Vec<Step> {
    let mut history = History::default();
    let mut steps = Vec::new();
    for look in looks.iter().rev() {
        let answer = match look.outcome {
            Outcome::First => {
                steps.push(Step::new(look.time, &Posterior::of(&history, prior)));
                continue;
            }
            Outcome::Changed => estimate::Answer::Changed,
            Outcome::Unchanged => estimate::Answer::Unchanged,
            Outcome::NotModified => estimate::Answer::NotModified,
            _ => continue,
        };
        let Some(elapsed) = look.elapsed else { continue };
        let Ok(seen) = Observation::new(elapsed.as_secs(), 0, answer) else { continue };
        history.observe(&seen);
        steps.push(Step::new(look.time, &Posterior::of(&history, prior)));
    }
    steps
}

pub(super) fn draw(shown: &Shown) -> Markup {
    let (facts, now) = (&shown.facts, shown.facts.now);
    let prior = shown.prospect.as_ref().and_then(|(_, prospect)| prospect.prior);
    let prior = prior.and_then(|prior| Prior::gamma(prior.shape(), prior.rate()).ok()).unwrap_or_default();
    let mut steps = steps(&facts.looks, &prior);
    let counts = shown.past.history().counts();
    let says = format!(
        "About every {} ({:.0} %: {} to {}), from {} of its own and from pages like it.",
        words::every(facts.rate.rate),
        100.0 * SURE,
        facts.rate.high.map_or_else(|| "0 s".to_owned(), words::every),
        words::every(facts.rate.low),
        counted(counts.all.round() as usize, "interval"),
    );
    if steps.len() < 2 {
        return html! { p { (says) } p.soft { "There is nothing to draw before it was seen a second time." } };
    }
    // The belief holds until now.
    if let Some(last) = steps.last().copied() {
        steps.push(Step { time: now, ..last });
    }
    let first = steps[0].time;
    let whole = now.since(first).as_secs().max(1e-9);
    let place = |time: Time| time.since(first).as_secs() / whole;
    // What lies far below is next to nothing, and would take all the room.
    let least = steps.iter().map(|step| step.low.max(step.mean / 30.0)).fold(f64::INFINITY, f64::min);
    let most = steps.iter().map(|step| step.high).fold(0.0, f64::max);
    let scale = Scale::decades(least, most);
    let height = |rate: f64| scale.at(rate).clamp(0.0, 1.0);
    let (mut points, mut rows) = (Points::default(), Vec::new());
    for step in &steps {
        let (low, mean, high) = (short(step.low), short(step.mean), short(step.high));
        points
            .add(place(step.time), format!("{}: {mean} changes a day ({low} to {high})", spelled(step.time)));
        rows.push(vec![spelled(step.time), low, mean, high]);
    }
    // A belief stays as it is until the next look.
    let mut stairs = Vec::with_capacity(2 * steps.len());
    for pair in steps.windows(2) {
        stairs.extend([(place(pair[0].time), pair[0]), (place(pair[1].time), pair[0])]);
    }
    let band: Vec<(f64, f64, f64)> =
        stairs.iter().map(|(x, step)| (*x, height(step.low), height(step.high))).collect();
    let chart = Chart {
        id: "rate-over-time",
        title: "Changes a day, as believed after each look",
        says: says.clone(),
        class: "low",
        ys: scale.labels(short),
        xs: moments(first, now, 5),
        drawing: html! {
            path.wash d=(between(&band)) {}
            path.line d=(line(stairs.iter().map(|(x, step)| Some((*x, height(step.mean)))))) {}
        },
        points,
        legend: vec![
            (line_mark(""), "changes a day".to_owned()),
            (html! { rect.wash width="24" height="10" {} }, format!("{:.0} % interval", 100.0 * SURE)),
        ],
        table: Some(Table { head: vec!["time (UTC)", "low", "changes a day", "high"], rows }),
    };
    html! {
        p { (says) }
        (chart.html())
        p.small.soft { "Its looks one after the other through the estimator, beginning with what is known of pages like it now. Signals and the hours of the host are left out here." }
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::time::Span;
    use refrain_store::PageId;

    use super::*;

    #[test]
    fn looks_teach_one_after_the_other() {
        let at = |hours: i64| Time::from_nanos(hours * 3_600_000_000_000);
        let look = |hours: i64, outcome, elapsed: Option<u64>| store::Observation {
            id: hours,
            page: PageId(1),
            time: at(hours),
            elapsed: elapsed.map(|hours| Span::from_whole_secs(3600 * hours)),
            outcome,
            counted: None,
            status: Some(200),
            bytes: 0,
            duration: Span::ZERO,
            digest: None,
        };
        // The latest first, as the store has them.
        let mut looks: Vec<_> = (2..40).map(|hours| look(hours, Outcome::Unchanged, Some(1))).collect();
        looks.insert(0, look(1, Outcome::Changed, Some(1)));
        looks.insert(0, look(0, Outcome::First, None));
        looks.push(look(40, Outcome::Failed, None));
        looks.reverse();
        let steps = steps(&looks, &Prior::default());
        assert_eq!(steps.len(), 40, "who saw nothing learned nothing");
        assert!(steps[1].mean > steps[0].mean && steps[39].mean < steps[1].mean);
        assert!(steps.iter().all(|step| step.low <= step.mean && step.low < step.high));
        let width = |step: &Step| step.high / step.low.max(1e-300);
        assert!(width(&steps[39]) < width(&steps[0]), "it gets surer");
        // Next to nothing is known: most of the belief is near 0, and its mean is above that.
        let vague = Step::new(at(1), &Posterior::new(0.01, 1.0).unwrap());
        assert!(vague.low <= vague.mean && vague.mean <= vague.high, "{vague:?}");
    }
}
