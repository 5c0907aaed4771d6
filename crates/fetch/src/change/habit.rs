//! How often something happens, and whether it happens too often in a row to be chance.

/// A run less likely than one in so many is no chance.
const EXCLUDED: f64 = 100_000.0;
const LONGEST: u8 = 30;
pub(super) const BYTES: usize = 3;

/// Counts of an event that may happen at every turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Habit {
    turns: u8,
    /// Turns at which the event happened.
    events: u8,
    /// Turns in a row, up to the last, at which it happened.
    run: u8,
}

impl Habit {
    /// Counts a turn.
    pub(super) fn turn(&mut self, happened: bool) {
        if self.turns == u8::MAX {
            (self.turns, self.events) = (self.turns / 2, self.events / 2);
        }
        self.turns += 1;
        self.events = (self.events + u8::from(happened)).min(self.turns);
        self.run = if happened { (self.run + 1).min(LONGEST).min(self.events) } else { 0 };
    }

    /// Returns true if the last run is less likely than one in `rare`, by what came before it.
    pub(super) fn is_surprising(self, rare: f64) -> bool {
        rare * self.chance() <= 1.0
    }

    /// Returns true if the last run cannot be chance.
    pub(super) fn is_over(self) -> bool {
        EXCLUDED * self.chance() <= 1.0
    }

    /// How likely the last run was.
    fn chance(self) -> f64 {
        let [events, turns] = [self.events, self.turns].map(|count| f64::from(count - self.run));
        ((events + 1.0) / (turns + 2.0)).powi(self.run.into())
    }

    /// The last run was looked into, and surprises no more.
    pub(super) fn accept(&mut self) {
        self.run = 0;
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        [self.turns, self.events, self.run]
    }

    pub(super) fn from_bytes([turns, events, run]: [u8; BYTES]) -> Option<Self> {
        let is_possible = run <= LONGEST && run <= events && events <= turns;
        is_possible.then_some(Self { turns, events, run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(turns: &[bool]) -> Habit {
        let mut habit = Habit::default();
        for happened in turns {
            habit.turn(*happened);
        }
        habit
    }

    #[test]
    fn a_run_is_surprising_if_it_is_unlikely() {
        // What never happened before,
        assert!(!after(&[false, false, false, true]).is_surprising(16.0));
        assert!(after(&[false, false, false, true, true]).is_surprising(16.0));
        assert!(after(&[[false; 14].as_slice(), &[true]].concat()).is_surprising(16.0));
        // what happens at every other turn,
        let even = [true, false].repeat(20);
        assert!(!after(&[even.as_slice(), &[true; 3]].concat()).is_surprising(16.0));
        assert!(after(&[even.as_slice(), &[true; 5]].concat()).is_surprising(16.0));
        // and what always happens.
        assert!(!after(&[true; 300]).is_surprising(16.0));
    }

    #[test]
    fn bytes_are_read_again() {
        let habit = after(&[true, false, true, true]);
        assert_eq!(Habit::from_bytes(habit.to_bytes()), Some(habit));
        assert_eq!(Habit::from_bytes([1, 2, 0]), None);
    }
}
