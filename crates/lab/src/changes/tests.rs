use super::*;

fn settings(seed: u64) -> Settings {
    Settings {
        pages: 5,
        time: Span::from_whole_secs(1800),
        every: Span::from_whole_secs(40),
        looks_again: true,
        seed,
    }
}

/// As the bench prints it; shown where a test fails.
fn line(noise: Noise, outcome: &Outcome) -> String {
    format!(
        "{noise}: {} of {} changes found, {} false reports at {} visits, {} second looks, {} deaf, {} bytes",
        outcome.found,
        outcome.changes,
        outcome.false_reports,
        outcome.visits,
        outcome.second_looks,
        outcome.deaf,
        outcome.largest
    )
}

#[test]
fn changes_are_found_beside_noise_and_noise_is_not_reported() {
    for seed in 1..=4 {
        let mut all = Outcome::default();
        let mut lines = String::new();
        for (noise, outcome) in run(&settings(seed)) {
            lines.push_str(&line(noise, &outcome));
            lines.push('\n');
            assert!(outcome.recall() >= 0.95 && outcome.deaf == 0, "seed {seed}: {}", line(noise, &outcome));
            assert!(outcome.largest <= 4096, "seed {seed}: {}", line(noise, &outcome));
            all += outcome;
        }
        println!("seed {seed}\n{lines}");
        assert!(all.changes > 500, "{all:?}");
        assert!(all.recall() >= 0.99, "seed {seed}: {all:?}\n{lines}");
        assert!(all.false_visits() <= 0.015, "seed {seed}: {all:?}\n{lines}");
        assert_eq!(all.deaf, 0, "seed {seed}\n{lines}");
    }
}

#[test]
fn pages_without_noise_lose_nothing_and_cost_little() {
    for seed in 1..=4 {
        let outcome = run(&settings(seed)).into_iter().find(|(noise, _)| *noise == Noise::None);
        let (noise, outcome) = outcome.expect("pages without noise");
        assert_eq!((outcome.found, outcome.false_reports), (outcome.changes, 0), "{}", line(noise, &outcome));
        assert!(outcome.second_looks <= outcome.changes, "{}", line(noise, &outcome));
    }
}

#[test]
fn without_second_looks_no_page_is_deaf() {
    for (noise, outcome) in run(&Settings { looks_again: false, ..settings(5) }) {
        assert_eq!(outcome.found, outcome.changes, "{}", line(noise, &outcome));
        assert_eq!((outcome.deaf, outcome.second_looks), (0, 0), "{}", line(noise, &outcome));
    }
}
