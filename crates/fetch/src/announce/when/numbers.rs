//! Dates that begin with a digit and name no month: ISO 8601 and its relatives, and seconds since 1970.

use super::calendar::{Clock, Parts, moment};
use super::zone::Zone;
use super::{Precision, When};

pub(super) fn parse(text: &str) -> Option<When> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return bare(text);
    }
    since_1970(text).or_else(|| basic(text)).or_else(|| separated(text))
}

/// Digits alone: by how many there are, and whether they can be a date.
fn bare(digits: &str) -> Option<When> {
    let at = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<u32>().ok());
    let date = |clock: Clock, precision: Precision| {
        let parts = Parts::day(i64::from(at(0, 4)?), at(4, 6)?, at(6, 8)?);
        let dated = Parts { clock, precision, ..parts }.when()?;
        // 20 digits that happen to be a date are seldom one of the year 5138.
        (1900..2200).contains(&parts.year).then_some(dated)
    };
    match digits.len() {
        4 => Parts { precision: Precision::Year, ..Parts::day(digits.parse().ok()?, 1, 1) }.when(),
        6 => {
            let parts = Parts::day(i64::from(at(0, 4)?), at(4, 6)?, 1);
            let dated = Parts { precision: Precision::Month, ..parts }.when()?;
            (1900..2200).contains(&parts.year).then_some(dated)
        }
        // The number of the day in its year: `2026319`.
        7 => {
            let parts = Parts::day_of_year(i64::from(at(0, 4)?), at(4, 7)?);
            (1900..2200).contains(&parts.year).then(|| parts.when())?
        }
        8 => date(Clock::default(), Precision::Day),
        12 => date(Clock { hour: at(8, 10)?, minute: at(10, 12)?, ..Clock::default() }, Precision::Minute)
            .or_else(|| epoch(digits)),
        14 => date(
            Clock { hour: at(8, 10)?, minute: at(10, 12)?, second: at(12, 14)?, nanos: 0 },
            Precision::Second,
        ),
        _ => epoch(digits),
    }
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970: whichever lies between 1973 and 2286.
fn epoch(digits: &str) -> Option<When> {
    let (per_second, precision) = match digits.len() {
        9 | 10 => (1, Precision::Second),
        12 | 13 => (1000, Precision::Fraction),
        15 | 16 => (1_000_000, Precision::Fraction),
        18 | 19 => (1_000_000_000, Precision::Fraction),
        _ => return None,
    };
    let count: i64 = digits.parse().ok()?;
    let nanos = (count % per_second) * (1_000_000_000 / per_second);
    Some(When { start: moment(count / per_second, nanos as u32), precision, zoned: true })
}

/// `1794744000.25`
fn since_1970(text: &str) -> Option<When> {
    let (seconds, fraction) = text.split_once('.')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !matches!(seconds.len(), 9 | 10) || !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let start = moment(seconds.parse().ok()?, nanos(fraction));
    Some(When { start, precision: Precision::Fraction, zoned: true })
}

/// `20261115T120000Z`, `20261115T12:00+01:00`, `20261115Z`
fn basic(text: &str) -> Option<When> {
    let (date, rest) = text.split_at_checked(8)?;
    if !date.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| date[from..to].parse::<u32>().ok();
    let parts = Parts::day(i64::from(part(0, 4)?), part(4, 6)?, part(6, 8)?);
    if !(1900..2200).contains(&parts.year) || rest.starts_with(['-', '/', '.']) {
        return None;
    }
    timed(parts, rest)
}

/// `2026-11-15`, `2026-319`, `2026/11/15`, `15.11.2026`, each perhaps with a time and a zone; `2026-11` alone.
fn separated(text: &str) -> Option<When> {
    let mut rest = text;
    let (first, first_len) = number(&mut rest)?;
    let separator = rest.chars().next().filter(|c| matches!(c, '-' | '/' | '.'))?;
    rest = &rest[1..];
    let (second, second_len) = number(&mut rest)?;
    if first_len == 4 && !rest.starts_with(separator) {
        if separator == '-' && second_len == 3 {
            return timed(Parts::day_of_year(i64::from(first), second), rest);
        }
        let parts = Parts { precision: Precision::Month, ..Parts::day(i64::from(first), second, 1) };
        return if rest.is_empty() && separator != '.' && second_len <= 2 { parts.when() } else { None };
    }
    rest = rest.strip_prefix(separator)?;
    let (third, third_len) = number(&mut rest)?;
    let parts = match (first_len, second_len, third_len) {
        // Google wrote months with three digits for a while.
        (4, 1..=3, 1 | 2) => Parts::day(i64::from(first), second, third),
        (1 | 2, 1 | 2, 4) => {
            let (day, month) = day_and_month(first, second, separator)?;
            Parts::day(i64::from(third), month, day)
        }
        _ => return None,
    };
    timed(parts, rest)
}

