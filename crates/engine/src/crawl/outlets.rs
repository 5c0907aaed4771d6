//! Where sites announce what is new: what robots.txt names, what pages name, what an index names, and where most sites have it.

use refrain_core::time::Time;
use refrain_fetch::announce::find::{Place, Role as Said, of_robots, well_known};
use refrain_fetch::announce::sitemap::{DEEPEST_INDEX, Scope, scope};
use refrain_fetch::robots::Robots;
use refrain_fetch::url::PageUrl;
use refrain_store::{Origin, PageId, Role};
use xxhash_rust::xxh3::xxh3_64;

use super::Crawl;
use crate::memo::Memo;
use crate::seeds::new_page;
use crate::settings::{Until, host_name};
use crate::sources::Announced;
use crate::told::Told;

/// How sitemaps of an index are said to have been found, by how deep they are.
pub(crate) const BELOW: [&str; DEEPEST_INDEX] = ["index", "index 2", "index 3"];

/// One of the well-known places is tried after so many looks at a host.
const LOOKS: u32 = 50;
/// Of hosts with fewer pages nobody needs to guess.
const WORTH_A_GUESS: u32 = 10;
/// Where nothing but signals is wanted, this many are enough, and one more for so many pages.
const FEW: u32 = 8;
const PAGES_EACH: u32 = 20;
/// No host needs more.
const MOST: u32 = 2000;
/// Nor does a page.
const MOST_HUBS: usize = 4;

impl Crawl {
    /// What the robots.txt of a host names.
    pub(super) fn outlets_of_robots(&mut self, now: Time, host: &str, robots: &Robots) {
        let Ok(home) = PageUrl::parse(host) else { return };
        for place in of_robots(robots, &home) {
            self.outlet(now, place.url, Role::Sitemap, "robots", None);
        }
    }

    /// What a page, or the head of an answer, names: believed for its own site.
    pub(super) fn outlet_named(&mut self, now: Time, page: &PageUrl, place: Place) {
        let role = match place.role {
            Said::Sitemap => Role::Sitemap,
            Said::Feed => Role::Feed,
            // Hubs are told of: who subscribes needs a door.
            Said::Hub | Said::Itself => return,
        };
        if scope(page, &place.url) <= Scope::Site {
            self.outlet(now, place.url, role, "link", None);
        }
    }

    /// Hubs that distribute what is new at a page, each told once. What the head of an answer names goes before what the body names, as WebSub
    /// wants it. A page may call itself by another name of its own site, not by one of somebody else.
    pub(super) fn hubs_named(
        &mut self,
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
            if self.hubs_told.insert((page, xxh3_64(hub.as_str().as_bytes()))) {
                self.tell(|| Told::Hub { page, topic: topic.to_string(), hub: hub.to_string() });
            }
        }
    }

    /// What an index names.
    pub(super) fn outlet_below(&mut self, now: Time, index: &Memo, source: PageId, child: PageUrl) {
        let allowed = scope(&index.url, &child) <= Scope::Host || self.may_speak(&index.url, &child);
        if let Some(found) = BELOW.get(index.depth).filter(|_| allowed) {
            self.outlet(now, child, Role::Sitemap, found, Some(source));
        }
    }

    /// A host was visited. If nothing is known of what it announces, places are tried where most sites have it, now and then.
    pub(super) fn try_well_known(&mut self, now: Time, host: &str) {
        // Who wants one look at each page wants no guesses.
        let guesses = self.settings.listen
            && self.settings.until != Until::Once
            && self.scheduler.pages_of(host) >= WORTH_A_GUESS;
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
                self.outlet(now, place.url, role, "guess", None);
                return;
            }
        }
    }

    /// Somewhere a host may announce what is new.
    fn outlet(&mut self, now: Time, url: PageUrl, role: Role, found: &'static str, hub: Option<PageId>) {
        if !self.settings.listen {
            return;
        }
        let host = host_name(&url);
        let pages = self.scheduler.pages_of(&host);
        let Some(entry) = self.scheduler.hosts.get_mut(&host) else {
            // Of hosts that nobody crawls nothing needs to be known, unless they speak for one that is.
            if found == "robots" {
                self.scheduler.host(&host);
                self.outlet(now, url, role, found, hub);
            }
            return;
        };
        let most = if self.settings.follow.is_some() { MOST } else { (FEW + pages / PAGES_EACH).min(MOST) };
        if entry.outlets.known >= most || !self.scheduler.pages.index.know(url.as_str()) {
            return;
        }
        entry.outlets.known += 1;
        if let Ok(mut page) = new_page(&url, 0.0, None, now, found) {
            page.origin = Origin { role, hub, ..Origin::default() };
            self.journal.page(now, page);
        }
    }
}
