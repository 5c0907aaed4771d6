//! Signs of life on a terminal; silence in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line on stderr that says what is being done, removed when it is done.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts saying that `what` is being done.
    pub(crate) fn spinner(what: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// The same with a bar of so many steps.
    pub(crate) fn steps(what: &'static str, steps: u64) -> Self {
        let bar = ProgressBar::new(steps).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} % {eta}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// A bar whose number of steps shows as it goes.
    pub(crate) fn growing(what: String) -> Self {
        let bar = ProgressBar::new(0).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    /// So many more.
    pub(crate) fn grow(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    /// One step is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// How far it has come.
    pub(crate) fn set_position(&self, position: u64) {
        self.0.set_position(position);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
