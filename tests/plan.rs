//! `refrain plan`: golden figures, and every schedule checked by someone who was not there when it was made.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use crate::support::*;

const SECOND: u64 = 1_000_000_000;

/// Pages without randomness: rates per hour, hosts by Zipf's law, the largest remainders rounded up.
fn pages_csv(pages: usize, hosts: usize, theta: f64) -> String {
    let weights: Vec<f64> = (1..=hosts).map(|k| (k as f64).powf(-theta)).collect();
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total * pages as f64).collect();
    let mut sizes: Vec<usize> = shares.iter().map(|share| share.floor() as usize).collect();
    let mut order: Vec<usize> = (0..hosts).collect();
    order.sort_by(|a, b| shares[*b].fract().total_cmp(&shares[*a].fract()).then(a.cmp(b)));
    let missing = pages - sizes.iter().sum::<usize>();
    order.iter().take(missing).for_each(|host| sizes[*host] += 1);
    let mut csv = "host,page_id,importance,change_rate\n".to_owned();
    let mut page = 0u32;
    for (host, size) in sizes.into_iter().enumerate() {
        for _ in 0..size {
            let rate = 0.01 + 0.99 * ((f64::from(page) + 0.5) * 0.618_033_988_749_894_9).fract();
            writeln!(csv, "host-{host},{page},1,{rate}").unwrap();
            page += 1;
        }
    }
    csv
}

/// Nanoseconds, from digits alone.
fn nanos(seconds: &str) -> u64 {
    let (whole, part) = seconds.split_once('.').expect("a point");
    assert_eq!(part.len(), 9, "{seconds}");
    whole.parse::<u64>().unwrap() * SECOND + part.parse::<u64>().unwrap()
}

/// What is needed to check a schedule.
struct Rules {
    horizon: u64,
    gap: u64,
    busy: u64,
}

/// Checks every gap, every crawler and the order, and computes the mean staleness from the definition. Ages are in hours.
fn check(schedule: &Path, pages: &str, rules: &Rules) -> (f64, usize) {
    let mut known: HashMap<&str, (&str, f64, f64, f64)> = HashMap::new();
    let mut lines = pages.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |name: &str| fields[column(name).unwrap()].parse::<f64>().unwrap();
        let age = column("age").map_or(0.0, |age| fields[age].parse().unwrap_or(f64::INFINITY));
        let host = fields[column("host").unwrap()];
        known.insert(
            fields[column("page_id").unwrap()],
            (host, number("change_rate"), number("importance"), age),
        );
    }
    let text = std::fs::read_to_string(schedule).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time,crawler,page_id"));
    let (mut asked, mut crawlers): (HashMap<&str, u64>, HashMap<&str, u64>) = Default::default();
    let mut fetched: HashMap<&str, Vec<u64>> = HashMap::new();
    let (mut before, mut count) = (0, 0);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let (time, crawler, page) = (nanos(fields[0]), fields[1], fields[2]);
        assert!(time >= before && time < rules.horizon, "{line}");
        if let Some(last) = asked.insert(known[page].0, time) {
            assert!(time - last >= rules.gap, "{} ns after the last one: {line}", time - last);
        }
        if let Some(last) = crawlers.insert(crawler, time) {
            assert!(time - last >= rules.busy, "{line}");
        }
        fetched.entry(page).or_default().push(time);
        before = time;
        count += 1;
    }
    let hours = |nanos: u64| nanos as f64 / (3600.0 * SECOND as f64);
    let horizon = hours(rules.horizon);
    let (mut stale, mut weight) = (0.0, 0.0);
    for (page, (_, rate, importance, age)) in &known {
        // The integral of 1 - e^{-rate·age} between fetches.
        let part = |from: f64, length: f64| {
            let fresh = if from == f64::INFINITY { 0.0 } else { (-rate * from).exp() };
            length - fresh * -(-rate * length).exp_m1() / rate
        };
        let (mut last, mut sum, mut from) = (0.0, 0.0, *age);
        for time in fetched.get(page).into_iter().flatten() {
            sum += part(from, hours(*time) - last);
            (last, from) = (hours(*time), 0.0);
        }
        sum += part(from, horizon - last);
        stale += importance * sum / horizon;
        weight += importance;
    }
    (stale / weight, count)
}

