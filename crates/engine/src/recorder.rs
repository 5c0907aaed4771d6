//! The store on a thread of its own: it takes batches, commits them, and says what became of each. Between batches it tidies up.

use std::sync::mpsc;
use std::thread::JoinHandle;

use refrain_core::time::Span;
use refrain_store::{Batch, Committed, NewPage, QueueChanges, Retention, Store, StoreError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::clock::Clock;
use crate::tidy::Tidy;

/// The way to the store, and back: what it has to say is not queued behind all else that happens, as it would have nothing to do until it is heard.
pub(crate) struct Recorder {
    tasks: Option<mpsc::Sender<Task>>,
    written: UnboundedReceiver<Written>,
    thread: Option<JoinHandle<()>>,
}

/// What is to be committed.
pub(crate) enum Task {
    /// What the crawl saw and decided.
    Batch(Box<Batch>),
    /// What happened to queues; called with whether it is on the disk.
    Queues(Vec<QueueChanges>, Box<dyn FnOnce(bool) + Send>),
}

/// What became of a batch, and the new pages that were in it.
pub(crate) type Written = (Result<Committed, StoreError>, Vec<NewPage>);

impl Recorder {
    pub(crate) fn start(store: Store, retention: Option<Retention>, clock: Clock) -> std::io::Result<Self> {
        let (tasks, received) = mpsc::channel();
        let (say, written) = unbounded_channel();
        let tidy = retention.map(|retention| Tidy::new(retention, clock.now()));
        let work = move || Work { store, tidy, clock, say }.run(&received);
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(work)?;
        Ok(Self { tasks: Some(tasks), written, thread: Some(thread) })
    }

    /// Hands over a batch. Whether there is anybody to take it: after an error there is not.
    pub(crate) fn commit(&self, batch: Batch) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.send(Task::Batch(Box::new(batch))).is_ok())
    }

    /// The way to the store for others; it ends when they are gone too.
    pub(crate) fn tasks(&self) -> mpsc::Sender<Task> {
        // One that nobody listens to, once it is closed.
        self.tasks.clone().unwrap_or_else(|| mpsc::channel().0)
    }

    /// What became of the next batch, in their order. `None` once the store is no more.
    pub(crate) async fn written(&mut self) -> Option<Written> {
        self.written.recv().await
    }

    /// The same, if it is known already.
    pub(crate) fn has_written(&mut self) -> Option<Written> {
        self.written.try_recv().ok()
    }

    /// Waits until all is written and the store is closed.
    pub(crate) fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.tasks = None;
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
    say: UnboundedSender<Written>,
}

/// Tidying waits until no batch came for so long: facts go first.
const QUIET: Span = Span::from_millis(50);

impl Work {
    /// Until nobody sends batches any more, nobody listens, or the store fails.
    fn run(mut self, tasks: &mpsc::Receiver<Task>) {
        loop {
            match tasks.recv_timeout(self.patience()) {
                Ok(Task::Queues(changes, written)) => {
                    let done = self.store.commit_queues(&changes);
                    written(done.is_ok());
                    if let Err(why) = done {
                        // If nobody listens any more, nobody minds.
                        let _ = self.say.send((Err(why), Vec::new()));
                        return;
                    }
                }
                Ok(Task::Batch(mut batch)) => {
                    let done = self.store.commit_valid(&mut batch);
                    let failed = done.is_err();
                    if self.say.send((done, batch.pages)).is_err() || failed {
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
                        let _ = self.say.send((Err(why), Vec::new()));
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
