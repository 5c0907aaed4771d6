//! Pages that robots.txt forbids, by the host whose robots.txt that is. They are not scheduled. When the rules are as old as they may get, one of
//! the pages is scheduled, so that its fetch reads robots.txt again; when that says something else, all are looked at again.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use refrain_core::frontier::HostId;
use refrain_core::time::Time;
use refrain_store::PageId;

/// Pages that robots.txt forbids.
#[derive(Debug, Default)]
pub(crate) struct Forbidden {
    hosts: HashMap<HostId, Waiting>,
    /// When the robots.txt of a host is to be read again; entries that are not the host's `due` are void.
    due: BinaryHeap<Reverse<(Time, HostId)>>,
    count: usize,
}

/// The pages of a host.
#[derive(Debug, Default)]
struct Waiting {
    pages: BTreeSet<PageId>,
    due: Option<Time>,
}

impl Forbidden {
    /// A page is forbidden by the rules of a host, which hold until `until`.
    pub(crate) fn add(&mut self, host: HostId, page: PageId, until: Time) {
        let waiting = self.hosts.entry(host).or_default();
        self.count += usize::from(waiting.pages.insert(page));
        if waiting.due.is_none() {
            self.again(host, until);
        }
    }

    /// Takes out all pages of a host: its rules are others.
    pub(crate) fn take(&mut self, host: HostId) -> BTreeSet<PageId> {
        let pages = self.hosts.remove(&host).unwrap_or_default().pages;
        self.count -= pages.len();
        pages
    }

    /// Takes out some pages of all hosts.
    pub(crate) fn take_if(&mut self, mut is_taken: impl FnMut(PageId) -> bool) -> Vec<PageId> {
        let mut taken = Vec::new();
        for waiting in self.hosts.values_mut() {
            waiting.pages.retain(|page| {
                let takes = is_taken(*page);
                if takes {
                    taken.push(*page);
                }
                !takes
            });
        }
        self.count -= taken.len();
        taken
    }

    /// Takes out one page of a host.
    pub(crate) fn take_one(&mut self, host: HostId) -> Option<PageId> {
        let page = self.hosts.get_mut(&host)?.pages.pop_first()?;
        self.count -= 1;
        Some(page)
    }

    /// Takes out a page, which is scheduled for another reason.
    pub(crate) fn forget(&mut self, host: HostId, page: PageId) {
        let was_there = self.hosts.get_mut(&host).is_some_and(|waiting| waiting.pages.remove(&page));
        self.count -= usize::from(was_there);
    }

    /// Returns a host whose robots.txt is to be read again, if it has pages here; [`Forbidden::again`] says when it is the next time.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<HostId> {
        while let Some(Reverse((due, host))) =
            self.due.peek().copied().filter(|Reverse((due, _))| *due <= now)
        {
            self.due.pop();
            let Some(waiting) = self.hosts.get_mut(&host).filter(|waiting| waiting.due == Some(due)) else {
                continue;
            };
            waiting.due = None;
            if waiting.pages.is_empty() {
                self.hosts.remove(&host);
            } else {
                return Some(host);
            }
        }
        None
    }

    /// The robots.txt of a host is to be read again at a moment, if it has pages here then.
    pub(crate) fn again(&mut self, host: HostId, at: Time) {
        if let Some(waiting) = self.hosts.get_mut(&host) {
            waiting.due = Some(at);
            self.due.push(Reverse((at, host)));
        }
    }

    /// The time at which a robots.txt is to be read next, or earlier.
    pub(crate) fn next(&self) -> Time {
        self.due.peek().map_or(Time::MAX, |Reverse((due, _))| *due)
    }

    /// How many pages there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::frontier::{Budget, Frontier, Known, Manners, Settings};
    use refrain_core::time::Span;
    use refrain_core::value::ValueFunction;

    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    fn hosts() -> [HostId; 2] {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, Budget::Rate(1.0), Settings::default(), Time::ZERO).unwrap();
        [(); 2].map(|()| frontier.add_host(Manners::default()))
    }

    #[test]
    fn each_host_is_due_once() {
        let (mut forbidden, [one, other]) = (Forbidden::default(), hosts());
        forbidden.add(one, PageId(1), at(100));
        forbidden.add(one, PageId(2), at(200));
        forbidden.add(other, PageId(3), at(150));
        assert_eq!((forbidden.len(), forbidden.next(), forbidden.pop_due(at(99))), (3, at(100), None));
        assert_eq!((forbidden.pop_due(at(100)), forbidden.pop_due(at(100))), (Some(one), None));
        assert_eq!(forbidden.take_one(one), Some(PageId(1)));
        forbidden.again(one, at(300));
        // It is still forbidden.
        forbidden.add(one, PageId(1), at(400));
        assert_eq!((forbidden.pop_due(at(299)), forbidden.pop_due(at(299))), (Some(other), None));
        assert_eq!((forbidden.pop_due(at(300)), forbidden.pop_due(at(999))), (Some(one), None));
    }

    #[test]
    fn what_was_taken_out_is_not_due() {
        let (mut forbidden, [one, other]) = (Forbidden::default(), hosts());
        forbidden.add(one, PageId(1), at(100));
        forbidden.add(other, PageId(2), at(100));
        forbidden.forget(other, PageId(2));
        assert_eq!(forbidden.take(one), BTreeSet::from([PageId(1)]));
        forbidden.add(one, PageId(1), at(200));
        assert_eq!(
            (forbidden.pop_due(at(199)), forbidden.pop_due(at(200)), forbidden.len()),
            (None, Some(one), 1)
        );
    }
}
