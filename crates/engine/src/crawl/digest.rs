//! Announcements, a part at a time: sitemaps of fifty thousand entries must not hold up everything else, nor fill a batch. However they come (visits,
//! other fetchers, WebSub), what they lead to is done once all of their entries were taken up.

use std::collections::VecDeque;

use refrain_core::time::Time;
use refrain_store::PageId;
use tokio::sync::oneshot;

use super::Crawl;
use super::asked::tell;
use super::external::Held;
use crate::CrawlError;
use crate::handle::Looked;
use crate::memo::Memo;
use crate::once::{Once, Reused};
use crate::sources::Announced;
use crate::visit::Visited;

/// So many entries are taken up in one turn of the crawl's loop, of all announcements together.
pub(super) const IN_A_TURN: usize = 2000;

/// Announcements that are not taken up in full.
#[derive(Default)]
pub(super) struct Digest {
    waiting: VecDeque<(Box<Announced>, Then)>,
    /// So many more entries may be taken up in this turn.
    left: usize,
}

/// What follows when an announcement was taken up.
pub(super) enum Then {
    /// A visit of our own ends. Until then it counts as under way, and keeps its place at its host.
    Visit(Box<Visited>),
    /// A look by another fetcher is taken in, and counts for the results that it came with.
    Look { stored: PageId, held: Held, looked: Box<Looked>, call: u64 },
    /// A hub that distributed a feed is answered.
    Feed { page: PageId, memo: Box<Memo>, once: Option<Once>, reply: oneshot::Sender<Result<u64, Reused>> },
}

impl Then {
    /// The page that announces, and what is known of it.
    fn source(&self) -> (PageId, &Memo) {
        match self {
            Self::Visit(visited) => (visited.stored, &visited.memo),
            Self::Look { stored, looked, .. } => (*stored, &looked.memo),
            Self::Feed { page, memo, .. } => (*page, memo),
        }
    }
}

impl Digest {
    /// How many looks by other fetchers wait.
    pub(super) fn looks(&self) -> usize {
        self.waiting.iter().filter(|(_, then)| matches!(then, Then::Look { .. })).count()
    }
}

impl Crawl {
    /// Takes up an announcement: at once if that fits into this turn, else in the turns that follow.
    pub(super) fn take_up_announced(
        &mut self,
        now: Time,
        announced: Box<Announced>,
        then: Then,
    ) -> Result<(), CrawlError> {
        let entries = announced.left();
        if entries > self.digest.left || (entries > 0 && self.journal.is_full()) {
            self.digest.waiting.push_back((announced, then));
            return Ok(());
        }
        self.digest.left -= entries;
        self.digested(now, announced, then)
    }

    /// A turn of the loop begins: takes up the next part of what waits; says when to go on.
    pub(super) fn digest(&mut self, now: Time) -> Result<Time, CrawlError> {
        self.digest.left = IN_A_TURN;
        while self.digest.left > 0 && !self.journal.is_full() {
            let Some((mut announced, then)) = self.digest.waiting.pop_front() else { break };
            let (source, memo) = then.source();
            self.digest.left -= self.take_announced(now, source, memo, &mut announced, self.digest.left)?;
            if announced.left() > 0 {
                self.digest.waiting.push_back((announced, then));
            } else {
                self.digested(now, announced, then)?;
            }
        }
        // With a full journal the store goes first, and tells when it is done.
        Ok(if self.digest.waiting.is_empty() || self.journal.is_full() { Time::MAX } else { now })
    }

    /// All entries of an announcement were taken up, but for what fits into this turn.
    fn digested(&mut self, now: Time, announced: Box<Announced>, then: Then) -> Result<(), CrawlError> {
        match then {
            Then::Visit(mut visited) => {
                visited.seen.give_back(announced);
                self.end_visit(now, *visited)
            }
            Then::Look { stored, held, mut looked, call } => {
                looked.seen.give_back(announced);
                self.end_look(now, stored, held, *looked)?;
                self.look_of_call_ended(now, call);
                Ok(())
            }
            Then::Feed { page, memo, once, reply } => {
                let news = self.announced(now, page, &memo, announced)?.news as u64;
                if let Some(once) = once {
                    let kept = self.once.keep(once, now);
                    self.journal.keep(now, vec![kept]);
                }
                self.journal.when_written(now, move |_| tell(reply, Ok(news)));
                Ok(())
            }
        }
    }
}