#[test]
fn golden_plans() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("../crates/core/tests/data/psp_100k.json")).unwrap();
    for theta in [0, 1] {
        let golden = &golden[format!("theta={theta}")];
        let folder = Folder::new();
        let csv = pages_csv(100_000, 200, f64::from(theta));
        let pages = folder.file("pages.csv", &csv);
        let mut staleness = HashMap::new();
        for (method, name) in [("psp", "PSP"), ("mp2", "MP2"), ("m-wolf", "MWolf"), ("refrain", "")] {
            let out = folder.path("schedule.csv");
            let result = json(&refrain(&[
                "plan",
                "--pages",
                text(&pages),
                "--horizon",
                "24h",
                "--budget",
                "864000",
                "--politeness",
                "15s",
                "--crawlers",
                "10",
                "--crawler-rate",
                "1/s",
                "--method",
                method,
                "--out",
                text(&out),
                "--json",
            ]));
            close(&result["bounds"]["weak_politeness"], golden["WP"].as_f64().unwrap(), 1e-9);
            close(&result["bounds"]["non_polite"], golden["NonPolite"].as_f64().unwrap(), 1e-9);
            close(&result["bounds"]["inf_crawlers"], golden["InfCrawlers"].as_f64().unwrap(), 1e-8);
            assert_eq!(result["saturated_hosts"], golden["sat_servers"]);
            assert_eq!(result["allocated"], golden["used"]);
            if !name.is_empty() {
                close(&result["staleness"], golden[name].as_f64().unwrap(), 1e-5);
                assert_eq!(result["dropped"], golden[format!("{name}_unexec")]);
            }
            let rules = Rules { horizon: 86_400 * SECOND, gap: 15 * SECOND, busy: SECOND };
            let (checked, count) = check(&out, &csv, &rules);
            close(&result["staleness"], checked, 1e-9);
            assert_eq!(result["executed"], count);
            staleness.insert(method, checked);
        }
        assert!(staleness["refrain"] < staleness["psp"], "{staleness:?}");
    }
}

fn night(extra: &[&str]) -> std::process::Output {
    let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/night.csv");
    let mut args = vec!["plan", "--pages", pages, "--horizon", "8h"];
    for usual in [["--budget", "400"], ["--politeness", "2m"]] {
        if !extra.contains(&usual[0]) {
            args.extend(usual);
        }
    }
    refrain(&[&args, extra].concat())
}

#[test]
fn copies_of_any_age_and_hosts_of_their_own() {
    let folder = Folder::new();
    let gaps = folder.file("gaps.csv", "host,gap\nnews.example,30s\nnobody.example,1h\n");
    let csv = include_str!("../examples/night.csv");
    for method in ["refrain", "psp", "mp2", "m-wolf"] {
        let out = folder.path("schedule.csv");
        let slow = ["--download-time", "20s", "--method", method, "--out", text(&out), "--json"];
        let result = json(&night(&slow));
        let rules = Rules { horizon: 8 * 3600 * SECOND, gap: 120 * SECOND, busy: 20 * SECOND };
        close(&result["staleness"], check(&out, csv, &rules).0, 1e-9);
        let more = json(&night(&[&slow[..], &["--gaps", text(&gaps)]].concat()));
        let rules = Rules { gap: 30 * SECOND, ..rules };
        close(&more["staleness"], check(&out, csv, &rules).0, 1e-9);
        assert!(
            more["staleness"].as_f64() < result["staleness"].as_f64(),
            "a host that may be asked more often"
        );
    }
}

