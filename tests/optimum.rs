//! `refrain optimum`, as people and scripts use it.

use std::io::Write;
use std::process::Stdio;

use crate::support::golden::*;
use crate::support::*;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The golden pages, columns in an unusual order.
fn golden_csv() -> String {
    let mut csv = "host,importance,page_id,change_rate,false_rate,recall\n".to_owned();
    for (id, [change, importance, recall, wrong]) in PAGES.iter().enumerate() {
        csv += &format!("host-{},{importance},{id},{change},{wrong},{recall}\n", id % 3);
    }
    csv
}

fn check_golden(result: &serde_json::Value, price: f64, freshness: f64, rates: &[f64; 20]) {
    close(&result["price"], price, 1e-7);
    close(&result["freshness"], freshness, 1e-7);
    close(&result["rate"], 5.0, 1e-7);
    let pages = result["pages"].as_array().expect("pages");
    assert_eq!(pages.len(), 20);
    for (id, (page, rate)) in pages.iter().zip(rates).enumerate() {
        assert_eq!(page["page_id"], id.to_string());
        close(&page["rate"], *rate, 1e-7);
        if *rate == 0.0 {
            assert!(page["interval"].is_null());
            close(&page["freshness"], 0.0, 0.0);
        } else {
            close(&page["interval"], 1.0 / rate, 1e-5);
        }
    }
}

#[test]
fn golden_optimum_with_and_without_signals() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", golden_csv());
    let base = ["optimum", "--pages", text(&pages), "--rate", "5", "--json"];
    check_golden(&json(&refrain(&base)), SIGNAL_PRICE, SIGNAL_FRESHNESS, &SIGNAL_RATES);
    let without = [&base[..], &["--no-signals"]].concat();
    check_golden(&json(&refrain(&without)), PLAIN_PRICE, PLAIN_FRESHNESS, &PLAIN_RATES);
}

#[test]
fn gzip_and_standard_input_work_alike() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(golden_csv().as_bytes()).unwrap();
    let zipped = gzip.finish().unwrap();
    let folder = Folder::new();
    let misnamed = folder.file("pages.csv", &zipped);
    let args = ["optimum", "--pages", "-", "--rate", "5", "--json"];
    let expected = refrain_fed(&args, golden_csv().as_bytes());
    check_golden(&json(&expected), SIGNAL_PRICE, SIGNAL_FRESHNESS, &SIGNAL_RATES);
    assert_eq!(refrain_fed(&args, &zipped).stdout, expected.stdout);
    let from_file = refrain(&["optimum", "--pages", text(&misnamed), "--rate", "5", "--json"]);
    assert_eq!(from_file.stdout, expected.stdout);
}

#[test]
fn csv_out_has_the_same_figures() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", golden_csv());
    let out = folder.path("out.csv");
    stdout(&refrain(&["optimum", "--pages", text(&pages), "--rate", "5", "--csv", text(&out)]));
    let written = std::fs::read_to_string(&out).unwrap();
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some("page_id,rate,interval,freshness"));
    for (id, rate) in SIGNAL_RATES.iter().enumerate() {
        let fields: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!(fields[0], id.to_string());
        assert!((fields[1].parse::<f64>().unwrap() - rate).abs() < 1e-7);
        assert_eq!(fields[2].is_empty(), *rate == 0.0);
    }
    // To standard output, and gzip'ed, the same bytes.
    let piped = stdout(&refrain(&["optimum", "--pages", text(&pages), "--rate", "5", "--csv", "-"]));
    assert_eq!(piped, written);
    let zipped = folder.path("out.csv.gz");
    stdout(&refrain(&["optimum", "--pages", text(&pages), "--rate", "5", "--csv", text(&zipped)]));
    let mut unzipped = String::new();
    let file = std::fs::File::open(&zipped).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut unzipped).unwrap();
    assert_eq!(unzipped, written);
}

#[test]
fn names_with_commas_and_quotes_survive() {
    let folder = Folder::new();
    let csv = "page_id,change_rate,importance\n\"a, \"\"b\"\"\",1,1\r\nhttps://example.org/ä,2,1\r\n";
    let pages = folder.file("pages.csv", csv);
    let result = json(&refrain(&["optimum", "--pages", text(&pages), "--rate", "1", "--json"]));
    assert_eq!(result["pages"][0]["page_id"], "a, \"b\"");
    assert_eq!(result["pages"][1]["page_id"], "https://example.org/ä");
    let out = stdout(&refrain(&["optimum", "--pages", text(&pages), "--rate", "1", "--csv", "-"]));
    assert!(out.contains("\n\"a, \"\"b\"\"\","));
}

