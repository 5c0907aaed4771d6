//! Which block of a look is which of the units that are known.

use std::collections::{HashMap, HashSet};

use super::super::look::Look;
use super::super::slots;
use super::super::units::{Body, Stretch, Unit};
use super::super::windows::{Run, Windows};
use super::super::words::Words;

/// In a region with more possible pairs than this, blocks are paired by their place.
const MOST_PAIRS: usize = 40_000;

/// A unit and what became of it, in the order of the look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// It is where it was, and what it was.
    Same {
        unit: usize,
    },
    /// It is what it was, among other neighbours.
    Moved {
        unit: usize,
    },
    /// In its place is a block that is another, or has noise in it.
    Other {
        unit: usize,
        block: usize,
    },
    /// A stretch of blocks that come and go, and what is there now.
    Taken {
        unit: usize,
        from: usize,
        to: usize,
    },
    Gone {
        unit: usize,
    },
    New {
        block: usize,
    },
}

impl Pair {
    pub(super) fn unit(&self) -> Option<usize> {
        match *self {
            Self::Same { unit }
            | Self::Moved { unit }
            | Self::Other { unit, .. }
            | Self::Taken { unit, .. }
            | Self::Gone { unit } => Some(unit),
            Self::New { .. } => None,
        }
    }

    pub(super) fn comes_or_goes(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::New { .. })
    }
}

pub(super) fn pairs(units: &[Unit], look: &Look) -> Vec<Pair> {
    let windows = Windows::new(&look.hashes);
    let runs: Vec<Option<Run>> = units.iter().map(Unit::run).collect();
    let mut pairs = Vec::with_capacity(units.len());
    let (mut unit, mut block) = (0, 0);
    for (place, start) in windows.locate(&runs).into_iter().chain([(units.len(), look.hashes.len())]) {
        let region = Region { units, look, windows: &windows, from: (unit, block), to: (place, start) };
        region.pair(&mut pairs);
        if let Some(Some(run)) = runs.get(place) {
            pairs.push(Pair::Same { unit: place });
            (unit, block) = (place + 1, start + run.len);
        }
    }
    moved(pairs, units, look)
}

/// A part of the page in which no content was found again.
struct Region<'a> {
    units: &'a [Unit],
    look: &'a Look,
    windows: &'a Windows<'a>,
    from: (usize, usize),
    to: (usize, usize),
}

/// How a way through a region goes on.
#[derive(Clone, Copy)]
enum Way {
    Skip,
    Insert,
    /// A unit, with so many blocks.
    Take(usize),
}

/// What it costs that a unit is gone, or a block new; that a block is another altogether; that it is another in part. To be gone costs more
/// than to be another, or else content that changed beside noise would be taken for noise.
const ALONE: u32 = 4;
const OTHER: u32 = 3;
const PART: u32 = 1;

impl Region<'_> {
    fn pair(&self, pairs: &mut Vec<Pair>) {
        let (units, blocks) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        if units * blocks > MOST_PAIRS {
            return self.pair_by_place(pairs);
        }
        let of_blocks = if units > 0 { self.from.1..self.to.1 } else { 0..0 };
        let words: Vec<Words<'_>> = of_blocks.map(|block| self.look.words(block)).collect();
        // The cheapest way from each unit and block to the end, and its first step.
        let width = blocks + 1;
        let mut costs = vec![(0u32, Way::Insert); (units + 1) * width];
        for unit in (0..=units).rev() {
            for block in (0..=blocks).rev() {
                let cost = |unit: usize, block: usize| costs[unit * width + block].0;
                let mut best = None;
                let mut offer = |cost: u32, way: Way| {
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, way));
                    }
                };
                let (own, at) = (self.from.0 + unit, self.from.1 + block);
                if unit < units {
                    if let Body::Stretch(stretch) = &self.units[own].body {
                        for taken in 0..=stretch.room().max(stretch.run.len).min(blocks - block) {
                            offer(
                                self.stretch(stretch, at, taken) + cost(unit + 1, block + taken),
                                Way::Take(taken),
                            );
                        }
                    } else {
                        if block < blocks
                            && let Some((price, taken)) = self.fit(own, at, &words[block])
                        {
                            offer(price + cost(unit + 1, block + taken), Way::Take(taken));
                        }
                        offer(ALONE + cost(unit + 1, block), Way::Skip);
                    }
                }
                if block < blocks {
                    offer(ALONE + cost(unit, block + 1), Way::Insert);
                }
                costs[unit * width + block] = best.unwrap_or((0, Way::Insert));
            }
        }
        let (mut unit, mut block) = (0, 0);
        while unit < units || block < blocks {
            match costs[unit * width + block].1 {
                Way::Skip => {
                    pairs.push(Pair::Gone { unit: self.from.0 + unit });
                    unit += 1;
                }
                Way::Insert => {
                    pairs.push(Pair::New { block: self.from.1 + block });
                    block += 1;
                }
                Way::Take(taken) => {
                    pairs.push(self.with(self.from.0 + unit, self.from.1 + block, taken));
                    (unit, block) = (unit + 1, block + taken);
                }
            }
        }
    }

    fn pair_by_place(&self, pairs: &mut Vec<Pair>) {
        let mut block = self.from.1;
        for unit in self.from.0..self.to.0 {
            let known = &self.units[unit];
            let left = self.to.1 - block;
            let taken = match &known.body {
                Body::Stretch(stretch) => Some(stretch.run.len.min(left)),
                _ => (known.blocks() == 1 && left > 0).then_some(1),
            };
            pairs.push(taken.map_or(Pair::Gone { unit }, |taken| self.with(unit, block, taken)));
            block += taken.unwrap_or(0);
        }
        pairs.extend((block..self.to.1).map(|block| Pair::New { block }));
    }

    /// What it costs that so many blocks are in a stretch.
    fn stretch(&self, stretch: &Stretch, block: usize, taken: usize) -> u32 {
        let is_same = taken == stretch.run.len && (taken == 0 || self.windows.is_at(stretch.run, block));
        if is_same || stretch.score.is_noise() { 0 } else { OTHER }
    }

    /// What it costs that a unit is at a block, and how many blocks it takes there; `None` if it cannot be.
    fn fit(&self, unit: usize, block: usize, words: &Words<'_>) -> Option<(u32, usize)> {
        match &self.units[unit].body {
            Body::Closed(run) if block + run.len <= self.to.1 && self.windows.is_at(*run, block) => {
                Some((0, run.len))
            }
            Body::Closed(run) => (run.len == 1).then_some((OTHER, 1)),
            Body::Open(slots) => {
                let block = slots::follow(slots, words);
                let cost = match (block.changed, block.stayed) {
                    (0, _) => 0,
                    (_, 0) => OTHER,
                    _ => PART,
                };
                Some((cost, 1))
            }
            Body::Stretch(_) => None,
        }
    }

    fn with(&self, unit: usize, block: usize, taken: usize) -> Pair {
        match &self.units[unit].body {
            Body::Stretch(_) => Pair::Taken { unit, from: block, to: block + taken },
            Body::Closed(run) if run.len == taken && self.windows.is_at(*run, block) => Pair::Same { unit },
            _ => Pair::Other { unit, block },
        }
    }
}

