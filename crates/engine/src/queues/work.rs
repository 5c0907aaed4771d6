//! What the thread does that has the queues: hears what happens, hands over what must be kept, answers when it is on the disk.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use refrain_core::queues::{self, ItemId, Manners, QueueId, second};
use refrain_core::time::{Span, Time};
use refrain_store::{PageId, QueueChanges, QueueRow};
use tokio::sync::oneshot;

use super::Known;
use super::keeper::{Note, Report};
use crate::clock::Clock;
use crate::recorder::Task;
use crate::settings::Settings;

/// The delay of queues that have none of their own, by this name; and whether nothing is given.
pub(super) const DELAY: &str = "queues delay";
pub(super) const PAUSED: &str = "queues paused";

/// What is patient is committed after this time from the last commit on: a commit costs as much as dozens of addresses.
const PATIENCE: Span = Span::from_millis(10);

/// Called when what came before is on the disk.
pub(super) type Reply = Box<dyn FnOnce() + Send>;

pub(super) struct Work {
    pub(super) queues: queues::Queues,
    /// The numbers of queues in the store, by their places.
    pub(super) rows: Vec<i64>,
    pub(super) last_row: i64,
    /// Of fingerprints: nobody knows which addresses have the same.
    pub(super) seed: u64,
    pub(super) schedules: Known,
    pub(super) settings: Arc<Settings>,
    /// What is in queues, by the pages whose values decide.
    pub(super) pages: HashMap<PageId, Vec<ItemId>>,
    /// Pages that were due before what is in queues of them was put there, or brought back.
    pub(super) early: HashSet<PageId>,
    pub(super) clock: Clock,
    /// What is to be kept, in order: where something is removed a new one begins.
    pub(super) next: Vec<QueueChanges>,
    /// Queues of which something is to be kept.
    pub(super) touched: BTreeSet<QueueId>,
    pub(super) waiting: Vec<Reply>,
    /// Whether one of the waiting clients wants its answer without delay.
    pub(super) is_urgent: bool,
    pub(super) committing: Option<Vec<Reply>>,
    /// When the last commit began.
    pub(super) committed: Time,
    pub(super) last_served: i64,
    /// What was given, by when that ends.
    pub(super) leases: BinaryHeap<Reverse<(u32, i64)>>,
    pub(super) store: mpsc::Sender<Task>,
    pub(super) own: mpsc::Sender<Note>,
}

impl Work {
    pub(super) fn run(mut self, notes: &mpsc::Receiver<Note>) {
        let mut stopping = false;
        loop {
            let next = match self.patience() {
                None => notes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => notes.recv_timeout(Duration::from_nanos(wait.as_nanos())),
            };
            let mut next = match next {
                Ok(note) => Some(note),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while let Some(note) = next {
                match note {
                    Note::Asked(ask) if !stopping => {
                        self.asked(ask);
                        self.keep_counts();
                    }
                    // Whoever asks now is told that it is over.
                    Note::Asked(_) => {}
                    Note::Written(true) => {
                        for reply in self.committing.take().into_iter().flatten() {
                            reply();
                        }
                    }
                    // The crawl ends, and says why.
                    Note::Written(false) => return,
                    Note::Due(page) => self.is_due(page),
                    Note::Looked(page) => drop(self.early.remove(&page)),
                    Note::Rest(pages, until) => self.rest(&pages, until),
                    Note::Gone(pages) => self.forget(&pages),
                    Note::Stop => (stopping, self.is_urgent) = (true, true),
                }
                self.flush();
                next = notes.try_recv().ok();
            }
            self.flush();
            if stopping && self.committing.is_none() {
                return;
            }
        }
    }

    /// Returns how long what waits may wait for more, if it may and nothing is being committed.
    fn patience(&self) -> Option<Span> {
        let may_wait = self.committing.is_none() && !self.is_urgent && !self.waiting.is_empty();
        let until = self.committed + PATIENCE;
        may_wait.then(|| until.since(self.clock.now())).filter(|wait| *wait > Span::ZERO)
    }

    /// Hands the changes over to be stored, unless a commit is under way or more may come; without changes the waiting clients get their answers.
    fn flush(&mut self) {
        if self.committing.is_some() || self.patience().is_some() {
            return;
        }
        self.is_urgent = false;
        self.end_leases();
        self.write_queues();
        if self.next.iter().all(QueueChanges::is_empty) {
            for reply in self.waiting.drain(..) {
                reply();
            }
            return;
        }
        let changes = std::mem::replace(&mut self.next, vec![QueueChanges::default()]);
        let report = Report { to: self.own.clone(), written: false };
        let written = Box::new(move |written| report.say(written));
        // If the store is no more, nobody is answered: the crawl is over.
        let waiting = std::mem::take(&mut self.waiting);
        if self.store.send(Task::Queues(changes, written)).is_ok() {
            self.committed = self.clock.now();
            self.committing = Some(waiting);
        }
    }

    fn end_leases(&mut self) {
        let now = second(self.clock.now());
        while let Some(Reverse((_, id))) =
            self.leases.peek().copied().filter(|Reverse((until, _))| *until < now)
        {
            self.leases.pop();
            self.changes().ended.push(id);
        }
    }

    /// What counts under limits since the last time is to be kept.
    pub(super) fn keep_counts(&mut self) {
        let counted = self.queues.take_counted();
        if !counted.is_empty() {
            let row = |(queue, item): (QueueId, ItemId)| (self.rows[queue.0 as usize], item.0);
            let counted: Vec<_> = counted.into_iter().map(row).collect();
            self.changes().counted.extend(counted);
        }
    }

    fn write_queues(&mut self) {
        for queue in std::mem::take(&mut self.touched) {
            let facts = self.queues.facts(queue);
            // One that was closed meanwhile stays so.
            if self.queues.find(&facts.crawl, &facts.key) != Some(queue) {
                continue;
            }
            let Manners { delay, blocked_until, limit, served } = facts.manners;
            let (id, crawl, key) = (self.rows[queue.0 as usize], facts.crawl, facts.key);
            self.changes().queues.push(QueueRow { id, crawl, key, delay, blocked_until, limit, served });
        }
    }

    /// Where what happens now is to be kept.
    pub(super) fn changes(&mut self) -> &mut QueueChanges {
        if self.next.is_empty() {
            self.next.push(QueueChanges::default());
        }
        let last = self.next.len() - 1;
        &mut self.next[last]
    }

    pub(super) fn answer<T: Send + 'static>(&mut self, reply: oneshot::Sender<T>, answer: T) {
        self.waiting.push(Box::new(move || {
            // Whoever asked may be gone.
            let _ = reply.send(answer);
        }));
    }
}
