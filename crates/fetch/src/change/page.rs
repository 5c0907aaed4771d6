//! Units that are known, and the blocks of a later look: which is which, and what differs.

mod pairing;

use super::look::Look;
use super::score::Score;
use super::slots::{self, Slot};
use super::units::{Body, Edges, Stretch, Unit, grouped};
use super::values::Values;
use super::windows::{Run, Windows};
use super::words::Words;
use pairing::{Pair, pairs};

/// What a later look says.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The units of that look.
    pub(super) units: Vec<Unit>,
    /// In so many units content is other than it was,
    pub(super) changed: usize,
    /// and in so many of them, or beside them, something is noise.
    pub(super) near_noise: usize,
}

/// Compares a look with what is known. Nothing is learned of noise: any time may have passed.
pub(super) fn follow(units: &[Unit], look: &Look) -> Followed {
    let windows = Windows::new(&look.hashes);
    let pairs = pairs(units, look);
    let noisy = |pair: &Pair| pair.unit().is_some_and(|unit| units[unit].noise() > 0);
    let mut followed = Followed::default();
    let mut lost_run = false;
    for (place, pair) in pairs.iter().enumerate() {
        // A pair and those beside it.
        let near = &pairs[place.saturating_sub(1)..(place + 2).min(pairs.len())];
        let known = pair.unit().map(|unit| &units[unit]);
        let (unit, is_change) = match (*pair, known) {
            (Pair::Moved { .. }, Some(known)) => (Some(known.clone()), !known.moves.is_noise()),
            (Pair::Same { .. }, known) => (known.cloned(), false),
            (Pair::Gone { .. }, _) => (None, true),
            (Pair::Taken { from, to, .. }, Some(Unit { body: Body::Stretch(stretch), moves })) => {
                let run = run_of(&windows, from, to);
                let is_change = !stretch.score.is_noise() && run != stretch.run;
                let mut stretch = Stretch { run, ..stretch.clone() };
                stretch.values.show(run.hash, &look.hashes[from..to]);
                (Some(Unit { body: Body::Stretch(stretch), moves: *moves }), is_change)
            }
            (Pair::Other { block, .. }, Some(known)) => {
                let (body, is_change) = match &known.body {
                    Body::Open(slots) => {
                        let words = look.words(block);
                        let mut block = slots::follow(slots, &words);
                        slots::show(&mut block.slots, &words);
                        (Body::Open(block.slots), block.changed > 0)
                    }
                    _ => (Unit::block(look.hashes[block]).body, true),
                };
                (Some(Unit { body, moves: known.moves }), is_change)
            }
            (Pair::New { block } | Pair::Other { block, .. }, _) => {
                // Among blocks that move about, a new one will do so, too.
                let mut moves = near.iter().filter_map(|pair| Some(units[pair.unit()?].moves));
                let moves = moves.rfind(|moves| moves.is_noise()).unwrap_or_default();
                (Some(Unit { moves, ..Unit::block(look.hashes[block]) }), true)
            }
            (Pair::Taken { .. } | Pair::Moved { .. }, _) => (None, false),
        };
        followed.units.extend(unit);
        // A run of many blocks that is gone is one change, however many blocks are there now.
        lost_run = pair.comes_or_goes() && (lost_run || known.is_some_and(|known| known.blocks() > 1));
        let is_counted = is_change && !(lost_run && known.is_none());
        followed.changed += usize::from(is_counted);
        followed.near_noise += usize::from(is_change && near.iter().any(noisy));
    }
    followed
}

fn run_of(windows: &Windows<'_>, from: usize, to: usize) -> Run {
    Run { hash: if from < to { windows.hash(from, to - from) } else { 0 }, len: to - from }
}

/// In so many units noise shows a text that is unlikely to be one more of the noise: at the first look of a visit.
pub(super) fn fresh(units: &[Unit]) -> usize {
    units.iter().filter(|unit| unit.values().any(Values::is_fresh)).count()
}

