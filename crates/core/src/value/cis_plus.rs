use super::{CrawlValue, Greedy, GreedyCis};
use crate::page::Belief;

/// Signals above this precision, and above [`TRUSTED_RECALL`], are believed by GREEDY-CIS+.
pub const TRUSTED_PRECISION: f64 = 0.7;
/// See [`TRUSTED_PRECISION`].
pub const TRUSTED_RECALL: f64 = 0.6;

/// GREEDY-CIS+: the CIS value for pages whose signals are good, GREEDY for the rest.
#[derive(Clone, Copy, Debug)]
pub enum GreedyCisPlus {
    /// Signals are believed.
    Trusting(GreedyCis),
    /// Signals are ignored.
    Deaf(Greedy),
}

impl GreedyCisPlus {
    /// The value under this belief.
    pub fn new(belief: &Belief) -> Self {
        if belief.precision() > TRUSTED_PRECISION && belief.recall() > TRUSTED_RECALL {
            Self::Trusting(GreedyCis::new(belief))
        } else {
            Self::Deaf(Greedy::new(belief))
        }
    }

    fn inner(&self) -> &dyn CrawlValue {
        match self {
            Self::Trusting(cis) => cis,
            Self::Deaf(greedy) => greedy,
        }
    }
}

impl CrawlValue for GreedyCisPlus {
    fn value(&self, elapsed: f64, signals: u32) -> f64 {
        self.inner().value(elapsed, signals)
    }

    fn supremum(&self) -> f64 {
        self.inner().supremum()
    }

    fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        self.inner().moment(value, signals)
    }
}
