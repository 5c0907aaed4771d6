//! Fig 8: how long copies are stale, and how often for longer than anyone who knows the rate would allow.

use super::super::{
    Axis, Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look as Style, Measured, Scaling, Table,
    Verdict,
};
use super::course::{Look, Rule, chance, changes, looks};
use super::{MEAN, THIRD};

/// Who knows the rate looks every 8 hours: no copy is stale for longer. More than that is very stale.
const LIMIT: f64 = THIRD * MEAN;
/// Bars of an hour each, up to 12 hours.
const BINS: usize = 12;
/// The chance of a very stale copy that Refrain is told to accept here.
const ACCEPTED: f64 = 0.02;
const RULES: [Rule; 3] = [Rule::Known(THIRD), Rule::Estimated(THIRD), Rule::Careful(THIRD, ACCEPTED)];
const KNOWN: usize = 0;
const UNKNOWN: usize = 1;
const CAREFUL: usize = 2;
/// How long pages are watched.
const HORIZONS: [f64; 2] = [1000.0, 12_000.0];
/// Numbers of a rule: how many intervals, how many with a change, how many very stale, their hours; and the bins.
const ALL: usize = 0;
const CHANGED: usize = 1;
const VERY_STALE: usize = 2;
const FIRST_BIN: usize = 3;
const EACH: usize = FIRST_BIN + BINS;

/// What is counted of all intervals.
fn count(looks: &[Look], into: &mut [f64]) {
    for look in looks {
        into[ALL] += 1.0;
        if look.changed.is_none() {
            continue;
        }
        into[CHANGED] += 1.0;
        if look.stale() >= LIMIT {
            into[VERY_STALE] += 1.0;
        }
        if let Some(bin) = into[FIRST_BIN..].get_mut(look.stale() as usize) {
            *bin += 1.0;
        }
    }
}

/// Counts of pieces of runs; shares have errors because pieces differ.
struct Counted<'a>(Vec<&'a [f64]>);

impl Counted<'_> {
    fn share(&self, rule: usize, what: usize) -> Measured {
        let at = rule * EACH;
        let sum = |number: usize| self.0.iter().map(|piece| piece[at + number]).sum::<f64>();
        let pieces = self.0.iter().filter(|piece| piece[at + ALL] > 0.0);
        let shares = Measured::of(pieces.map(move |piece| piece[at + what] / piece[at + ALL]));
        Measured { mean: sum(what) / sum(ALL), ..shares }
    }
}