/// A nightly crawl, whose copies are old at the start: never staler than the paper's plans, in any unit of importance.
#[test]
fn old_copies_in_any_unit() {
    let folder = Folder::new();
    let night = include_str!("../examples/night.csv");
    let mut lines = night.lines();
    let mut small = format!("{}\n", lines.next().unwrap());
    for line in lines {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        fields[3] = format!("{:e}", fields[3].parse::<f64>().unwrap() * 1e-9);
        writeln!(small, "{}", fields.join(",")).unwrap();
    }
    let plan = |csv: &str, method: &str| {
        let pages = folder.file("pages.csv", csv);
        let args =
            ["plan", "--pages", text(&pages), "--horizon", "8h", "--budget", "1500", "--politeness", "20s"];
        json(&refrain(&[&args[..], &["--method", method, "--json"]].concat()))["staleness"].as_f64().unwrap()
    };
    let ours = plan(night, "refrain");
    assert!(ours < plan(night, "mp2") && ours < plan(night, "psp"), "{ours}");
    assert!((ours - plan(&small, "refrain")).abs() < 1e-9);
}

/// No bound counts on fetches that crawlers cannot make: one crawler that is busy for an hour begins eight in eight hours.
#[test]
fn bounds_allow_for_what_crawlers_can_do() {
    let slow = json(&night(&["--download-time", "1h", "--json"]));
    let few = json(&night(&["--budget", "8", "--json"]));
    assert_eq!(slow["bounds"]["weak_politeness"], few["bounds"]["weak_politeness"]);
    assert_eq!(slow["bounds"]["non_polite"], few["bounds"]["non_polite"]);
    assert_eq!(slow["allocated"], 8);
}

/// ⌊T/P⌋ requests spread over the horizon fit into it, though 77 s do not divide eight hours.
#[test]
fn the_papers_plan_drops_nothing() {
    let many = ["--budget", "100000", "--crawlers", "10"];
    let psp = json(&night(&[&many[..], &["--politeness", "77s", "--method", "psp", "--json"]].concat()));
    assert_eq!(psp["dropped"], 0, "{psp}");
}

#[test]
fn the_comparison_by_ages_finds_no_worse_plan() {
    let rows = json(&refrain(&["bench", "plan", "--seeds", "1", "--json"]));
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 16);
    for row in rows {
        assert_eq!((&row["plans"], &row["worse"]), (&3.into(), &0.into()), "{row}");
        assert!(row["between_units"].as_f64().unwrap() < 1e-9, "{row}");
        assert!(row["bound"].as_f64() <= row["refrain"].as_f64(), "{row}");
    }
}

#[test]
fn pictures_are_pictures() {
    let folder = Folder::new();
    let svg = folder.path("night.svg");
    let output = night(&["--svg", text(&svg)]);
    assert!(stdout(&output).contains("staleness"), "{}", stdout(&output));
    let picture = std::fs::read_to_string(&svg).unwrap();
    let picture = roxmltree::Document::parse(&picture).unwrap();
    let words: Vec<&str> = picture.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    for word in ["Fetches and staleness over the horizon", "hours", "stale copies", "no polite plan is below"]
    {
        assert!(words.contains(&word), "{word}: {words:?}");
    }
}

/// Plans that are empty, or nearly, and no mistakes.
#[test]
fn empty_plans() {
    let run = |budget: &str, horizon: &str, politeness: &str, crawlers: &str| {
        let folder = Folder::new();
        let pages = folder
            .file("pages.csv", "page_id,host,change_rate,importance\na,x,1,1\nb,x,2,1\nc,y,0,1\nd,y,1,0\n");
        json(&refrain(&[
            "plan",
            "--pages",
            text(&pages),
            "--horizon",
            horizon,
            "--budget",
            budget,
            "--politeness",
            politeness,
            "--crawlers",
            crawlers,
            "--json",
        ]))
    };
    let nothing = run("0", "1h", "1s", "1");
    assert_eq!(
        (&nothing["executed"], &nothing["staleness"]),
        (&0.into(), &nothing["staleness_without_fetches"])
    );
    assert_eq!(nothing["pages_without"]["worthless"], 2);
    // A host may be asked once, however long it wants to rest.
    let once = run("100", "1h", "7d", "1000");
    assert_eq!((&once["executed"], &once["saturated_hosts"]), (&1.into(), &1.into()));
    // More crawlers than fetches, and a budget that nobody needs all of.
    let many = run("5", "1h", "1s", "1000");
    assert_eq!((&many["executed"], &many["dropped"]), (&5.into(), &0.into()));
    let full = run("1000000", "1h", "1m", "1");
    assert_eq!((&full["executed"], &full["dropped"]), (&60.into(), &0.into()));
    // No politeness at all, and a crawler that cannot keep up.
    let fast = run("10000", "1h", "0", "1");
    assert_eq!((&fast["allocated"], &fast["executed"]), (&3600.into(), &3600.into()));
}

