//! What a mistake gets: one sentence that says what, where and what was expected; exit code 2; never a panic.

use crate::support::*;
use proptest::prelude::*;

/// Runs on this file; expects exit code 2 and one sentence with these parts.
fn refused(content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", content);
    let output = refrain(&["optimum", "--pages", text(&pages), "--rate", "5"]);
    complains(&output, parts);
    assert!(stderr(&output).contains("pages.csv: "), "{}", stderr(&output));
}

const HEADER: &str = "page_id,change_rate,importance\n";

#[test]
fn numbers_that_are_no_rates() {
    for wrong in ["-1", "NaN", "inf", "-inf", "1e999", "fast", "", "1;2", "0x10"] {
        let line =
            format!("line 3, column change_rate: '{wrong}' is not a finite number that is not negative");
        refused(format!("{HEADER}a,1,1\nb,{wrong},1\n"), &[&line]);
        refused(format!("{HEADER}b,1,{wrong}\n"), &["line 2, column importance", &format!("'{wrong}'")]);
    }
    let signals = "page_id,change_rate,importance,recall,false_rate\n";
    refused(format!("{signals}a,1,1,1.1,0\n"), &["line 2, column recall: '1.1' is not a number from 0 to 1"]);
    refused(format!("{signals}a,1,1,NaN,0\n"), &["line 2, column recall: 'NaN'"]);
    refused(format!("{signals}a,1,1,0.5,-2\n"), &["line 2, column false_rate: '-2'"]);
}

#[test]
fn tables_that_are_none() {
    refused(
        "",
        &["the file is empty; expected a header line with the columns page_id,change_rate,importance"],
    );
    refused(HEADER, &["there is a header, but no pages"]);
    refused(
        "page_id,importance\na,1\n",
        &["line 1: the column change_rate is missing", "found page_id,importance"],
    );
    refused("a,1,1\n", &["line 1: the column page_id is missing"]);
    refused("page_id,change_rate,importance,page_id\n", &["line 1: the column page_id appears twice"]);
    refused(
        "page_id,change_rate,importance,recall\na,1,1,1\n",
        &["recall is there, but false_rate is missing"],
    );
    refused(format!("{HEADER}a,1\n"), &["line 2: 2 fields; expected 3 as in the header"]);
    refused(format!("{HEADER}\na,1,1,1\n"), &["line 3: 4 fields"]);
    refused(format!("{HEADER}a,1,1\n\"b,1,1\nc,1,1\n"), &["line 3: a quote is not closed"]);
    refused(format!("{HEADER},1,1\n"), &["line 2, column page_id: is empty"]);
    refused([HEADER.as_bytes(), b"\xff\xfe,1,1\n"].concat(), &["line 2, column page_id: is not UTF-8"]);
    refused(",".repeat(1000), &["line 1: more than 256 fields"]);
}

#[test]
fn lines_without_end() {
    refused("x".repeat(3 << 20), &["line 1: longer than 1048576 bytes"]);
    let endless = format!("{HEADER}a,1,1\n{}", "y".repeat(3 << 20));
    refused(endless, &["line 3: longer than 1048576 bytes; expected a line of comma-separated fields"]);
    // A last line without a line end is fine.
    let folder = Folder::new();
    let pages = folder.file("pages.csv", format!("{HEADER}a,1,1"));
    assert!(refrain(&["optimum", "--pages", text(&pages), "--rate", "5"]).status.success());
}

#[test]
fn the_same_page_twice() {
    let blank_between = format!("{HEADER}a,1,1\nb,1,1\n\n\nc,1,1\nb,2,2\n");
    refused(blank_between, &["line 7, column page_id: 'b' is on line 3 already; expected each page once"]);
}

