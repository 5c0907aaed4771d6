//! Dates as sites write them: W3C-DTF in every precision, the three forms of HTTP, RFC 822, and what is broken but can mean only
//! one thing.
//!
//! A date is a stretch of time, not a moment: `2026-11-15` is all of that day. What names no time zone is read as UTC, and says
//! so. What could mean two different days (`03/04/2026`, `03 25 Sep`) is no date.

mod calendar;
mod numbers;
mod words;
mod zone;

use refrain_core::time::{Span, Time};

pub use calendar::utc;

/// Nothing longer is a date.
const LONGEST: usize = 100;

/// The first page went public around this day, 1990-12-20: what claims to be older is a default or a mistake.
const FIRST_PAGE: Time = Time::from_nanos(661_651_200 * 1_000_000_000);

/// So much may clocks differ before a date is called a future one.
const CLOCKS_DIFFER: Span = Span::from_whole_secs(5 * 60);

/// The zone that is first to see a day sees it so much before UTC does.
const EARLIEST_ZONE: Span = Span::from_whole_secs(14 * 3600);

/// A date as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    start: Time,
    precision: Precision,
    zoned: bool,
}

/// The smallest unit that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// `2026`
    Year,
    /// `2026-11`
    Month,
    /// `2026-11-15`
    Day,
    /// `2026-11-15T12Z`
    Hour,
    /// `2026-11-15T12:00Z`
    Minute,
    /// `2026-11-15T12:00:00Z`
    Second,
    /// `2026-11-15T12:00:00.123Z`
    Fraction,
}

/// Whether a date can be one at which a page changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It can be.
    Plausible,
    /// It has not come yet.
    Future,
    /// It is before there were pages: 1970, year 1, the birth of somebody.
    Ancient,
}

impl When {
    /// Reads a date; `None` if it is none, or could mean several days.
    pub fn parse(text: &str) -> Option<Self> {
        let text = super::trimmed(text);
        if text.is_empty() || text.len() > LONGEST || !text.is_ascii() {
            return None;
        }
        // A zone's name after its offset says nothing new: `…+01:00[Europe/Berlin]`, `… GMT+0100 (CET)`.
        let bare = match text.find(['[', '(']) {
            Some(at) if text.ends_with([']', ')']) => text[..at].trim_end(),
            _ => text,
        };
        numbers::parse(words::without_weekday(bare)).or_else(|| words::parse(bare))
    }

    /// A date that was read before, and kept: its first moment, the smallest unit that was written, and was a zone?
    pub fn new(earliest: Time, precision: Precision, zoned: bool) -> Self {
        Self { start: earliest, precision, zoned }
    }

    /// A moment that is known exactly.
    pub fn exactly(moment: Time) -> Self {
        Self { start: moment, precision: Precision::Fraction, zoned: true }
    }

    /// The first moment that is meant.
    pub fn earliest(self) -> Time {
        self.start
    }

    /// The last moment that is meant: of a day, its last nanosecond.
    pub fn latest(self) -> Time {
        let length = match self.precision {
            Precision::Year | Precision::Month => calendar::length(self.start, self.precision),
            Precision::Day => Span::from_whole_secs(86_400),
            Precision::Hour => Span::from_whole_secs(3600),
            Precision::Minute => Span::from_whole_secs(60),
            Precision::Second => Span::from_whole_secs(1),
            Precision::Fraction => return self.start,
        };
        self.start.later(Span::from_nanos(length.as_nanos() - 1))
    }

    /// The smallest unit that was written.
    pub fn precision(self) -> Precision {
        self.precision
    }

    /// Was a time zone written? If not, the date is read as if it were UTC.
    pub fn is_zoned(self) -> bool {
        self.zoned
    }

    /// Can a page have changed then, as far as is known at `now`?
    pub fn judged(self, now: Time) -> Judgement {
        let leeway = if self.zoned { CLOCKS_DIFFER } else { EARLIEST_ZONE };
        if self.start > now + leeway {
            Judgement::Future
        } else if self.latest() < FIRST_PAGE {
            Judgement::Ancient
        } else {
            Judgement::Plausible
        }
    }

    /// The date, if a page can have changed then.
    #[must_use]
    pub fn plausible(self, now: Time) -> Option<Self> {
        (self.judged(now) == Judgement::Plausible).then_some(self)
    }

    /// Is it later than `other`, however both are meant? A day is not later than one of its hours, nor the other way round.
    pub fn is_surely_after(self, other: Self) -> bool {
        self.earliest() > other.latest()
    }

    /// May it be later than this moment? Today may be later than any moment of today.
    pub fn may_be_after(self, moment: Time) -> bool {
        self.latest() > moment
    }
}

#[cfg(test)]
mod tests;
