//! What was earned when: the paper's dynamic profit.

use refrain_core::time::{Span, Time};

use super::drive::Fetch;
use super::world::HubWorld;

/// What fetches earned in each step of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Takings {
    start: Time,
    step: Span,
    earned: Vec<f64>,
}

impl Takings {
    /// Nothing yet. A step that is longer than the world counts as all of it.
    pub fn new(world: &HubWorld, step: Span) -> Self {
        let step = if step > Span::ZERO { step.min(world.horizon) } else { world.horizon };
        let steps = world.horizon.as_nanos() / step.as_nanos().max(1) + 1;
        Self { start: world.start, step, earned: vec![0.0; steps as usize] }
    }

    /// A fetch was made: it goes to the step of its moment.
    pub fn note(&mut self, world: &HubWorld, now: Time, fetch: Fetch) {
        let step = now.since(self.start).as_nanos() / self.step.as_nanos().max(1);
        if let Some(earned) = self.earned.get_mut(step as usize) {
            *earned += world.worth(now, fetch);
        }
    }

    /// The steps one by one.
    pub fn steps(&self) -> &[f64] {
        &self.earned
    }

    /// The dynamic profit: profit per second over the last `window` steps, at the end of each step from the first full window on. The last
    /// step, which is not over, is left out.
    pub fn windows(&self, window: usize) -> Vec<f64> {
        let whole = &self.earned[..self.earned.len() - 1];
        let seconds = self.step.as_secs() * window as f64;
        whole.windows(window.max(1)).map(|steps| steps.iter().sum::<f64>() / seconds).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::world::{HubItems, Item};
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn windows_slide_over_whole_steps() {
        let items = [1.0, 2.0, 4.0].map(|profit| Item { born: at(0.0), profit }).to_vec();
        let hubs = vec![HubItems { decay: std::f64::consts::LN_2 / 100.0, items }];
        let world = HubWorld { hubs, known: None, start: at(0.0), horizon: Span::from_secs(45.0) };
        let mut takings = Takings::new(&world, Span::from_secs(10.0));
        takings.note(&world, at(5.0), Fetch::Hub(0));
        takings.note(&world, at(0.0), Fetch::Item(0, 1));
        takings.note(&world, at(10.0), Fetch::Item(0, 0));
        takings.note(&world, at(44.0), Fetch::Item(0, 2));
        let later = 2f64.powf(-0.1);
        let close = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        };
        close(takings.steps(), &[2.0, later, 0.0, 0.0, 4.0 * 2f64.powf(-0.44)]);
        close(&takings.windows(2), &[(2.0 + later) / 20.0, later / 20.0, 0.0]);
        assert!(takings.windows(5).is_empty());
    }
}