/// Grimes and Ford: changes every 24 hours, a fetch costs as much as a stale hour.
#[test]
fn a_fixed_price() {
    let folder = Folder::new();
    let pages =
        folder.file("pages.csv", "page_id,change_rate,importance\nday,0.041666666666666664,1\nhour,1,1\n");
    let args = ["optimum", "--pages", text(&pages), "--fetch-cost", "1", "--stale-cost", "1", "--json"];
    let result = json(&refrain(&args));
    close(&result["price"], 1.0, 1e-12);
    close(&result["pages"][0]["interval"], 0.320789 * 24.0, 1e-4);
    // Changing every hour, a fetch is never worth its cost.
    assert!(result["pages"][1]["interval"].is_null());
    close(&result["cost"], 0.274423 + 1.0, 1e-6);
    // Stale hours that cost four times as much: r = .1518.
    let args = ["optimum", "--pages", text(&pages), "--fetch-cost", "1", "--stale-cost", "4", "--json"];
    close(&json(&refrain(&args))["pages"][0]["interval"], 0.1518 * 24.0, 2e-3);
}

fn golden_hubs(count: u32) -> String {
    let mut csv = "hub_id,link_rate,profit,decay\n".to_owned();
    for i in 0..count {
        let i = f64::from(i);
        let u = ((i + 0.5) * 0.618_033_988_749_894_9).fract();
        let v = ((i + 0.5) * 0.754_877_666_246_692_7).fract();
        csv +=
            &format!("{i},{},{},{}\n", 0.01 / (i + 1.0), -5.0 * (1.0 - u).ln(), 10f64.powf(-5.0 + 1.5 * v));
    }
    csv
}

#[test]
fn golden_hubs_visited_and_chosen() {
    let folder = Folder::new();
    let fifty = folder.file("fifty.csv", golden_hubs(50));
    let all = json(&refrain(&["optimum", "--hubs", text(&fifty), "--rate", "0.1", "--every-hub", "--json"]));
    close(&all["price"], 0.070_492_728_380_636_25, 1e-8);
    close(&all["profit"], 0.215_551_082_697_731_16, 1e-8);
    close(&all["upper_bound"], 0.219_532_456_491_475_07, 1e-8);
    close(&all["hubs"][0]["interval"], 457.690_422_599_820_3, 1e-3);
    let chosen = json(&refrain(&["optimum", "--hubs", text(&fifty), "--rate", "0.1", "--json"]));
    assert!(chosen["profit"].as_f64() > all["profit"].as_f64());

    let ten = folder.file("ten.csv", golden_hubs(10));
    let best = json(&refrain(&["optimum", "--hubs", text(&ten), "--rate", "0.012", "--json"]));
    close(&best["profit"], 0.096_769_995_314_018_32, 1e-8);
    let open: Vec<usize> = (0..10).filter(|&i| best["hubs"][i]["open"] == true).collect();
    assert_eq!(open, [1, 4, 5, 7, 9]);
}

#[test]
fn bounds_are_kept() {
    let folder = Folder::new();
    let csv =
        "page_id,change_rate,importance,min_rate,max_rate\nfast,50,1,0.5,\nslow,0.5,1,,0.8\nother,1,1,,\n";
    let pages = folder.file("pages.csv", csv);
    let result = json(&refrain(&["optimum", "--pages", text(&pages), "--rate", "3", "--json"]));
    // The first would starve, the second would get more.
    close(&result["pages"][0]["rate"], 0.5, 1e-9);
    close(&result["pages"][1]["rate"], 0.8, 1e-9);
    close(&result["pages"][2]["rate"], 1.7, 1e-9);
}

#[test]
fn pages_that_never_change_or_are_never_asked_for_are_legal() {
    let folder = Folder::new();
    let csv = "page_id,change_rate,importance\nstill,0,1\nunasked,1,0\nordinary,1,1\n";
    let pages = folder.file("pages.csv", csv);
    let result = json(&refrain(&["optimum", "--pages", text(&pages), "--rate", "2", "--json"]));
    close(&result["pages"][0]["rate"], 0.0, 0.0);
    close(&result["pages"][0]["freshness"], 1.0, 0.0);
    close(&result["pages"][1]["rate"], 0.0, 0.0);
    close(&result["pages"][2]["rate"], 2.0, 1e-9);
    let still = folder.file("still.csv", "page_id,change_rate,importance\na,0,1\nb,1,0\n");
    let result = json(&refrain(&["optimum", "--pages", text(&still), "--rate", "2", "--json"]));
    close(&result["rate"], 0.0, 0.0);
    close(&result["freshness"], 1.0, 0.0);
}

