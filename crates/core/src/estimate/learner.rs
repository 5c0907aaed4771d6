//! From what fetches saw to beliefs, for all pages together: each page has its history, and the prior of each comes from
//! all the others.
//!
//! Priors form a tree: the start, all pages, those of the host, those of the host and one URL shape. Each level leans on
//! the one above as far as its own pages are few.

use super::history::History;
use super::observation::Observation;
use super::population::{Population, Share};
use super::posterior::Posterior;
use super::prior::Prior;
use crate::ids::IdMap;

/// Where a page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// Its host.
    pub host: u32,
    /// The shape of its URL on that host ([`super::shape`]), or any.
    pub shape: u32,
}

impl Group {
    /// No shape is known, or shapes do not matter.
    pub const ANY_SHAPE: u32 = 0;
}

/// A page as the learner knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    history: History,
    /// What the groups were told last; nothing before the first observation.
    belief: Option<Posterior>,
    group: Group,
}

impl Learned {
    /// A page that was never looked at twice.
    pub fn new(group: Group) -> Self {
        Self { history: History::default(), belief: None, group }
    }

    /// Its history.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// A fetch failed.
    pub fn fail(&mut self) {
        self.history.fail();
    }
}

/// The priors of all groups.
#[derive(Clone, Debug, Default)]
pub struct Learner {
    start: Prior,
    pages: Population,
    hosts: IdMap<u32, Population>,
    shapes: IdMap<Group, Population>,
}

impl Learner {
    /// Nothing learned yet, and this believed of everything.
    pub fn new(start: Prior) -> Self {
        Self { start, ..Self::default() }
    }

    /// What is believed of a page of this group before it was looked at.
    pub fn prior(&mut self, group: Group) -> Prior {
        let all = self.pages.prior(&self.start);
        let Some(host) = self.hosts.get_mut(&group.host) else { return all };
        let host = host.prior(&all);
        if group.shape == Group::ANY_SHAPE {
            return host;
        }
        self.shapes.get_mut(&group).map_or(host, |shape| shape.prior(&host))
    }

    /// What is believed of a page now.
    pub fn belief(&mut self, page: &Learned) -> Posterior {
        let prior = self.prior(page.group);
        Posterior::of(&page.history, &prior)
    }

    /// A fetch saw this.
    pub fn observe(&mut self, page: &mut Learned, seen: &Observation) -> Posterior {
        page.history.observe(seen);
        self.refresh(page)
    }

    /// The belief about a page anew, with what was learned of the others since its last fetch. Cheap beside a fetch: a
    /// driver that refreshes a few pages with each has priors that are up to date many times sooner.
    pub fn refresh(&mut self, page: &mut Learned) -> Posterior {
        if page.history.seen() == 0 {
            return self.belief(page);
        }
        let belief = self.learn(page.group, page.belief.as_ref(), &page.history);
        page.belief = Some(belief);
        belief
    }

    /// For who keeps pages otherwise: the belief about a page of this group with this history, told to its groups. `before` is
    /// what they were told last of the page, if anything. Kept in single precision it can be taken back exactly.
    pub fn learn(&mut self, group: Group, before: Option<&Posterior>, history: &History) -> Posterior {
        let all = self.pages.prior(&self.start);
        let host = self.hosts.entry(group.host).or_default();
        let mut prior = if host.is_new() { all } else { host.prior(&all) };
        let mut shape = (group.shape != Group::ANY_SHAPE).then(|| self.shapes.entry(group).or_default());
        if let Some(shape) = shape.as_deref_mut()
            && !shape.is_new()
        {
            prior = shape.prior(&prior);
        }
        let belief = Posterior::of(history, &prior).in_single();
        let (before, after) = (before.map(Share::from), Share::under(&belief, &prior));
        self.pages.replace(before, after);
        host.replace(before, after);
        if let Some(shape) = shape {
            shape.replace(before, after);
        }
        belief
    }

    /// The page is gone: its group forgets it.
    pub fn remove(&mut self, page: &Learned) {
        if let Some(last) = &page.belief {
            self.forget(page.group, last);
        }
    }

    /// For who keeps pages otherwise: a page of this group is gone, of which this was learned last.
    pub fn forget(&mut self, group: Group, last: &Posterior) {
        let last = Share::from(last);
        self.pages.remove(last);
        if let Some(host) = self.hosts.get_mut(&group.host) {
            host.remove(last);
        }
        if let Some(shape) = self.shapes.get_mut(&group) {
            shape.remove(last);
        }
    }

    /// The prior of all pages, refitted now.
    #[cfg(test)]
    pub(super) fn pages_prior_now(&self) -> Prior {
        self.pages.fit(&self.start)
    }
}