/// The same after all looks of a visit.
pub(super) fn news(units: &[Unit]) -> usize {
    units.iter().filter(|unit| unit.values().any(Values::is_news)).count()
}

/// Learns from a pair of looks: `units` are of the look `before`, `now` came soon after. If that was not quick, content may have changed
/// between them, and only tokens are learned as noise.
pub(super) fn learn(units: &[Unit], before: &Look, now: &Look, is_quick: bool) -> Vec<Unit> {
    let units = grouped(units.to_vec(), &before.hashes, 0);
    let starts: Vec<usize> = units
        .iter()
        .scan(0, |at, unit| {
            let start = *at;
            *at += unit.blocks();
            Some(start)
        })
        .collect();
    let windows = Windows::new(&now.hashes);
    let mut learned: Vec<Unit> = Vec::with_capacity(units.len());
    let mut moved = Vec::new();
    let pairs = pairs(&units, now);
    let mut rest = pairs.as_slice();
    let mut at = 0;
    while let Some((known, after)) = rest.split_first() {
        let comes_or_goes = rest.iter().take_while(|pair| pair.comes_or_goes()).count();
        if comes_or_goes > 0 {
            let (run, after) = rest.split_at(comes_or_goes);
            let came = run.iter().filter(|pair| pair.unit().is_none()).count();
            let now = &now.hashes[at..at + came];
            let went = run.iter().filter_map(Pair::unit);
            let went: Vec<u32> = went
                .flat_map(|unit| &before.hashes[starts[unit]..][..units[unit].blocks()])
                .copied()
                .collect();
            if is_quick {
                let mut stretch = Stretch {
                    run: run_of(&windows, at, at + came),
                    most: came.max(went.len()) as u16,
                    score: Score::default(),
                    values: Values::default(),
                    edges: Edges::default(),
                };
                stretch.score.differ();
                stretch.values.show(run_of(&Windows::new(&went), 0, went.len()).hash, &went);
                stretch.values.show(stretch.run.hash, now);
                learned.push(Unit::new(Body::Stretch(stretch)));
            } else {
                learned.extend(now.iter().map(|hash| Unit::block(*hash)));
            }
            at += came;
            rest = after;
            continue;
        }
        rest = after;
        let Some(place) = known.unit() else { continue };
        let unit = &units[place];
        match *known {
            Pair::Moved { .. } => {
                moved.push(learned.len());
                if let Body::Stretch(stretch) = &unit.body {
                    let hashes = &before.hashes[starts[place]..=starts[place]];
                    learned.extend(varied(stretch, hashes, hashes, is_quick));
                    at += 1;
                    continue;
                }
            }
            Pair::Other { block, .. } => {
                let words = (&before.words(starts[place]), &now.words(block));
                let body = refined(&unit.body, words, now.hashes[block], is_quick);
                learned.push(Unit { body, moves: unit.moves });
                at += 1;
                continue;
            }
            Pair::Taken { from, to, .. } => {
                let Body::Stretch(stretch) = &unit.body else { continue };
                let hashes = &before.hashes[starts[place]..starts[place] + unit.blocks()];
                learned.extend(varied(stretch, hashes, &now.hashes[from..to], is_quick));
                at += to - from;
                continue;
            }
            _ => {}
        }
        at += unit.blocks();
        learned.push(unit.clone());
    }
    if is_quick || moved.is_empty() {
        judge_moves(&mut learned, &moved);
    }
    learned
}

