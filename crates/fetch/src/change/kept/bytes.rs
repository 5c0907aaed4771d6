//! What is kept of a page, as bytes.

use super::super::affix::{Affix, MOST_MOVES};
use super::super::attention::{self, Attention};
use super::super::habit::Habit;
use super::super::score::Score;
use super::super::slots::{self, Slot};
use super::super::units::{Body, COARSEST, Edges, MOST, Stretch, Unit};
use super::super::values::{self, Value, Values};
use super::super::windows::Run;
use super::Kept;

const VERSION: u8 = 3;
/// Written by versions that did not keep what noise showed, and knew fewer marks between words.
const COARSER: u8 = 2;
/// Written by releases that knew places of noise rather than words.
const BEFORE: u8 = 1;

const IS_TEXT: u8 = 1;
const IS_BLANK: u8 = 2;
const HAS_SKETCH: u8 = 4;

const IS_OPEN: u8 = 1;
const IS_STRETCH: u8 = 2;
const HAS_MOVES: u8 = 4;

/// A score that is followed by what the place showed.
const HAS_VALUES: u8 = 128;
/// The same, and by what its values have in common.
const HAS_AFFIX: u8 = 64;

/// A length that does not fit beside the kind of a slot.
const LONG: u8 = 63;

/// Bytes that [`Kept::to_bytes`] never wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not what was kept of a page: {0}")]
pub struct BadKept(&'static str);

const EARLY: BadKept = BadKept("it ends too early");
const RANGE: BadKept = BadKept("a value out of range");

impl Kept {
    /// As bytes, to be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags =
            flag(self.is_text, IS_TEXT) | flag(self.is_blank, IS_BLANK) | flag(self.simhash != 0, HAS_SKETCH);
        let mut bytes = vec![VERSION, flags, self.grain];
        bytes.extend_from_slice(&self.mark.to_le_bytes());
        bytes.extend_from_slice(&self.digest);
        if self.simhash != 0 {
            bytes.extend_from_slice(&self.simhash.to_le_bytes());
        }
        bytes.extend_from_slice(&self.attention.to_bytes());
        bytes.extend_from_slice(&(self.units.len() as u16).to_le_bytes());
        // One bit each: most units are plain.
        let mut bits = vec![0u8; self.units.len().div_ceil(8)];
        for (place, _) in self.units.iter().enumerate().filter(|(_, unit)| !unit.is_plain()) {
            bits[place / 8] |= 1 << (place % 8);
        }
        bytes.extend(bits);
        for unit in &self.units {
            write_unit(&mut bytes, unit, self.grain);
        }
        bytes
    }

    /// How many bytes [`Kept::to_bytes`] gives.
    pub(super) fn size(&self) -> usize {
        self.to_bytes().len()
    }

    /// Reads what [`Kept::to_bytes`] wrote, this one or that of releases before.
    ///
    /// # Errors
    /// [`BadKept`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadKept> {
        let mut rest = bytes;
        let rest = &mut rest;
        let version = match take::<1>(rest)? {
            [version @ (VERSION | COARSER)] => version,
            [BEFORE] => return before(rest),
            _ => return Err(BadKept("another version")),
        };
        let [flags, grain] = take(rest)?;
        if flags > IS_TEXT | IS_BLANK | HAS_SKETCH || grain > COARSEST {
            return Err(RANGE);
        }
        let mark = u32::from_le_bytes(take(rest)?);
        let digest = take(rest)?;
        let simhash = if flags & HAS_SKETCH != 0 { u64::from_le_bytes(take(rest)?) } else { 0 };
        if flags & HAS_SKETCH != 0 && simhash == 0 {
            return Err(RANGE);
        }
        let mut attention = [0; attention::BYTES];
        let written = if version == VERSION { attention::BYTES } else { attention::BYTES_BEFORE };
        let (found, after) = rest.split_at_checked(written).ok_or(EARLY)?;
        attention[..written].copy_from_slice(found);
        *rest = after;
        let attention = Attention::from_bytes(attention).ok_or(RANGE)?;
        let count = usize::from(u16::from_le_bytes(take(rest)?));
        if count > MOST {
            return Err(BadKept("too many units"));
        }
        let (bits, after) = rest.split_at_checked(count.div_ceil(8)).ok_or(EARLY)?;
        *rest = after;
        let is_plain = |place: usize| bits[place / 8] >> (place % 8) & 1 == 0;
        let units =
            (0..count).map(|place| read_unit(rest, is_plain(place), grain)).collect::<Result<Vec<_>, _>>()?;
        let is_spare = count % 8 != 0 && bits.last().is_some_and(|bits| bits >> (count % 8) != 0);
        if !rest.is_empty() || is_spare {
            return Err(BadKept("it goes on too long"));
        }
        let (is_text, is_blank) = (flags & IS_TEXT != 0, flags & IS_BLANK != 0);
        // Slots of other words cannot be compared.
        let is_other = version != VERSION && units.iter().any(|unit| matches!(unit.body, Body::Open(_)));
        if is_other {
            return Ok(Self {
                is_blank: true,
                grain: 0,
                units: Vec::new(),
                digest,
                simhash,
                mark,
                is_text,
                attention,
            });
        }
        Ok(Self { digest, simhash, mark, is_text, is_blank, grain, units, attention })
    }
}

