//! `refrain estimate`: what fetches teach.

use crate::support::*;
use proptest::prelude::*;
use serde_json::Value;

const METHODS: [&str; 9] = ["naive", "lln", "sa", "sam", "mle", "mm", "regular", "grimes", "refrain"];

/// Ten intervals whose estimates an independent implementation knows.
const TEN: &str = "elapsed,changed\n0.3,1\n0.5,1\n0.1,0\n0.9,1\n0.2,1\n0.7,1\n0.05,0\n0.4,1\n0.6,1\n0.15,0\n";

fn estimate(file: &str, more: &[&str]) -> Value {
    let args = [&["estimate", "--intervals", "-", "--json"], more].concat();
    json(&refrain_fed(&args, file.as_bytes()))
}

#[test]
fn golden_estimates() {
    let found = estimate(TEN, &["--method", "all", "--fetch-rate", "3"]);
    let rate = |name: &str| &found["methods"][name]["rate"];
    close(rate("naive"), 2.1, 1e-12);
    close(rate("lln"), 5.25, 1e-12);
    close(rate("sa"), 4.417440862044356, 1e-12);
    close(rate("sam"), 4.8903108912542175, 1e-12);
    close(rate("mle"), 5.497743534157053, 1e-6);
    close(rate("mm"), 4.5171222012722865, 1e-6);
    // -ln(3.5/10.5) over a mean of .39.
    close(rate("regular"), 3f64.ln() / 0.39, 1e-12);
    // After three intervals.
    let three = TEN.lines().take(4).collect::<Vec<_>>().join("\n");
    let found = estimate(&three, &["--method", "sa,sam", "--fetch-rate", "3"]);
    close(&found["methods"]["sa"]["rate"], 2.685194369514946, 1e-12);
    close(&found["methods"]["sam"]["rate"], 3.0306743785429955, 1e-12);
    assert_eq!(found["methods"].as_object().unwrap().len(), 2);
}

#[test]
fn golden_signals() {
    let signals = "1011330111100102103324000021002100110020";
    let changed = "1100111111100010001111110010100010101110";
    let mut file = "elapsed,changed,signals\n".to_owned();
    for (n, z) in signals.chars().zip(changed.chars()) {
        file.push_str(&format!("10,{z},{n}\n"));
    }
    let found = estimate(&file, &["--method", "mle"]);
    let signals = &found["signals"];
    close(&signals["alpha"], 0.06287089717543466, 1e-6);
    close(&signals["b"], 0.28344371284923264, 1e-6);
    let precision = 1.0 - (-0.28344371284923264_f64).exp();
    close(&signals["precision"], precision, 1e-6);
    let announced = 39.0 / 400.0 * precision;
    close(&signals["recall"], announced / (announced + 0.06287089717543466), 1e-6);
    let believed = &signals["believed"];
    let (low, high) = (believed["low"].as_f64().unwrap(), believed["high"].as_f64().unwrap());
    assert!(low < precision && precision < high, "{low} {high}");
}

/// Whatever changed: every rate is a number, and its interval holds it.
#[test]
fn all_or_none_changed() {
    for file in [
        "elapsed,changed\n2,1\n3,1\n2,1\n",
        "elapsed,changed\n2,0\n3,0\n2,0\n",
        "elapsed,changed\n2,1\n",
        "elapsed,changed\n2,0\n",
        "elapsed,changed,signals\n1e-9,1,4294967295\n1e12,0,4294967295\n",
        "elapsed,changed,signals\n1e12,1,0\n1e-9,0,0\n",
    ] {
        let found = estimate(file, &[]);
        for name in METHODS {
            let method = &found["methods"][name];
            let (rate, low) = (method["rate"].as_f64().unwrap(), method["low"].as_f64().unwrap());
            assert!(rate >= 0.0 && low >= 0.0 && low <= rate * 1.000_001, "{name}: {method}");
            assert!(
                method["high"].is_null() || method["high"].as_f64().unwrap() >= rate * 0.999_999,
                "{method}"
            );
        }
        let risk = found["methods"]["refrain"]["very_stale"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&risk), "{risk}");
        let shown = stdout(&refrain_fed(&["estimate", "--intervals", "-"], file.as_bytes()));
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
    }
}

