//! `refrain lab`: policies under a virtual clock.

use crate::support::golden::PAGES;
use crate::support::*;

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

fn scoop() -> String {
    format!("{}/../../examples/scoop", env!("CARGO_MANIFEST_DIR"))
}

/// A real history: who learns and listens is ahead of who does not, and behind who knows.
#[test]
fn a_recorded_year_is_crawled_anew() {
    let replay = |rate: &str, more: &[&str]| {
        let mut args = vec!["lab", "replay", "--trace"];
        let scoop = scoop();
        args.extend([scoop.as_str(), "--rate", rate, "--json"]);
        args.extend(more);
        json(&refrain(&args))
    };
    for rate in ["0.25x", "1x", "4x"] {
        let found = replay(rate, &[]);
        assert_eq!(found["pages"], 150);
        let of = |name: &str| {
            let all = found["policies"].as_array().unwrap();
            let line = all.iter().find(|line| line["policy"] == name).unwrap();
            line["freshness"].as_f64().unwrap()
        };
        for rival in
            ["uniform", "importance", "proportional", "nutch", "stormcrawler", "daily", "lambdacrawl", "lds"]
        {
            assert!(of("refrain") > of(rival), "{rate} {rival}: {} {}", of("refrain"), of(rival));
        }
        assert!(of("refrain") > of("norconex") - 0.005);
        assert!(of("clairvoyant") >= of("refrain"));
        let silent = replay(rate, &["--policy", "refrain", "--signals", "none"]);
        assert!(of("refrain") > silent["policies"][0]["freshness"].as_f64().unwrap() + 0.02);
    }
    // A day's worth is a day's worth.
    let month =
        replay("2/day", &["--policy", "uniform", "--from", "2023-03-01", "--to", "2023-03-31T00:00:00Z"]);
    close(&month["days"], 30.0, 1e-9);
    // The last slot is at the very end, when everything is gone.
    assert_eq!(month["policies"][0]["fetches"], 59);
}

#[test]
fn what_was_fetched_can_be_read_again() {
    let folder = Folder::new();
    let log = folder.path("fetches.csv");
    let log = text(&log);
    let table = stdout(&refrain(&[
        "lab",
        "replay",
        "--trace",
        &scoop(),
        "--rate",
        "3",
        "--policy",
        "refrain",
        "--fetches",
        log,
    ]));
    assert!(table.contains("150 pages over 365 days"), "{table}");
    let written = std::fs::read_to_string(log).unwrap();
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some("time,page_id"));
    assert_eq!(lines.clone().count(), 1094);
    assert_eq!(lines.next().and_then(|line| line.split(',').next()), Some("1672560000"));
    // By their own rule, fetches are as many as it wants.
    let own = json(&refrain(&[
        "lab",
        "replay",
        "--trace",
        &scoop(),
        "--policy",
        "daily,nutch",
        "--own-pace",
        "--json",
    ]));
    let fetches = |at: usize| own["policies"][at]["fetches"].as_u64().unwrap();
    assert!(fetches(0) > 150 * 300 && fetches(1) < 150 * 40, "{own}");
}

/// A history with one mistake in it: one sentence that says where.
#[test]
fn histories_with_mistakes_are_refused() {
    const PAGES: &str = "page_id,importance,first_seen,last_seen,source\na,1,1000,9000,s\nb,2,2000,9000,s\n";
    const CHANGES: &str = "page_id,timestamp_seconds\na,1500\na,1600\nb,3000\n";
    let cases: [(&str, &str, &str); 11] = [
        (
            "pages",
            "page_id,importance,first_seen,last_seen\n",
            "there is a header, but no pages; expected at least one",
        ),
        ("pages", "page_id,importance,first_seen\na,1,1\n", "the column last_seen is missing"),
        (
            "pages",
            "page_id,importance,first_seen,last_seen\na,1,5,4\n",
            "column last_seen: is before first_seen",
        ),
        ("pages", "page_id,importance,first_seen,last_seen\na,1,5,6\na,1,5,6\n", "'a' is on line 2 already"),
        (
            "pages",
            "page_id,importance,first_seen,last_seen\na,1,soon,6\n",
            "'soon' is not a time in seconds since 1970",
        ),
        ("changes", "page_id,timestamp_seconds\nc,1500\n", "line 2, column page_id: there is no page 'c'"),
        ("changes", "page_id,timestamp_seconds\nb,1500\n", "is not after the page's first_seen"),
        ("changes", "page_id,timestamp_seconds\nb,9500\n", "is after the page's last_seen"),
        (
            "changes",
            "page_id,timestamp_seconds\na,1600\nb,3000\na,1500\n",
            "line 4, column timestamp_seconds: is before",
        ),
        ("changes", "page_id,timestamp_seconds\n", "there are no changes"),
        ("signals", "page_id,timestamp_seconds,kind,is_change\na,1500,k,maybe\n", "'maybe' is not 0 or 1"),
    ];
    for (file, wrong, sentence) in cases {
        let folder = Folder::new();
        folder.file("pages.csv", PAGES);
        folder.file("changes.csv", CHANGES);
        folder.file(&format!("{file}.csv"), wrong);
        complains(&refrain(&["lab", "replay", "--trace", text(&folder.path(""))]), &[sentence]);
    }
    let folder = Folder::new();
    complains(&refrain(&["lab", "replay", "--trace", text(&folder.path("nowhere"))]), &["is no directory"]);
    complains(&refrain(&["lab", "replay", "--trace", text(&folder.path(""))]), &["there is no pages.csv"]);
    let at = scoop();
    let refused = |more: &[&str], sentence: &str| {
        let args: Vec<&str> = ["lab", "replay", "--trace", &at].iter().chain(more).copied().collect();
        complains(&refrain(&args), &[sentence]);
    };
    refused(&["--policy", "luck"], "'luck' is no policy; expected one of greedy,");
    refused(&["--signals", "rumour"], "there is no kind 'rumour'; the trace has manifest_touched");
    refused(&["--rate", "0"], "expected fetches per day");
    refused(&["--from", "yesterday"], "expected seconds since 1970, or a date");
    refused(&["--from", "2030-01-01"], "no page was there between --from and --to");
    refused(&["--fetches", "x.csv"], "--fetches is for one policy");
    refused(&["--rate", "2r"], "a rate of 2r: a trace has no recorded fetches");
    refused(&["--log", "x.jsonl"], "cannot be used with");
}