/// Of an earlier release. Its noise is forgotten, and with it what the page showed: it is learned anew at the next visit.
fn before(rest: &mut &[u8]) -> Result<Kept, BadKept> {
    const PLACE_BYTES: usize = 16;
    let [is_text, grain] = take(rest)?;
    let mark = u32::from_le_bytes(take(rest)?);
    let digest = take(rest)?;
    let simhash = u64::from_le_bytes(take(rest)?);
    let count = usize::from(u16::from_le_bytes(take(rest)?));
    if is_text > 1 || grain > COARSEST || count > MOST {
        return Err(RANGE);
    }
    let units = (0..count)
        .map(|_| take(rest).map(|hash| Unit::block(u32::from_le_bytes(hash))))
        .collect::<Result<Vec<_>, _>>()?;
    let [places] = take(rest)?;
    if rest.len() != usize::from(places) * PLACE_BYTES {
        return Err(BadKept("no proper noise"));
    }
    let is_blank = is_text == 1 && (places > 0 || grain > 0);
    let units = if is_blank { Vec::new() } else { units };
    Ok(Kept {
        digest,
        simhash,
        mark,
        is_text: is_text == 1,
        is_blank,
        grain: 0,
        units,
        attention: Attention::default(),
    })
}

fn write_unit(bytes: &mut Vec<u8>, unit: &Unit, grain: u8) {
    if !unit.is_plain() {
        let kind = match unit.body {
            Body::Closed(_) => 0,
            Body::Open(_) => IS_OPEN,
            Body::Stretch(_) => IS_STRETCH,
        };
        bytes.push(if unit.moves.is_clear() { kind } else { kind | HAS_MOVES });
        bytes.extend((!unit.moves.is_clear()).then(|| unit.moves.to_byte()));
    }
    match &unit.body {
        Body::Closed(run) => {
            bytes.extend(run.hash.to_le_bytes());
            if grain > 0 {
                write_number(bytes, run.len as u16);
            }
        }
        Body::Open(slots) => {
            bytes.push(slots.len() as u8);
            for slot in slots {
                write_slot(bytes, slot);
            }
        }
        Body::Stretch(stretch) => {
            write_known(bytes, stretch.score, &stretch.values);
            write_number(bytes, stretch.most);
            write_number(bytes, stretch.run.len as u16);
            if stretch.run.len > 0 {
                bytes.extend(stretch.run.hash.to_le_bytes());
            }
        }
    }
}

fn read_unit(rest: &mut &[u8], is_plain: bool, grain: u8) -> Result<Unit, BadKept> {
    let [flags] = if is_plain { [0] } else { take(rest)? };
    if flags & !HAS_MOVES > IS_STRETCH || (!is_plain && flags == 0) {
        return Err(RANGE);
    }
    let moves = if flags & HAS_MOVES != 0 { read_score(rest)? } else { Score::default() };
    if moves.is_clear() && flags & HAS_MOVES != 0 {
        return Err(RANGE);
    }
    let body = match flags & !HAS_MOVES {
        IS_OPEN => {
            let [count] = take(rest)?;
            let slots = (0..count).map(|_| read_slot(rest)).collect::<Result<Vec<_>, _>>()?;
            if slots.is_empty() {
                return Err(RANGE);
            }
            Body::Open(slots)
        }
        IS_STRETCH => {
            let ((score, values), most) = (read_known(rest)?, read_number(rest)?);
            let len = usize::from(read_number(rest)?);
            let hash = if len > 0 { u32::from_le_bytes(take(rest)?) } else { 0 };
            if score.is_clear() || len.max(most.into()) > crate::text::MOST_BLOCKS {
                return Err(RANGE);
            }
            Body::Stretch(Stretch { run: Run { hash, len }, most, score, values, edges: Edges::default() })
        }
        _ => {
            let hash = u32::from_le_bytes(take(rest)?);
            let len = if grain > 0 { usize::from(read_number(rest)?) } else { 1 };
            if len == 0 {
                return Err(RANGE);
            }
            Body::Closed(Run { hash, len })
        }
    };
    Ok(Unit { body, moves })
}

