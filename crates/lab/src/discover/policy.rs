//! The policies for hubs by name.

use std::fmt;
use std::str::FromStr;

use refrain_core::frontier::Discovery;

/// How visits to hubs and fetches of what they show are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubPolicy {
    /// The frontier, with one of its ways to share the budget.
    Frontier(Discovery),
    /// A feed reader's rule: a hub is polled as often as it showed something last week.
    Miniflux,
}

const NAMES: [(&str, HubPolicy); 8] = [
    ("bfs", HubPolicy::Frontier(Discovery::BreadthFirst)),
    ("quota", HubPolicy::Frontier(Discovery::FixedQuota)),
    ("frequency", HubPolicy::Frontier(Discovery::Frequency)),
    ("echo-greedy", HubPolicy::Frontier(Discovery::EchoGreedy)),
    ("echo-schedule", HubPolicy::Frontier(Discovery::EchoSchedule)),
    ("echo-newpages", HubPolicy::Frontier(Discovery::EchoNewPages)),
    ("miniflux", HubPolicy::Miniflux),
    ("refrain", HubPolicy::REFRAIN),
];

/// No policy for hubs has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no policy for hubs; expected one of {known}", known = NAMES.map(|(name, _)| name).join(", "))]
pub struct UnknownHubPolicy(String);

impl FromStr for HubPolicy {
    type Err = UnknownHubPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownHubPolicy> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, policy)| *policy).ok_or_else(|| UnknownHubPolicy(text.to_owned()))
    }
}

impl fmt::Display for HubPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(_, policy)| policy == self);
        f.pad(named.map_or("?", |(name, _)| name))
    }
}

impl HubPolicy {
    /// Refrain's default: hubs and new pages in one currency.
    pub const REFRAIN: Self = Self::Frontier(Discovery::OneCurrency);

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(_, policy)| *policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for policy in HubPolicy::all() {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        let wrong = "luck".parse::<HubPolicy>().unwrap_err().to_string();
        assert!(wrong.starts_with("'luck' is no policy for hubs; expected one of bfs, quota,"), "{wrong}");
    }
}
