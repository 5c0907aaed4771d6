//! The log of every decision: through kill -9 and rotation, and what the lab makes of it.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};
use crate::support::{complains, json, refrain, stdout, text};
use serde_json::Value;

const HOSTS: usize = 2;
const PAGES: usize = 3;

/// A few pages that change when they are told to.
struct World {
    fake: Fake,
    versions: Vec<Arc<AtomicU32>>,
}

impl World {
    fn new() -> Self {
        let (fake, mut versions) = (Fake::start(), Vec::new());
        for index in 0..HOSTS * PAGES {
            let version = Arc::new(AtomicU32::new(0));
            versions.push(Arc::clone(&version));
            fake.put_with(&format!("h{}", index / PAGES), &format!("/{}", index % PAGES), move |_| {
                Deed::html(format!("<p>page {index}</p><p>version {}</p>", version.load(Ordering::Relaxed)))
            });
        }
        Self { fake, versions }
    }

    fn seeds(&self, desk: &Desk) -> String {
        let url =
            |index: usize| self.fake.url(&format!("h{}", index / PAGES), &format!("/{}", index % PAGES));
        desk.seeds(&(0..HOSTS * PAGES).map(url).collect::<Vec<_>>())
    }

    fn change(&self, page: usize) {
        self.versions[page].fetch_add(1, Ordering::Relaxed);
    }
}

/// The lines of a log that are whole.
fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// Looks that saw the page.
fn seen(lines: &[Value]) -> Vec<&Value> {
    let saw = |line: &&Value| {
        let outcome = line["outcome"].as_str().unwrap_or_default();
        ["first", "changed", "unchanged", "not modified"].contains(&outcome)
    };
    lines.iter().filter(saw).collect()
}

