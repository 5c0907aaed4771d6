//! Who has the queues: a thread that does what it is asked, hands what must be kept to the store, and answers when it is there. One
//! commit is under way at a time; what comes meanwhile is the next one.

use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::mpsc;
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use refrain_core::queues;
use refrain_core::time::Time;
use refrain_store::{PageId, QueueChanges, Reader};

use super::work::Work;
use super::{Ask, Known, Queues};
use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::handle::Handle;
use crate::recorder::Task;

/// What the thread hears.
pub(crate) enum Note {
    /// Somebody asks.
    Asked(Ask),
    /// What was handed to the store is on the disk, or is not.
    Written(bool),
    /// The value of a page says that it is due.
    Due(PageId),
    /// Somebody looked at a page: it is not due any more.
    Looked(PageId),
    /// The host of these pages is not asked before this time: neither are the queues that they are in.
    Rest(Vec<PageId>, Time),
    /// Pages are forgotten: what is in queues of them is, too.
    Gone(Vec<PageId>),
    /// It is over.
    Stop,
}

/// The thread, from outside.
pub(crate) struct Keeper {
    to: mpsc::Sender<Note>,
    schedules: Known,
    crawl: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Takes the queues out of the store; and the pages in them whose values decide.
    pub(crate) fn start(
        reader: &Reader,
        clock: Clock,
        store: mpsc::Sender<Task>,
        crawl: Handle,
    ) -> Result<(Self, Vec<PageId>), crate::CrawlError> {
        let (to, notes) = mpsc::channel();
        let schedules: Known = Arc::new(RwLock::new(HashMap::new()));
        let mut work = Work {
            queues: queues::Queues::default(),
            rows: Vec::new(),
            last_row: 0,
            seed: std::hash::RandomState::new().hash_one(0),
            schedules: Arc::clone(&schedules),
            settings: Arc::clone(&crawl.kit.settings),
            pages: HashMap::new(),
            early: HashSet::new(),
            clock,
            next: vec![QueueChanges::default()],
            touched: BTreeSet::new(),
            waiting: Vec::new(),
            is_urgent: false,
            committing: None,
            committed: Time::MIN,
            last_served: 0,
            leases: BinaryHeap::new(),
            store,
            own: to.clone(),
        };
        work.restore(reader)?;
        let pages = work.pages.keys().copied().collect();
        let alarm = Alarm::new(crawl.kit.door.events(), "the thread that has the queues".to_owned(), None);
        let thread = std::thread::Builder::new()
            .name("queues".to_owned())
            .spawn(move || {
                work.run(&notes);
                alarm.done();
            })
            .map_err(crate::CrawlError::Thread)?;
        Ok((Self { to, schedules, crawl, thread: Some(thread) }, pages))
    }

    /// The way to it.
    pub(crate) fn queues(&self) -> Queues {
        Queues::new(self.to.clone(), Arc::clone(&self.schedules), self.crawl.clone())
    }

    /// Where it hears what happens.
    pub(crate) fn notes(&self) -> mpsc::Sender<Note> {
        self.to.clone()
    }
}

impl Drop for Keeper {
    /// What was asked before is done and kept.
    fn drop(&mut self) {
        let _ = self.to.send(Note::Stop);
        if let Some(thread) = self.thread.take() {
            // If it panicked the alarm has said so.
            let _ = thread.join();
        }
    }
}

/// Says what became of what was handed to the store: also if the store ends before it comes to that.
pub(super) struct Report {
    pub(super) to: mpsc::Sender<Note>,
    pub(super) written: bool,
}

impl Report {
    pub(super) fn say(mut self, written: bool) {
        self.written = written;
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // Nobody waits if it is over.
        let _ = self.to.send(Note::Written(self.written));
    }
}
