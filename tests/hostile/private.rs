//! Nobody is visited on addresses that are not public, not through redirects either.

use std::process::Command;

use crate::support::desk::Desk;
use crate::support::fake::{Deed, Fake};
use crate::support::{refrain, stderr, stdout};

#[test]
fn without_leave_loopback_sees_no_request() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let seeds = desk.seeds(&[
        fake.url("a", "/"),
        fake.url("", "/"),
        fake.url("", "/").replace("127.0.0.1", "0x7f.1"),
    ]);
    let data = desk.data();
    let named =
        ["crawl", "--data", data, "--rate", "100/s", "--agent", "Tester", "--contact", "me@example.net"];
    let done = refrain(&named.iter().chain(&[seeds.as_str(), "--for", "2s"]).copied().collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.code() == Some(1), "{}", stderr(&done));
    assert!(said.contains("127.0.0.1 is not a public address") && said.contains("2 failed"), "{said}");
    assert_eq!(fake.log().len(), 0);
    desk.assert_sound();
}

/// An address that the whole world may visit, on a machine's own network that nobody else sees.
const PUBLIC: &str = "9.9.9.9";

#[test]
#[ignore = "started by the test below"]
fn from_a_public_address() {
    let public = Fake::start_at(PUBLIC);
    let private = Fake::start();
    private.put("", "/secret", Deed::html("<p>secret</p>"));
    let mut seeds = vec![public.url("", "/good")];
    public.put("", "/good", Deed::html("<p>good</p>"));
    let targets = [
        ("/name", private.url("secret", "/secret")),
        ("/number", private.url("", "/secret")),
        ("/odd", private.url("", "/secret").replace("127.0.0.1", "2130706433")),
        ("/mapped", private.url("", "/secret").replace("127.0.0.1", "[::ffff:7f00:1]")),
    ];
    for (path, target) in &targets {
        public.put("", path, Deed::redirect(target.clone()));
        seeds.push(public.url("", path));
    }
    let desk = Desk::new("");
    let seeds = desk.seeds(&seeds);
    let named = ["crawl", "--data", desk.data(), "--rate", "100/s", "--gap", "20ms", "--patience", "0"];
    let more = ["--agent", "Tester", "--contact", "me@example.net", "--once", &seeds];
    let done = refrain(&named.iter().chain(&more).copied().collect::<Vec<_>>());
    let said = stdout(&done);
    assert!(said.contains("1 new copies"), "{said}");
    assert_eq!(
        said.lines().filter(|line| line.contains("is not a public address")).count(),
        targets.len(),
        "{said}"
    );
    assert_eq!(private.log().len(), 0);
    assert!(targets.iter().all(|(path, _)| public.asked_for(PUBLIC, path).len() == 1));
    desk.assert_sound();
}

#[test]
fn redirects_do_not_lead_to_private_addresses() {
    let network = format!("ip link set lo up && ip addr add {PUBLIC}/32 dev lo");
    let inside = |script: String| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "sh", "-c", &script]);
        command
    };
    if !inside(network.clone()).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let us have a network of our own (unshare, ip)");
        return;
    }
    let mut test = inside(network + " && exec \"$0\" \"$@\"");
    let name = "hostile::private::from_a_public_address";
    let done = test
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--ignored", "--nocapture"])
        .output();
    let done = done.unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}
