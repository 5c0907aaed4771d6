//! Moments as WARC has them.

use jiff::Timestamp;

use crate::millis;
use refrain_core::time::Time;

/// `2026-11-16T12:34:56.789Z`: to the millisecond, as in the database, so that the one can be found by the other.
pub(super) fn written(time: Time) -> String {
    // Every `Time` lies between 1677 and 2262, which a timestamp holds.
    let moment = Timestamp::from_millisecond(millis::happened(time)).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// A date as WARC has it, to the millisecond; `None` if it is none.
pub(super) fn read(text: &str) -> Option<Time> {
    let moment: Timestamp = text.parse().ok()?;
    Some(millis::time(moment.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_three_decimals() {
        assert_eq!(written(Time::ZERO), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(Time::from_nanos(1_479_297_296_007_999_999)), "2016-11-16T11:54:56.007Z");
        assert_eq!(written(Time::MAX), "2262-04-11T23:47:16.854Z");
        assert_eq!(written(Time::MIN), "1677-09-21T00:12:43.145Z");
    }

    #[test]
    fn dates_are_read_as_they_were_written() {
        let time = Time::from_nanos(1_479_297_296_007_000_000);
        assert_eq!(read(&written(time)), Some(time));
        assert_eq!(read("2016-11-16T11:54:56Z").map(written).as_deref(), Some("2016-11-16T11:54:56.000Z"));
        assert_eq!(read("yesterday"), None);
    }
}
