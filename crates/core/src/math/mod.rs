//! The numerics under the formulas: functions that keep their relative accuracy where the textbook form cancels,
//! sums that do not drift, roots that are always bracketed.

pub mod gamma;
pub mod gamma_distribution;
pub mod greedy;
pub mod integrate;
pub mod polygamma;
pub mod root;
pub mod small;
pub mod sum;
