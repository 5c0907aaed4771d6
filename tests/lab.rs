//! `refrain lab`: policies under a virtual clock.

mod support;

use support::golden::PAGES;
use support::*;

fn pages_csv() -> String {
    let mut csv = "page_id,change_rate,importance,recall,false_rate\n".to_owned();
    for (id, [change, importance, recall, wrong]) in PAGES.iter().enumerate() {
        csv += &format!("page-{id},{change},{importance},{recall},{wrong}\n");
    }
    csv
}

/// The picks of every policy, as an independent implementation has them.
#[test]
fn golden_picks() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("../crates/core/tests/data/policies_small.json")).unwrap();
    let folder = Folder::new();
    let mut csv = "page_id,change_rate,importance,recall,false_rate\n".to_owned();
    for page in 0..20 {
        let [change, importance, recall, wrong] =
            ["Delta", "mu", "lam", "nu"].map(|name| &golden[name][page]);
        csv += &format!("page-{page},{change},{importance},{recall},{wrong}\n");
    }
    let pages = folder.file("pages.csv", csv);
    let mut csv = "time,page_id\n".to_owned();
    for signal in golden["signals"].as_array().unwrap() {
        csv += &format!("{},page-{}\n", signal[0], signal[1]);
    }
    let signals = folder.file("signals.csv", csv);
    for name in ["greedy", "greedy-cis", "greedy-ncis", "approx-1", "approx-2"] {
        let picks = folder.path("picks.csv");
        let result = json(&refrain(&[
            "lab",
            "simulate",
            "--pages",
            text(&pages),
            "--signals",
            text(&signals),
            "--rate",
            "5",
            "--horizon",
            "20",
            "--policy",
            name,
            "--picks",
            text(&picks),
            "--json",
        ]));
        let written = std::fs::read_to_string(&picks).unwrap();
        let expected = golden["policies"][name.to_uppercase()]["picks"].as_array().unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines[0], "time,page_id");
        assert_eq!(lines.len(), 101, "{name}");
        for (k, (line, page)) in lines[1..].iter().zip(expected).enumerate() {
            let (time, id) = line.split_once(',').unwrap();
            assert_eq!(id, format!("page-{page}"), "{name}, pick {k}");
            assert!((time.parse::<f64>().unwrap() - (k + 1) as f64 / 5.0).abs() < 1e-9, "{line}");
        }
        let line = &result["policies"][0];
        assert_eq!(line["policy"], name);
        assert_eq!(line["fetches"], 100.0);
        let mean = line["mean"].as_f64().unwrap();
        assert!(mean > 0.4 && mean < 0.9, "{line}");
    }
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let run = |seed: &str| {
        refrain(&[
            "lab",
            "simulate",
            "--made-up",
            "50",
            "--rate",
            "10",
            "--horizon",
            "50",
            "--seed",
            seed,
            "--reps",
            "3",
        ])
    };
    let first = run("7");
    assert_eq!(stdout(&first), stdout(&run("7")));
    assert_ne!(stdout(&first), stdout(&run("8")));
    for name in ["greedy-ncis", "lds", "lambdacrawl", "stormcrawler", "refrain", "baseline"] {
        assert!(stdout(&first).contains(name), "{name}");
    }
}

#[test]
fn mistakes_get_one_sentence() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", pages_csv());
    let simulate = |more: &[&str]| {
        let args = ["lab", "simulate", "--pages", text(&pages), "--rate", "5", "--horizon", "20"];
        refrain(&[&args, more].concat())
    };
    complains(
        &simulate(&["--policy", "luck"]),
        &["--policy: 'luck' is no policy", "greedy, greedy-cis,", "refrain"],
    );
    complains(&simulate(&["--policy", "greedy,lds", "--picks", "picks.csv"]), &["--picks is for one policy"]);
    complains(&simulate(&["--from", "20"]), &["--from is not before --horizon"]);
    complains(&simulate(&["--reps", "0"]), &["--reps"]);
    complains(&simulate(&["--rate", "0"]), &["--rate"]);
    for (rows, parts) in [
        ("1,page-1\n2,page-77\n", "line 3, column page_id: there is no page 'page-77'"),
        ("2,page-1\n1,page-1\n", "line 3, column time: is before that of the line before"),
        ("-1,page-1\n", "line 2, column time: '-1' is not a finite number that is not negative"),
    ] {
        let signals = folder.file("signals.csv", format!("time,page_id\n{rows}"));
        complains(&simulate(&["--signals", text(&signals)]), &[parts]);
    }
    let unimportant = folder.file("none.csv", "page_id,change_rate,importance\na,1,0\n");
    let args = ["lab", "simulate", "--pages", text(&unimportant), "--rate", "5", "--horizon", "20"];
    complains(&refrain(&args), &["no page has an importance greater than 0"]);
    let made_up = |more: &[&str]| {
        refrain(&[&["lab", "simulate", "--rate", "5", "--horizon", "20", "--made-up"], more].concat())
    };
    complains(&made_up(&["0"]), &["at least one page"]);
    complains(&made_up(&["9", "--recall", "uniform(0,3)"]), &["recall"]);
    complains(&made_up(&["9", "--change-rate", "often"]), &["'often' is no distribution"]);
}