/// Others need more fetches for the same, and who knows more needs fewer.
#[test]
fn a_sweep_says_what_the_others_need() {
    let folder = Folder::new();
    let picture = folder.path("sweep.svg");
    let at = scoop();
    let args = ["lab", "sweep", "--trace", &at, "--signals", "none", "--rates", "0.5x,1x,2x,4x,8x,16x"];
    let table = stdout(&refrain(&[&args[..], &["--svg", text(&picture)]].concat()));
    assert!(table.contains("Fetches needed for the freshness of refrain"), "{table}");
    let svg = std::fs::read_to_string(&picture).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    assert!(texts.contains(&"refrain") && texts.contains(&"nutch"), "{texts:?}");
    let found = json(&refrain(&[&args[..], &["--json"]].concat()));
    let of = |name: &str| {
        let all = found["policies"].as_array().unwrap();
        all.iter().find(|line| line["policy"] == name).unwrap()["multiple"].clone()
    };
    // One fetch per change, without signals.
    close(&of("refrain")[1], 1.0, 1e-9);
    for rival in ["uniform", "nutch", "importance"] {
        assert!(of(rival)[1].as_f64().unwrap() > 1.2, "{rival}: {}", of(rival));
    }
    assert!(of("informed")[2].as_f64().unwrap() < 1.1);
    let refused =
        |more: &[&str], sentence: &str| complains(&refrain(&[&args[..], more].concat()), &[sentence]);
    refused(&["--against", "daily"], "--against daily is not among the policies");
    refused(&["--against", "luck"], "--against: 'luck' is no policy");
    complains(
        &refrain(&["lab", "sweep", "--trace", &at, "--rates", "1x", "--svg", text(&picture)]),
        &["there is one budget; expected --rates with two or more"],
    );
}

/// A made-up history is a history: it can be crawled, and says what it was made of.
#[test]
fn histories_can_be_made_up() {
    let folder = Folder::new();
    let world = folder.path("world");
    let invent = |more: &[&str]| {
        let args = ["lab", "invent", "--out", text(&world), "--pages", "60", "--days", "100"];
        refrain(&[&args[..], more].concat())
    };
    let said =
        stdout(&invent(&["--daily", "0.9", "--weekly", "0.5", "--drift", "30", "--delay", "uniform(0,6)"]));
    assert!(said.starts_with("60 pages over 100 days"), "{said}");
    let found =
        json(&refrain(&["lab", "replay", "--trace", text(&world), "--policy", "refrain,uniform", "--json"]));
    let freshness = |at: usize| found["policies"][at]["freshness"].as_f64().unwrap();
    assert!(freshness(0) > freshness(1) + 0.02, "{found}");
    let pages = |name: &str| std::fs::read(world.join(name)).unwrap();
    let before = (pages("pages.csv"), pages("signals.csv"));
    invent(&["--daily", "0.9", "--weekly", "0.5", "--drift", "30", "--delay", "uniform(0,6)"]);
    assert_eq!(before, (pages("pages.csv"), pages("signals.csv")));
    complains(&invent(&["--daily", "2"]), &["--daily is 2; expected a number from 0 to 1"]);
    complains(&invent(&["--change-rate", "zipf"]), &["'zipf' is no distribution"]);
    complains(&invent(&["--change-rate", "1e9"]), &["expected at most 50000000"]);
    complains(&invent(&["--recall", "2"]), &["recall is 2; expected a number from 0 to 1"]);
}

