//! The only clock of this crate: how long requests take and how old DNS answers are. What a page's history says is dated by
//! the caller.

use std::time::{Duration, Instant};

use refrain_core::time::Span;

/// Measures from its creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

#[expect(
    clippy::disallowed_methods,
    reason = "measures what the network does; pages are dated by the caller"
)]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The moment so long after the start, for timers.
    pub(crate) fn after(self, wait: Duration) -> tokio::time::Instant {
        // A century is for ever; adding more could overflow.
        (self.0 + wait.min(Duration::from_secs(100 * 365 * 86_400))).into()
    }

    /// How long it is until the moment given.
    pub(crate) fn until(moment: Instant) -> Duration {
        moment.saturating_duration_since(Instant::now())
    }
}

/// A measured time, as the rest of Refrain counts it.
pub(crate) fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
