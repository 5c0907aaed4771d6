//! A line of the log, as it is written and as it is read. Times are seconds since 1970, spans are seconds.

use refrain_core::frontier::Budget;
use refrain_core::time::{Span, Time};
use refrain_engine::Decision;
use refrain_store::PageRecord;
use serde::{Deserialize, Serialize};

/// A line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub(crate) enum Line {
    /// A crawl begins, here or again.
    Begins {
        time: f64,
        #[serde(flatten)]
        budget: Spent,
    },
    /// Nothing was written meanwhile: decisions came too fast.
    Missed { since: f64, time: f64, count: u64 },
    /// The budget, where it changes and at the head of a file.
    Budget {
        time: f64,
        #[serde(flatten)]
        budget: Spent,
    },
    /// Introduces a page. Said again it holds from there on.
    Page { page: i64, url: String, host: String, importance: f64, role: String },
    /// A page is to be fetched. The price is left out while it is not known.
    Fetch {
        time: f64,
        page: i64,
        value: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        price: Option<f64>,
        first: bool,
        importance: f64,
    },
    /// A look is over.
    Look { time: f64, page: i64, outcome: String, elapsed: Option<f64> },
    /// A page was said to have changed.
    Signal { time: f64, page: i64, kind: String, counts: bool },
}

/// What may be spent: requests per second, and the least value of a fetch if that is given instead.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Spent {
    rate: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<f64>,
}

impl From<Budget> for Spent {
    fn from(budget: Budget) -> Self {
        let price = if let Budget::Price { price, .. } = budget { Some(price) } else { None };
        Self { rate: finite(budget.rate()), price }
    }
}

/// To the microsecond: six digits, and no more than that.
fn seconds(time: Time) -> f64 {
    time.as_nanos().div_euclid(1000) as f64 / 1e6
}

/// JSON knows no infinity: what is worth more than anything else, or not limited, is a very large number.
fn finite(number: f64) -> f64 {
    number.min(f64::MAX)
}

impl Line {
    /// The line that introduces a page.
    pub(super) fn introducing(page: PageRecord, host: String) -> Self {
        let role = page.origin.role.as_str().to_owned();
        Self::Page { page: page.id.0, url: page.url, host, importance: page.importance, role }
    }

    /// The line that says what may be spent at a moment.
    pub(super) fn of_budget(time: Time, budget: Budget) -> Self {
        Self::Budget { time: seconds(time), budget: budget.into() }
    }

    /// As it stands in the file, with its end.
    pub(super) fn text(&self) -> String {
        // Numbers and texts always become JSON.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl From<&Decision> for Line {
    fn from(decision: &Decision) -> Self {
        let time = seconds(decision.time());
        match *decision {
            Decision::Begins { budget, .. } => Self::Begins { time, budget: budget.into() },
            Decision::Missed { since, count, .. } => Self::Missed { since: seconds(since), time, count },
            Decision::Budget { budget, .. } => Self::Budget { time, budget: budget.into() },
            Decision::Ordered { page, value, price, first, importance, .. } => {
                let (value, price) = (finite(value), price.map(finite));
                Self::Fetch { time, page: page.0, value, price, first, importance }
            }
            Decision::Looked { page, outcome, elapsed, .. } => Self::Look {
                time,
                page: page.0,
                outcome: outcome.as_str().to_owned(),
                elapsed: elapsed.map(Span::as_secs),
            },
            Decision::Heard { page, kind, counts, .. } => {
                Self::Signal { time, page: page.0, kind: kind.as_str().to_owned(), counts }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use refrain_engine::Kind;
    use refrain_store::{Outcome, PageId};

    use super::*;

    #[test]
    fn lines_can_be_read_again() {
        let (time, page) = (Time::ZERO + Span::from_millis(1_763_356_200_250), PageId(7));
        let budget = Budget::Price { price: 3.5, cap: 10.0 };
        let unlimited = Budget::Price { price: 3.5, cap: f64::INFINITY };
        let line = Line::of_budget(time, unlimited);
        assert_eq!(serde_json::from_str::<Line>(&line.text()).unwrap(), line);
        for (decision, expected) in [
            (
                Decision::Begins { time, budget: Budget::Rate(2.0) },
                r#"{"is":"begins","time":1763356200.25,"rate":2.0}"#,
            ),
            (
                Decision::Missed { since: Time::ZERO, time, count: 3 },
                r#"{"is":"missed","since":0.0,"time":1763356200.25,"count":3}"#,
            ),
            (
                Decision::Budget { time, budget },
                r#"{"is":"budget","time":1763356200.25,"rate":10.0,"price":3.5}"#,
            ),
            (
                Decision::Ordered { time, page, value: 1.5, price: Some(1.0), first: true, importance: 2.0 },
                r#"{"is":"fetch","time":1763356200.25,"page":7,"value":1.5,"price":1.0,"first":true,"importance":2.0}"#,
            ),
            (
                Decision::Looked { time, page, outcome: Outcome::NotModified, elapsed: None },
                r#"{"is":"look","time":1763356200.25,"page":7,"outcome":"not modified","elapsed":null}"#,
            ),
            (
                Decision::Heard { time, page, kind: Kind::Feed, counts: false },
                r#"{"is":"signal","time":1763356200.25,"page":7,"kind":"feed","counts":false}"#,
            ),
        ] {
            let line = Line::from(&decision);
            assert_eq!(line.text(), format!("{expected}\n"));
            assert_eq!(serde_json::from_str::<Line>(expected).unwrap(), line);
        }
    }
}