fn cell(seed: u64, horizon: f64, first: u64, runs: u64) -> Cell<'static> {
    Cell::new(format!("{horizon} hours, runs from {first}"), move || {
        let mut counts = vec![0.0; RULES.len() * EACH];
        for run in first..first + runs {
            let changes = changes(&mut chance(seed, run), horizon);
            for (rule, into) in RULES.into_iter().zip(counts.chunks_mut(EACH)) {
                count(&looks(&changes, rule, horizon).0, into);
            }
        }
        Ok(counts)
    })
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    const PIECE: [u64; 2] = [50, 10];
    let runs: [u64; 2] = desk.pick([5000, 500], [20_000, 3000]);
    let cells = (0..HORIZONS.len()).flat_map(|place| {
        let starts = (0..runs[place]).step_by(PIECE[place] as usize);
        starts.map(move |first| cell(desk.seed, HORIZONS[place], first, PIECE[place]))
    });
    let measured = desk.measure(&cells.collect::<Vec<_>>())?;
    let (short, long) = measured.split_at((runs[0] / PIECE[0]) as usize);
    let [short, long] = [short, long].map(|part| Counted(part.iter().map(Vec::as_slice).collect()));
    let said = |share: Measured| format!("{:.1} ± {:.2} %", 100.0 * share.mean, 100.0 * share.error);
    let near = |share: Measured, paper: f64| (share.mean - paper).abs() < 0.0005 + 3.0 * share.error;
    let other = |share: Measured| Measured { mean: 1.0 - share.mean, ..share };
    let (known, unknown) = (short.share(KNOWN, CHANGED), short.share(UNKNOWN, CHANGED));
    let (very, very_long) = (short.share(UNKNOWN, VERY_STALE), long.share(UNKNOWN, VERY_STALE));
    let bars = |name: &str, rule: usize| Curve {
        name: name.to_owned(),
        look: Style::Bars,
        points: (0..BINS).map(|bin| short.share(rule, FIRST_BIN + bin).at(bin as f64)).collect(),
    };
    let row = |name: &str, rule: usize| {
        let shares =
            [&short, &long].map(|counted| [CHANGED, VERY_STALE].map(|what| said(counted.share(rule, what))));
        [vec![name.to_owned()], shares.concat()].concat()
    };
    Ok(Findings {
        asked: "Who knows the rate looks every eight hours, and no copy is ever stale for longer than that. Who has to guess sometimes waits much too long. How often?".to_owned(),
        setting: format!(
            "As for Fig 5, both at a third: {} runs of 1000 hours and {} of 12,000, the same changes for all. A copy is very stale if it was stale for {LIMIT} hours or more; shares are of all \
             intervals between two looks.",
            runs[0], runs[1]
        ),
        claims: vec![
            Claim {
                paper: "28.3 % of the intervals of who knows the rate are without a change (the paper's words; 1 - e^(-1/3) = 28.3 % is the share with one).".to_owned(),
                measured: format!("{} with a change", said(known)),
                verdict: Verdict::of(near(other(known), 0.283), near(known, 0.283)),
            },
            Claim {
                paper: "It is 27.1 % for who does not know it, over 1000 hours.".to_owned(),
                measured: format!("{} with a change", said(unknown)),
                verdict: Verdict::of(near(other(unknown), 0.271), near(unknown, 0.271)),
            },
            Claim {
                paper: "Not knowing the rate makes 9.1 % of all intervals very stale.".to_owned(),
                measured: format!("{}: what the two made-up observations lead to, taken as the paper has them", said(very)),
                verdict: Verdict::of(near(very, 0.091), false),
            },
            Claim {
                paper: "Over 12,000 hours it is 3.8 %.".to_owned(),
                measured: said(very_long),
                verdict: Verdict::of(near(very_long, 0.038), false),
            },
            Claim {
                paper: "It gets less the longer a page is known, and a more careful choice of intervals can bound it.".to_owned(),
                measured: format!(
                    "{} over 1000 hours, {} over 12,000; with intervals that are cut to a chance of {:.0} %, {} and {}: a chance by what is believed, and the made-up observations believe in slower pages",
                    said(very),
                    said(very_long),
                    100.0 * ACCEPTED,
                    said(short.share(CAREFUL, VERY_STALE)),
                    said(long.share(CAREFUL, VERY_STALE))
                ),
                verdict: Verdict::of(
                    very_long.mean < very.mean && short.share(CAREFUL, VERY_STALE).mean < ACCEPTED,
                    very_long.mean < very.mean,
                ),
            },
        ],
        use_of_it: "refrain estimate says for every page how likely its copy is to be very stale by the time of the next look, and with --risk the interval that keeps it below a bound.".to_owned(),
        charts: vec![Chart {
            file: "staleness",
            title: "For how long copies were stale, over 1000 hours".to_owned(),
            x: Axis { label: "hours for which a copy was stale, rounded down; intervals without a change are left out".to_owned(), scaling: Scaling::Linear, range: None },
            y: Axis { label: "share of all intervals between two looks".to_owned(), scaling: Scaling::Share, range: None },
            curves: vec![
                bars("the rate is known", KNOWN),
                bars("it is not known", UNKNOWN),
                bars("it is not known, careful intervals", CAREFUL),
            ],
        }],
        tables: vec![Table {
            file: "shares",
            title: "Shares of all intervals between two looks".to_owned(),
            columns: ["", "changed, 1000 h", "very stale, 1000 h", "changed, 12,000 h", "very stale, 12,000 h"].map(str::to_owned).to_vec(),
            rows: vec![row("the rate is known", KNOWN), row("it is not known", UNKNOWN), row("not known, careful intervals", CAREFUL)],
        }],
        ..Findings::default()
    })
}
