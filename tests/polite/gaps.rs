//! Several hosts, redirects between them, second looks, restarts and kills: the hosts' own log shows that nobody was asked too soon,
//! and that all together the budget was kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};

const GAP: Duration = Duration::from_millis(150);
const RATE: f64 = 20.0;
/// From the moment a request is allowed until the host has noted it, on a machine that is busy.
const JITTER: f64 = 0.5;

#[test]
fn no_host_is_asked_too_soon_and_the_budget_is_kept() {
    let fake = Fake::start();
    let config = format!("gap = \"{}ms\"\nrate = \"{RATE}/s\"\nfollow = \"same-site\"\n", GAP.as_millis());
    let desk = Desk::new(&config);
    let mut seeds = Vec::new();
    for host in 0..8 {
        let name = format!("h{host}");
        fake.put(&name, "/robots.txt", Deed::kind("text/plain", "User-agent: *\nDisallow: /private/"));
        for page in 0..4 {
            fake.put(&name, &format!("/{page}"), Deed::html(format!("<p>{page}</p>")));
            seeds.push(fake.url(&name, &format!("/{page}")));
        }
        // To the next host, in two steps; and to a host that is known only by redirects.
        fake.put(&name, "/on", Deed::redirect("/further"));
        fake.put(&name, "/further", Deed::redirect(fake.url(&format!("h{}", (host + 1) % 8), "/0")));
        fake.put(&name, "/hidden", Deed::redirect(fake.url("hidden", &format!("/{host}"))));
        fake.put("hidden", &format!("/{host}"), Deed::html("<p>hidden</p>"));
        // Another text at every visit: it is looked at twice.
        let visits = AtomicUsize::new(0);
        fake.put_with(&name, "/noisy", move |_| {
            Deed::html(format!("<p>stays</p><p>visit {}</p>", visits.fetch_add(1, Ordering::Relaxed)))
        });
        seeds.extend(["/on", "/hidden", "/noisy"].map(|path| fake.url(&name, path)));
    }
    let seeds = desk.seeds(&seeds);
    let mut starts = Vec::new();
    for (round, millis) in [1300, 900, 3400, 700, 400, 1100, 300, 2500].into_iter().enumerate() {
        starts.push(fake.log().len());
        let running = desk.start(&[&seeds]);
        // More than the process before may have had under way when it was killed: one request to each host.
        wait_until("it has begun", || fake.log().len() > starts[round] + 16);
        std::thread::sleep(Duration::from_millis(millis));
        if round % 3 == 0 {
            running.interrupt();
        } else {
            running.kill();
        }
    }
    // However slow the machine is: it comes to something.
    starts.push(fake.log().len());
    let running = desk.start(&[&seeds]);
    wait_until("there is something to look at", || fake.log().len() > 100.max(starts[starts.len() - 1] + 16));
    running.interrupt();
    desk.assert_sound();

    let log = fake.log();
    assert!(log.iter().any(|hit| hit.host == "hidden"), "redirects were followed");
    for host in (0..8).map(|host| format!("h{host}")).chain(["hidden".to_owned()]) {
        let hits: Vec<_> = log.iter().filter(|hit| hit.host == host).collect();
        for pair in hits.windows(2) {
            let gap = pair[1].time - pair[0].time;
            assert!(gap >= GAP, "{host}: {} {gap:?} after {}", pair[1].path, pair[0].path);
        }
    }
    // In any time T: R·T + 2, for each process that was alive in it.
    for (first, one) in log.iter().enumerate() {
        for (last, other) in log.iter().enumerate().skip(first) {
            let span = other.time.saturating_duration_since(one.time).as_secs_f64();
            let processes = 1 + starts.iter().filter(|start| (first + 1..=last).contains(start)).count();
            let most = RATE * (span + JITTER) + 2.0 * processes as f64;
            let requests = last - first + 1;
            assert!(requests as f64 <= most, "{requests} requests in {span} s, {processes} processes");
        }
    }
}