/// The estimators agree about a page that was seen often enough, and what is told about p and steps is used.
#[test]
fn settings_are_used() {
    let rate = |more: &[&str], name: &str| estimate(TEN, more)["methods"][name]["rate"].as_f64().unwrap();
    let default = rate(&[], "lln");
    // Without --fetch-rate: ten intervals in 3.9.
    assert!((default - 5.25 / 3.0 * 10.0 / 3.9).abs() < 1e-12);
    assert!(rate(&["--offset", "root"], "lln") < default);
    assert_ne!(rate(&["--eta", "0.9"], "sa"), rate(&[], "sa"));
    assert_ne!(rate(&["--beta", "0.7"], "sam"), rate(&[], "sam"));
    // 57 hours are little in days and much in minutes.
    assert!(rate(&["--unit", "d"], "grimes") > 3.0 * rate(&["--unit", "h"], "grimes"));
    // A prior that is sure.
    let sure = rate(&["--prior", "1000,100"], "refrain");
    assert!((sure - 10.0).abs() < 0.2, "{sure}");
    let width = |share: &str| {
        let found = estimate(TEN, &["--confidence", share]);
        let refrain = &found["methods"]["refrain"];
        refrain["high"].as_f64().unwrap() - refrain["low"].as_f64().unwrap()
    };
    assert!(width("0.5") < width("0.9") && width("0.9") < width("0.99"));
    // A rarer fetch is riskier, and a smaller risk needs a shorter interval.
    let careful =
        |more: &[&str]| estimate(TEN, more)["methods"]["refrain"]["careful_interval"].as_f64().unwrap();
    assert!(careful(&["--every", "1", "--risk", "0.01"]) < careful(&["--every", "1", "--risk", "0.1"]));
}

/// Pages share what they have in common.
#[test]
fn several_pages() {
    let mut file = "page_id,elapsed,changed\n".to_owned();
    for page in 0..40 {
        for look in 0..10 {
            // Half of the pages change at every tenth look or so, the others never.
            let changed = page % 2 == 0 && (look + page) % 7 == 0;
            file.push_str(&format!("p{page},1,{}\n", u8::from(changed)));
        }
    }
    file.push_str("new,1,1\n");
    let found = estimate(&file, &["--method", "refrain,mle"]);
    let pages = found["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 41);
    assert_eq!(pages[40]["page_id"], "new");
    let prior = found["prior"]["mean"].as_f64().unwrap();
    assert!((0.03..0.2).contains(&prior), "{prior}");
    // One change at the first look: the others keep it from being taken for a page that changes all the time.
    let new = pages[40]["methods"]["refrain"]["rate"].as_f64().unwrap();
    let alone = estimate("elapsed,changed\n1,1\n", &[])["methods"]["refrain"]["rate"].as_f64().unwrap();
    assert!(new < 0.7 * alone, "{new} {alone}");
    // The top is all of them together, whatever their order.
    close(&found["intervals"], 401.0, 0.0);
    assert!(found["methods"]["mle"]["rate"].as_f64().unwrap() < 0.2);
}

#[test]
fn interest_in_any_unit() {
    for (unit, decay) in [(1.0, 0.5), (86_400.0, 0.5 / 86_400.0)] {
        let mut file = "age,clicks\n".to_owned();
        for i in 0..30 {
            let age = f64::from(i) * 0.4;
            file.push_str(&format!("{},{}\n", age * unit, 12.0 * (1.0 - (-0.5 * age).exp())));
        }
        let found = estimate(&file, &["--kind", "interest"]);
        close(&found["profit"], 12.0, 1e-5);
        close(&found["decay"], decay, 1e-6 * decay);
        assert_eq!(found["saturates"], true);
    }
    let line = estimate("age,clicks\n1,3\n2,6\n3,9\n", &["--kind", "interest"]);
    assert_eq!(line["saturates"], false);
}

#[test]
fn what_a_person_reads() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let shown = |args: &[&str]| stdout(&command(args).current_dir(root).output().unwrap());
    insta::assert_snapshot!("pages", shown(&["estimate", "--intervals", "examples/seen.csv", "--unit", "d"]));
    insta::assert_snapshot!(
        "interest",
        shown(&["estimate", "--intervals", "examples/clicks.csv", "--kind", "interest"])
    );
}

