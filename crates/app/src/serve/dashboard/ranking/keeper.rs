//! When a ranking is made, made anew, and forgotten.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use refrain_core::time::{Span, Time};
use refrain_engine::Clock;
use tokio::sync::{Notify, watch};

use super::Ranking;
use super::build::build;

/// It is made anew after so many times what it took: it may use that share of a core. But not more often than this,
const TIMES: u64 = 20;
const SHORTEST: Span = Span::from_whole_secs(2);
/// and, if it is quickly made, as often as this at least.
const LONGEST: Span = Span::from_whole_secs(60);
/// It is forgotten when nobody asked for so long.
const FORGOTTEN: Span = Span::from_whole_secs(600);
/// Who comes first waits so long: few pages are ranked in that time.
const PATIENCE: Duration = Duration::from_millis(20);
/// How much the thread yields to others, as `nice` has it.
const NICE: i32 = 15;

/// The ranking, if there is one.
pub(in super::super) struct Keeper {
    data: PathBuf,
    state: Mutex<State>,
    made: Notify,
}

#[derive(Default)]
struct State {
    ranking: Option<Arc<Ranking>>,
    is_being_made: bool,
    asked: Time,
    /// When it began to be made, and how long that took.
    began: Time,
    took: Span,
}

impl Keeper {
    pub(in super::super) fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), state: Mutex::default(), made: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ranking, if there is one; if there is none, or it is old, one is on its way. Who comes before it is made waits a moment for it, and does
    /// `meanwhile` what can be done without; that is left if the ranking comes first.
    pub(in super::super) async fn current<T>(
        self: &Arc<Self>,
        clock: Clock,
        meanwhile: impl Future<Output = T>,
    ) -> Result<Arc<Ranking>, T> {
        // Before it can be made: then nobody misses that it was.
        let made = self.made.notified();
        if let Some(ranking) = self.ask(clock) {
            return Ok(ranking);
        }
        let mut meanwhile = std::pin::pin!(meanwhile);
        let mut waiting = std::pin::pin!(tokio::time::timeout(PATIENCE, made));
        let mut other = None;
        loop {
            tokio::select! {
                _ = &mut waiting => break,
                done = &mut meanwhile, if other.is_none() => other = Some(done),
            }
        }
        if let Some(ranking) = self.state().ranking.clone() {
            return Ok(ranking);
        }
        Err(match other {
            Some(other) => other,
            None => meanwhile.await,
        })
    }

    fn ask(self: &Arc<Self>, clock: Clock) -> Option<Arc<Ranking>> {
        let mut state = self.state();
        let now = clock.now();
        state.asked = now;
        let again = Span::from_nanos(TIMES * state.took.as_nanos()).max(SHORTEST).min(LONGEST);
        let is_old = state.ranking.is_none() || now.since(state.began) >= again;
        if is_old && !state.is_being_made {
            (state.is_being_made, state.began) = (true, now);
            let own = Arc::clone(self);
            let thread = std::thread::Builder::new().name("ranking".to_owned());
            if let Err(why) = thread.spawn(move || own.make(clock)) {
                tracing::warn!(%why, "pages cannot be ranked");
                state.is_being_made = false;
            }
        }
        state.ranking.clone()
    }

    fn make(&self, clock: Clock) {
        // On Linux that is of this thread alone. If it is refused, it takes more of the processor than it should.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
        let now = clock.now();
        // Whoever waits for it must hear of it, whatever happens.
        let made = std::panic::catch_unwind(|| build(&self.data, now));
        let mut state = self.state();
        (state.is_being_made, state.took) = (false, clock.now().since(now));
        match made {
            Ok(Ok(ranking)) => {
                tracing::debug!(pages = ranking.len(), seconds = state.took.as_secs(), "pages are ranked");
                state.ranking = Some(Arc::new(ranking));
            }
            Ok(Err(why)) => tracing::warn!(%why, "pages cannot be ranked"),
            Err(_) => tracing::error!("pages cannot be ranked"),
        }
        drop(state);
        self.made.notify_waiters();
    }

    /// Until all ends: whether anybody still asks.
    pub(in super::super) async fn forget_in_time(
        self: Arc<Self>,
        clock: Clock,
        mut closing: watch::Receiver<bool>,
    ) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(60)) => {}
                _ = closing.wait_for(|closing| *closing) => return,
            }
            let mut state = self.state();
            if clock.now().since(state.asked) >= FORGOTTEN {
                state.ranking = None;
            }
        }
    }
}
