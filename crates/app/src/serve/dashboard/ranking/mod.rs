//! All pages in memory, in every order that people ask for: no database ranks a million pages by chance of being stale while somebody waits.
//!
//! It is made of the store, as a crawl that starts makes it, on a thread that yields to others; when somebody looks, anew every so often, and it is
//! forgotten when nobody does. It takes 54 bytes a page and its address: some 100 MB for a million pages of the usual length.

mod build;
mod keeper;

use memchr::memmem;
use refrain_core::time::Time;
use refrain_store::{HostId, PageId, PageState, Role};

pub(super) use keeper::Keeper;

/// By what pages are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    #[default]
    Stale,
    Value,
    Changes,
    Importance,
    Fetched,
}

impl Order {
    pub(super) const ALL: [Self; 5] =
        [Self::Stale, Self::Value, Self::Changes, Self::Importance, Self::Fetched];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Value => "value",
            Self::Changes => "changes",
            Self::Importance => "importance",
            Self::Fetched => "fetched",
        }
    }
}

/// What kind of page, beside its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    Hub,
    Sitemap,
    Feed,
}

/// Which pages.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// A part of the address, in small letters; empty: any.
    pub(super) text: String,
    /// Of these hosts; `None`: of all.
    pub(super) hosts: Option<Vec<HostId>>,
    pub(super) state: Option<PageState>,
    pub(super) failing: bool,
    pub(super) never_fetched: bool,
    pub(super) part: Option<Part>,
}

impl Wanted {
    fn is_all(&self) -> bool {
        self.text.is_empty()
            && self.hosts.is_none()
            && self.state.is_none()
            && !self.failing
            && !self.never_fetched
            && self.part.is_none()
    }
}

/// What is known of a page, in four bytes each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) page: PageId,
    /// How likely its copy is stale; not a number if there is none.
    pub(super) stale: f32,
    pub(super) value: f32,
    /// Changes per second.
    pub(super) changes: f32,
    pub(super) importance: f32,
}

/// All pages, as they were at a moment.
#[derive(Default)]
pub(super) struct Ranking {
    pub(super) taken: Time,
    ids: Vec<u32>,
    hosts: Vec<u32>,
    stale: Vec<f32>,
    value: Vec<f32>,
    changes: Vec<f32>,
    importance: Vec<f32>,
    flags: Vec<u8>,
    /// Addresses in small letters, one after the other, each followed by the end of a line; and where each begins.
    text: Vec<u8>,
    starts: Vec<u64>,
    /// Places of pages, the greatest first, in the order of [`Order::ALL`].
    orders: [Vec<u32>; 5],
}

const FAILING: u8 = 1 << 2;
const NEVER: u8 = 1 << 3;
const SITEMAP: u8 = 1 << 4;
const FEED: u8 = 1 << 5;
const HUB: u8 = 1 << 6;

fn flags(state: PageState, failing: bool, never: bool, role: Role, is_hub: bool) -> u8 {
    let role = match role {
        Role::Page => 0,
        Role::Sitemap => SITEMAP,
        Role::Feed => FEED,
    };
    let bit = |is: bool, bit: u8| if is { bit } else { 0 };
    bits_of(state) | bit(failing, FAILING) | bit(never, NEVER) | role | bit(is_hub, HUB)
}

fn bits_of(state: PageState) -> u8 {
    PageState::ALL.iter().position(|own| *own == state).unwrap_or(0) as u8
}

/// A part of a list.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Portion {
    pub(super) pages: Vec<Ranked>,
    /// How many there are in all.
    pub(super) all: usize,
    /// How many come before the first.
    pub(super) before: usize,
}

impl Ranking {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Some of those that are wanted, in order, after so many others.
    pub(super) fn list(
        &self,
        wanted: &Wanted,
        order: Order,
        turned: bool,
        skip: usize,
        limit: usize,
    ) -> Portion {
        let place = Order::ALL.iter().position(|own| *own == order).unwrap_or(0);
        let order = &self.orders[place];
        if wanted.is_all() {
            let at = |rank: usize| order[if turned { order.len() - 1 - rank } else { rank }];
            let end = skip.saturating_add(limit).min(order.len());
            let pages = (skip.min(end)..end).map(|rank| self.ranked(at(rank))).collect();
            return Portion { pages, all: order.len(), before: skip };
        }
        let is_in = self.chosen(wanted);
        let all = is_in.iter().filter(|is_in| **is_in).count();
        let mut portion = Portion { all, before: skip, ..Portion::default() };
        let mut seen = 0;
        let mut take = |place: &u32| {
            if is_in[*place as usize] {
                if seen >= skip {
                    portion.pages.push(self.ranked(*place));
                }
                seen += 1;
            }
            portion.pages.len() < limit && seen < all
        };
        if turned {
            let _ = order.iter().rev().all(&mut take);
        } else {
            let _ = order.iter().all(&mut take);
        }
        portion
    }

    fn ranked(&self, place: u32) -> Ranked {
        let place = place as usize;
        Ranked {
            page: PageId(i64::from(self.ids[place])),
            stale: self.stale[place],
            value: self.value[place],
            changes: self.changes[place],
            importance: self.importance[place],
        }
    }

