//! Which links of a hub are new, and which only look it: a link with a session in it is another one at every visit.
//!
//! A link that takes the place of one that vanished, with the same path and other values in its query, may be either. Looking twice tells:
//! what is gone two seconds later is no page.

use std::collections::HashSet;

use refrain_core::time::Time;
use refrain_fetch::change::SECOND_LOOK;
use refrain_fetch::url::PageUrl;
use xxhash_rust::xxh3::xxh3_64;

/// So many kinds of links are remembered as noise, or as none.
const MOST: usize = 20_000;

/// The links that a page showed last.
#[derive(Debug, Default)]
pub(crate) struct LinkMemory {
    /// By their addresses, and their forms: those with a query only.
    links: HashSet<u64>,
    forms: HashSet<u64>,
    /// Links that may be noise, and since when: a second look tells.
    doubtful: Option<(Time, Vec<PageUrl>)>,
}

/// What is known of links of the same form.
#[derive(Default)]
pub(crate) struct Forms {
    noise: HashSet<u64>,
    real: HashSet<u64>,
}

/// What a page showed.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Links that were not there before.
    pub(crate) new: Vec<PageUrl>,
    /// Links of which that is not sure.
    pub(crate) doubtful: Vec<PageUrl>,
}

/// Links are of the same form if they differ only in the values of their query; 0 if there is none.
fn form(url: &PageUrl) -> u64 {
    let Some((place, query)) = url.as_str().split_once('?') else { return 0 };
    let mut names: Vec<&str> =
        query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
    names.sort_unstable();
    xxh3_64(format!("{place}?{}", names.join("&")).as_bytes()).max(1)
}

fn hash(url: &PageUrl) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

impl LinkMemory {
    /// Links that may be noise: a look after [`SECOND_LOOK`] tells. Whether they have to wait for one: if others do, they are not
    /// remembered, and come up again.
    pub(crate) fn doubt(&mut self, links: Vec<PageUrl>, now: Time) -> bool {
        let doubt = self.doubtful.is_none() && !links.is_empty();
        if doubt {
            self.doubtful = Some((now, links));
        }
        doubt
    }

    /// Links that were doubted long enough ago.
    pub(crate) fn doubted(&mut self, now: Time) -> Vec<PageUrl> {
        match self.doubtful.take_if(|(since, _)| now.since(*since) >= SECOND_LOOK) {
            Some((_, links)) => links,
            None => Vec::new(),
        }
    }

    /// Remembers what a page shows now.
    pub(crate) fn show(&mut self, links: &[PageUrl]) {
        self.links = links.iter().map(hash).collect();
        self.forms = links.iter().map(form).filter(|form| *form != 0).collect();
    }
}

impl Forms {
    /// Whether a link is known to be noise.
    pub(crate) fn is_noise(&self, url: &PageUrl) -> bool {
        !self.noise.is_empty() && self.noise.contains(&form(url))
    }

    /// Sorts the links that a page shows and nobody knows (`unknown`), among all that it shows.
    pub(crate) fn sort(&self, memory: &LinkMemory, all: &[PageUrl], unknown: Vec<PageUrl>) -> Sorted {
        let mut sorted = Sorted::default();
        if unknown.is_empty() {
            return sorted;
        }
        let stayed: HashSet<u64> = all.iter().map(hash).collect();
        // If none of those that were there is gone, nobody took a place. If nobody remembers what was there, anybody may have.
        let forgotten = memory.links.is_empty();
        let replaced = forgotten || memory.links.iter().any(|link| !stayed.contains(link));
        for url in unknown {
            let form = form(&url);
            if self.noise.contains(&form) {
                continue;
            }
            let took_a_place = replaced && (forgotten || memory.forms.contains(&form));
            // Who was there before and is unknown all the same was in doubt already.
            let may_be_noise = took_a_place || memory.links.contains(&hash(&url));
            let doubtful = form != 0 && may_be_noise && !self.real.contains(&form);
            let side = if doubtful { &mut sorted.doubtful } else { &mut sorted.new };
            side.push(url);
        }
        sorted
    }

    /// A second look: of the doubtful links, those that are still there.
    pub(crate) fn settle(&mut self, doubtful: Vec<PageUrl>, all: &[PageUrl]) -> Vec<PageUrl> {
        let there: HashSet<u64> = all.iter().map(hash).collect();
        let (stayed, gone): (Vec<PageUrl>, Vec<PageUrl>) =
            doubtful.into_iter().partition(|url| there.contains(&hash(url)));
        for (urls, forms) in [(&stayed, &mut self.real), (&gone, &mut self.noise)] {
            if forms.len() < MOST {
                forms.extend(urls.iter().map(form));
            }
        }
        // Where some of a form stay, others came and went by chance.
        self.noise.retain(|form| !self.real.contains(form));
        stayed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(paths: &[&str]) -> Vec<PageUrl> {
        paths.iter().map(|path| PageUrl::parse(&format!("http://a.example{path}")).unwrap()).collect()
    }

    #[test]
    fn sessions_are_noise_and_items_are_not() {
        let (mut forms, mut memory) = (Forms::default(), LinkMemory::default());
        memory.show(&urls(&["/about", "/login?sid=1", "/item?id=1"]));
        let now = urls(&["/about", "/login?sid=2", "/item?id=2", "/story"]);
        let sorted = forms.sort(&memory, &now, urls(&["/login?sid=2", "/item?id=2", "/story"]));
        assert_eq!((&sorted.new, sorted.doubtful.len()), (&urls(&["/story"]), 2));
        // Two seconds later.
        let again = urls(&["/about", "/login?sid=3", "/item?id=2", "/story"]);
        assert_eq!(forms.settle(sorted.doubtful, &again), urls(&["/item?id=2"]));
        // From then on it is known.
        memory.show(&again);
        let later = urls(&["/login?sid=4", "/item?id=3"]);
        let sorted = forms.sort(&memory, &later, later.clone());
        assert_eq!((sorted.new, sorted.doubtful.len()), (urls(&["/item?id=3"]), 0));
        assert!(forms.is_noise(&urls(&["/login?sid=9"])[0]) && !forms.is_noise(&urls(&["/item?id=9"])[0]));
    }

    #[test]
    fn who_only_adds_is_not_doubted() {
        let (forms, mut memory) = (Forms::default(), LinkMemory::default());
        memory.show(&urls(&["/item?id=1"]));
        let now = urls(&["/item?id=1", "/item?id=2"]);
        let sorted = forms.sort(&memory, &now, urls(&["/item?id=2"]));
        assert_eq!((sorted.new.len(), sorted.doubtful.len()), (1, 0));
    }
}
