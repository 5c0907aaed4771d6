//! `refrain lab discover`: hubs that show links to short-lived pages.

use std::collections::{HashMap, HashSet};

use crate::support::*;
use serde_json::Value;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn discover(args: &[&str]) -> std::process::Output {
    refrain(&[&["lab", "discover"], args].concat())
}

fn of<'a>(found: &'a Value, policy: &str) -> &'a Value {
    found["policies"].as_array().unwrap().iter().find(|line| line["policy"] == policy).unwrap()
}

fn profit(found: &Value, policy: &str) -> f64 {
    of(found, policy)["profit"].as_f64().unwrap()
}

/// The hubs of the example: policies in their order, theory as `refrain optimum` has it.
#[test]
fn known_hubs_earn_what_theory_says() {
    let hubs = example("hubs.csv");
    let found = json(&discover(&[
        "--hubs",
        &hubs,
        "--unit",
        "s",
        "--rate",
        "0.012",
        "--horizon",
        "1000000",
        "--from",
        "100000",
        "--reps",
        "4",
        "--json",
    ]));
    let optimum = json(&refrain(&["optimum", "--hubs", &hubs, "--rate", "0.012", "--json"]));
    for name in ["profit", "upper_bound", "dual_bound"] {
        close(&found["theory"][name], optimum[name].as_f64().unwrap(), 1e-9);
    }
    assert_eq!((&found["hubs"], &found["theory"]["opened"]), (&10.into(), &5.0.into()));
    let of_theory = |policy| of(&found, policy)["of_theory"].as_f64().unwrap();
    assert!((of_theory("refrain") - 1.0).abs() < 0.03, "{found}");
    assert!((of_theory("echo-newpages") - 1.0).abs() < 0.05, "{found}");
    let best = profit(&found, "echo-schedule").min(profit(&found, "echo-newpages"));
    assert!(best > profit(&found, "echo-greedy") && profit(&found, "echo-greedy") > profit(&found, "bfs"));
    for line in found["policies"].as_array().unwrap() {
        let sum: f64 = ["visits", "fetched", "lost"].map(|name| line[name].as_f64().unwrap()).iter().sum();
        assert_eq!(sum, 12_000.0, "{line}");
        assert!(line["profit_error"].as_f64().unwrap() < 0.01, "{line}");
    }
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let run = |seed: &str, more: &[&str]| {
        let args = ["--made-up", "30", "--rate", "0.5x", "--horizon", "300", "--reps", "3", "--seed", seed];
        stdout(&discover(&[&args, more].concat()))
    };
    let first = run("7", &[]);
    assert_eq!(first, run("7", &[]));
    assert_ne!(first, run("8", &[]));
    assert!(first.starts_with("30 made-up hubs, known; ") && first.contains("theory"), "{first}");
    assert!(run("7", &["--learn"]).starts_with("30 made-up hubs, learned; "));
}

/// What the log says is what was earned: read again, with nothing but the file of items.
#[test]
fn recorded_items_are_earned_as_the_log_says() {
    let (folder, path) = (Folder::new(), example("items.csv"));
    let mut items: HashMap<String, (String, f64, f64)> = HashMap::new();
    for line in std::fs::read_to_string(&path).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse::<f64>().unwrap();
        items.insert(fields[1].to_owned(), (fields[0].to_owned(), number(2), number(3)));
    }
    let start = items.values().map(|(_, born, _)| *born).fold(f64::INFINITY, f64::min);
    let end = items.values().map(|(_, born, _)| *born).fold(0.0, f64::max);
    let all: f64 = items.values().map(|(.., popularity)| popularity).sum();
    for policy in
        ["bfs", "quota", "frequency", "echo-greedy", "echo-schedule", "echo-newpages", "miniflux", "refrain"]
    {
        let log = folder.path("log.csv");
        let found = json(&discover(&[
            "--items",
            &path,
            "--half-life",
            "3h",
            "--rate",
            "2",
            "--policy",
            policy,
            "--log",
            text(&log),
            "--json",
        ]));
        assert_eq!(found["items"], 200);
        assert_eq!(found["theory"], Value::Null);
        let written = std::fs::read_to_string(&log).unwrap();
        let (mut earned, mut fetched, mut visited) = (0.0, HashSet::new(), HashMap::new());
        for line in written.lines().skip(1) {
            let [time, hub, item] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let now = start + 3600.0 * time.parse::<f64>().unwrap();
            if item.is_empty() {
                visited.insert(hub.to_owned(), now);
                continue;
            }
            let (source, born, popularity) = &items[item];
            assert_eq!(source, hub);
            assert!(fetched.insert(item.to_owned()), "{policy}: {item} twice");
            assert!(visited[hub] >= *born, "{policy}: {item} was not shown");
            earned += popularity * 0.5f64.powf((now - born) / 10_800.0);
        }
        let line = of(&found, policy);
        close(&line["share"], earned / all, 1e-6);
        close(&line["profit"], earned / ((end - start) / 3600.0), 1e-4);
        assert_eq!(line["fetched"].as_f64().unwrap() as usize, fetched.len());
    }
    // A directory with the file in it, and a faster decay: less is earned.
    let copy = Folder::new();
    copy.file("items.csv", std::fs::read(&path).unwrap());
    let earned = |half_life: &str| {
        let args =
            ["--items", text(&copy.path("")), "--half-life", half_life, "--policy", "refrain", "--json"]
                .map(str::to_owned);
        profit(&json(&discover(&args.each_ref().map(String::as_str))), "refrain")
    };
    assert!(earned("1h") < earned("6h") && earned("6h") < earned("48h"));
}

