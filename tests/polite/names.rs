//! Many names of one machine: the gap holds for the machine, as its own log shows.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};

const NAMES: usize = 577;
const GAP: Duration = Duration::from_millis(60);

/// A site that links to hundreds of its names.
fn many_names() -> Fake {
    let fake = Fake::start();
    let mut links = String::new();
    for number in 0..NAMES {
        let name = format!("n{number}.many");
        links.push_str(&format!("<a href='{}'>{number}</a>", fake.url(&name, "/")));
        fake.put(&name, "/", Deed::html("<p>one of many</p>"));
    }
    fake.put("many", "/", Deed::html(links));
    fake
}

/// Crawls until so many more requests were made; how many of these came sooner than a gap after the one before.
fn too_soon(fake: &Fake, desk: &Desk, requests: usize) -> usize {
    let before = fake.log().len();
    let running = desk.start(&[&fake.url("many", "/")]);
    wait_until("enough requests were made", || fake.log().len() >= before + requests);
    running.interrupt();
    fake.log()[before..].windows(2).filter(|pair| pair[1].time - pair[0].time < GAP).count()
}

fn config(more: &str) -> String {
    format!(
        "gap = \"{}ms\"\nrate = \"1000/s\"\nfollow = \"same-site\"\nmax_names_per_domain = 1000\n{more}",
        GAP.as_millis()
    )
}

#[test]
fn hundreds_of_names_of_one_address_share_its_gap() {
    let (fake, desk) = (many_names(), Desk::new(&config("politeness = \"auto\"\n")));
    // Nobody knows before the fifth name that they are more than a few.
    let early = too_soon(&fake, &desk, 40);
    assert!(early <= 5, "{early}");
    let names: BTreeSet<String> = fake.log().into_iter().map(|hit| hit.host).collect();
    assert!(names.len() > 10, "they have their turns: {names:?}");
    // From then on it is known, also by another process.
    assert_eq!(too_soon(&fake, &desk, 20), 0);
}

#[test]
fn hosts_of_one_address_or_of_one_domain_share_a_gap_if_that_is_set() {
    for politeness in ["ip", "domain"] {
        let (fake, desk) = (many_names(), Desk::new(&config(&format!("politeness = \"{politeness}\"\n"))));
        assert_eq!(too_soon(&fake, &desk, 20), 0, "{politeness}");
    }
}
