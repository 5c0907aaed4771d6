//! A disk that is full ends a crawl with a sentence, and loses nothing.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::desk::Desk;
use crate::support::fake::{Deed, Fake};
use crate::support::{Folder, command, stderr, text};

/// What does not compress.
fn noise(seed: u32, bytes: u32) -> String {
    (0..bytes / 8)
        .map(|at| format!("{:08x}", (seed * bytes + at).wrapping_mul(2_654_435_761).rotate_left(7) ^ at))
        .collect::<Vec<_>>()
        .concat()
}

/// Forty pages of some 60 kB each: about two and a half megabytes in the archive.
fn site(fake: &Fake) -> Vec<String> {
    let pages = 0..40;
    pages
        .map(|page| {
            fake.put("a", &format!("/{page}"), Deed::html(format!("<p>{}</p>", noise(page, 120_000))));
            fake.url("a", &format!("/{page}"))
        })
        .collect()
}

/// One sentence about room, and exit code 1.
#[track_caller]
fn assert_full(done: &Output) {
    let said = stderr(done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("the disk is full") && said.contains("nothing that was committed is lost"),
        "{said}"
    );
}

/// Everything that is kept is what was served; how many copies that is.
fn assert_kept(desk: &Desk, fake: &Fake, seeds: &[String]) -> usize {
    desk.assert_sound();
    let mut copies = 0;
    for url in seeds {
        for (_, record) in desk.versions(url) {
            assert!(fake.log().iter().any(|hit| hit.body == record.body), "{url}");
            copies += 1;
        }
    }
    copies
}

fn with_limit(arguments: &[&str], kilobytes: u32) -> Output {
    let mut shell = Command::new("bash");
    shell.args([
        "-c",
        &format!("ulimit -f {kilobytes} && exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_refrain"),
    ]);
    shell.args(arguments).output().unwrap()
}

#[test]
fn files_that_may_not_grow_are_a_full_disk() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let all = site(&fake);
    let seeds = desk.seeds(&all);
    let stopped = with_limit(&desk.arguments(&[&seeds, "--once"]), 700);
    assert_full(&stopped);
    let copies = assert_kept(&desk, &fake, &all);
    assert!(copies < all.len(), "{copies}");
    // There is room now.
    desk.crawl(&["--once"]);
    assert!(assert_kept(&desk, &fake, &all) >= all.len());
}

/// The database is what grows: bodies are small, but there are many pages. SQLite does not say why it could not write.
#[test]
fn a_database_that_may_not_grow_loses_nothing() {
    let (fake, desk) =
        (Fake::start(), Desk::new("gap = \"0s\"\nrate = \"2000/s\"\nfollow = \"same-host\"\n"));
    let padding = "x".repeat(1000);
    for page in 0..20 {
        let links = (0..200)
            .map(|link| format!("<a href='/{page}/{link}/{padding}'>x</a>"))
            .collect::<Vec<_>>()
            .concat();
        fake.put("a", &format!("/{page}"), Deed::html(links));
    }
    let seeds = desk.seeds(&(0..20).map(|page| fake.url("a", &format!("/{page}"))).collect::<Vec<_>>());
    let stopped = with_limit(&desk.arguments(&[&seeds, "--for", "60s"]), 900);
    let said = stderr(&stopped);
    assert!(stopped.status.code() == Some(1) && said.lines().count() == 1, "{said}");
    assert!(said.contains("refrain.db: cannot commit"), "{said}");
    desk.assert_sound();
    desk.crawl(&["--for", "500ms"]);
    desk.assert_sound();
}

#[test]
#[ignore = "started by the test below, on a small disk"]
fn small_disk() {
    let Some(disk) = std::env::var_os("REFRAIN_SMALL_DISK") else { return };
    let disk = Path::new(&disk);
    // Of five megabytes this leaves two.
    let ballast = disk.join("ballast");
    std::fs::write(&ballast, vec![1; 3 << 20]).unwrap();
    let fake = Fake::start();
    let desk = Desk::new(&format!("data = \"{}\"\n", text(&disk.join("data"))));
    let all = site(&fake);
    let seeds = desk.seeds(&all);
    for _ in 0..2 {
        assert_full(&command(&desk.arguments(&[&seeds, "--once"])).output().unwrap());
        assert!(assert_kept(&desk, &fake, &all) < all.len());
    }
    std::fs::remove_file(&ballast).unwrap();
    desk.crawl(&["--once"]);
    assert!(assert_kept(&desk, &fake, &all) >= all.len());
}

#[test]
fn a_full_disk_ends_a_crawl_and_room_mends_it() {
    let folder = Folder::new();
    let disk = folder.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let inside = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command
    };
    let mount = format!("mount -t tmpfs -o size=5m none '{}'", disk.display());
    if !inside(&mount).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let us mount a file system");
        return;
    }
    let mut test = inside(&format!("{mount} && exec \"$0\" \"$@\""));
    test.arg(std::env::current_exe().unwrap()).args([
        "hostile::disk::small_disk",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    let done = test.env("REFRAIN_SMALL_DISK", &disk).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}{}", stderr(&done));
}