#[test]
fn mistakes_get_one_sentence() {
    let folder = Folder::new();
    let file = |content: &str| folder.file("x.csv", content);
    let items = "source_id,item_id,publish_time,popularity\n";
    for (content, parts) in [
        ("", "the file is empty; expected a header line with the columns source_id,item_id,publish_time"),
        (items, "there is a header, but no items; expected at least one"),
        ("source_id,item_id,publish_time\n", "line 1: the column popularity is missing"),
        (
            &format!("{items}a,1,5,1\na,2,soon,1\n"),
            "line 3, column publish_time: 'soon' is not a time in seconds since 1970",
        ),
        (&format!("{items}a,1,1e300,1\n"), "line 2, column publish_time: '1e300' is not a time"),
        (
            &format!("{items}a,1,5,-1\n"),
            "line 2, column popularity: '-1' is not a finite number that is not negative",
        ),
        (&format!("{items}a,1,5,1e300\n"), "line 2, column popularity: '1e300' is not at most 1e100"),
        (&format!("{items}a,1,5,1\nb,1,6,1\n"), "line 3, column item_id: '1' is on line 2 already"),
        (&format!("{items},1,5,1\n"), "line 2, column source_id: is empty"),
        (
            &format!("{items}a,1,5,1\nb,2,5,1\n"),
            "x.csv: there is no time between the first item and the last",
        ),
    ] {
        complains(&discover(&["--items", text(&file(content))]), &[parts]);
    }
    complains(&discover(&["--items", text(&folder.path("nowhere"))]), &["nowhere: cannot be read"]);
    let empty = Folder::new();
    complains(&discover(&["--items", text(&empty.path(""))]), &["there is no items.csv or items.csv.gz"]);

    let hubs = "hub_id,link_rate,profit,decay\n";
    let given = |content: &str| {
        discover(&["--hubs", text(&file(&format!("{hubs}{content}"))), "--rate", "1", "--horizon", "9"])
    };
    complains(&given("a,1,1,0\n"), &["x.csv: hub 'a' has a decay of 0; expected links that are worth less"]);
    complains(&given("a,-1,1,1\n"), &["line 2, column link_rate: '-1' is not a finite number"]);
    complains(&given("a,1e300,1,1\n"), &["links would appear; expected at most 2e7"]);

    let made_up = |more: &[&str]| discover(&[&["--made-up", "5"], more].concat());
    complains(&made_up(&[]), &["--horizon"]);
    complains(
        &discover(&["--made-up", "0", "--horizon", "9"]),
        &["--made-up is 0; expected 1 to 1000000 hubs"],
    );
    complains(&discover(&["--made-up", "9999999", "--horizon", "9"]), &["expected 1 to 1000000 hubs"]);
    complains(&discover(&["--rate", "1"]), &["--hubs"]);
    for (more, parts) in [
        (&["--horizon", "9", "--rate", "0"][..], "expected fetches per unit of time like 20, or times"),
        (&["--horizon", "9", "--rate", "1e15"], "there is time for 9.0e15 fetches; expected at most 1e9"),
        (&["--horizon", "9e9", "--unit", "d"], "--horizon is 7.8e14 seconds; expected less than 280 years"),
        (&["--horizon", "9", "--from", "9"], "scoring begins when all is over"),
        (
            &["--horizon", "9", "--policy", "luck"],
            "--policy: 'luck' is no policy for hubs; expected one of bfs,",
        ),
        (&["--horizon", "9", "--log", "x.csv"], "--log is for one policy"),
        (&["--horizon", "9", "--policy", "bfs", "--log", "-", "--json"], "both go to standard output"),
        (&["--horizon", "9", "--link-rate", "0"], "--rate is in times the links that appear, but none does"),
        (&["--horizon", "9", "--decay", "0"], "hub 0 has a decay of 0"),
        (&["--horizon", "9", "--decay", "fast"], "'fast' is no distribution"),
        (&["--horizon", "9", "--half-life", "6h"], "--half-life"),
    ] {
        complains(&made_up(more), &[parts]);
    }
}
