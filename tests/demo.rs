//! `refrain demo` and `refrain bench`: what a newcomer runs first.

use std::path::Path;

use crate::support::*;

/// A short one: it crawls, tells the truth, and leaves a page to open and data to look into.
#[test]
fn the_demo_tells_its_story() {
    let folder = Folder::new();
    let place = text(&folder.path("demo")).to_owned();
    let story = stdout(&refrain(&["demo", "--for", "8s", "--rate", "42/s", "--data", &place]));
    let share = |name: &str| -> f64 {
        let line = story
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap_or_else(|| panic!("{name}: {story}"));
        line.split('%').next().unwrap().split(' ').rfind(|word| !word.is_empty()).unwrap().parse().unwrap()
    };
    assert!(share("Refrain") > share("every page equally often"), "{story}");
    assert!(share("Refrain") > share("Nutch-like intervals"), "{story}");
    assert!(story.contains("of 4 forbidden pages none were asked for"), "{story}");
    assert!((0.0..=100.0).contains(&share("breadth-first")) && share("fixed quota") <= 100.0, "{story}");
    let page = std::fs::read_to_string(folder.path("demo/index.html")).unwrap();
    assert!(page.matches("<svg").count() == 3 && !page.contains("src=") && !page.contains("<script"));
    let data = text(&folder.path("demo/data")).to_owned();
    assert!(stdout(&refrain(&["check", "--data", &data])).contains("all is well"));
    complains(
        &refrain(&["demo", "--data", &place]),
        &["is there already", "expected the name of a new folder"],
    );
}

#[test]
fn help_and_version() {
    assert!(stdout(&refrain(&["--version"])).starts_with("refrain "));
    assert!(stdout(&refrain(&["--help"])).contains("optimum"));
    // Without a command: the help, and the exit code of a mistake.
    assert_eq!(refrain(&[]).status.code(), Some(2));
}

/// The line with its numbers cut after six decimals: the last digits are the machine's own.
fn six_decimals(line: &str) -> String {
    let mut decimals = None;
    let kept = line.trim_end().chars().filter(|c| {
        decimals = match (c, decimals) {
            ('.', _) => Some(0),
            (c, Some(count)) if c.is_ascii_digit() => Some(count + 1),
            _ => None,
        };
        decimals.is_none_or(|count| count <= 6)
    });
    kept.collect()
}

/// What the documentation shows is what the example gives.
#[test]
fn the_documentation_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut shown = 0;
    let guides = ["optimum", "estimate", "plan", "lab", "discover"].map(|guide| format!("docs/{guide}.md"));
    for document in std::iter::once("README.md".to_owned()).chain(guides) {
        let text = std::fs::read_to_string(root.join(&document)).unwrap();
        for block in text.split("```console\n$ refrain ").skip(1) {
            let mut lines = block.lines();
            let typed: Vec<&str> = lines.next().unwrap().split(' ').collect();
            if !typed.iter().any(|word| word.starts_with("examples/")) {
                continue;
            }
            let printed = stdout(&command(&typed).current_dir(&root).output().unwrap());
            let printed: Vec<String> = printed.lines().map(six_decimals).collect();
            for line in lines.take_while(|line| *line != "```").filter(|line| line.trim() != "…") {
                assert!(printed.contains(&six_decimals(line)), "{document}: {line}");
                shown += 1;
            }
        }
    }
    assert!(shown > 10, "{shown} lines");
}

#[test]
fn the_bench_prints_its_figures() {
    let table = stdout(&refrain(&["bench", "--quick"]));
    for row in ["greedy-ncis", "gamma posterior", "history and belief", "without signals", "with signals"] {
        assert!(table.lines().any(|line| line.trim_start().starts_with(row)), "{row} is not in {table}");
    }
}

/// Too short to say much; but it is said.
#[test]
fn the_bench_of_signals_speaks_to_scripts() {
    let json = stdout(&refrain(&["bench", "signals", "--seconds", "3", "--rate", "50/s", "--json"]));
    let figures: serde_json::Value = serde_json::from_str(&json).unwrap();
    let sitemaps: Vec<_> = figures["worlds"].as_array().unwrap().iter().map(|one| &one["sitemaps"]).collect();
    assert_eq!(sitemaps, ["honest", "lying", "none"]);
    for share in
        ["/worlds/0/freshness", "/worlds/2/lab_deaf", "/news/finders/0/share", "/news/finders/2/share"]
    {
        let share = figures.pointer(share).and_then(serde_json::Value::as_f64).expect(share);
        assert!((0.0..=1.0).contains(&share), "{json}");
    }
}
