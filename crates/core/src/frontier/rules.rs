//! Schedules by rule, as the field's crawlers have them: when a page is due says its interval, not its value.
//!
//! A page is worth 1 at the moment it is due, so the price of a rule is 1 ([`Rules::budget`]): nobody is fetched before. Among
//! those that are due the most overdue goes first (a queue sorted by date), or the one of the highest score.

use super::HostId;
use super::model::{Model, ahead, not_after};
use super::pace::Budget;
use super::race::Look;
use crate::estimate::Observation;
use crate::page::SinceFetch;
use crate::time::{Span, Time};

const MINUTE: f32 = 60.0;
const DAY: f32 = 86_400.0;
/// A page that is overdue by so many seconds is worth e.
const OVERDUE: f64 = 86_400.0;

/// How the interval of a page follows from what its fetches saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Always the same (Frontera, changedetection.io).
    Every(Span),
    /// Nutch's adaptive schedule: changed ×0.8, unchanged ×1.4, from a minute to a year, 30 days at first. With `sync` it
    /// tries to meet the rhythm of the page, if that says when it was changed.
    Nutch {
        /// Whether the dates of changes count.
        sync: bool,
    },
    /// StormCrawler's adaptive schedule: changed half way down to an hour, unchanged ×1.5 up to two weeks, a day at first.
    StormCrawler,
    /// Norconex's trust in sitemaps: when there was a signal, and never else.
    Announced,
}

/// A page under a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RulePage {
    /// The interval that the rule has come to, in seconds.
    interval: f32,
    /// When it is due, in seconds after the fetch.
    due: f32,
    score: f32,
}

impl RulePage {
    /// The interval that the rule has come to, in seconds.
    pub fn interval(&self) -> f64 {
        f64::from(self.interval)
    }
}

/// A frontier that follows a rule.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    rule: Rule,
}

impl Rules {
    /// This rule for all pages.
    pub fn new(rule: Rule) -> Self {
        Self { rule }
    }

    /// Whatever is due, at most so many fetches per second.
    pub fn budget(cap: f64) -> Budget {
        Budget::Price { price: 1.0, cap }
    }

    /// A new page. Only Nutch and Norconex look at the score.
    pub fn page(&self, score: f32) -> RulePage {
        let interval = match self.rule {
            Rule::Every(span) => span.as_secs() as f32,
            Rule::Nutch { .. } => 30.0 * DAY,
            Rule::StormCrawler => DAY,
            Rule::Announced => f32::INFINITY,
        };
        let score = if score.is_finite() { score.max(0.0) } else { 0.0 };
        RulePage { interval, due: interval, score }
    }

    /// Whether the score decides among those that are due.
    fn by_score(&self) -> bool {
        matches!(self.rule, Rule::Nutch { .. } | Rule::Announced)
    }

    /// When a page is due, in seconds after its fetch; infinite if it never is.
    pub fn due(&self, page: &RulePage, since: &SinceFetch) -> f64 {
        match self.rule {
            Rule::Announced if since.signals() > 0 => 0.0,
            _ => f64::from(page.due),
        }
    }
}

impl Model for Rules {
    type Page = RulePage;
    type Past = ();

    fn value(&self, page: &RulePage, since: &SinceFetch, now: Time) -> f64 {
        let elapsed = since.elapsed(now).as_secs();
        let due = self.due(page, since);
        if elapsed >= due && self.by_score() {
            return 1.0 + f64::from(page.score);
        }
        if due == f64::INFINITY {
            // Never due, but not all alike: who is alike cannot sleep.
            return 0.5 * elapsed / (elapsed + OVERDUE);
        }
        // What is centuries overdue is overdue.
        ((elapsed - due) / OVERDUE).min(700.0).exp()
    }

    fn reaches(&self, page: &RulePage, since: &SinceFetch, _now: Time, level: f64, _near: bool) -> Time {
        let due = self.due(page, since);
        let elapsed = if due == f64::INFINITY {
            (level < 0.5).then(|| OVERDUE * 2.0 * level / (1.0 - 2.0 * level))
        } else if self.by_score() && level > 1.0 {
            (level <= 1.0 + f64::from(page.score)).then_some(due)
        } else {
            Some(due + OVERDUE * level.ln())
        };
        not_after(since.fetched(), elapsed)
    }

    fn look(&self, page: &RulePage, since: &SinceFetch, now: Time) -> Look {
        let value = self.value(page, since, now);
        let due = self.due(page, since);
        if self.by_score() {
            // It jumps when it is due.
            let over = since.elapsed(now).as_secs() >= due;
            return Look {
                value,
                growth: if over { 0.0 } else { f64::INFINITY },
                until: if over { Time::MAX } else { now },
                ..Look::NOTHING
            };
        }
        let until = ahead(since, now);
        Look { value, growth: self.value(page, since, until) / OVERDUE, until, tight: true, ..Look::NOTHING }
    }

    fn sooner(&self, _page: &RulePage) -> Option<Span> {
        match self.rule {
            Rule::Announced => None,
            _ => Some(Span::ZERO),
        }
    }

    fn are_alike(&self, one: &RulePage, other: &RulePage) -> bool {
        one == other
    }

    fn observe(
        &mut self,
        page: &mut RulePage,
        _past: &mut (),
        _host: HostId,
        _now: Time,
        seen: &Observation,
    ) {
        self.see(page, seen);
    }
}

