//! Work for other fetchers: what to fetch, and what came of it. Refrain keeps the hosts' peace; the fetcher only fetches.

pub(super) mod next;
pub(super) mod results;
