//! The policies by name.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use refrain_core::frontier::{Refinement, Rule, Share};
use refrain_core::time::Span;
use refrain_core::value::ValueFunction;

/// How fetches are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// The greatest crawl value.
    Value(ValueFunction),
    /// The exact value with noisy signals, but signals right after a fetch do not count: they announce what it saw.
    Delayed,
    /// The optimal rates without signals, as a low-discrepancy sequence.
    LowDiscrepancy,
    /// Shares of the budget by weight.
    Shares(Share),
    /// A peer's rule.
    Rule(Rule),
    /// Refrain's default.
    Refrain,
    /// The same without what is learned of the hours of the week.
    WithoutHours,
    /// The same with something that is off by default.
    Refined(Refinement),
    /// The same with another signal that is off by default: pages of a directory announce each other's changes.
    Affinity,
    /// In a replay: the exact value with noisy signals, knowing the true mean rates of every page.
    Informed,
    /// In a replay: one who knows the future.
    Clairvoyant,
}

/// A name, as a user types it, and what it means.
type Named = (&'static str, fn() -> Policy);

const NAMES: [Named; 24] = [
    ("greedy", || Policy::Value(ValueFunction::Greedy)),
    ("greedy-cis", || Policy::Value(ValueFunction::GreedyCis)),
    ("greedy-ncis", || Policy::Value(ValueFunction::GreedyNcis)),
    ("approx-1", || Policy::Value(ValueFunction::Approximate(NonZeroU32::MIN))),
    ("approx-2", || Policy::Value(ValueFunction::Approximate(NonZeroU32::MIN.saturating_add(1)))),
    ("greedy-cis-plus", || Policy::Value(ValueFunction::GreedyCisPlus)),
    ("greedy-ncis-d", || Policy::Delayed),
    ("lds", || Policy::LowDiscrepancy),
    ("uniform", || Policy::Shares(Share::Uniform)),
    ("proportional", || Policy::Shares(Share::ChangeRate)),
    ("importance", || Policy::Shares(Share::Importance)),
    ("lambdacrawl", || Policy::Shares(Share::LambdaCrawl)),
    ("nutch", || Policy::Rule(Rule::Nutch { sync: false })),
    ("nutch-sync", || Policy::Rule(Rule::Nutch { sync: true })),
    ("stormcrawler", || Policy::Rule(Rule::StormCrawler)),
    ("norconex", || Policy::Rule(Rule::Announced)),
    ("daily", || Policy::Rule(Rule::Every(Span::from_whole_secs(86_400)))),
    ("refrain", || Policy::Refrain),
    ("refrain-hours", || Policy::WithoutHours),
    ("refrain+gaps", || Policy::Refined(Refinement::Gaps)),
    ("refrain+points", || Policy::Refined(Refinement::Points)),
    ("refrain+affinity", || Policy::Affinity),
    ("informed", || Policy::Informed),
    ("clairvoyant", || Policy::Clairvoyant),
];

/// No policy has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no policy; expected one of {known}", known = NAMES.map(|(name, _)| name).join(", "))]
pub struct UnknownPolicy(String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, policy)| policy()).ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Policy {
    /// Its name; "another" for what has none.
    pub fn name(&self) -> &'static str {
        let named = NAMES.iter().find(|(_, policy)| policy() == *self);
        named.map_or("another", |(name, _)| name)
    }

    /// Whether it knows, or learns, what only a recorded history can tell.
    pub fn needs_history(&self) -> bool {
        matches!(
            self,
            Self::WithoutHours | Self::Refined(_) | Self::Affinity | Self::Informed | Self::Clairvoyant
        )
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(_, policy)| policy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for policy in Policy::all() {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        let wrong = "luck".parse::<Policy>().unwrap_err().to_string();
        assert!(wrong.starts_with("'luck' is no policy; expected one of greedy, greedy-cis,"), "{wrong}");
    }
}
