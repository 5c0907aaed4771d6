use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::{CrawlValue, Greedy, GreedyCis, GreedyNcis, greedy_cis_plus};
use crate::page::Belief;

/// Which value function a scheduler uses: what a configuration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFunction {
    /// `greedy`
    Greedy,
    /// `greedy-cis`
    GreedyCis,
    /// `greedy-ncis`
    GreedyNcis,
    /// `approx-J`
    Approximate(NonZeroU32),
    /// `greedy-cis-plus`
    GreedyCisPlus,
}

/// A name that is no value function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no value function; expected greedy, greedy-cis, greedy-ncis, greedy-cis-plus or approx-J (J from 1 up)"
)]
pub struct UnknownValueFunction(String);

impl FromStr for ValueFunction {
    type Err = UnknownValueFunction;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownValueFunction(name.to_owned());
        Ok(match name {
            "greedy" => Self::Greedy,
            "greedy-cis" => Self::GreedyCis,
            "greedy-ncis" => Self::GreedyNcis,
            "greedy-cis-plus" => Self::GreedyCisPlus,
            _ => {
                let terms = name.strip_prefix("approx-").and_then(|terms| terms.parse().ok());
                Self::Approximate(terms.ok_or_else(unknown)?)
            }
        })
    }
}

impl fmt::Display for ValueFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Greedy => f.write_str("greedy"),
            Self::GreedyCis => f.write_str("greedy-cis"),
            Self::GreedyNcis => f.write_str("greedy-ncis"),
            Self::Approximate(terms) => write!(f, "approx-{terms}"),
            Self::GreedyCisPlus => f.write_str("greedy-cis-plus"),
        }
    }
}

/// The value of one page under a [`ValueFunction`].
#[derive(Clone, Copy, Debug)]
pub enum PageValue {
    /// See [`Greedy`].
    Greedy(Greedy),
    /// See [`GreedyCis`].
    Cis(GreedyCis),
    /// See [`GreedyNcis`]; exact or approximate.
    Ncis(GreedyNcis),
}

impl ValueFunction {
    /// The value of a page with this belief.
    pub fn of(self, belief: &Belief) -> PageValue {
        match self {
            Self::Greedy => PageValue::Greedy(Greedy::new(belief)),
            Self::GreedyCis => PageValue::Cis(GreedyCis::new(belief)),
            Self::GreedyNcis => PageValue::Ncis(GreedyNcis::new(belief)),
            Self::Approximate(terms) => PageValue::Ncis(GreedyNcis::approximate(belief, terms)),
            Self::GreedyCisPlus => greedy_cis_plus(belief),
        }
    }
}

impl CrawlValue for PageValue {
    #[inline]
    fn value(&self, elapsed: f64, signals: u32) -> f64 {
        match self {
            Self::Greedy(page) => page.value(elapsed, signals),
            Self::Cis(page) => page.value(elapsed, signals),
            Self::Ncis(page) => page.value(elapsed, signals),
        }
    }

    fn supremum(&self) -> f64 {
        match self {
            Self::Greedy(page) => page.supremum(),
            Self::Cis(page) => page.supremum(),
            Self::Ncis(page) => page.supremum(),
        }
    }

    fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        match self {
            Self::Greedy(page) => page.moment(value, signals),
            Self::Cis(page) => page.moment(value, signals),
            Self::Ncis(page) => page.moment(value, signals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_wrong_names_say_what_is_right() {
        for name in ["greedy", "greedy-cis", "greedy-ncis", "greedy-cis-plus", "approx-1", "approx-12"] {
            assert_eq!(name.parse::<ValueFunction>().unwrap().to_string(), name);
        }
        for wrong in ["", "approx-0", "approx-", "approx-x", "Greedy"] {
            let message = wrong.parse::<ValueFunction>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("'{wrong}' is no value function; expected greedy")));
        }
    }
}