/// The hash of a block that is known as a whole, and not as noise.
fn content(unit: &Unit) -> Option<u32> {
    match &unit.body {
        Body::Closed(run) if run.len == 1 => Some(run.hash),
        Body::Stretch(stretch) if stretch.run.len == 1 && !stretch.score.is_noise() => Some(stretch.run.hash),
        _ => None,
    }
}

/// Finds content that is gone from one place and new in another.
fn moved(pairs: Vec<Pair>, units: &[Unit], look: &Look) -> Vec<Pair> {
    // The unit and the block of a pair that may be another one.
    let open = |pair: &Pair| match *pair {
        Pair::Gone { unit } => Some((Some(unit), None)),
        Pair::New { block } => Some((None, Some(block))),
        Pair::Other { unit, block } => Some((Some(unit), Some(block))),
        Pair::Taken { unit, from, to } if from == to => Some((Some(unit), None)),
        Pair::Taken { unit, from, to }
            if to - from == 1 && content(&units[unit]) != Some(look.hashes[from]) =>
        {
            Some((Some(unit), Some(from)))
        }
        _ => None,
    };
    let mut gone: HashMap<u32, Vec<usize>> = HashMap::new();
    for (unit, _) in pairs.iter().rev().filter_map(open) {
        if let Some((unit, hash)) = unit.and_then(|unit| Some((unit, content(&units[unit])?))) {
            gone.entry(hash).or_default().push(unit);
        }
    }
    // Blocks, and the units that moved there.
    let mut targets = HashMap::new();
    for (_, block) in pairs.iter().filter_map(open) {
        let Some(block) = block else { continue };
        if let Some(mover) = gone.get_mut(&look.hashes[block]).and_then(Vec::pop) {
            targets.insert(block, mover);
        }
    }
    if targets.is_empty() {
        return pairs;
    }
    let movers: HashSet<usize> = targets.values().copied().collect();
    // Units whose blocks turned out to be others that moved there: they take the places of those.
    let mut displaced: Vec<usize> = pairs
        .iter()
        .filter_map(open)
        .filter_map(|(unit, block)| {
            unit.filter(|unit| {
                !movers.contains(unit) && block.is_some_and(|block| targets.contains_key(&block))
            })
        })
        .collect();
    displaced.reverse();
    let mut settled = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let Some((unit, block)) = open(&pair) else {
            settled.push(pair);
            continue;
        };
        match (unit.filter(|unit| !movers.contains(unit)), block) {
            (_, Some(block)) if targets.contains_key(&block) => {
                settled.push(Pair::Moved { unit: targets[&block] });
            }
            (None, Some(block)) => {
                let unit = displaced.pop();
                settled.push(unit.map_or(Pair::New { block }, |unit| at_block(units, unit, block)));
            }
            (None, None) => {}
            (Some(_), _) => settled.push(pair),
        }
    }
    settled.extend(displaced.into_iter().map(|unit| without(units, unit)));
    settled
}

fn at_block(units: &[Unit], unit: usize, block: usize) -> Pair {
    match units[unit].body {
        Body::Stretch(_) => Pair::Taken { unit, from: block, to: block + 1 },
        _ => Pair::Other { unit, block },
    }
}

fn without(units: &[Unit], unit: usize) -> Pair {
    match units[unit].body {
        Body::Stretch(_) => Pair::Taken { unit, from: 0, to: 0 },
        _ => Pair::Gone { unit },
    }
}
