//! What another process knows again of pages and hosts.

use refrain_core::time::Span;
use refrain_fetch::url::PageUrl;
use refrain_store::{Batch, NewPage, Options, Origin, Role, Store};

use super::Crawl;
use crate::scope::Way;
use crate::seeds::new_page;
use crate::{Clock, Settings};

const HOST: &str = "http://a.example";

fn settings() -> Settings {
    Settings { fetches: false, commit_within: Span::ZERO, ..Settings::default() }
}

/// A crawl of what is in a directory.
pub(super) fn open(folder: &std::path::Path) -> Crawl {
    let store = Store::open(folder, Options::default()).unwrap();
    Crawl::new(store, folder, settings(), Clock::start(), None).unwrap()
}

fn chosen(crawl: &Crawl) -> u64 {
    crawl.scheduler.pages.sites.chosen_of(crawl.scheduler.hosts.get(HOST).unwrap().id)
}

/// Pages that were chosen are chosen after a restart, and no others.
#[tokio::test]
async fn which_pages_were_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = open(folder.path());
    let now = crawl.wake();
    let url = |path: &str| PageUrl::parse(&format!("{HOST}/{path}")).unwrap();
    let hub = Some(refrain_store::PageId(1));
    for (path, found, way, hub, expected) in [
        ("", "seed", Way::Chosen, None, 1),
        // A crawler that speaks URLFrontier says which page showed it.
        ("shown", "urlfrontier", Way::Chosen, hub, 2),
        ("shown-too", "urlfrontier", Way::Chosen, hub, 3),
        // A site submits it: no page of ours showed it.
        ("submitted", "indexnow", Way::IndexNow, None, 3),
        ("linked", "link", Way::Link, hub, 3),
    ] {
        let page = new_page(&url(path), 1.0, None, now, found).unwrap();
        let page = NewPage { origin: Origin { role: Role::Page, hub, ..Origin::default() }, ..page };
        crawl.settings = Settings { follow: Some(crate::Follow::SameHost), ..settings() }.into();
        crawl.enter(now, way, Some(&url("")), &url(path), page).unwrap();
        assert_eq!(chosen(&crawl), expected, "{found}");
    }
    super::parts::write(&mut crawl).await;
    drop(crawl);
    assert_eq!(chosen(&open(folder.path())), 3);
}

/// A host that has brought as many others into the crawl as it may brings no more after a restart.
#[tokio::test]
async fn which_hosts_were_brought() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Options::default()).unwrap();
    let seed = PageUrl::parse(HOST).unwrap();
    let page = new_page(&seed, 1.0, None, Clock::start().now(), "seed").unwrap();
    store.commit(&Batch { pages: vec![page], ..Batch::default() }).unwrap();
    drop(store);
    let mut crawl = open(folder.path());
    let mut brought = [0; 3];
    for restart in 0..3 {
        let now = crawl.wake();
        for number in 0..20 {
            let url = PageUrl::parse(&format!("http://f{restart}-{number}.example/")).unwrap();
            brought[0] += u32::from(crawl.leads_on(now, Way::Redirect { chosen: true }, HOST, &url));
            brought[1] += u32::from(crawl.may_have_hub(now, &seed, &url));
            let page = new_page(&url, 0.0, None, now, "robots").unwrap();
            let origin = Origin { role: Role::Sitemap, ..Origin::default() };
            let page = NewPage { origin, ..page };
            brought[2] += u32::from(crawl.enter(now, Way::Robots, Some(&seed), &url, page).is_ok());
        }
        assert_eq!(brought, [9, 4, 2], "after {restart} restarts");
        if restart == 0 {
            super::parts::write(&mut crawl).await;
        }
        drop(crawl);
        crawl = open(folder.path());
    }
}