#[test]
fn which_budget_buys_ninety_percent() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", golden_csv());
    let svg = folder.path("curve.svg");
    let sweep = json(&refrain(&[
        "optimum",
        "--pages",
        text(&pages),
        "--sweep",
        "--json",
        "--rate",
        "5",
        "--svg",
        text(&svg),
    ]));
    let points = sweep["points"].as_array().unwrap();
    assert!(points.len() > 20);
    for pair in points.windows(2) {
        assert!(pair[0]["rate"].as_f64() <= pair[1]["rate"].as_f64());
        assert!(pair[0]["freshness"].as_f64() <= pair[1]["freshness"].as_f64());
    }
    let ninety = &sweep["targets"][2];
    close(&ninety["freshness"], 0.9, 0.0);
    let rate = ninety["rate"].to_string();
    let check = json(&refrain(&["optimum", "--pages", text(&pages), "--rate", &rate, "--json"]));
    close(&check["freshness"], 0.9, 1e-6);

    let picture = std::fs::read_to_string(&svg).unwrap();
    let document = roxmltree::Document::parse(&picture).expect("well-formed SVG");
    let lines = document.descendants().filter(|node| node.has_tag_name("polyline")).count();
    assert!(lines >= 3, "two curves and a mark, not {lines}");
    assert!(
        document.descendants().any(|node| node.text().is_some_and(|text| text.trim() == "without signals"))
    );
}

#[test]
fn what_a_person_reads() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", golden_csv());
    insta::assert_snapshot!(
        "summary",
        stdout(&refrain(&["optimum", "--pages", text(&pages), "--rate", "5"]))
    );
    insta::assert_snapshot!("sweep", stdout(&refrain(&["optimum", "--pages", text(&pages), "--sweep"])));
    let hubs = folder.file("hubs.csv", golden_hubs(10));
    insta::assert_snapshot!("hubs", stdout(&refrain(&["optimum", "--hubs", text(&hubs), "--rate", "0.012"])));
    insta::assert_snapshot!("help", stdout(&refrain(&["optimum", "--help"])));
}

/// Results go to stdout, talk goes to stderr.
#[test]
fn json_is_alone_on_stdout() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", "page_id,change_rate,importance,colour\na,1,1,red\n");
    let output = refrain(&["optimum", "--pages", text(&pages), "--rate", "1", "--json"]);
    json(&output);
    assert!(stderr(&output).contains("pages.csv: not used: colour"));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new();
    let mut csv = "page_id,change_rate,importance\n".to_owned();
    (0..100_000).for_each(|id| csv += &format!("{id},1,1\n"));
    let pages = folder.file("pages.csv", csv);
    let mut child = command(&["optimum", "--pages", text(&pages), "--rate", "5", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

/// A rate is the same whichever units its table and its budget are in.
#[test]
fn units_are_in_the_header() {
    let folder = Folder::new();
    let freshness = |name: &str, csv: &str, rate: &str| {
        let pages = folder.file(name, csv);
        let found = refrain(&["optimum", "--pages", text(&pages), "--rate", rate, "--json"]);
        json(&found)["freshness"].as_f64().unwrap()
    };
    let by_hour =
        "page_id,change_rate_per_hour,importance,recall,false_rate_per_hour\na,1,1,0.5,0.25\nb,0.5,2,0,0\n";
    let mixed = "page_id,change_rate_per_day,importance,recall,false_rate_per_minute\n\
                 a,24,1,0.5,0.004166666666666667\nb,12,2,0,0\n";
    let expected = freshness("hour.csv", by_hour, "1");
    for (csv, rate) in [(by_hour, "24/d"), (mixed, "24"), (mixed, "1/h")] {
        let found = freshness("other.csv", csv, rate);
        assert!((found - expected).abs() < 1e-9, "{found} {expected} {rate}");
    }
    let pages = folder.file("days.csv", mixed);
    let said = stdout(&refrain(&["optimum", "--pages", text(&pages), "--rate", "24"]));
    assert!(said.contains("fetches per day"), "{said}");
    let half = folder.file("half.csv", "page_id,change_rate,importance,min_rate_per_day\na,1,1,1\n");
    complains(
        &refrain(&["optimum", "--pages", text(&half), "--rate", "1"]),
        &["min_rate has its unit of time in its name, change_rate has none"],
    );
    let plain = folder.file("plain.csv", "page_id,change_rate,importance\na,1,1\n");
    complains(&refrain(&["optimum", "--pages", text(&plain), "--rate", "1/h"]), &["--rate has a unit"]);
}

/// What `estimate` writes, `optimum` reads.
#[test]
fn estimates_are_a_table_of_pages() {
    let folder = Folder::new();
    let pages = folder.path("pages.csv");
    let seen = format!("{}/../../examples/seen.csv", env!("CARGO_MANIFEST_DIR"));
    let done = refrain(&["estimate", "--intervals", &seen, "--unit", "d", "--csv", text(&pages)]);
    assert!(done.status.success(), "{}", stderr(&done));
    let table = std::fs::read_to_string(&pages).unwrap();
    assert!(
        table.starts_with("page_id,importance,change_rate_per_day,recall,false_rate_per_day\nabout,1,"),
        "{table}"
    );
    let optimum = refrain(&["optimum", "--pages", text(&pages), "--rate", "1/h", "--json"]);
    assert!(json(&optimum)["freshness"].as_f64().unwrap() > 0.5);
}
