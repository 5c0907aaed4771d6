//! The only place where addresses are taken up: the rule of `scope`, and how many of each kind there may be.

use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{NewPage, Role};

use super::Crawl;
use crate::catalogue::{Guest, Welcome};
use crate::scope::{Facts, Verdict, Way, is_chosen, judge};
use crate::settings::host_name;
use crate::sites::{ENDLESS, PLACES};
use crate::told::Told;

/// Why an address is not taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is known, or on its way into the store.
    Known,
    /// It is out of scope.
    OutOfScope,
    /// There are as many pages as there may be, of all sites or of this one.
    Full,
    /// It is one more name of a site that has endless names.
    Endless,
    /// It cannot be stored.
    Unusable,
}

impl Crawl {
    /// Takes up an address that came in this way, from `from` where something named it: the place of the new page in the batch that waits.
    pub(super) fn enter(
        &mut self,
        now: Time,
        way: Way,
        from: Option<&PageUrl>,
        url: &PageUrl,
        page: NewPage,
    ) -> Result<usize, Refused> {
        // The cheapest question first: nearly everything that is named is known.
        if self.scheduler.pages.index.is_known(url.as_str()) {
            return Err(Refused::Known);
        }
        if !self.may_come(now, way, from.unwrap_or(url), url) {
            return Err(Refused::OutOfScope);
        }
        let (known, most) = (self.scheduler.pages.index.len(), self.settings.most_pages);
        let chosen = way == Way::Chosen;
        let fits = if chosen { known < most } else { self.scheduler.pages.sites.has_room(url, known, most) };
        if !fits {
            self.summary.left_out += 1;
            return Err(Refused::Full);
        }
        if !chosen && !self.has_room_for_name(now, url) {
            return Err(Refused::Endless);
        }
        if !self.scheduler.pages.index.know(url.as_str()) {
            return Err(Refused::Known);
        }
        let host = self.scheduler.host(&page.host);
        let role = page.origin.role;
        self.scheduler.pages.sites.add_page(host, role == Role::Page, is_chosen(page.found, role));
        Ok(self.journal.page(now, page))
    }

    /// Whether an address may come in this way at all.
    fn may_come(&mut self, now: Time, way: Way, from: &PageUrl, to: &PageUrl) -> bool {
        match judge(self.settings.follow.as_ref(), way, from, to, self.facts(way, from, to)) {
            Verdict::In => true,
            Verdict::Out => false,
            Verdict::Guest => {
                let guest = match way {
                    Way::Redirect { .. } | Way::RobotsRedirect => Guest::Redirect,
                    Way::Hub => Guest::Hub,
                    _ => Guest::Outlet,
                };
                self.welcomes(now, from, guest, to)
            }
        }
    }

    /// What is known of the two hosts.
    fn facts(&self, way: Way, from: &PageUrl, to: &PageUrl) -> Facts {
        let (hosts, sites) = (&self.scheduler.hosts, &self.scheduler.pages.sites);
        let is_crawled =
            |url: &PageUrl| hosts.get(url.origin()).is_some_and(|entry| sites.crawled_of(entry.id) > 0);
        let host_is_crawled = is_crawled(to);
        Facts {
            // Feeds are often on a host of their own.
            namer_is_crawled: is_crawled(from) || (way == Way::Hub && sites.is_crawled(from)),
            host_is_crawled,
            site_is_crawled: host_is_crawled || sites.is_crawled(to),
            is_vouched_for: matches!(way, Way::Entry | Way::Index) && self.may_speak(from, to),
        }
    }

    /// Whether the host of `from` may name the host of `to`, which is out of scope, beside those that it named before.
    fn welcomes(&mut self, now: Time, from: &PageUrl, guest: Guest, to: &PageUrl) -> bool {
        let Some(entry) = self.scheduler.hosts.get_mut(from.origin()) else { return false };
        let chosen = self.scheduler.pages.sites.chosen_of(entry.id);
        let welcome = entry.welcomes(guest, to.origin(), chosen);
        if welcome == Welcome::New {
            self.journal.keep(now, vec![guest.kept(from.origin(), to.origin())]);
        }
        welcome != Welcome::Full
    }

    /// Whether a host that is not known yet is taken up, though the crawl found it by itself: a domain may answer for endless names.
    fn has_room_for_name(&mut self, now: Time, url: &PageUrl) -> bool {
        if self.scheduler.hosts.get(url.origin()).is_some()
            || self.scheduler.pages.sites.has_room_for_name(url)
        {
            return true;
        }
        self.summary.left_out += 1;
        let Some((site, count, is_news)) = self.scheduler.pages.sites.leave_out(url) else { return false };
        let (site, most) = (site.to_owned(), self.settings.most_names);
        if is_news {
            self.journal.keep(now, vec![(format!("{ENDLESS}{site}"), count.to_string().into_bytes())]);
        }
        if count == 1 {
            self.tell(|| {
                Told::Warning(format!(
                    "{site}: it has {most} names at one address or at none that is known, or {} in all; further names that the \
                     crawl finds are not visited (max_names_per_domain)",
                    PLACES.saturating_mul(most)
                ))
            });
        }
        false
    }

    /// Whether a redirect from one host to another is followed. The host that it leads to is known from then on.
    pub(super) fn leads_on(&mut self, now: Time, way: Way, from: &str, to: &PageUrl) -> bool {
        let Ok(from) = PageUrl::parse(from) else { return false };
        let leads = self.may_come(now, way, &from, to) && self.has_room_for_name(now, to);
        if leads {
            self.scheduler.host(&host_name(to));
        }
        leads
    }

    /// Whether a page, or a feed, may tell of a hub.
    pub(super) fn may_have_hub(&mut self, now: Time, page: &PageUrl, hub: &PageUrl) -> bool {
        self.may_come(now, Way::Hub, page, hub)
    }
}