    /// Who is wanted, place by place.
    fn chosen(&self, wanted: &Wanted) -> Vec<bool> {
        let hosts: Option<Vec<u32>> = wanted
            .hosts
            .as_ref()
            .map(|hosts| hosts.iter().filter_map(|host| u32::try_from(host.0).ok()).collect());
        let mut needed = 0;
        needed |= if wanted.failing { FAILING } else { 0 };
        needed |= if wanted.never_fetched { NEVER } else { 0 };
        needed |= match wanted.part {
            None => 0,
            Some(Part::Hub) => HUB,
            Some(Part::Sitemap) => SITEMAP,
            Some(Part::Feed) => FEED,
        };
        let state = wanted.state.map(bits_of);
        let fits = |place: usize| {
            let flags = self.flags[place];
            flags & needed == needed
                && state.is_none_or(|state| flags & 3 == state)
                && hosts.as_ref().is_none_or(|hosts| hosts.contains(&self.hosts[place]))
        };
        if wanted.text.is_empty() {
            return (0..self.len()).map(fits).collect();
        }
        let mut chosen = vec![false; self.len()];
        let mut place = 0;
        for found in memmem::find_iter(&self.text, wanted.text.as_bytes()) {
            // Found places come in order, and so do pages: mostly the next one is not far.
            let found = found as u64;
            if self.starts.get(place + 1).is_some_and(|next| *next <= found) {
                place += self.starts[place..].partition_point(|start| *start <= found) - 1;
            }
            if !chosen[place] {
                chosen[place] = fits(place);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::build::Builder;
    use super::*;

    fn ranking() -> Ranking {
        let mut builder = Builder::new(Time::ZERO);
        for (id, url, host, stale, state) in [
            (1, "https://a.example/News", 1, 0.5, PageState::Active),
            (2, "https://a.example/news/old", 1, 0.9, PageState::Paused),
            (3, "https://b.example/", 2, f32::NAN, PageState::Active),
            (4, "https://b.example/news?a=b", 2, 0.1, PageState::Active),
        ] {
            let ranked = Ranked {
                page: PageId(id),
                stale,
                value: 10.0 * id as f32,
                changes: 1.0,
                importance: if id == 3 { 9.0 } else { 1.0 },
            };
            let flags = flags(state, id == 4, id == 3, Role::Page, id == 1);
            builder.add(url, HostId(host), ranked, flags, id as u32);
        }
        builder.finish()
    }

    fn numbers(portion: &Portion) -> Vec<i64> {
        portion.pages.iter().map(|page| page.page.0).collect()
    }

    #[test]
    fn all_in_every_order() {
        let ranking = ranking();
        let list = |order, turned| numbers(&ranking.list(&Wanted::default(), order, turned, 0, 9));
        assert_eq!(list(Order::Stale, false), [2, 1, 4, 3], "without a copy comes last");
        assert_eq!(list(Order::Value, false), [4, 3, 2, 1]);
        assert_eq!(list(Order::Value, true), [1, 2, 3, 4]);
        assert_eq!(
            list(Order::Importance, false),
            [3, 1, 2, 4],
            "those that are alike in the order of their numbers"
        );
        assert_eq!(list(Order::Fetched, false), [4, 3, 2, 1]);
        let part = ranking.list(&Wanted::default(), Order::Value, false, 1, 2);
        assert_eq!((numbers(&part), part.all, part.before), (vec![3, 2], 4, 1));
        for skip in [99, usize::MAX] {
            assert_eq!(ranking.list(&Wanted::default(), Order::Value, false, skip, 2).pages, []);
        }
    }

    #[test]
    fn some_by_what_they_are() {
        let ranking = ranking();
        let list = |wanted: Wanted| numbers(&ranking.list(&wanted, Order::Value, false, 0, 9));
        let text = |text: &str| Wanted { text: text.to_owned(), ..Wanted::default() };
        assert_eq!(list(text("news")), [4, 2, 1]);
        assert_eq!(list(text("a.example/news")), [2, 1]);
        assert_eq!(list(text("https://b.example/")), [4, 3]);
        assert_eq!(list(text("nothing like it")), [0; 0]);
        assert_eq!(list(Wanted { hosts: Some(vec![HostId(2)]), ..text("news") }), [4]);
        assert_eq!(list(Wanted { hosts: Some(Vec::new()), ..Wanted::default() }), [0; 0]);
        assert_eq!(list(Wanted { state: Some(PageState::Paused), ..Wanted::default() }), [2]);
        assert_eq!(list(Wanted { state: Some(PageState::Active), ..Wanted::default() }), [4, 3, 1]);
        assert_eq!(list(Wanted { failing: true, ..Wanted::default() }), [4]);
        assert_eq!(list(Wanted { never_fetched: true, ..Wanted::default() }), [3]);
        assert_eq!(list(Wanted { part: Some(Part::Hub), ..Wanted::default() }), [1]);
        let second = ranking.list(&text("news"), Order::Value, false, 1, 1);
        assert_eq!((numbers(&second), second.all), (vec![2], 3));
        let turned = ranking.list(&text("news"), Order::Value, true, 0, 2);
        assert_eq!(numbers(&turned), [1, 2]);
    }

    #[test]
    fn nothing_at_all_is_no_trouble() {
        let none = Builder::new(Time::ZERO).finish();
        let wanted = Wanted { text: "x".to_owned(), ..Wanted::default() };
        assert_eq!(none.list(&wanted, Order::Stale, false, 0, 9), Portion::default());
    }
}
