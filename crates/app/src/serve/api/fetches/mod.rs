//! Work for other fetchers: what to fetch, and what came of it. Refrain keeps the hosts' peace; the fetcher only fetches.

pub(super) mod next;
pub(super) mod results;

use refrain_engine::LeaseId;

/// What stands before the lease of a robots.txt: so the fetcher need not say again what it was.
const ROBOTS: char = 'r';

/// A lease as fetchers see it: a text to bring back.
fn written(lease: LeaseId, is_robots: bool) -> String {
    if is_robots { format!("{ROBOTS}{lease}") } else { lease.to_string() }
}

/// A lease that was brought back, and whether it is that of a robots.txt.
fn read(text: &str) -> Option<(LeaseId, bool)> {
    let (rest, is_robots) = text.strip_prefix(ROBOTS).map_or((text, false), |rest| (rest, true));
    Some((rest.parse().ok()?, is_robots))
}

#[cfg(test)]
mod tests {
    use refrain_store::PageId;

    use super::*;

    #[test]
    fn leases_come_back_as_they_were() {
        let lease = LeaseId { grant: 1, place: 2, page: PageId(3) };
        for is_robots in [false, true] {
            assert_eq!(read(&written(lease, is_robots)), Some((lease, is_robots)));
        }
        assert_eq!((read("rr1.2.3"), read("x"), read("")), (None, None, None));
    }
}
