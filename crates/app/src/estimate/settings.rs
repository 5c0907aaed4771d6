//! What was typed, as what is meant.

use refrain_core::estimate::lln::Offset;
use refrain_core::estimate::method::Terms;
use refrain_core::estimate::sa::Step;
use refrain_core::estimate::sam::Momentum;
use refrain_core::estimate::{Confidence, Method, Prior};

use crate::cli::{EstimateArgs, MethodName, OffsetName};
use crate::failure::Failure;

/// Everything but the data.
pub(super) struct Settings {
    pub(super) names: Vec<MethodName>,
    pub(super) terms: Terms,
    step: Step,
    momentum: Momentum,
    offset: Offset,
    grimes: Prior,
}

const ALL: [MethodName; 9] = [
    MethodName::Naive,
    MethodName::Lln,
    MethodName::Sa,
    MethodName::Sam,
    MethodName::Mle,
    MethodName::Mm,
    MethodName::Regular,
    MethodName::Grimes,
    MethodName::Refrain,
];

impl Settings {
    pub(super) fn new(args: &EstimateArgs) -> Result<Self, Failure> {
        let step = Step::new(args.eta).ok_or_else(|| {
            Failure::input(format!("--eta {}: expected more than 0.5 and at most 1", args.eta))
        })?;
        let momentum = Momentum::new(step, args.beta).ok_or_else(|| {
            Failure::input(format!(
                "--beta {}: expected at least half of --eta ({}) and less than it",
                args.beta, args.eta
            ))
        })?;
        let confidence = Confidence::new(args.confidence).ok_or_else(|| {
            Failure::input(format!("--confidence {}: expected a share above 0 and below 1", args.confidence))
        })?;
        if !(args.risk > 0.0 && args.risk < 1.0) {
            return Err(Failure::input(format!(
                "--risk {}: expected a chance above 0 and below 1",
                args.risk
            )));
        }
        let named = |name: &MethodName| args.method.contains(&MethodName::All) || args.method.contains(name);
        Ok(Self {
            names: ALL.into_iter().filter(named).collect(),
            terms: Terms { fetch_rate: args.fetch_rate, confidence },
            step,
            momentum,
            offset: match args.offset {
                OffsetName::One => Offset::One,
                OffsetName::Log => Offset::Log,
                OffsetName::Root => Offset::Root,
            },
            grimes: Prior::GRIMES.in_units_of(args.unit.seconds()),
        })
    }

    /// The estimator of this name; nothing for the default, which depends on more than one page.
    pub(super) fn classical(&self, name: MethodName) -> Option<Method> {
        Some(match name {
            MethodName::Naive => Method::Naive,
            MethodName::Lln => Method::Lln(self.offset),
            MethodName::Sa => Method::Sa(self.step),
            MethodName::Sam => Method::Sam(self.momentum),
            MethodName::Mle => Method::Mle,
            MethodName::Mm => Method::Mm,
            MethodName::Regular => Method::Regular,
            MethodName::Grimes => Method::Grimes(self.grimes),
            MethodName::Refrain | MethodName::All => return None,
        })
    }

    pub(super) fn grimes(&self) -> Prior {
        self.grimes
    }
}

/// The name as it is typed, and stands in JSON.
pub(super) fn spelled(name: MethodName) -> &'static str {
    match name {
        MethodName::All => "all",
        MethodName::Naive => "naive",
        MethodName::Lln => "lln",
        MethodName::Sa => "sa",
        MethodName::Sam => "sam",
        MethodName::Mle => "mle",
        MethodName::Mm => "mm",
        MethodName::Regular => "regular",
        MethodName::Grimes => "grimes",
        MethodName::Refrain => "refrain",
    }
}
