//! The one rule about which addresses a crawl takes up, for every way in which an address can come to it.
//!
//! The rule is pure: [`judge`] is told which way an address came, where it was named, and the few facts about the crawl that matter. What may be
//! taken up in what number (pages, hosts, guests) is counted elsewhere (`crawl/enter`).

use refrain_fetch::announce::sitemap::{Scope, scope};
use refrain_fetch::url::PageUrl;
use refrain_store::Role;

use crate::follow::Follow;
use crate::kinds::Kind;

/// How an address came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A person, or a program with leave to do so: a seed, the API, a webhook, a crawler that speaks URLFrontier.
    Chosen,
    /// A link on a page.
    Link,
    /// A redirect of a page, and whether that page was chosen.
    Redirect { chosen: bool },
    /// A redirect of a robots.txt that a page needs.
    RobotsRedirect,
    /// An entry of a sitemap or a feed.
    Entry,
    /// A sitemap that robots.txt names.
    Robots,
    /// A sitemap that an index of sitemaps names.
    Index,
    /// A sitemap or a feed that a page, or the head of an answer, names.
    Named,
    /// A place where many hosts have a sitemap or a feed.
    WellKnown,
    /// A WebSub hub that a page or a feed names.
    Hub,
    /// A page that its site submits by IndexNow.
    IndexNow,
    /// A page or a sitemap that a ping names.
    Ping,
}

/// What becomes of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is taken up.
    In,
    /// It is out of scope, but there are good reasons for a few of its kind: it counts against what its host may name elsewhere.
    Guest,
    /// It is not taken up.
    Out,
}

/// What the crawl knows about the two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four questions, each with a yes or a no")]
pub(crate) struct Facts {
    /// The host that names the address has pages in the crawl; sitemaps and feeds are none. Of a hub: some host of its site has.
    pub(crate) namer_is_crawled: bool,
    /// So has the host of the address,
    pub(crate) host_is_crawled: bool,
    /// or some host of its site.
    pub(crate) site_is_crawled: bool,
    /// What names the address may speak for its host: it is on the same host, or robots.txt of the address's host names it.
    pub(crate) is_vouched_for: bool,
}

/// Whether an address that `from` names is taken up.
pub(crate) fn judge(
    follow: Option<&Follow>,
    way: Way,
    from: &PageUrl,
    to: &PageUrl,
    facts: Facts,
) -> Verdict {
    let distance = scope(from, to);
    let is_same_host = distance <= Scope::Host;
    let leads = follow.is_some_and(|follow| follow.leads(from, to));
    let verdict = |is_in| if is_in { Verdict::In } else { Verdict::Out };
    match way {
        Way::Chosen => Verdict::In,
        Way::Link => verdict(leads),
        Way::Redirect { .. } | Way::RobotsRedirect if leads || distance <= Scope::Site => Verdict::In,
        Way::Entry => verdict(facts.is_vouched_for && is_wanted(follow, to, facts)),
        Way::IndexNow => verdict(is_wanted(follow, to, facts)),
        Way::WellKnown => verdict(is_same_host && facts.namer_is_crawled),
        Way::Index => verdict(is_same_host || (facts.is_vouched_for && facts.host_is_crawled)),
        Way::Redirect { .. } | Way::RobotsRedirect | Way::Hub | Way::Robots | Way::Named
            if !facts.namer_is_crawled =>
        {
            Verdict::Out
        }
        Way::Named if distance == Scope::Elsewhere => Verdict::Out,
        Way::Robots | Way::Named if is_same_host || facts.host_is_crawled || leads => Verdict::In,
        Way::Redirect { chosen: true } | Way::RobotsRedirect | Way::Hub | Way::Robots | Way::Named => {
            Verdict::Guest
        }
        Way::Redirect { chosen: false } | Way::Ping => Verdict::Out,
    }
}

/// Whether a page that was not linked to is one of those that are followed: there it counts what is crawled, not what names it.
fn is_wanted(follow: Option<&Follow>, to: &PageUrl, facts: Facts) -> bool {
    match follow {
        None => false,
        Some(Follow::SameHost) => facts.host_is_crawled,
        Some(Follow::SameSite) => facts.site_is_crawled,
        Some(pattern) => pattern.leads(to, to),
    }
}