#[test]
fn bad_intervals() {
    for (file, parts) in [
        ("elapsed,changed\n1,0\n0,1\n", ["line 3, column elapsed", "'0' is not a time between two fetches"]),
        ("elapsed,changed\n-3,1\n", ["line 2, column elapsed", "'-3' is not a time"]),
        ("elapsed,changed\nNaN,1\n", ["line 2, column elapsed", "from 1e-9 to 1e12"]),
        ("elapsed,changed\n1,2\n", ["line 2, column changed", "'2' is not 0 or 1"]),
        ("elapsed,changed\n1,yes\n", ["line 2, column changed", "'yes' is not 0 or 1"]),
        ("elapsed,changed,signals\n1,1,4294967296\n", ["line 2, column signals", "from 0 to 4294967295"]),
        ("elapsed,changed,signals\n1,1,-1\n", ["line 2, column signals", "'-1' is not a whole number"]),
        ("elapsed,changed\n", ["no intervals", "expected at least one"]),
        ("elapsed\n1\n", ["line 1", "the column changed is missing"]),
    ] {
        let output = refrain_fed(&["estimate", "--intervals", "-"], file.as_bytes());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)) && said.lines().count() == 1, "{file}: {said}");
    }
    for (args, part) in [
        (&["--eta", "0.5"][..], "--eta 0.5: expected more than 0.5"),
        (&["--beta", "0.1"], "--beta 0.1: expected at least half of --eta"),
        (&["--confidence", "95"], "--confidence 95: expected a share"),
        (&["--risk", "0"], "--risk 0: expected a chance"),
        (&["--fetch-rate", "0"], "expected a finite number greater than 0"),
        (&["--prior", "often"], "expected broad, learned, grimes"),
        (&["--method", "best"], "invalid value 'best'"),
        (&["--runs", "10"], "cannot be used with"),
    ] {
        let args = [&["estimate", "--intervals", "-"], args].concat();
        let output = refrain_fed(&args, TEN.as_bytes());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    let clicks = refrain_fed(&["estimate", "--intervals", "-", "--kind", "interest"], b"age,clicks\n1,-2\n");
    assert!(stderr(&clicks).contains("line 2, column clicks: '-2' is not"), "{}", stderr(&clicks));
}

/// The study on a few pages: tables, and pictures that are pictures.
#[test]
fn the_study() {
    let folder = Folder::new();
    let out = folder.path("pictures");
    let args = ["estimate", "--study", text(&out), "--runs", "60"];
    let table = stdout(&refrain(&args));
    for part in ["Δ = 5, p = 3", "Δ = 500, p = 3", "Δ = 500, p = 50", "refrain / mle", "from k = 418 on"] {
        assert!(table.contains(part), "{part} is not in {table}");
    }
    // The same pages give the same figures.
    assert_eq!(table, stdout(&refrain(&args)));
    for name in ["5-3", "500-3", "500-50", "offsets", "steps", "momentum"] {
        let picture = std::fs::read_to_string(out.join(format!("learning-{name}.svg"))).unwrap();
        let svg = roxmltree::Document::parse(&picture).unwrap();
        let curves = svg.descendants().filter(|node| node.has_tag_name("polyline")).count();
        assert!(curves >= 3, "{name}: {curves} curves");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the bytes: an answer or a complaint.
    #[test]
    fn never_a_panic(
        rows in proptest::collection::vec("[0-9a-z,.\"eE+\\-\r \u{e4}]{0,30}", 0..12),
        numbers in proptest::collection::vec((any::<f64>(), any::<bool>(), any::<u32>(), 0u8..4), 0..40),
    ) {
        let mut file = "elapsed,changed,signals,page_id\n".to_owned();
        for (elapsed, changed, signals, page) in &numbers {
            let elapsed = elapsed.abs().clamp(1e-9, 1e12);
            file.push_str(&format!("{elapsed},{},{signals},p{page}\n", u8::from(*changed)));
        }
        let garbage = format!("{file}{}", rows.join("\n"));
        for content in [file, garbage] {
            for more in [&[][..], &["--json"], &["--prior", "grimes"], &["--kind", "interest"]] {
                let args = [&["estimate", "--intervals", "-"], more].concat();
                let output = refrain_fed(&args, content.as_bytes());
                let said = stderr(&output);
                prop_assert!(matches!(output.status.code(), Some(0 | 2)), "{said}");
                prop_assert!(!said.contains("panicked"), "{said}");
                let shown = String::from_utf8_lossy(&output.stdout).into_owned();
                prop_assert!(!shown.contains("NaN"), "{shown}");
            }
        }
    }
}
