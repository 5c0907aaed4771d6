//! Where sites announce what is new: what robots.txt names, what pages name, what an index names, and where most sites have it.

use refrain_core::time::{Span, Time};
use refrain_fetch::announce::find::{Place, Role as Said, of_robots, well_known};
use refrain_fetch::announce::sitemap::{DEEPEST_INDEX, Scope, scope};
use refrain_fetch::robots::Robots;
use refrain_fetch::url::PageUrl;
use refrain_store::{Origin, PageId, Role};

use super::Crawl;
use crate::memo::Memo;
use crate::scope::Way;
use crate::seeds::new_page;
use crate::settings::{Until, host_name};
use crate::sources::Announced;
use crate::told::Told;

/// How sitemaps of an index are said to have been found, by how deep they are.
pub(crate) const BELOW: [&str; DEEPEST_INDEX] = ["index", "index 2", "index 3"];

/// One of the well-known places is tried after so many looks at a host.
const LOOKS: u32 = 50;
/// Of hosts with fewer pages nobody needs to guess.
const WORTH_A_GUESS: u64 = 10;
/// Where nothing but signals is wanted, this many are enough, and one more for so many pages.
const FEW: u32 = 8;
const PAGES_EACH: u32 = 20;
/// No host needs more.
const MOST: u32 = 2000;
/// A host that has no pages in the crawl, and sitemaps for one that has, needs no more than this.
const MOST_OF_GUESTS: u32 = 64;
/// Nor does a page.
const MOST_HUBS: usize = 4;

impl Crawl {
    /// What the robots.txt of a host names.
    pub(super) fn outlets_of_robots(&mut self, now: Time, host: &str, robots: &Robots) {
        let Ok(home) = PageUrl::parse(host) else { return };
        for place in of_robots(robots, &home) {
            self.outlet(now, (Way::Robots, &home), &place.url, Role::Sitemap, "robots", None);
        }
    }

    /// What a page, or the head of an answer, names.
    pub(super) fn outlet_named(&mut self, now: Time, page: &PageUrl, place: &Place) {
        let role = match place.role {
            Said::Sitemap => Role::Sitemap,
            Said::Feed => Role::Feed,
            // Hubs are told of: who subscribes needs a door.
            Said::Hub | Said::Itself => return,
        };
        self.outlet(now, (Way::Named, page), &place.url, role, "link", None);
    }

    /// Hubs that distribute what is new at a page, each told once. What the head of an answer names goes before what the body names, as WebSub
    /// wants it. A page may call itself by another name of its own site, not by one of somebody else.
    pub(super) fn hubs_named(
        &mut self,
        now: Time,
        page: PageId,
        url: &PageUrl,
        places: &[Place],
        announced: Option<&Announced>,
    ) {
        if !self.settings.listen {
            return;
        }
        let named = |role| places.iter().filter(move |place| place.role == role).map(|place| &place.url);
        let itself = named(Said::Itself).chain(announced.and_then(|what| what.itself.as_ref())).next();
        let topic = itself.filter(|itself| scope(url, itself) <= Scope::Site).unwrap_or(url);
        let hubs = named(Said::Hub).chain(announced.into_iter().flat_map(|what| &what.hubs));
        for hub in hubs.take(MOST_HUBS) {
            let key = (page, hub.as_str().into());
            // An event that was dropped is sent again after the next visit.
            if self.may_have_hub(now, url, hub)
                && self.hubs_told.get(&key, now).is_none()
                && self.tell(|| Told::Hub { page, topic: topic.to_string(), hub: hub.to_string() })
            {
                self.hubs_told.put(key, (), now, Span::MAX);
            }
        }
    }

    /// What an index names.
    pub(super) fn outlet_below(&mut self, now: Time, index: &Memo, source: PageId, child: &PageUrl) {
        if let Some(found) = BELOW.get(index.depth) {
            self.outlet(now, (Way::Index, &index.url), child, Role::Sitemap, found, Some(source));
        }
    }

    /// A host was visited. If nothing is known of what it announces, places are tried where most sites have it, now and then.
    pub(super) fn try_well_known(&mut self, now: Time, host: &str) {
        // Who wants one look at each page wants no guesses.
        let guesses = self.settings.listen
            && self.settings.until != Until::Once
            && self.scheduler.crawled_of(host) >= WORTH_A_GUESS;
        let Some(entry) = self.scheduler.hosts.get_mut(host).filter(|_| guesses) else { return };
        let outlets = &mut entry.outlets;
        outlets.looks += 1;
        if outlets.looks < LOOKS {
            return;
        }
        outlets.looks = 0;
        let Ok(home) = PageUrl::parse(host) else { return };
        for place in well_known(&home).skip(usize::from(outlets.tried)) {
            outlets.tried += 1;
            let (role, has) = match place.role {
                Said::Sitemap => (Role::Sitemap, outlets.has_sitemap),
                _ => (Role::Feed, outlets.has_feed),
            };
            if !has {
                self.outlet(now, (Way::WellKnown, &home), &place.url, role, "guess", None);
                return;
            }
        }
    }

    /// Somewhere a host may announce what is new, and what names it.
    fn outlet(
        &mut self,
        now: Time,
        (way, from): (Way, &PageUrl),
        url: &PageUrl,
        role: Role,
        found: &'static str,
        hub: Option<PageId>,
    ) {
        if !self.settings.listen || self.scheduler.pages.index.is_known(url.as_str()) {
            return;
        }
        let host = host_name(url);
        let most = match self.scheduler.crawled_of(&host) {
            0 => MOST_OF_GUESTS,
            _ if self.settings.follow.is_some() => MOST,
            _ => (FEW + self.scheduler.pages_of(&host) / PAGES_EACH).min(MOST),
        };
        if self.scheduler.hosts.get(&host).is_some_and(|entry| entry.outlets.known >= most) {
            return;
        }
        let Ok(mut page) = new_page(url, 0.0, None, now, found) else { return };
        page.origin = Origin { role, hub, ..Origin::default() };
        if self.enter(now, way, Some(from), url, page).is_ok()
            && let Some(entry) = self.scheduler.hosts.get_mut(&host)
        {
            entry.outlets.known += 1;
        }
    }
}
