//! Data directories that cannot be used get a sentence, and are left as they are.

use std::process::{Command, Stdio};

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};
use crate::support::{Folder, refrain, stderr, text};

fn site() -> Fake {
    let fake = Fake::start();
    fake.put("a", "/", Deed::html("<p>page</p>"));
    fake
}

/// One sentence with these parts, and nothing was asked for.
#[track_caller]
fn assert_refused(fake: &Fake, arguments: &[&str], parts: &[&str]) {
    let done = refrain(arguments);
    let said = stderr(&done);
    assert!(matches!(done.status.code(), Some(1 | 2)), "{:?} {said}", done.status);
    assert_eq!(said.lines().count(), 1, "one sentence: {said}");
    assert!(said.starts_with("refrain: ") && !said.contains("panicked"), "{said}");
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
    assert_eq!(fake.log().len(), 0);
}

#[test]
fn what_is_no_data_directory_is_left_as_it_is() {
    let (fake, folder) = (site(), Folder::new());
    let seed = fake.url("a", "/");
    let file = text(&folder.file("file", "mine")).to_owned();
    let below = format!("{file}/data");
    for data in [&file, &below] {
        let desk = Desk::new(&format!("data = \"{data}\"\n"));
        assert_refused(&fake, &desk.arguments(&[&seed, "--once"]), &[data.as_str()]);
    }
    assert_eq!(std::fs::read(folder.path("file")).unwrap(), b"mine");
    // A database of somebody else under our name.
    for (name, content) in
        [("text", "dear diary\n".repeat(1000)), ("nothing", "SQLite format 3\0".to_owned())]
    {
        std::fs::create_dir(folder.path(name)).unwrap();
        let database = folder.path(name).join("refrain.db");
        std::fs::write(&database, &content).unwrap();
        let desk = Desk::new(&format!("data = \"{}\"\n", text(&folder.path(name))));
        assert_refused(&fake, &desk.arguments(&[&seed, "--once"]), &["refrain.db"]);
        assert_eq!(std::fs::read_to_string(&database).unwrap(), content);
    }
}

#[test]
fn a_damaged_database_is_named() {
    let (fake, desk) = (site(), Desk::new(""));
    let mut seeds: Vec<String> = (0..2000).map(|page| fake.url("a", &format!("/{page}"))).collect();
    seeds.push(fake.url("a", "/"));
    let seeds = desk.seeds(&seeds);
    desk.crawl_until(&[&seeds], "some are visited", |_| fake.log().len() > 20);
    let asked = fake.log().len();
    let path = desk.path("data").join("refrain.db");
    let good = std::fs::read(&path).unwrap();
    // Every page of the file but the first is noise.
    let mut bad = good.clone();
    for byte in &mut bad[4096..] {
        *byte ^= 0x5a;
    }
    std::fs::write(&path, &bad).unwrap();
    let again = refrain(&desk.arguments(&["--for", "500ms"]));
    let said = stderr(&again);
    assert!(
        again.status.code() == Some(2)
            && said.lines().count() == 1
            && said.contains("refrain.db: is damaged"),
        "{said}"
    );
    assert!(said.contains("`refrain recover "), "{said}");
    assert!(!desk.run(&["check"]).status.success());
    // Cut short.
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    let again = refrain(&desk.arguments(&["--for", "500ms"]));
    let said = stderr(&again);
    assert!(
        matches!(again.status.code(), Some(1 | 2))
            && said.lines().count() == 1
            && said.contains("refrain.db"),
        "{said}"
    );
    assert_eq!(fake.log().len(), asked, "nobody is visited for a crawl that cannot be kept");
    // What it was is still there for who mends it.
    std::fs::write(&path, &good).unwrap();
    desk.crawl(&["--for", "500ms"]);
    desk.assert_sound();
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let (fake, folder) = (site(), Folder::new());
    let disk = folder.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let data = text(&disk.join("data")).to_owned();
    let desk = Desk::new(&format!("data = \"{data}\"\n"));
    // Who is root may write everywhere, but not where nobody can.
    let script = format!("mount -t tmpfs -o ro,size=1m none '{}' && exec \"$0\" \"$@\"", disk.display());
    let inside = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, program]).args(arguments);
        command.stdin(Stdio::null()).output()
    };
    if !inside("true", &[]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let us mount a file system");
        return;
    }
    let seed = fake.url("a", "/");
    let done = inside(env!("CARGO_BIN_EXE_refrain"), &desk.arguments(&[&seed, "--once"])).unwrap();
    let said = stderr(&done);
    assert!(done.status.code() == Some(1) && said.lines().count() == 1, "{said}");
    assert!(
        said.contains(&data) && said.contains("cannot create the directory") && said.contains("Read-only"),
        "{said}"
    );
    assert_eq!(fake.log().len(), 0);
}

#[test]
fn a_second_crawl_is_refused_and_hurts_nobody() {
    let (fake, desk) = (site(), Desk::new(""));
    let first = desk.start(&[&fake.url("a", "/")]);
    wait_until("the page was fetched", || fake.asked_for("a", "/").len() > 2);
    let second = refrain(&desk.arguments(&[&fake.url("b", "/"), "--once"]));
    let said = stderr(&second);
    assert!(second.status.code() == Some(2) && said.contains("another process is crawling"), "{said}");
    assert_eq!(fake.asked_of("b").len(), 0);
    let before = fake.log().len();
    wait_until("the first goes on", || fake.log().len() > before);
    // Its lock ends with it, however it ends.
    first.kill();
    desk.crawl(&["--for", "200ms"]);
    desk.assert_sound();
}