fn policy<'a>(found: &'a Value, name: &str) -> &'a Value {
    let all = found["policies"].as_array().unwrap();
    all.iter().find(|line| line["policy"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

#[test]
fn a_crawl_that_was_killed_is_replayed() {
    let (world, desk) = (World::new(), Desk::new("gap = \"10ms\"\n"));
    let seeds = world.seeds(&desk);
    let folder = desk.path("log");
    let (log, file) = (text(&folder), folder.join("decisions-000001.jsonl"));
    for round in 1..=2 {
        let running = desk.start(&[&seeds, "--decisions", log]);
        let before = seen(&lines(&file)).len();
        wait_until("some pages were seen", || seen(&lines(&file)).len() > before + 40);
        world.change(0);
        world.change(PAGES);
        wait_until("more were", || seen(&lines(&file)).len() > before + 120);
        if round == 1 {
            running.kill();
            // As a kill in the middle of a line leaves it.
            let mut file = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
            file.write_all(b"{\"is\":\"look\",\"ti").unwrap();
            let found = json(&refrain(&["lab", "replay", "--log", log, "--policy", "uniform", "--json"]));
            assert_eq!(found["pages"], HOSTS * PAGES);
        } else {
            running.interrupt();
        }
    }

    // Every line is whole, and every page was introduced before anything was said of it.
    let written = lines(&file);
    assert!(std::fs::read_to_string(&file).unwrap().ends_with('\n'));
    assert_eq!(written.iter().filter(|line| line["is"] == "begins").count(), 2);
    let mut known = HashSet::new();
    for line in &written {
        let page = line["page"].as_i64();
        if line["is"] == "page" {
            assert!(line["url"].as_str().unwrap().starts_with(line["host"].as_str().unwrap()), "{line}");
            known.insert(page);
        } else {
            assert!(page.is_none() || known.contains(&page), "{line}");
        }
    }
    assert!(
        written
            .iter()
            .any(|line| line["is"] == "fetch" && line["first"] == true && line["importance"] == 1.0)
    );
    // What the directory has is what counts: looks that the kill came before were made in vain.
    let mut looks: HashMap<String, usize> = HashMap::new();
    for (url, _) in desk.looks() {
        *looks.entry(url).or_default() += 1;
    }
    let fetches: usize = looks.values().map(|count| count - 1).sum();

    // What was recorded, and what others would have done with as much, and with half of it.
    let replay = |more: &[&str]| {
        let usual = ["lab", "replay", "--log", log, "--policy", "refrain,uniform", "--json"];
        json(&refrain(&usual.iter().chain(more).copied().collect::<Vec<_>>()))
    };
    let (all, half) = (replay(&[]), replay(&["--rate", "0.5r"]));
    assert_eq!((&all["pages"], &all["pages_left_out"]), (&(HOSTS * PAGES).into(), &0.into()));
    assert!(all["changes"].as_u64().unwrap() >= 2, "{all}");
    let recorded = policy(&all, "recorded")["fetches"].as_u64().unwrap() as f64 / fetches as f64;
    assert!((0.95..1.05).contains(&recorded), "{recorded} of {fetches}");
    assert_eq!(all["rate_per_day"], all["recorded_per_day"]);
    let share = half["rate_per_day"].as_f64().unwrap() / all["rate_per_day"].as_f64().unwrap();
    assert!((share - 0.5).abs() < 1e-9, "{share}");
    for name in ["refrain", "uniform"] {
        let count = |found: &Value| policy(found, name)["fetches"].as_u64().unwrap() as f64;
        let (whole, halved) = (count(&all) / fetches as f64, count(&half) / fetches as f64);
        assert!((0.7..1.1).contains(&whole) && (0.3..0.6).contains(&halved), "{name}: {whole} {halved}");
        assert!(policy(&all, name)["freshness"].as_f64().unwrap() > 0.5);
    }
    let table =
        stdout(&refrain(&["lab", "replay", "--log", text(&file), "--policy", "refrain", "--rate", "0.5r"]));
    assert!(table.contains("\n  recorded ") && table.contains(" recorded\n"), "{table}");

    // A line that is none.
    let wrong = desk.path("wrong.jsonl");
    let broken = std::fs::read_to_string(&file).unwrap().replacen("\"is\":\"look\"", "\"is\":\"glance\"", 1);
    std::fs::write(&wrong, &broken).unwrap();
    let number = broken.lines().position(|line| line.contains("glance")).unwrap() + 1;
    let said = format!("wrong.jsonl, line {number}: unknown variant `glance`");
    complains(&refrain(&["lab", "replay", "--log", text(&wrong)]), &[&said]);
}

#[test]
fn files_are_rotated() {
    let world = World::new();
    let desk = Desk::new("gap = \"10ms\"\n[decisions]\nfile_size = \"10kB\"\nfiles = 3\n");
    let seeds = world.seeds(&desk);
    let folder = Path::new(desk.data()).join("decisions");
    let running = desk.start(&[&seeds]);
    wait_until("a fifth file is begun", || folder.join("decisions-000005.jsonl").exists());
    running.interrupt();
    let names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(names.iter().filter(|name| name.ends_with(".jsonl.gz")).count(), 2, "{names:?}");
    // The files that are left, and each of them, can be read.
    let closed = folder.join(names.iter().find(|name| name.ends_with(".jsonl.gz")).unwrap());
    for log in [&folder, &closed] {
        let found = json(&refrain(&["lab", "replay", "--log", text(log), "--policy", "uniform", "--json"]));
        assert_eq!(found["pages"], HOSTS * PAGES, "{}", log.display());
    }
    desk.assert_sound();
}

#[test]
fn mistakes_get_a_sentence() {
    let desk = Desk::new("");
    let folder = desk.path("empty");
    std::fs::create_dir(&folder).unwrap();
    let replay = |more: &[&str]| refrain(&["lab", "replay"].iter().chain(more).copied().collect::<Vec<_>>());
    complains(
        &replay(&["--log", text(&folder)]),
        &["there is no log of decisions in it", "decisions-000001.jsonl"],
    );
    complains(&replay(&["--log", text(&desk.path("nowhere"))]), &["nowhere: cannot be read"]);
    complains(&replay(&[]), &["--trace", "--log"]);
    complains(&replay(&["--log", "x", "--trace", "y"]), &["cannot be used with"]);
    let diary = folder.join("decisions-000001.jsonl");
    std::fs::write(&diary, "dear diary\n").unwrap();
    complains(
        &refrain(&desk.arguments(&["http://127.0.0.1:9/", "--quiet", "--decisions", text(&folder)])),
        &["decisions-000001.jsonl: its last line is no decision"],
    );
    let none = Desk::new("[decisions]\nfiles = 0\n");
    complains(
        &refrain(&none.arguments(&["http://127.0.0.1:9/"])),
        &["decisions.files is 0; expected at least 1"],
    );
}
