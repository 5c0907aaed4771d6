//! Pages of one directory, which sometimes change together: a change of one may announce those of the others.

use refrain_core::time::Time;

use crate::trace::Trace;

/// A change is told to so many other pages at most, so that a fetch costs no more in a directory of thousands.
const MOST_TOLD: usize = 200;

/// Who is told of a change that was found, by place in the trace.
pub(super) struct Siblings {
    /// Pages by directory.
    directories: Vec<Vec<u32>>,
    /// When each page was last seen.
    seen: Vec<Time>,
}

impl Siblings {
    pub(super) fn new(trace: &Trace) -> Self {
        let count = trace.pages.iter().filter_map(|page| page.directory).max().map_or(0, |most| most + 1);
        let mut directories = vec![Vec::new(); count as usize];
        for (place, page) in trace.pages.iter().enumerate() {
            if let Some(directory) = page.directory {
                directories[directory as usize].push(place as u32);
            }
        }
        Self { directories, seen: trace.pages.iter().map(|page| page.first).collect() }
    }

    /// Whether a page has any.
    pub(super) fn speak_of(&self, trace: &Trace, place: u32) -> bool {
        self.with(trace, place).len() > 1
    }

    /// A page was seen; when it was before.
    pub(super) fn see(&mut self, place: u32, now: Time) -> Time {
        std::mem::replace(&mut self.seen[place as usize], now)
    }

    /// The pages to tell that this one changed about then: those that were not seen since. Who was has nothing new to tell back.
    pub(super) fn to_tell(&self, trace: &Trace, place: u32, then: Time) -> Vec<u32> {
        let all = self.with(trace, place);
        // Its neighbours first: a directory's pages are in the order of the trace.
        let after = all.partition_point(|other| *other <= place);
        let others = all[after..].iter().chain(&all[..after]).filter(|other| **other != place);
        others.copied().filter(|other| self.seen[*other as usize] < then).take(MOST_TOLD).collect()
    }

    /// The pages of a page's directory, itself among them.
    fn with(&self, trace: &Trace, place: u32) -> &[u32] {
        let directory = trace.pages[place as usize].directory;
        directory.map_or(&[], |directory| &self.directories[directory as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TracePage;
    use refrain_core::time::Span;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    fn trace(directories: impl IntoIterator<Item = Option<u32>>) -> Trace {
        let page = |(number, directory)| TracePage {
            number,
            importance: 1.0,
            source: 0,
            group: 0,
            directory,
            first: at(0),
            last: at(1000),
            heard_from: None,
            changes: Vec::new(),
        };
        Trace { pages: (0..).zip(directories).map(page).collect(), ..Trace::default() }
    }

    #[test]
    fn pages_of_one_directory_are_told_and_others_are_not() {
        let trace = trace([Some(0), Some(1), Some(0), None, Some(0), None, Some(2)]);
        let mut siblings = Siblings::new(&trace);
        assert_eq!(siblings.to_tell(&trace, 2, at(10)), [4, 0]);
        for alone in [1, 3, 6] {
            assert!(siblings.to_tell(&trace, alone, at(10)).is_empty(), "{alone}");
            assert!(!siblings.speak_of(&trace, alone), "{alone}");
        }
        // Who saw it already is not told again.
        assert_eq!(siblings.see(4, at(20)), at(0));
        assert_eq!(siblings.to_tell(&trace, 2, at(20)), [0]);
        assert_eq!(siblings.to_tell(&trace, 2, at(30)), [4, 0]);
    }

    #[test]
    fn a_change_is_told_to_so_many_at_most() {
        let trace = trace(vec![Some(0); 1000]);
        let told = Siblings::new(&trace).to_tell(&trace, 900, at(10));
        assert_eq!((told.len(), told[0], told[MOST_TOLD - 1]), (MOST_TOLD, 901, 100));
    }
}
