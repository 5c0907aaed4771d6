//! Labels: each from a closed set.

use prometheus_client::encoding::EncodeLabelSet;
use refrain_engine::{Heard, Kind};
use refrain_store::{Outcome, Role};

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct LookLabels {
    outcome: &'static str,
    role: &'static str,
}

impl LookLabels {
    pub(super) fn new(outcome: Outcome, role: Role) -> Self {
        Self { outcome: outcome.as_str(), role: role.as_str() }
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct KindLabel {
    kind: &'static str,
}

impl KindLabel {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind: kind.as_str() }
    }
}

/// What became of something that was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was heard.
    Heard(Heard),
    /// It was refused: not signed, not asked for, too much.
    Refused,
}

impl Verdict {
    pub(super) fn is_news(self) -> bool {
        self == Self::Heard(Heard::News)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Heard(Heard::News) => "news",
            Self::Heard(Heard::Known) => "known",
            Self::Heard(Heard::Added) => "added",
            Self::Heard(Heard::Stranger) => "stranger",
            Self::Refused => "refused",
        }
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct PushLabels {
    kind: &'static str,
    verdict: &'static str,
}

impl PushLabels {
    pub(super) fn new(kind: Kind, verdict: Verdict) -> Self {
        Self { kind: kind.as_str(), verdict: verdict.as_str() }
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct RouteLabels {
    pub(super) route: String,
    pub(super) method: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct RequestLabels {
    pub(super) route: String,
    pub(super) method: &'static str,
    pub(super) status: u32,
}

/// Anybody can make up a method.
pub(super) fn known_method(method: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}
