//! What is kept of a page's text: blocks, of which those with noise are taken apart, grouped into few enough units.
//!
//! A page of a few hundred blocks keeps each of them. Of a longer page, runs of blocks are kept as one; a run ends before and after a
//! block with noise, and at a block whose own hash says so, so a change within a run moves no other run's ends.

use super::score::Score;
use super::slots::Slot;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// What was there last, perhaps nothing; means nothing for noise but for its length.
    pub(super) run: Run,
    /// So many blocks were there at most, as quick pairs have shown.
    pub(super) most: u16,
    pub(super) score: Score,
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
        self.scores().any(Score::is_suspect)
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
