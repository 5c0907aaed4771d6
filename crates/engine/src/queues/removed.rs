//! What is in no queue any more.

use std::collections::{BTreeSet, HashSet};
use std::sync::PoisonError;

use refrain_core::queues::{ItemId, QueueId};
use refrain_store::{PageId, QueueChanges};

use super::work::Work;

impl Work {
    /// Forgets a crawl, a queue of it, or what came before a moment: how many addresses that were, and the pages that are in no queue with that.
    pub(super) fn remove(
        &mut self,
        crawl: &str,
        key: Option<&str>,
        created_before: Option<u32>,
    ) -> (u64, Vec<PageId>) {
        let queues = self.chosen(Some(crawl), key);
        let is_old = |item: &ItemId| {
            let created = self.queues.item(*item).map_or(u32::MAX, |item| item.created);
            created_before.is_none_or(|before| created < before)
        };
        let old: Vec<ItemId> = self.queues.list(&queues).into_iter().filter(is_old).collect();
        let gone: HashSet<ItemId> = old.iter().copied().collect();
        let mut orphans = Vec::new();
        self.pages.retain(|page, items| {
            items.retain(|item| !gone.contains(item));
            if items.is_empty() {
                orphans.push(*page);
            }
            !items.is_empty()
        });
        let closes = if created_before.is_none() { &queues[..] } else { &[] };
        self.take_out(&old, &queues, closes);
        (old.len() as u64, orphans)
    }

    /// Pages are forgotten: their addresses are in no queue any more.
    pub(super) fn forget(&mut self, pages: &[PageId]) {
        let items: Vec<ItemId> = pages.iter().filter_map(|page| self.pages.remove(page)).flatten().collect();
        for page in pages {
            self.early.remove(page);
        }
        if !items.is_empty() {
            let queues: BTreeSet<QueueId> =
                items.iter().filter_map(|item| self.queues.item(*item)).map(|item| item.queue).collect();
            let queues: Vec<QueueId> = queues.into_iter().collect();
            self.take_out(&items, &queues, &[]);
        }
    }

    /// Takes addresses out of their queues, and closes those of them that are empty, and others.
    fn take_out(&mut self, items: &[ItemId], queues: &[QueueId], closes: &[QueueId]) {
        self.keep_counts();
        let mut changes =
            QueueChanges { no_items: items.iter().map(|item| item.0).collect(), ..QueueChanges::default() };
        for item in items {
            let Some(queue) = self.queues.item(*item).map(|item| item.queue) else { continue };
            if self.queues.counts(*item) {
                changes.not_counted.push((self.rows[queue.0 as usize], item.0));
            }
            self.queues.remove(*item);
        }
        let mut closed: BTreeSet<QueueId> = self.queues.sweep(queues).into_iter().collect();
        for queue in closes {
            if closed.insert(*queue) {
                self.queues.close(*queue);
            }
        }
        let crawls: BTreeSet<String> = closed.iter().map(|queue| self.queues.facts(*queue).crawl).collect();
        for crawl in crawls {
            if self.queues.queues_of(&crawl).is_empty() {
                self.schedules.write().unwrap_or_else(PoisonError::into_inner).remove(&crawl);
                changes.no_crawls.push(crawl);
            }
        }
        changes.no_queues = closed.iter().map(|queue| self.rows[queue.0 as usize]).collect();
        // After all that came before it, and before whatever comes next.
        self.next.push(changes);
        self.next.push(QueueChanges::default());
    }
}
