//! A robots.txt that once forbade everything is read again, and pages come back when it allows them.

use std::process::Command;

use refrain_store::PageState;

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};

const NOTHING: &str = "User-agent: *\nDisallow: /";

/// As if the robots.txt of all hosts had been read so many hours ago.
fn pass_hours(desk: &Desk, hours: u64) {
    let script = "import sqlite3,sys\n\
                  db=sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()";
    let sql = format!("UPDATE hosts SET robots_fetched = robots_fetched - {hours} * 3600000");
    let database = desk.path("data").join("refrain.db");
    assert!(Command::new("python3").args(["-c", script]).arg(database).arg(sql).status().unwrap().success());
}

#[test]
fn a_site_that_forbade_everything_comes_back() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("site", "/robots.txt", Deed::kind("text/plain", NOTHING));
    fake.put("other", "/", Deed::html("<p>other</p>"));
    let pages: Vec<String> = (0..5).map(|page| fake.url("site", &format!("/{page}"))).collect();
    for page in 0..5 {
        fake.put("site", &format!("/{page}"), Deed::html("<p>page</p>"));
    }
    let state = |state: PageState| {
        let reader = desk.reader();
        pages.iter().all(|url| reader.page(url).unwrap().is_some_and(|page| page.state == state))
    };
    let asked = || fake.asked_for("site", "/robots.txt").len();
    let other = || fake.asked_for("other", "/").len();
    let running = desk.start(&[&desk.seeds(&[&pages[..], &[fake.url("other", "/")]].concat())]);
    wait_until("all pages are known to be forbidden", || asked() == 1 && state(PageState::Disallowed));
    running.interrupt();

    // As long as the rules hold they are not read again; nor are they more than once when they do not.
    let running = desk.start(&[]);
    let before = other();
    wait_until("the crawl runs", || other() > before + 2);
    running.interrupt();
    assert_eq!(asked(), 1);
    pass_hours(&desk, 25);
    let running = desk.start(&[]);
    wait_until("they are read again", || asked() == 2);
    let before = other();
    wait_until("the crawl runs on", || other() > before + 2);
    running.interrupt();
    assert_eq!((asked(), fake.asked_of("site").len()), (2, 2), "no page was asked for");

    fake.put("site", "/robots.txt", Deed::kind("text/plain", "User-agent: *\nDisallow: /4"));
    pass_hours(&desk, 25);
    let running = desk.start(&[]);
    wait_until("what is allowed is fetched", || {
        let reader = desk.reader();
        pages[..4].iter().all(|url| reader.page(url).unwrap().is_some_and(|page| page.fetched.is_some()))
    });
    running.interrupt();
    assert_eq!((asked(), fake.asked_for("site", "/4").len()), (3, 0));
    assert_eq!(desk.reader().page(&pages[4]).unwrap().unwrap().state, PageState::Disallowed);
    desk.assert_sound();
}
