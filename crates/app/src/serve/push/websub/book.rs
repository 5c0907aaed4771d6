//! All subscriptions, by the names of their callbacks; bounded, as is what is asked of one hub at a time.

use std::collections::HashMap;

use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::PageId;

use super::subscription::{State, Step, Subscription};

/// A page may have so many hubs.
const MOST_PER_PAGE: usize = 2;
/// So many questions at a time for the host of a hub,
const MOST_PER_HUB: usize = 2;
/// and for all.
const MOST_ASKED: usize = 16;

#[derive(Default)]
pub(super) struct Book {
    all: HashMap<String, Subscription>,
    per_page: HashMap<PageId, usize>,
    /// Questions under way, by the hosts of hubs.
    asking: HashMap<String, usize>,
    /// What was given up in between, to be kept as that.
    ended: Vec<(String, Subscription)>,
}

/// What is to be done now.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Hubs to be asked,
    pub(super) ask: Vec<(String, Subscription)>,
    /// what is to be kept,
    pub(super) keep: Vec<(String, Subscription)>,
    /// and when to look again.
    pub(super) next: Option<Time>,
}

impl Book {
    /// Adds one, if there is room; for one that is to end there is.
    pub(super) fn add(&mut self, id: String, one: Subscription, most: usize) -> bool {
        let of_page = self.per_page.get(&one.page).copied().unwrap_or(0);
        if (self.all.len() >= most || of_page >= MOST_PER_PAGE) && !one.is_leaving() {
            return false;
        }
        self.per_page.insert(one.page, of_page + 1);
        self.all.insert(id, one);
        true
    }

    /// The subscription of a page at a hub.
    pub(super) fn find(&self, page: PageId, hub: &str) -> Option<(&String, &Subscription)> {
        self.per_page.get(&page).filter(|count| **count > 0)?;
        self.all.iter().find(|(_, one)| one.page == page && one.hub == hub && !one.is_leaving())
    }

    /// Those of pages that are still wanted.
    pub(super) fn wanted(&self) -> Vec<(String, PageId)> {
        let wanted = self.all.iter().filter(|(_, one)| !one.is_leaving());
        wanted.map(|(id, one)| (id.clone(), one.page)).collect()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Subscription> {
        self.all.get(id)
    }

    /// Something happens to one. As it is then, if `change` says that it is another way; who is gone is dropped.
    pub(super) fn change(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut Subscription) -> bool,
    ) -> Option<Subscription> {
        let one = self.all.get_mut(id)?;
        if !change(one) {
            return None;
        }
        let one = one.clone();
        if one.state == State::Gone {
            self.remove(id);
        }
        Some(one)
    }

    /// One is not wanted any more; [`Book::work`] says that this is to be kept.
    pub(super) fn leave(&mut self, id: &str, now: Time) {
        if let Some(one) = self.change(id, |one| one.leave(now)) {
            self.ended.push((id.to_owned(), one));
        }
    }

    /// One that there is no room for any more: it is to end, or has.
    pub(super) fn drop_or_leave(&mut self, id: String, one: Subscription) {
        self.ended.push((id.clone(), one.clone()));
        if one.is_leaving() {
            self.add(id, one, 0);
        }
    }

    /// Drops one.
    pub(super) fn remove(&mut self, id: &str) -> Option<Subscription> {
        let one = self.all.remove(id)?;
        if let Some(count) = self.per_page.get_mut(&one.page) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.per_page.remove(&one.page);
            }
        }
        Some(one)
    }

    /// What is to be done at this moment. Each question counts until [`Book::asked`].
    pub(super) fn work(&mut self, now: Time) -> Work {
        let mut work = Work { keep: std::mem::take(&mut self.ended), ..Work::default() };
        let mut gone = Vec::new();
        for (id, one) in &mut self.all {
            let Some(due) = one.due() else { continue };
            if due > now {
                work.next = Some(work.next.map_or(due, |next| next.min(due)));
                continue;
            }
            let host = host_of(&one.hub);
            let (total, of_hub) = (self.asking.values().sum::<usize>(), self.asking.get(&host).copied());
            if one.asks() && (total >= MOST_ASKED || of_hub.unwrap_or(0) >= MOST_PER_HUB) {
                // Whoever is asked makes room by answering.
                continue;
            }
            match one.tick(now) {
                Step::Ask => {
                    *self.asking.entry(host).or_default() += 1;
                    work.ask.push((id.clone(), one.clone()));
                }
                Step::Keep => work.keep.push((id.clone(), one.clone())),
                Step::Rest => {}
            }
            if one.state == State::Gone {
                gone.push(id.clone());
            }
            work.next = one.due().map(|due| work.next.map_or(due, |next| next.min(due))).or(work.next);
        }
        for id in gone {
            self.remove(&id);
        }
        work
    }

    /// A question to a hub is over.
    pub(super) fn asked(&mut self, hub: &str) {
        let host = host_of(hub);
        if let Some(count) = self.asking.get_mut(&host) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.asking.remove(&host);
            }
        }
    }
}

fn host_of(hub: &str) -> String {
    PageUrl::parse(hub).map_or_else(|_| hub.to_owned(), |url| url.host().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use refrain_core::time::Span;

    fn one(page: i64, hub: &str) -> Subscription {
        Subscription::new(PageId(page), "t".to_owned(), hub.to_owned(), "s".to_owned(), Time::ZERO)
    }

    #[test]
    fn hubs_are_not_overrun() {
        let mut book = Book::default();
        for page in 0..5 {
            assert!(book.add(format!("a{page}"), one(page, &format!("http://a.example/{page}")), 6));
        }
        assert!(book.add("b".to_owned(), one(0, "http://b.example/"), 6));
        assert!(!book.add("c".to_owned(), one(9, "http://b.example/"), 6), "there are too many");
        assert!(!book.add("d".to_owned(), one(0, "http://d.example/"), 9), "of one page");
        assert!(book.find(PageId(0), "http://b.example/").is_some());
        let work = book.work(Time::ZERO);
        assert_eq!(work.ask.len(), 3, "two for one hub, one for the other: {work:?}");
        assert!(book.work(Time::ZERO).ask.is_empty());
        book.asked("http://a.example/other");
        assert_eq!(book.work(Time::ZERO).ask.len(), 1);
        // Who does not come fails, and that is kept.
        let late = Time::ZERO + Span::from_whole_secs(601);
        let work = book.work(late);
        assert_eq!((work.keep.len(), work.ask.len()), (4, 0), "{work:?}");
        assert_eq!(work.next, Some(late + Span::from_whole_secs(60)));
    }

    #[test]
    fn who_is_gone_makes_room() {
        let mut book = Book::default();
        book.add("a".to_owned(), one(1, "http://a.example/"), 1);
        let gone = book.change("a", |one| {
            one.state = State::Gone;
            true
        });
        assert!(
            gone.is_some() && book.get("a").is_none() && book.find(PageId(1), "http://a.example/").is_none()
        );
        assert!(book.add("b".to_owned(), one(1, "http://a.example/"), 1));
        assert!(book.change("a", |_| true).is_none() && book.change("b", |_| false).is_none());
    }
}
