//! `refrain lab list`, `run` and `report`: the papers' figures, measured anew.

use std::path::Path;

use crate::support::*;

fn lab(args: &[&str]) -> std::process::Output {
    refrain(&[&["lab"], args].concat())
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

#[test]
fn every_experiment_has_a_line() {
    let lines = stdout(&lab(&["list"]));
    let found = json(&lab(&["list", "--json"]));
    let experiments = found["experiments"].as_array().unwrap();
    assert!(experiments.len() >= 11, "{found}");
    let mut names: Vec<&str> = experiments.iter().map(|one| one["name"].as_str().unwrap()).collect();
    for one in experiments {
        let [name, figure, title] = ["name", "figure", "title"].map(|key| one[key].as_str().unwrap());
        let line = lines.lines().find(|line| line.trim_start().starts_with(&format!("{name} "))).unwrap();
        assert!(line.contains(figure) && line.ends_with(title), "{line}");
        // Names of files are made of it.
        assert!(
            name.chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
        );
        let paper = one["paper"].as_str().unwrap();
        assert!(lines.lines().any(|line| line.starts_with(&format!("{paper}: "))), "{paper}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), experiments.len(), "each has a name of its own");
}

#[test]
fn a_run_says_what_it_found_and_writes_it_down() {
    let folder = Folder::new();
    let out = folder.path("report");
    let said = stdout(&lab(&["run", "cost-2", "cost-3", "--out", text(&out)]));
    assert!(said.starts_with("cost-2 (Fig 2): ") && said.contains("\ncost-3 (Fig 3): "), "{said}");
    assert!(said.contains("  agrees ") && said.contains("measured: "), "{said}");
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert!(last[0].ends_with("report.html") && last[1].starts_with("7 claims: "), "{said}");
    let file = |name: &str| read(&out.join("figures").join(name));
    let findings: serde_json::Value = serde_json::from_str(&file("cost-2.json")).unwrap();
    assert_eq!(findings["command"], "refrain lab run cost-2 --scale quick --seed 1");
    assert_eq!(findings["claims"].as_array().unwrap().len(), 3);
    assert!(file("cost-2-fractions.csv").starts_with("curve,x,y,standard_error,shade\n"));
    assert!(file("cost-3-intervals.svg").starts_with("<svg "));
    assert!(file("cost-2.md").contains("- **agrees.** "));
    let report = read(&out.join("report.html"));
    for part in [
        "id=\"cost-2-fractions\"",
        "id=\"cost-3-intervals\"",
        "refrain lab run cost-3 --scale quick --seed 1",
    ] {
        assert!(report.contains(part), "{part}");
    }
    // The report can be made again from what is there, and is the same.
    std::fs::remove_file(out.join("report.html")).unwrap();
    stdout(&lab(&["report", "--out", text(&out)]));
    assert_eq!(read(&out.join("report.html")), report);
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    let folder = Folder::new();
    let out = folder.path("report");
    let run = |more: &[&str]| {
        stdout(&lab(&[&["run", "cost-4", "--seed", "3", "--out", text(&out)], more].concat()));
        let cells = read(&out.join("cells/cost-4-quick-3.cells"));
        (cells, read(&out.join("figures/cost-4-bias.csv")))
    };
    let (cells, whole) = run(&[]);
    // As if it had been killed in the middle of a line, with one number that only this file can know.
    let kept = cells.lines().count() / 2;
    let mut left: Vec<String> = cells.lines().take(kept).map(str::to_owned).collect();
    let known = left[kept - 1].rsplit_once(' ').unwrap().0.to_owned() + " 1000";
    left[kept - 1] = known.clone();
    let torn = format!("{}\n{}", left.join("\n"), &cells.lines().nth(kept).unwrap()[..20]);
    std::fs::write(out.join("cells/cost-4-quick-3.cells"), torn).unwrap();
    let (resumed, other) = run(&[]);
    assert!(resumed.contains(&known), "what was measured is kept");
    assert_eq!(resumed.lines().count(), cells.lines().count(), "and the rest is measured");
    assert_eq!(other, whole, "the last number of a line is of a figure that this chart does not show");
    let (again, same) = run(&["--again"]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!((sorted(&again), same), (sorted(&cells), whole), "the same from the start");
}

#[test]
fn names_and_folders_that_are_none() {
    let folder = Folder::new();
    let out = folder.path("report");
    complains(
        &lab(&["run", "cost-22", "--out", text(&out)]),
        &["'cost-22' is no experiment", "did you mean cost-2"],
    );
    complains(&lab(&["run", "everything", "--out", text(&out)]), &["'everything'", "refrain lab list"]);
    complains(&lab(&["run"]), &["<NAME>..."]);
    complains(&lab(&["run", "all", "--scale", "huge"]), &["'huge'", "quick", "paper"]);
    assert!(!out.exists(), "nothing is written for a mistake");
    complains(
        &lab(&["report", "--out", text(&out)]),
        &["cannot be read", "expected a folder that refrain lab run has written"],
    );
    let file = folder.file("file", "");
    let failed = lab(&["run", "cost-2", "--out", text(&file)]);
    assert_eq!((failed.status.code(), stderr(&failed).lines().count()), (Some(1), 1), "{}", stderr(&failed));
}
