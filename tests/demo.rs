//! `refrain demo` and `refrain bench`: what a newcomer runs first.

mod support;

use support::*;

#[test]
fn the_demo_tells_its_story() {
    insta::assert_snapshot!("demo", stdout(&refrain(&["demo"])));
}

#[test]
fn help_and_version() {
    assert!(stdout(&refrain(&["--version"])).starts_with("refrain "));
    assert!(stdout(&refrain(&["--help"])).contains("optimum"));
    // Without a command: the help, and the exit code of a mistake.
    assert_eq!(refrain(&[]).status.code(), Some(2));
}

#[test]
fn the_bench_prints_its_figures() {
    let table = stdout(&refrain(&["bench", "--quick"]));
    for row in ["greedy-ncis", "gamma posterior", "without signals", "with signals"] {
        assert!(table.lines().any(|line| line.trim_start().starts_with(row)), "{row} is not in {table}");
    }
}
