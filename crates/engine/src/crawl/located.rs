//! Where hosts are. A host is asked for nothing before its addresses are known: then a request to it counts where it belongs, at its group.

use std::net::IpAddr;

use refrain_core::frontier::HostId;
use refrain_core::time::{Span, Time};
use refrain_fetch::FetchError;
use refrain_fetch::dns::Resolved;
use refrain_fetch::url::PageUrl;

use super::Crawl;
use crate::CrawlError;
use crate::catalogue::Located;
use crate::event::Event;
use crate::neighbours::Key;

/// A host whose name leads nowhere is asked for all the same, so that this is found and written down; then its name is looked up anew. This is less
/// than what name servers' refusals are remembered for: no request is made meanwhile.
const NOWHERE: Span = Span::from_whole_secs(30);
/// An answer that is about to be forgotten holds for the request that it was asked for.
const AT_LEAST: Span = Span::from_whole_secs(1);

impl Crawl {
    /// Whether the addresses of a host are known. If not, it is held until they are.
    pub(super) fn is_located(&mut self, now: Time, host: HostId) -> Result<bool, CrawlError> {
        if !self.settings.fetches {
            return Ok(true);
        }
        let Some((name, entry)) = self.scheduler.hosts.with_id(host) else { return Ok(true) };
        match entry.located {
            Located::Until(until) if until > now => return Ok(true),
            Located::Asked => return Ok(false),
            Located::Until(_) | Located::Never => {}
        }
        let name = name.to_string();
        let Ok(url) = PageUrl::parse(&name) else { return Ok(true) };
        if let Some(found) = self.kit.client.resolve_now(&url) {
            self.located(now, &name, found)?;
            // A host of a group waits for that.
            return Ok(self.scheduler.frontier.groups_of(host).is_empty());
        }
        if let Some(entry) = self.scheduler.hosts.get_mut(&name) {
            entry.located = Located::Asked;
        }
        self.locating += 1;
        self.scheduler.frontier.hold(now, host, true)?;
        let kit = std::sync::Arc::clone(&self.kit);
        self.spawn(format!("the look-up of {name}"), None, async move {
            let found = kit.client.resolve(&url).await;
            Event::Located { host: name, found }
        });
        Ok(false)
    }

    /// A name server has answered.
    pub(super) fn has_located(
        &mut self,
        now: Time,
        name: &str,
        found: Result<Resolved, FetchError>,
    ) -> Result<(), CrawlError> {
        self.locating = self.locating.saturating_sub(1);
        self.located(now, name, found)
    }

    fn located(
        &mut self,
        now: Time,
        name: &str,
        found: Result<Resolved, FetchError>,
    ) -> Result<(), CrawlError> {
        let id = self.scheduler.host(name);
        let (addresses, span): (Vec<IpAddr>, Span) = match found {
            Ok(Resolved { addresses, holds_for }) => {
                let nanos = u64::try_from(holds_for.as_nanos()).unwrap_or(u64::MAX);
                (addresses, Span::from_nanos(nanos).max(AT_LEAST))
            }
            Err(_) => (Vec::new(), NOWHERE),
        };
        if let Some(entry) = self.scheduler.hosts.get_mut(name) {
            entry.located = Located::Until(now + span);
        }
        if !addresses.is_empty() {
            let keys = Key::all_of(&addresses);
            self.scheduler.pages.sites.locate(id, &keys);
            let kept = self.scheduler.neighbours.locate(&mut self.scheduler.frontier, now, id, &keys)?;
            self.journal.keep(now, kept);
        }
        self.scheduler.frontier.hold(now, id, false)?;
        Ok(())
    }
}
