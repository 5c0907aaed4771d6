//! The store on a thread of its own: it takes batches, commits them, and says what became of each.

use std::sync::mpsc;
use std::thread::JoinHandle;

use refrain_store::{Batch, Committed, Store, StoreError};
use tokio::sync::mpsc::UnboundedSender;

use crate::event::Event;

/// The way to the store.
pub(crate) struct Recorder {
    batches: Option<mpsc::Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// `events` hears of every batch, in their order.
    pub(crate) fn start(mut store: Store, events: UnboundedSender<Event>) -> std::io::Result<Self> {
        let (batches, received) = mpsc::channel::<Batch>();
        let work = move || {
            for batch in received {
                let done = store.commit(&batch);
                let failed = done.is_err();
                // Nobody listens any more: the crawl is over, and so is this.
                if events.send(Event::Committed(done)).is_err() || failed {
                    return;
                }
            }
        };
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

/// What became of a batch.
pub(crate) type Done = Result<Committed, StoreError>;
