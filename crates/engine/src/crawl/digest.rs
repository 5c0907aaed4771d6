//! Long announcements, a part at a time: a sitemap of fifty thousand entries must not hold up everything else, nor fill a batch.

use std::collections::VecDeque;

use refrain_core::time::Time;

use super::Crawl;
use crate::CrawlError;
use crate::sources::Announced;
use crate::visit::{Seen, Visited};

/// So many entries are taken up in one turn of the crawl's loop, of all announcements together.
const IN_A_TURN: usize = 2000;

/// Visits whose announcements are not taken up in full. Each counts as under way until then, and keeps its place at its host.
#[derive(Default)]
pub(super) struct Digest {
    visits: VecDeque<Box<(Visited, Box<Announced>)>>,
}

impl Digest {
    /// Keeps a visit whose announcement is long; gives back all others.
    pub(super) fn keep(&mut self, mut visited: Visited) -> Option<Visited> {
        let announced = match &mut visited.seen {
            Seen::Read(read) => read.announced.take_if(|announced| announced.left() > IN_A_TURN),
            _ => None,
        };
        match announced {
            Some(announced) => {
                self.visits.push_back(Box::new((visited, announced)));
                None
            }
            None => Some(visited),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }
}

impl Crawl {
    /// Takes up the next part of what waits, in turn; says when to go on.
    pub(super) fn digest(&mut self, now: Time) -> Result<Time, CrawlError> {
        let mut left = IN_A_TURN;
        while left > 0 && !self.journal.is_full() {
            let Some(mut first) = self.digest.visits.pop_front() else { break };
            let (visited, announced) = &mut *first;
            left -= self.take_announced(now, visited.stored, &visited.memo, announced, left)?;
            if announced.left() > 0 {
                self.digest.visits.push_back(first);
                continue;
            }
            let (mut visited, announced) = *first;
            if let Seen::Read(read) = &mut visited.seen {
                read.announced = Some(announced);
            }
            self.end_visit(now, visited)?;
        }
        // With a full journal the store goes first, and tells when it is done.
        Ok(if self.digest.is_empty() || self.journal.is_full() { Time::MAX } else { now })
    }
}