/// A day, and what follows it: nothing, a time, a zone, or both.
fn timed(parts: Parts, rest: &str) -> Option<When> {
    let rest = rest.strip_prefix(['T', 't', '_', ' ', ',']).unwrap_or(rest).trim_start();
    if rest.is_empty() {
        return parts.when();
    }
    let (clock, precision, zone) = match compact_clock(rest).or_else(|| clock(rest)) {
        Some((clock, precision, rest)) => (clock, precision, rest.trim()),
        // XML Schema knows days with a zone: `2026-11-15Z`, `2026-11-15+01:00`.
        None if rest.starts_with(['+', '-']) && !rest.contains(':') => return None,
        None => (Clock::default(), Precision::Day, rest),
    };
    let offset = if zone.is_empty() { None } else { Zone::parse(zone)?.offset() };
    Parts { clock, offset, precision, ..parts }.when()
}

/// `1200`, `120000`, `120000.5`
fn compact_clock(text: &str) -> Option<(Clock, Precision, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !matches!(digits, 4 | 6) || text[digits..].starts_with(':') {
        return None;
    }
    let part = |from: usize| text[from..from + 2].parse::<u32>().ok();
    let mut clock = Clock { hour: part(0)?, minute: part(2)?, ..Clock::default() };
    if digits == 4 {
        return Some((clock, Precision::Minute, &text[digits..]));
    }
    clock.second = part(4)?;
    let (nanos, precision, rest) = fraction(&text[digits..]);
    clock.nanos = nanos;
    Some((clock, precision, rest))
}

/// Dots put the day first; slashes mean both, and only numbers above 12 tell which.
fn day_and_month(first: u32, second: u32, separator: char) -> Option<(u32, u32)> {
    match separator {
        '.' => Some((first, second)),
        _ if first > 12 || first == second => Some((first, second)),
        _ if second > 12 => Some((second, first)),
        _ => None,
    }
}

/// A time of day at the start of `text`: `12:00`, `12:00:00.5`, `3:04 pm`, `12Z`. Gives what follows as well.
pub(super) fn clock(text: &str) -> Option<(Clock, Precision, &str)> {
    let mut rest = text;
    let (hour, hour_len) = number(&mut rest)?;
    if hour_len > 2 {
        return None;
    }
    let mut clock = Clock { hour, ..Clock::default() };
    let mut precision = Precision::Hour;
    for (unit, next) in [(&mut clock.minute, Precision::Minute), (&mut clock.second, Precision::Second)] {
        let Some(after) = rest.strip_prefix(':') else { break };
        rest = after;
        let (value, len) = number(&mut rest)?;
        if len > 2 {
            return None;
        }
        *unit = value;
        precision = next;
    }
    if precision == Precision::Second {
        (clock.nanos, precision, rest) = fraction(rest);
    }
    let half = rest.trim_start();
    for (name, afternoon) in [("am", false), ("pm", true), ("a.m.", false), ("p.m.", true)] {
        if let Some((head, tail)) = half.split_at_checked(name.len())
            && head.eq_ignore_ascii_case(name)
            && !tail.starts_with(|c: char| c.is_ascii_alphabetic())
            && (1..=12).contains(&hour)
        {
            clock.hour = hour % 12 + if afternoon { 12 } else { 0 };
            return Some((clock, precision, tail));
        }
    }
    // An hour alone is one only if something says so.
    let is_time = precision > Precision::Hour || rest.trim_start().starts_with(['Z', 'z', '+', '-']);
    is_time.then_some((clock, precision, rest))
}

/// What follows whole seconds: perhaps a fraction of one.
fn fraction(text: &str) -> (u32, Precision, &str) {
    let Some(after) =
        text.strip_prefix(['.', ',']).filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return (0, Precision::Second, text);
    };
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    (nanos(&after[..end]), Precision::Fraction, &after[end..])
}

/// The digits at the start, and how many there are.
fn number(text: &mut &str) -> Option<(u32, usize)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let value = text[..end].parse().ok()?;
    *text = &text[end..];
    Some((value, end))
}

/// A fraction of a second; digits beyond the ninth are too small to matter.
fn nanos(digits: &str) -> u32 {
    digits
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(9)
        .fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}
