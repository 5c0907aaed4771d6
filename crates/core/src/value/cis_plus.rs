use super::{Greedy, GreedyCis, PageValue};
use crate::page::Belief;

/// Signals above this precision, and above [`TRUSTED_RECALL`], are believed by GREEDY-CIS+.
pub const TRUSTED_PRECISION: f64 = 0.7;
/// See [`TRUSTED_PRECISION`].
pub const TRUSTED_RECALL: f64 = 0.6;

/// GREEDY-CIS+: the CIS value for pages whose signals are good, GREEDY for the rest.
pub fn greedy_cis_plus(belief: &Belief) -> PageValue {
    if belief.precision() > TRUSTED_PRECISION && belief.recall() > TRUSTED_RECALL {
        PageValue::Cis(GreedyCis::new(belief))
    } else {
        PageValue::Greedy(Greedy::new(belief))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_signals_are_trusted_others_ignored() {
        let page = Belief::new(1.0, 1.0).unwrap();
        let good = page.with_precision_recall(0.71, 0.61).unwrap();
        assert!(matches!(greedy_cis_plus(&good), PageValue::Cis(_)));
        for (precision, recall) in [(0.69, 0.9), (0.9, 0.6), (1.0, 0.0)] {
            let poor = page.with_precision_recall(precision, recall).unwrap();
            assert!(matches!(greedy_cis_plus(&poor), PageValue::Greedy(_)));
        }
    }
}