#[test]
fn mistakes_get_one_sentence() {
    let folder = Folder::new();
    let good = folder.file("pages.csv", "page_id,host,change_rate,importance\na,x,1,1\n");
    let plan = |more: &[&str]| {
        let args = ["plan", "--pages", text(&good), "--horizon", "1h", "--budget", "5"];
        refrain(&[&args, more].concat())
    };
    complains(&plan(&["--politeness", "15"]), &["--politeness", "expected a time like 15s"]);
    complains(&plan(&["--politeness", "-1s"]), &["not negative"]);
    complains(&plan(&["--crawler-rate", "0/s"]), &["--crawler-rate", "expected a rate like 10/s"]);
    complains(&plan(&["--crawlers", "0"]), &["--crawlers"]);
    complains(&plan(&["--unit", "fortnight"]), &["--unit", "possible values: s, m, h, d"]);
    complains(&plan(&["--method", "luck"]), &["possible values: refrain, psp, mp2, m-wolf"]);
    complains(&plan(&["--json", "--out", "-"]), &["expected one of them"]);
    let horizon = ["plan", "--pages", text(&good), "--budget", "5", "--horizon"];
    complains(&refrain(&[&horizon[..], &["0s"]].concat()), &["more than no time"]);
    complains(&refrain(&[&horizon[..], &["1 fortnight"]].concat()), &["expected a time like"]);
    let budget = ["plan", "--pages", text(&good), "--horizon", "1h", "--budget"];
    complains(&refrain(&[&budget[..], &["-5"]].concat()), &["--budget", "whole number of fetches"]);
    complains(&refrain(&[&budget[..], &["many"]].concat()), &["--budget", "many"]);
    let header = "page_id,host,change_rate,importance,age\n";
    for (rows, parts) in [
        ("a,x,-1,1,0\n", ["line 2, column change_rate: '-1'", "not negative"]),
        ("a,x,1,NaN,0\n", ["line 2, column importance: 'NaN'", "not negative"]),
        ("a,x,1,1,-3\n", ["line 2, column age: '-3'", "'never'"]),
        ("a,x,1,1,long\n", ["line 2, column age: 'long'", "'never'"]),
        ("a,,1,1,0\n", ["line 2, column host", "expected a name"]),
        ("a,x,1,1,0\na,y,1,1,0\n", ["line 3, column page_id: 'a'", "on line 2 already"]),
    ] {
        let bad = folder.file("bad.csv", format!("{header}{rows}"));
        let output = refrain(&["plan", "--pages", text(&bad), "--horizon", "1h", "--budget", "5"]);
        complains(&output, &parts);
    }
    let gaps = folder.file("gaps.csv", "host,gap\nx,soon\n");
    complains(&plan(&["--gaps", text(&gaps)]), &["gaps.csv: line 2, column gap: 'soon' is not a time like"]);
}

/// Pages of which no fetch is made are counted as such, whatever the reason.
#[test]
fn pages_that_get_nothing_are_those_not_in_the_schedule() {
    let folder = Folder::new();
    for method in ["refrain", "psp", "mp2", "m-wolf"] {
        let out = folder.path("schedule.csv");
        // A crawler that can make eight fetches of four hundred.
        let result =
            json(&night(&["--download-time", "1h", "--method", method, "--out", text(&out), "--json"]));
        let schedule = std::fs::read_to_string(&out).unwrap();
        let fetched: std::collections::HashSet<&str> =
            schedule.lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
        let without = result["pages_without"].as_object().unwrap();
        let without: u64 = without.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(without as usize + fetched.len(), 112, "{method}: {result}");
        assert_eq!(result["pages_without"]["dropped"] == 0, method == "refrain", "{method}: {result}");
    }
}
