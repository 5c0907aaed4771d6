//! The store on a thread of its own: it takes batches, commits them, and says what became of each. Between batches it tidies up.

use std::sync::mpsc;
use std::thread::JoinHandle;

use refrain_core::time::Span;
use refrain_store::{Batch, Committed, Retention, Store, StoreError};
use tokio::sync::mpsc::UnboundedSender;

use crate::clock::Clock;
use crate::event::Event;
use crate::tidy::Tidy;

/// The way to the store.
pub(crate) struct Recorder {
    batches: Option<mpsc::Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// `events` hears of every batch, in their order.
    pub(crate) fn start(
        store: Store,
        retention: Option<Retention>,
        clock: Clock,
        events: UnboundedSender<Event>,
    ) -> std::io::Result<Self> {
        let (batches, received) = mpsc::channel::<Batch>();
        let tidy = retention.map(|retention| Tidy::new(retention, clock.now()));
        let work = move || Work { store, tidy, clock, events }.run(&received);
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(work)?;
        Ok(Self { batches: Some(batches), thread: Some(thread) })
    }

    /// Hands over a batch. Whether there is anybody to take it: after an error there is not.
    pub(crate) fn commit(&self, batch: Batch) -> bool {
        self.batches.as_ref().is_some_and(|batches| batches.send(batch).is_ok())
    }

    /// Waits until all is written and the store is closed.
    pub(crate) fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked there is nothing left to wait for; what was not acknowledged is not relied upon.
            let _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the thread works with.
struct Work {
    store: Store,
    tidy: Option<Tidy>,
    clock: Clock,
    events: UnboundedSender<Event>,
}

/// Tidying waits until no batch came for so long: facts go first.
const QUIET: Span = Span::from_millis(50);

impl Work {
    /// Until nobody sends batches any more, nobody listens, or the store fails.
    fn run(mut self, batches: &mpsc::Receiver<Batch>) {
        loop {
            match batches.recv_timeout(self.patience()) {
                Ok(batch) => {
                    let done = self.store.commit(&batch);
                    let failed = done.is_err();
                    if self.events.send(Event::Committed(done, batch.pages)).is_err() || failed {
                        return;
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let now = self.clock.now();
                    if let Some(tidy) = &mut self.tidy
                        && let Err(why) = tidy.step(&mut self.store, now)
                    {
                        // If nobody listens any more, nobody minds.
                        let _ = self.events.send(Event::Committed(Err(why), Vec::new()));
                        return;
                    }
                }
            }
        }
    }

    /// How long to wait for a batch before there is something else to do.
    fn patience(&self) -> std::time::Duration {
        let wait = match &self.tidy {
            Some(tidy) => tidy.due().since(self.clock.now()).max(QUIET),
            None => Span::from_whole_secs(86_400),
        };
        std::time::Duration::from_nanos(wait.as_nanos())
    }
}

/// What became of a batch.
pub(crate) type Done = Result<Committed, StoreError>;