impl Rules {
    /// A fetch saw this: the next interval.
    pub fn see(&self, page: &mut RulePage, seen: &Observation) {
        let changed = seen.changed();
        page.interval = match self.rule {
            Rule::Every(_) | Rule::Announced => page.interval,
            Rule::Nutch { .. } => page.interval * if changed { 0.8 } else { 1.4 },
            Rule::StormCrawler if changed => (0.5 * page.interval + 30.0 * MINUTE).max(60.0 * MINUTE),
            Rule::StormCrawler => (1.5 * page.interval).min(20_160.0 * MINUTE),
        };
        page.due = page.interval;
        if let Rule::Nutch { sync } = self.rule {
            let content_age = seen.content_age().filter(|_| sync).map(|age| age as f32);
            if let Some(age) = content_age {
                page.interval = page.interval.max(age);
            }
            page.interval = page.interval.clamp(MINUTE, 365.0 * DAY);
            page.due = (page.interval - 0.3 * content_age.unwrap_or(0.0)).max(MINUTE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Answer;
    use crate::frontier::{Frontier, Manners, Outcome, PageId, Settings};

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn frontier(rule: Rule, scores: &[f32]) -> (Frontier<Rules>, Vec<PageId>) {
        let rules = Rules::new(rule);
        let mut frontier =
            Frontier::new(rules, Rules::budget(1000.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners { in_flight: 100, ..Manners::default() });
        let pages = scores
            .iter()
            .map(|score| frontier.insert(Time::ZERO, rules.page(*score), host, Time::ZERO).unwrap())
            .collect();
        (frontier, pages)
    }

    /// The fetch times of one page, as told by the frontier itself.
    fn times(rule: Rule, answers: &[Answer]) -> Vec<f64> {
        let (mut frontier, _) = frontier(rule, &[1.0]);
        answers
            .iter()
            .map(|answer| {
                let mut now = frontier.next_wakeup().unwrap();
                let order = loop {
                    if let Some(order) = frontier.poll(now).unwrap() {
                        break order;
                    }
                    let next = frontier.next_wakeup().unwrap();
                    assert!(next > now, "a wakeup that changes nothing");
                    now = next;
                };
                frontier.answer(now, order.id, Outcome::Seen(*answer), None).unwrap();
                now.since(Time::ZERO).as_secs()
            })
            .collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        }
    }

    #[test]
    fn intervals_follow_the_rules() {
        use Answer::{Changed, Unchanged};
        let day = 86_400.0;
        let three = [Changed, Unchanged, Changed];
        near(&times(Rule::Every(Span::from_whole_secs(86_400)), &three), &[day, 2.0 * day, 3.0 * day]);
        near(
            &times(Rule::Nutch { sync: false }, &three),
            &[30.0 * day, 54.0 * day, (54.0 + 24.0 * 1.4) * day],
        );
        // 1440 minutes, 750, 1125.
        near(&times(Rule::StormCrawler, &three), &[86_400.0, 131_400.0, 198_900.0]);
    }

    #[test]
    fn nutch_follows_the_dates_of_changes() {
        let (mut frontier, pages) = frontier(Rule::Nutch { sync: true }, &[1.0]);
        let day = 86_400.0;
        let now = at(30.0 * day + 1.0);
        let order = frontier.poll(now).unwrap().unwrap();
        // Unchanged: 42 days; last changed 50 days ago: 50 days, of which 15 are taken off.
        let seen = Outcome::Dated { answer: Answer::Unchanged, modified: now - Span::from_secs(50.0 * day) };
        frontier.answer(now, order.id, seen, None).unwrap();
        assert!((frontier.page(pages[0]).unwrap().0.interval() - 50.0 * day).abs() < 10.0);
        assert!(frontier.poll(now + Span::from_secs(34.9 * day)).unwrap().is_none());
        assert!(frontier.poll(now + Span::from_secs(35.1 * day)).unwrap().is_some());
    }

    #[test]
    fn the_announced_are_fetched_and_no_others() {
        let (mut frontier, pages) = frontier(Rule::Announced, &[1.0, 3.0, 2.0]);
        assert_eq!(frontier.poll(at(1e8)).unwrap(), None);
        assert!(frontier.next_wakeup().is_none_or(|next| next > at(1e8)));
        for page in [0, 2] {
            frontier.signal(at(1e8), pages[page]).unwrap();
        }
        let mut polled = |later: f64| frontier.poll(at(1e8 + later)).unwrap().map(|order| order.page);
        assert_eq!([polled(1.0), polled(2.0), polled(3.0)], [Some(pages[2]), Some(pages[0]), None]);
    }

    #[test]
    fn the_most_overdue_go_first() {
        let rules = Rules::new(Rule::Every(Span::from_whole_secs(100)));
        let mut frontier = Frontier::new(rules, Rules::budget(1.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners { in_flight: 100, ..Manners::default() });
        for age in [10.0, 30.0, 20.0] {
            frontier.insert(at(50.0), rules.page(1.0), host, at(50.0 - age)).unwrap();
        }
        let picks: Vec<u32> =
            (0..3).map(|k| frontier.poll(at(200.0 + f64::from(k))).unwrap().unwrap().page.index()).collect();
        assert_eq!(picks, [1, 2, 0]);
    }
}
