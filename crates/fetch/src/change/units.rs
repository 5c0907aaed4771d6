//! What is kept of a page's text: blocks, of which those with noise are taken apart, grouped into few enough units.
//!
//! A page of a few hundred blocks keeps each of them. Of a longer page, runs of blocks are kept as one; a run ends before and after a
//! block with noise, and at a block whose own hash says so, so a change within a run moves no other run's ends.

use super::score::Score;
use super::slots::Slot;
use super::values::Values;
use super::windows::{Run, Windows};

/// So many units are kept of a page without noise,
pub(super) const MOST_PLAIN: usize = 384;
/// and so many of any page.
pub(super) const MOST: usize = 1024;

/// The coarsest grain: runs of some four thousand blocks. No page has blocks enough to need more.
pub(super) const COARSEST: u8 = 12;

/// Some blocks that are kept as one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) body: Body,
    /// Whether it moves about.
    pub(super) moves: Score,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// Content: a run of blocks.
    Closed(Run),
    /// One block, of which some words are noise or may be.
    Open(Vec<Slot>),
    /// Blocks that come and go, or may do so.
    Stretch(Stretch),
}

/// Blocks that come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// What was there last, perhaps nothing; means nothing for noise but for its length.
    pub(super) run: Run,
    /// So many blocks were there at most, as quick pairs have shown.
    pub(super) most: u16,
    pub(super) score: Score,
    /// The blocks that it showed so far.
    pub(super) values: Values,
    /// Of the last quick pairs.
    pub(super) edges: Edges,
}

/// Blocks at both ends of a stretch that stay while the rest of it differs, and for how many quick pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) first: (usize, u8),
    pub(super) last: (usize, u8),
}

impl Edges {
    /// After one more quick pair, in which the stretch differs.
    pub(super) fn after(self, before: &[u32], now: &[u32]) -> Self {
        let most = before.len().min(now.len());
        let first = (0..most).take_while(|at| before[*at] == now[*at]).count();
        let last = (1..=most - first)
            .take_while(|back| before[before.len() - back] == now[now.len() - back])
            .count();
        let edge = |(len, pairs): (usize, u8), common: usize| {
            let len = if pairs == 0 { common } else { common.min(len) };
            if len == 0 { (0, 0) } else { (len, pairs + 1) }
        };
        Self { first: edge(self.first, first), last: edge(self.last, last) }
    }

    /// So many blocks at either end are content: as many pairs have shown that as show noise.
    pub(super) fn content(self) -> (usize, usize) {
        let content = |(len, pairs): (usize, u8)| if pairs >= 3 { len } else { 0 };
        (content(self.first), content(self.last))
    }
}

impl Stretch {
    /// So many blocks are no news.
    pub(super) fn room(&self) -> usize {
        let most = usize::from(self.most);
        most + most / 4
    }
}

impl Unit {
    pub(super) fn new(body: Body) -> Self {
        Self { body, moves: Score::default() }
    }

    /// A single block.
    pub(super) fn block(hash: u32) -> Self {
        Self::new(Body::Closed(Run { hash, len: 1 }))
    }

    /// How many blocks of the last look it stands for.
    pub(super) fn blocks(&self) -> usize {
        match &self.body {
            Body::Closed(run) => run.len,
            Body::Open(_) => 1,
            Body::Stretch(stretch) => stretch.run.len,
        }
    }

    /// Its content, if nothing speaks for noise in it.
    pub(super) fn run(&self) -> Option<Run> {
        match self.body {
            Body::Closed(run) => Some(run),
            _ => None,
        }
    }

    /// What its noise showed so far.
    pub(super) fn values(&self) -> impl Iterator<Item = &Values> {
        let slots = if let Body::Open(slots) = &self.body { slots.as_slice() } else { &[] };
        let stretch = if let Body::Stretch(stretch) = &self.body { Some(stretch) } else { None };
        let slots = slots.iter().filter(|slot| slot.is_noise()).map(|slot| &slot.values);
        slots.chain(stretch.filter(|stretch| stretch.score.is_noise()).map(|stretch| &stretch.values))
    }

    /// What its noise, and what may be noise, showed so far.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Values> {
        let (slots, stretch) = match &mut self.body {
            Body::Open(slots) => (slots.as_mut_slice(), None),
            Body::Stretch(stretch) => (&mut [][..], Some(&mut stretch.values)),
            Body::Closed(_) => (&mut [][..], None),
        };
        slots.iter_mut().map(|slot| &mut slot.values).chain(stretch)
    }

    /// The visit is over.
    pub(super) fn settle(&mut self) {
        self.values_mut().for_each(Values::settle);
        if let Body::Stretch(stretch) = &mut self.body {
            stretch.edges = Edges::default();
        }
    }

    /// Noise that showed the same for too long to go on, or in a quick pair though its values never return.
    pub(super) fn may_have_ended(&self) -> bool {
        let never_agrees = |values: &Values| values.is_known() && !values.returns();
        self.values().any(Values::stay_long) || self.is_fading() && self.values().any(never_agrees)
    }

    fn scores(&self) -> impl Iterator<Item = Score> {
        let slots = if let Body::Open(slots) = &self.body { slots.as_slice() } else { &[] };
        let stretch = if let Body::Stretch(stretch) = &self.body { Some(stretch.score) } else { None };
        slots.iter().map(|slot| slot.score).chain(stretch).chain([self.moves])
    }

    /// In how many places it is noise.
    pub(super) fn noise(&self) -> usize {
        self.scores().filter(|score| score.is_noise()).count()
    }

    pub(super) fn is_suspect(&self) -> bool {
        let edges = if let Body::Stretch(stretch) = &self.body { stretch.edges } else { Edges::default() };
        edges != Edges::default() || self.scores().any(Score::is_suspect)
    }

    pub(super) fn is_fading(&self) -> bool {
        self.scores().any(Score::is_fading)
    }

    /// Nothing but content.
    pub(super) fn is_plain(&self) -> bool {
        self.moves.is_clear() && matches!(self.body, Body::Closed(_))
    }
}

/// The units of blocks with these hashes, at this grain: what is plain is grouped anew.
pub(super) fn grouped(units: Vec<Unit>, hashes: &[u32], grain: u8) -> Vec<Unit> {
    let windows = Windows::new(hashes);
    let mut grouped = Vec::with_capacity(units.len());
    let (mut start, mut at) = (0, 0);
    let end_run = |grouped: &mut Vec<Unit>, start: &mut usize, end: usize| {
        if *start < end {
            let len = end - *start;
            grouped.push(Unit::new(Body::Closed(Run { hash: windows.hash(*start, len), len })));
            *start = end;
        }
    };
    for unit in units {
        let blocks = unit.blocks();
        if unit.is_plain() {
            for _ in 0..blocks {
                at += 1;
                if ends_run(hashes[at - 1], grain) {
                    end_run(&mut grouped, &mut start, at);
                }
            }
        } else {
            end_run(&mut grouped, &mut start, at);
            at += blocks;
            start = at;
            grouped.push(unit);
        }
    }
    end_run(&mut grouped, &mut start, at);
    grouped
}

fn ends_run(hash: u32, grain: u8) -> bool {
    grain == 0 || hash & ((1 << grain) - 1) == 0
}