/// Whether a page was chosen, by how it was found; all others were found by the crawl.
pub(crate) fn is_chosen(found: &str, role: Role) -> bool {
    let by_itself = ["link", "redirect"].contains(&found)
        || [Kind::Sitemap, Kind::Feed, Kind::WebSub, Kind::IndexNow]
            .iter()
            .any(|kind| kind.as_str() == found);
    role == Role::Page && !by_itself
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way, to the same host, another host of the same site and another site, in every mode; each by itself and with everything that the
    /// crawl may know in its favour.
    #[test]
    fn every_way_in_every_mode() {
        use Verdict::{Guest, In, Out};
        let url = |text: &str| PageUrl::parse(text).unwrap();
        let from = url("https://news.example.org/a");
        let targets =
            ["https://news.example.org/b", "https://www.example.org/b", "https://other.example/b"].map(url);
        let pattern = Follow::Pattern("https://*.example.org/*".to_owned());
        let modes = [None, Some(Follow::SameHost), Some(Follow::SameSite), Some(pattern)];
        let unknown = Facts { namer_is_crawled: true, ..Facts::default() };
        let known = Facts {
            namer_is_crawled: true,
            host_is_crawled: true,
            site_is_crawled: true,
            is_vouched_for: true,
        };
        let all = [[In; 3]; 4];
        let none = [[Out; 3]; 4];
        let site_then = |rest| [[In, In, rest]; 4];
        let followed = [[Out; 3], [In, Out, Out], [In, In, Out], [In, In, Out]];
        let by_fact = [[Out; 3], [In; 3], [In; 3], [In, In, Out]];
        let by_pattern = [[Out; 3], [Out; 3], [Out; 3], [In, In, Out]];
        let host_only = [[In, Out, Out]; 4];
        let outlets = |near, far| [[In, near, far], [In, near, far], [In, In, far], [In, In, far]];
        for (way, strange, familiar) in [
            (Way::Chosen, all, all),
            (Way::Link, followed, followed),
            (Way::Redirect { chosen: true }, site_then(Guest), site_then(Guest)),
            (Way::Redirect { chosen: false }, site_then(Out), site_then(Out)),
            (Way::RobotsRedirect, site_then(Guest), site_then(Guest)),
            (Way::Entry, none, by_fact),
            (Way::Robots, outlets(Guest, Guest), all),
            (Way::Index, host_only, all),
            (Way::Named, outlets(Guest, Out), site_then(Out)),
            (Way::WellKnown, host_only, host_only),
            (Way::Hub, [[Guest; 3]; 4], [[Guest; 3]; 4]),
            (Way::IndexNow, by_pattern, by_fact),
            (Way::Ping, none, none),
        ] {
            for (place, mode) in modes.iter().enumerate() {
                let found = |facts| targets.each_ref().map(|to| judge(mode.as_ref(), way, &from, to, facts));
                assert_eq!(found(unknown), strange[place], "{way:?} {mode:?}, of an unknown host");
                assert_eq!(found(known), familiar[place], "{way:?} {mode:?}, of a known host");
            }
        }
    }

    /// What a host names that is itself no more than a guest leads nowhere.
    #[test]
    fn guests_bring_no_guests() {
        let url = |text: &str| PageUrl::parse(text).unwrap();
        let (from, own, other) =
            (url("http://a.example/x"), url("http://a.example/y"), url("http://b.example/"));
        let redirects =
            [Way::Redirect { chosen: true }, Way::Redirect { chosen: false }, Way::RobotsRedirect];
        for way in [Way::Robots, Way::Named, Way::WellKnown, Way::Hub].into_iter().chain(redirects) {
            for to in [&own, &other] {
                let verdict = judge(Some(&Follow::SameHost), way, &from, to, Facts::default());
                // A redirect within a host names no host.
                let expected =
                    if redirects.contains(&way) && to == &own { Verdict::In } else { Verdict::Out };
                assert_eq!(verdict, expected, "{way:?} {to}");
            }
        }
    }

    #[test]
    fn what_was_chosen() {
        for (found, role, expected) in [
            ("seed", Role::Page, true),
            ("api", Role::Page, true),
            ("urlfrontier", Role::Page, true),
            ("shop", Role::Page, true),
            ("link", Role::Page, false),
            ("redirect", Role::Page, false),
            ("sitemap", Role::Page, false),
            ("feed", Role::Page, false),
            ("websub", Role::Page, false),
            ("indexnow", Role::Page, false),
            ("robots", Role::Sitemap, false),
            ("guess", Role::Feed, false),
        ] {
            assert_eq!(is_chosen(found, role), expected, "{found}");
        }
    }
}