fn write_slot(bytes: &mut Vec<u8>, slot: &Slot) {
    let kind = if slot.is_noise() { 2 } else { u8::from(slot.score.is_suspect()) };
    let short = if slot.len < u16::from(LONG) { slot.len as u8 } else { LONG };
    bytes.push(kind << 6 | short);
    if short == LONG {
        write_number(bytes, slot.len);
    }
    if kind < 2 {
        bytes.extend(slot.hash.to_le_bytes());
    }
    if kind > 0 {
        write_known(bytes, slot.score, &slot.values);
        write_number(bytes, slot.most);
    }
}

fn read_slot(rest: &mut &[u8]) -> Result<Slot, BadKept> {
    let [head] = take(rest)?;
    let (kind, short) = (head >> 6, head & LONG);
    let len = if short == LONG { read_number(rest)? } else { u16::from(short) };
    let hash = if kind < 2 { u32::from_le_bytes(take(rest)?) } else { 0 };
    let ((score, values), most) =
        if kind > 0 { (read_known(rest)?, read_number(rest)?) } else { Default::default() };
    let is_kind = match kind {
        0 => len > 0,
        1 => score.is_suspect(),
        2 => score.is_noise(),
        _ => false,
    };
    let is_possible = is_kind && usize::from(len.max(most)) <= slots::LONGEST;
    if is_possible { Ok(Slot { hash, len, most, score, values }) } else { Err(RANGE) }
}

/// A score, and what the place showed, if that is known. Each value has a bit that says whether it returned.
fn write_known(bytes: &mut Vec<u8>, score: Score, values: &Values) {
    if *values == Values::default() {
        return bytes.push(score.to_byte());
    }
    let affix = values.affix;
    bytes.push(score.to_byte() | HAS_VALUES | if affix == Affix::default() { 0 } else { HAS_AFFIX });
    bytes.push(values.known.len() as u8);
    bytes.push(values.shown);
    bytes.extend(values.last.to_le_bytes());
    bytes.extend(values.stays.to_bytes());
    if affix != Affix::default() {
        bytes.extend([affix.head, affix.tail, affix.moves]);
        bytes.extend(affix.lately);
        bytes.extend(affix.hash.to_le_bytes());
    }
    let mut bits = vec![0u8; values.known.len().div_ceil(8)];
    for (place, value) in values.known.iter().enumerate() {
        bytes.extend(value.hash.to_le_bytes());
        bits[place / 8] |= u8::from(value.returned) << (place % 8);
    }
    bytes.extend(bits);
}

fn read_known(rest: &mut &[u8]) -> Result<(Score, Values), BadKept> {
    let [byte] = take(rest)?;
    let score = Score::from_byte(byte & !(HAS_VALUES | HAS_AFFIX)).ok_or(RANGE)?;
    if byte & HAS_VALUES == 0 {
        if byte & HAS_AFFIX != 0 {
            return Err(RANGE);
        }
        return Ok((score, Values::default()));
    }
    let [count, shown] = take(rest)?;
    let (count, last) = (usize::from(count), u16::from_le_bytes(take(rest)?));
    let stays = Habit::from_bytes(take(rest)?).ok_or(RANGE)?;
    let mut affix = Affix::default();
    if byte & HAS_AFFIX != 0 {
        let [head, tail, moves] = take(rest)?;
        affix = Affix { head, tail, moves, lately: take(rest)?, hash: u16::from_le_bytes(take(rest)?) };
    }
    if count > values::MOST || affix.moves > MOST_MOVES || affix.lately[2] > MOST_MOVES {
        return Err(RANGE);
    }
    let hashes = (0..count).map(|_| take(rest).map(u16::from_le_bytes)).collect::<Result<Vec<_>, _>>()?;
    let (bits, after) = rest.split_at_checked(count.div_ceil(8)).ok_or(EARLY)?;
    *rest = after;
    let value = |(place, hash)| Value {
        hash,
        returned: bits[place / 8] >> (place % 8) & 1 == 1,
        fresh: 0,
        seen: false,
    };
    let known = hashes.into_iter().enumerate().map(value).collect();
    Ok((score, Values { known, shown, last, stays, affix }))
}

fn read_score(rest: &mut &[u8]) -> Result<Score, BadKept> {
    let [byte] = take(rest)?;
    Score::from_byte(byte).ok_or(RANGE)
}

/// Seven bits to a byte.
fn write_number(bytes: &mut Vec<u8>, mut number: u16) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(rest: &mut &[u8]) -> Result<u16, BadKept> {
    let mut number = 0u32;
    for shift in [0, 7, 14] {
        let [byte] = take(rest)?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u16::try_from(number).map_err(|_| RANGE);
        }
    }
    Err(RANGE)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], BadKept> {
    let (taken, left) = rest.split_first_chunk::<N>().ok_or(EARLY)?;
    *rest = left;
    Ok(*taken)
}