/// What a crawler logged is crawled again; what was fetched in a replay is such a log.
#[test]
fn a_crawl_can_be_crawled_again() {
    let folder = Folder::new();
    let log = folder.file(
        "log.csv",
        "time,page_id,changed,importance,host\n1000,a,0,3,x\n1000,\"b,c\",0,1,y\n5000,a,1,3,x\n9000,a,0,3,x\n9500,\"b,c\",1,,y\n9600,d,0,1,y\n",
    );
    let mine = folder.path("mine");
    let said = stdout(&refrain(&["lab", "import", "--crawl-log", text(&log), "--out", text(&mine)]));
    assert!(
        said.starts_with("2 pages over ") && said.contains("1 page fetched only once left out"),
        "{said}"
    );
    let found = json(&refrain(&[
        "lab",
        "replay",
        "--trace",
        text(&mine),
        "--policy",
        "refrain",
        "--rate",
        "40",
        "--json",
    ]));
    assert_eq!((&found["pages"], &found["changes"]), (&2.into(), &2.into()));
    let rates = folder.path("mine/rates.csv");
    assert!(stdout(&refrain(&["optimum", "--pages", text(&rates), "--rate", "5"])).contains("fresh"));
    for (wrong, sentence) in [
        ("time,page_id,changed\n5,a,0\n4,a,1\n", "line 3, column time: is before that of the line before"),
        ("time,page_id,changed\n5,a,maybe\n", "'maybe' is not 0 or 1"),
        ("time,page_id,changed\n5,a,0\n6,a,0\n", "no page was fetched twice and had changed"),
    ] {
        let log = folder.file("wrong.csv", wrong);
        complains(&refrain(&["lab", "import", "--crawl-log", text(&log), "--out", text(&mine)]), &[sentence]);
    }
}

/// The Bing dataset's files, a handful of lines of our own.
#[test]
fn the_bing_dataset_can_be_read() {
    let files = [
        ("host_hostid_isconstrained.txt", "a.example\t0\t1\nb.example\t1\t0\n"),
        (
            "url_urlid_hostid.txt",
            "http://a.example/\t10\t0\nhttp://a.example/x,y\t11\t0\nhttp://b.example/\t12\t1\n",
        ),
        ("urlid_imp.txt", "10\t0.5\n11\t0.25\n12\t0.125\n"),
        ("urlid_offset_history.txt", "10\t[[1.0, 1], [2.5, 0], [0.5, 1]]\n11\t[[3, 0]]\n12\t2\t[[1, 1]]\n"),
        ("urlid_chrate_compl_obs_hist.txt", "10\t0.75\n"),
    ];
    let folder = Folder::new();
    for (name, content) in files {
        folder.file(name, content);
    }
    let out = folder.path("out");
    let import = || refrain(&["lab", "import", "--bing", text(&folder.path("")), "--out", text(&out)]);
    let said = stdout(&import());
    assert!(
        said.contains("3 pages") && said.contains("5 fetches") && said.contains("1 of 2 hosts"),
        "{said}"
    );
    let rates = std::fs::read_to_string(out.join("rates.csv")).unwrap();
    assert!(rates.contains("\nhttp://a.example/,0.75,0.5,a.example\n\"http://a.example/x,y\","), "{rates}");
    let changes = std::fs::read_to_string(out.join("changes.csv")).unwrap();
    assert_eq!(changes.lines().count(), 4);
    for (name, wrong, sentence) in [
        ("urlid_offset_history.txt", "10\t[[1.0, 2]]\n", "line 1: [1, 2] in a history; expected [[days"),
        ("urlid_offset_history.txt", "10\t[[1.0\n", "line 1: no history; expected"),
        ("urlid_imp.txt", "10\t0.5\n99\t1\n", "line 2: there is no URL 99"),
        ("urlid_imp.txt", "10\n", "line 1: 1 fields; expected 2, separated by tabs"),
        ("url_urlid_hostid.txt", "u\t1\t7\n", "there is no host 7"),
    ] {
        let right = files.iter().find(|(file, _)| *file == name).unwrap().1;
        folder.file(name, wrong);
        complains(&import(), &[name, sentence]);
        folder.file(name, right);
    }
}

/// A page without signals of any worth, of which signals come all the same: they say nothing.
#[test]
fn signals_of_pages_without_quality_say_nothing() {
    let folder = Folder::new();
    for header in [
        "page_id,change_rate,importance\na,1,1\nb,0,1\n",
        "page_id,change_rate,importance,recall,false_rate\na,1,1,0,0\nb,0,1,0.5,0\n",
    ] {
        let pages = folder.file("pages.csv", header);
        let accuracy = |signals: &[&str]| {
            let simulate = [
                "lab",
                "simulate",
                "--pages",
                text(&pages),
                "--rate",
                "1",
                "--horizon",
                "9",
                "--policy",
                "greedy",
                "--json",
            ];
            let found = json(&refrain(&[&simulate[..], signals].concat()));
            found["policies"][0]["mean"].as_f64().unwrap_or_else(|| panic!("no number: {found}"))
        };
        let signals = folder.file("signals.csv", "time,page_id\n1.5,a\n2.5,b\n2.75,a\n");
        let (without, with) = (accuracy(&[]), accuracy(&["--signals", text(&signals)]));
        assert!((with - without).abs() < 1e-12, "{with} {without}");
    }
}