/// A stretch as both looks of a pair show it: blocks with these hashes, and then with those.
fn varied(stretch: &Stretch, before: &[u32], now: &[u32], is_quick: bool) -> Vec<Unit> {
    let windows = Windows::new(now);
    let mut stretch = Stretch { run: run_of(&windows, 0, now.len()), ..stretch.clone() };
    stretch.values.show(stretch.run.hash, now);
    if before == now {
        stretch.score.agree_on(&stretch.values);
    } else if is_quick {
        stretch.score.differ();
        stretch.edges = stretch.edges.after(before, now);
    }
    let blocks = |hashes: &[u32]| hashes.iter().map(|hash| Unit::block(*hash)).collect::<Vec<_>>();
    if stretch.score.is_clear() {
        return blocks(now);
    }
    if !stretch.score.is_noise() {
        stretch.most = stretch.most.max(before.len().max(now.len()) as u16);
        return vec![Unit::new(Body::Stretch(stretch))];
    }
    // What stays at an end of noise while the rest differs is none of it.
    let (first, last) = stretch.edges.content();
    let end = now.len() - last.min(now.len() - first);
    stretch.run = run_of(&windows, first, end);
    if first + last > 0 {
        stretch.edges = Edges::default();
    }
    let mut units = blocks(&now[..first]);
    units.push(Unit::new(Body::Stretch(stretch)));
    units.extend(blocks(&now[end..]));
    units
}

/// The block as both looks of a pair show it: its words in the earlier look, and in the later one.
fn refined(body: &Body, (before, now): (&Words<'_>, &Words<'_>), hash: u32, is_quick: bool) -> Body {
    let whole = [Slot::fixed(0, before.len())];
    let slots = match body {
        Body::Open(slots) => slots::learn(slots, before, now, is_quick),
        _ => slots::learn(&whole, before, now, is_quick),
    };
    if slots.iter().all(|slot| slot.score.is_clear()) || slots.len() > slots::MOST {
        return Unit::block(hash).body;
    }
    match (body, slots.as_slice()) {
        // Nothing of it stayed: it is a block that comes or goes rather than one with noise in it.
        (Body::Closed(run), [slot]) if slot.score.is_suspect() => {
            let mut values = Values::default();
            values.show(run.hash, &[run.hash]);
            values.show(hash, &[hash]);
            Body::Stretch(Stretch {
                run: Run { hash, ..*run },
                most: 1,
                score: slot.score,
                values,
                edges: Edges::default(),
            })
        }
        _ => Body::Open(slots),
    }
}

/// Units that moved, and those among them that stayed by chance.
fn judge_moves(units: &mut [Unit], moved: &[usize]) {
    const NEAR: usize = 4;
    let mut rest = moved;
    while let Some(first) = rest.first() {
        let len = 1 + rest.windows(2).take_while(|pair| pair[1] - pair[0] <= NEAR).count();
        let (cluster, after) = rest.split_at(len);
        for unit in &mut units[*first..=cluster[len - 1]] {
            unit.moves.differ();
        }
        rest = after;
    }
    if moved.is_empty() {
        for unit in units {
            unit.moves.agree();
        }
    }
}

/// The units as if everything that is suspected to be noise were noise.
pub(super) fn presumed(units: &[Unit]) -> Vec<Unit> {
    let mut units = units.to_vec();
    for unit in &mut units {
        unit.moves = unit.moves.presumed();
        match &mut unit.body {
            Body::Closed(_) => {}
            Body::Open(slots) => slots.iter_mut().for_each(|slot| slot.score = slot.score.presumed()),
            Body::Stretch(stretch) => stretch.score = stretch.score.presumed(),
        }
    }
    units
}

/// Units of the same look in which everything is content: what was hidden counts again from the next change on.
pub(super) fn opened(units: Vec<Unit>, look: &Look) -> Vec<Unit> {
    let mut at = 0;
    let mut opened = Vec::with_capacity(units.len());
    for unit in units {
        let start = at;
        at += unit.blocks();
        if unit.is_plain() {
            opened.push(unit);
        } else {
            opened.extend((start..at).map(|block| Unit::block(look.hashes[block])));
        }
    }
    opened
}

/// A page of which nothing is known but its last look.
pub(super) fn first(look: &Look) -> Vec<Unit> {
    look.hashes.iter().map(|hash| Unit::block(*hash)).collect()
}
