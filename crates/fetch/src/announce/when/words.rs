//! Dates with the name of a month: RFC 822 and 1123, RFC 850, asctime, access logs, and as people write them.

use super::calendar::{Clock, Parts};
use super::numbers::clock;
use super::zone::Zone;
use super::{Precision, When};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// More words than any date has.
const MOST_WORDS: usize = 16;

#[derive(Default)]
struct Found {
    day: Option<u32>,
    month: Option<u32>,
    year: Option<i64>,
    clock: Option<(Clock, Precision)>,
    zone: Option<Zone>,
}

/// The words in any order: a month's name, a time and numbers are told apart by their looks, and day and year by their place.
pub(super) fn parse(text: &str) -> Option<When> {
    let mut found = Found::default();
    let mut rest = text;
    for _ in 0..MOST_WORDS {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return found.when();
        }
        rest = found.word(rest)?;
    }
    None
}

impl Found {
    /// Takes one word off the front, and gives the rest; `None` if it has no place in a date.
    fn word<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(text);
        }
        if text.starts_with(['+', '-']) && self.clock.is_some() {
            let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
            self.zone = Some(Zone::parse(&text[..end])?);
            return Some(&text[end..]);
        }
        // Between the parts of `06-Nov-94` and `10/Oct/2026`.
        if let Some(rest) = text.strip_prefix(['-', '/', '.']) {
            return Some(rest);
        }
        let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if let Some(month) = place(word, &MONTHS) {
            return if self.month.replace(month as u32 + 1).is_none() { Some(rest) } else { None };
        }
        if place(word, &WEEKDAYS).is_some() {
            return Some(rest);
        }
        if ["at", "of", "on", "the", "T"].iter().any(|filler| filler.eq_ignore_ascii_case(word)) {
            return Some(rest);
        }
        // `CET`, and `GMT+0100`.
        let end = text.find(|c: char| c.is_ascii_whitespace() || c == ',').unwrap_or(text.len());
        if self.clock.is_none() || end == 0 {
            return None;
        }
        self.zone = Some(Zone::parse(&text[..end])?);
        Some(&text[end..])
    }

    fn number<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let rest = &text[end..];
        let value: u32 = text[..end].parse().ok()?;
        if end <= 2
            && self.clock.is_none()
            && (self.day.is_some() || rest.starts_with(':'))
            && let Some((clock, precision, rest)) = clock(text)
        {
            self.clock = Some((clock, precision));
            return Some(rest);
        }
        if end <= 2 && self.day.is_none() {
            self.day = Some(value);
            let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|suffix| rest.strip_prefix(suffix));
            return Some(ordinal.unwrap_or(rest));
        }
        if self.year.is_some() || end > 4 {
            return None;
        }
        // `03 25 Sep` could be of 2003 and of 2025: a short year stands after the day and the month.
        if end < 4 && self.month.is_none() {
            return None;
        }
        // As HTTP has it: two digits are of the last century from 70 on. Three are years since 1900 (RFC 2822, section 4.3).
        self.year = Some(i64::from(match end {
            4 => value,
            3 => value + 1900,
            _ if value < 70 => value + 2000,
            _ => value + 1900,
        }));
        // The year of an access log adjoins the time.
        Some(if end == 4 { rest.strip_prefix(':').unwrap_or(rest) } else { rest })
    }

    fn when(self) -> Option<When> {
        let parts = Parts::day(self.year?, self.month?, self.day.unwrap_or(1));
        let Some((clock, precision)) = self.clock else {
            let precision = if self.day.is_some() { Precision::Day } else { Precision::Month };
            return Parts { precision, ..parts }.when();
        };
        self.day?;
        Parts { clock, precision, offset: self.zone.and_then(Zone::offset), ..parts }.when()
    }
}

/// The text without the name of a weekday at its start.
pub(super) fn without_weekday(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if place(word, &WEEKDAYS).is_some() { rest.trim_start_matches([',', '.', ' ']) } else { text }
}

/// Which of the names it is, in full or at least three letters of it.
fn place(word: &str, names: &[&str]) -> Option<usize> {
    if word.len() < 3 {
        return None;
    }
    names.iter().position(|name| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
}