#[test]
fn bounds_that_cannot_be() {
    let bounded = "page_id,change_rate,importance,min_rate,max_rate\n";
    refused(format!("{bounded}a,1,1,3,2\n"), &["line 2, column max_rate: 2 is less than the min_rate of 3"]);
    refused(format!("{bounded}a,1,1,-1,2\n"), &["line 2, column min_rate: '-1'"]);
    let folder = Folder::new();
    let pages = folder.file("pages.csv", format!("{bounded}a,1,1,3,4\nb,1,1,4,\n"));
    let output = refrain(&["optimum", "--pages", text(&pages), "--rate", "5"]);
    complains(&output, &["--rate 5: too small", "minimum rates add up to 7", "raise it, or lower min_rate"]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    let missing = folder.path("missing.csv");
    complains(
        &refrain(&["optimum", "--pages", text(&missing), "--rate", "5"]),
        &["missing.csv: cannot be read"],
    );
    let directory = folder.path(".");
    complains(&refrain(&["optimum", "--pages", text(&directory), "--rate", "5"]), &["is a directory"]);
    refused([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff], &["line 1: cannot be read on"]);
}

#[test]
fn hubs_too() {
    let folder = Folder::new();
    let hubs = folder.file("hubs.csv", "hub_id,link_rate,profit,decay\na,1,1,1\na,1,1,x\n");
    let output = refrain(&["optimum", "--hubs", text(&hubs), "--rate", "5"]);
    complains(&output, &["hubs.csv: line 3, column decay: 'x' is not a finite number"]);
    let twice = folder.file("twice.csv", "hub_id,link_rate,profit,decay\na,1,1,1\na,1,1,1\n");
    let output = refrain(&["optimum", "--hubs", text(&twice), "--rate", "5"]);
    complains(&output, &["line 3, column hub_id: 'a' is on line 2 already"]);
    let output = refrain(&["optimum", "--hubs", text(&twice)]);
    complains(&output, &["expected --rate N with --hubs"]);
    let good = folder.file("good.csv", "hub_id,link_rate,profit,decay\na,7,1,1\n");
    let output = refrain(&["optimum", "--hubs", text(&good), "--rate", "5", "--every-hub"]);
    complains(&output, &["the links of all hubs alone need 7"]);
}

#[test]
fn budgets_that_are_none() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", format!("{HEADER}a,1,1\n"));
    for wrong in ["0", "-1", "NaN", "inf", "many"] {
        let output = refrain(&["optimum", "--pages", text(&pages), &format!("--rate={wrong}")]);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(
            said.contains("--rate") && said.contains("expected a finite number greater than 0"),
            "{said}"
        );
    }
    complains(&refrain(&["optimum", "--pages", text(&pages)]), &["no budget given; expected --rate R"]);
    let both = ["optimum", "--pages", text(&pages), "--rate", "1", "--json", "--csv", "-"];
    complains(&refrain(&both), &["--json and --csv - both go to standard output"]);
    complains(&refrain(&["optimum", "--rate", "1"]), &["required", "--pages <FILE>"]);
    complains(
        &refrain(&["optimum", "--pages", "p.csv", "--rat", "1"]),
        &["unexpected argument '--rat'", "'--rate'"],
    );
    complains(&refrain(&["optimun"]), &["unrecognized subcommand 'optimun'", "'optimum'"]);
    for wrong in [
        &["--rate", "1", "--fetch-cost", "1", "--stale-cost", "1"][..],
        &["--fetch-cost", "1"],
        &["--rate", "1", "--svg", "x.svg"],
        &["--rate", "1", "--hubs", "h.csv"],
        &["--rate", "1", "--every-hub"],
    ] {
        let args = [&["optimum", "--pages", text(&pages)], wrong].concat();
        complains(&refrain(&args), &["--"]);
    }
}

/// A pipe that cannot be written is the system's fault: exit code 1.
#[test]
fn results_that_cannot_be_written() {
    let folder = Folder::new();
    let pages = folder.file("pages.csv", format!("{HEADER}a,1,1\n"));
    let nowhere = folder.path("no/such/folder.csv");
    let output = refrain(&["optimum", "--pages", text(&pages), "--rate", "1", "--csv", text(&nowhere)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("folder.csv: cannot be written"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the bytes: an answer or a complaint.
    #[test]
    fn never_a_panic(
        rows in proptest::collection::vec("[0-9a-z,.\"eE+\\-\r \u{e4}]{0,30}", 0..12),
        garbage in proptest::collection::vec(any::<u8>(), 0..40),
        extreme in proptest::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()), 0..6),
    ) {
        let mut file = b"page_id,change_rate,importance,recall,false_rate\n".to_vec();
        for (id, (change, importance, recall, wrong)) in extreme.iter().enumerate() {
            let recall = recall.abs().fract();
            file.extend(format!("x{id},{},{},{recall},{}\n", change.abs(), importance.abs(), wrong.abs()).bytes());
        }
        let numbers = file.clone();
        file.extend(rows.join("\n").bytes());
        file.extend(&garbage);
        for content in [numbers, file] {
            for more in [&["--rate", "1e-3"][..], &["--sweep"], &["--rate", "1e6", "--json"]] {
                let args = [&["optimum", "--pages", "-"], more].concat();
                let output = refrain_fed(&args, &content);
                let said = stderr(&output);
                prop_assert!(matches!(output.status.code(), Some(0 | 2)), "{said}");
                prop_assert!(!said.contains("panicked"), "{said}");
                let shown = String::from_utf8_lossy(&output.stdout).into_owned();
                prop_assert!(!shown.contains("NaN"), "{shown}");
            }
        }
    }
}
