//! What pages of other crawlers led to, as these tell: addresses that were not known, gathered until the next look at the page that showed
//! them. How often a page leads to something new is learned from that, though nobody here has seen it.

use std::collections::{HashMap, VecDeque};

use refrain_core::estimate::interest::clicks::Interest;
use refrain_core::time::{Span, Time};
use refrain_store::PageId;

use crate::hubs::Yield;

/// Crawlers send what they found in batches, some of it after the look at the page itself: what comes so soon after the first look was there
/// before it, and is no news.
const LATE: Span = Span::from_whole_secs(10);
/// Of so many pages at most something is remembered; others are not learned of.
const MOST: usize = 20_000;

/// What pages led to since they were looked at.
#[derive(Debug, Default)]
pub(super) struct Led {
    news: HashMap<PageId, Yield>,
    /// Pages that were looked at for the first time, lately; and in the order of that.
    first: HashMap<PageId, Time>,
    order: VecDeque<PageId>,
}

impl Led {
    /// A page led to something new, worth so much.
    pub(super) fn found(&mut self, now: Time, by: PageId, interest: Interest) {
        if self.first.get(&by).is_some_and(|first| now.since(*first) < LATE) {
            return;
        }
        if self.news.len() < MOST || self.news.contains_key(&by) {
            self.news.entry(by).or_default().add(Yield::one(interest));
        }
    }

    /// A page was looked at: what it led to since the look before. Whatever the first look shows may have been there for long.
    pub(super) fn looked(&mut self, now: Time, page: PageId, is_first: bool) -> Yield {
        let news = self.news.remove(&page).unwrap_or_default();
        if !is_first {
            return news;
        }
        while let Some(oldest) = self.order.front() {
            let is_over = self.first.get(oldest).is_none_or(|first| now.since(*first) >= LATE);
            if !is_over && self.order.len() < MOST {
                break;
            }
            self.first.remove(oldest);
            self.order.pop_front();
        }
        self.first.insert(page, now);
        self.order.push_back(page);
        Yield::default()
    }

    pub(super) fn forget(&mut self, page: PageId) {
        self.news.remove(&page);
        self.first.remove(&page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_led_to_is_told_at_its_next_look() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let (mut led, hub, one) = (Led::default(), PageId(1), Interest { profit: 3.0, decay: 0.5 });
        // Before and just after the first look: all of it may be old.
        led.found(at(1), hub, one);
        assert_eq!(led.looked(at(2), hub, true), Yield::default());
        led.found(at(3), hub, one);
        assert_eq!(led.looked(at(100), hub, false), Yield::default());
        led.found(at(101), hub, one);
        led.found(at(200), hub, one);
        let news = led.looked(at(300), hub, false);
        assert_eq!((news.news, news.profit, news.loss), (2.0, 6.0, 3.0));
        assert_eq!(led.looked(at(400), hub, false), Yield::default(), "told once");
        led.found(at(500), hub, one);
        led.forget(hub);
        assert_eq!(led.looked(at(600), hub, false), Yield::default());
    }

    #[test]
    fn it_remembers_no_more_than_it_may() {
        let (mut led, one) = (Led::default(), Interest { profit: 1.0, decay: 1.0 });
        for page in 0..2 * MOST as i64 {
            led.found(Time::ZERO, PageId(page), one);
            led.looked(Time::ZERO, PageId(-page - 1), true);
        }
        assert_eq!((led.news.len(), led.first.len(), led.order.len()), (MOST, MOST, MOST));
        led.looked(Time::ZERO + LATE, PageId(1), true);
        assert_eq!((led.first.len(), led.order.len()), (1, 1), "all others are late");
    }
}
