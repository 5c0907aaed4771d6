use super::*;
use proptest::prelude::*;

const NOON: i64 = 1_794_744_000;

fn at(seconds: i64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

fn read(text: &str) -> Option<(i64, Precision, bool)> {
    When::parse(text).map(|when| (when.start.as_nanos() / 1_000_000_000, when.precision, when.zoned))
}

#[test]
fn w3c_dates_in_every_precision() {
    use Precision::{Day, Fraction, Minute, Month, Second, Year};
    assert_eq!(read("2026"), Some((1_767_225_600, Year, false)));
    assert_eq!(read("2026-11"), Some((1_793_491_200, Month, false)));
    assert_eq!(read("2026-11-15"), Some((NOON - 43_200, Day, false)));
    assert_eq!(read("2026-11-15T12:00Z"), Some((NOON, Minute, true)));
    assert_eq!(read("2026-11-15T13:00:00+01:00"), Some((NOON, Second, true)));
    assert_eq!(read("2026-11-15T12:00:00.5Z"), Some((NOON, Fraction, true)));
    assert_eq!(
        When::parse("2026-11-15T12:00:00.123456789012Z").map(|when| when.start.as_nanos() % 1_000_000_000),
        Some(123_456_789)
    );
}

#[test]
fn the_dates_of_mail_and_http() {
    for text in [
        "Sun, 15 Nov 2026 12:00:00 GMT",
        "Sunday, 15-Nov-26 12:00:00 GMT",
        "Sun, 15 Nov 26 12:00:00 UT",
        "15 Nov 2026 07:00:00 EST",
        "Sun, 15 Nov 2026 17:30:00 +0530",
        "Sun,15 Nov 2026 12:00:00 +0000",
        "Sun, 15 November 2026 12:00:00 Z",
        "15/Nov/2026:13:00:00 +0100",
    ] {
        assert_eq!(read(text), Some((NOON, Precision::Second, true)), "{text}");
    }
    assert_eq!(read("Sun Nov 15 12:00:00 2026"), Some((NOON, Precision::Second, false)));
    assert_eq!(read("Sun, 15 Nov 2026 12:00 GMT"), Some((NOON, Precision::Minute, true)));
    // The weekday is not asked: it is often wrong, and says nothing new.
    assert_eq!(read("Mon, 15 Nov 2026 12:00:00 GMT"), Some((NOON, Precision::Second, true)));
}

#[test]
fn what_is_broken_and_clear() {
    use Precision::{Day, Fraction, Hour, Minute, Month, Second};
    for (text, precision, zoned) in [
        ("2026-11-15 12:00:00", Second, false),
        ("2026-11-15 12:00", Minute, false),
        ("2026-11-15T12:00:00", Second, false),
        ("2026-11-15 12:00:00 UTC", Second, true),
        ("2026-11-15T12:00:00 +00:00", Second, true),
        ("2026-11-15T12:00:00+0000", Second, true),
        ("2026-11-15T12:00:00Z+00:00", Second, true),
        ("2026-11-15T13:00:00+01:00[Europe/Berlin]", Second, true),
        ("2026-11-15T12:00:00-00:00", Second, false),
        ("2026-11-15T12:00:00 WHAT", Second, false),
        ("2026-11-15T12:00:00,000Z", Fraction, true),
        ("2026-11-15T12Z", Hour, true),
        ("2026/11/15 12:00:00", Second, false),
        ("15.11.2026 12:00", Minute, false),
        ("11/15/2026 12:00:00 PM", Second, false),
        ("15/11/2026, 12:00:00", Second, false),
        ("20261115T120000Z", Second, true),
        ("20261115T130000+0100", Second, true),
        ("20261115120000", Second, false),
        ("20261115T1200Z", Minute, true),
        ("20261115T12:00:00Z", Second, true),
        ("20261115 13:00+01:00", Minute, true),
        ("20261115T120000.25Z", Fraction, true),
        ("20261115T120000,000", Fraction, false),
        ("20261115T12Z", Hour, true),
        ("2026-11-15T120000Z", Second, true),
        ("2026-11-15T1300+01", Minute, true),
        ("2026-319T12:00:00Z", Second, true),
        ("2026-011-15T12:00:00+00:00", Second, true),
        ("Sun, 2026/11/15 07:00:00 EST", Second, true),
        ("Sunday 15.11.2026 12:00", Minute, false),
        ("Sun, 15 Nov 2026 13:00:00 MET", Second, true),
        ("Sun, 15 Nov 2026 14:00:00 MEST", Second, true),
        ("Sun, 15 Nov 2026 12:00:00 Etc/GMT", Second, true),
        ("Nov 15 26 12:00:00", Second, false),
        ("1794744000", Second, true),
        ("1794744000.000", Fraction, true),
        ("1794744000000", Fraction, true),
        ("November 15, 2026 12:00 pm", Minute, false),
        ("Nov. 15, 2026 at 12:00 GMT", Minute, true),
        ("15 Nov 2026 12:00:00", Second, false),
        ("Sun Nov 15 2026 13:00:00 GMT+0100 (Central European Standard Time)", Second, true),
        ("Sun Nov 15 12:00:00 UTC 2026", Second, true),
        ("  Sun, 15 Nov 2026 12:00:00 GMT\n", Second, true),
    ] {
        assert_eq!(read(text), Some((NOON, precision, zoned)), "{text}");
    }
    for text in [
        "20261115",
        "2026-11-15T",
        "2026-319",
        "2026319",
        "15 Nov 26",
        "15 2026 Nov",
        "2026 15 Nov",
        "2026/11/15",
        "15.11.2026",
        "11/15/2026",
        "15th of November 2026",
        "Nov 15 2026",
    ] {
        assert_eq!(read(text), Some((NOON - 43_200, Day, false)), "{text}");
    }
    assert_eq!(read("2026-11-15+01:00"), Some((NOON - 43_200 - 3600, Day, true)));
    assert_eq!(read("2026-1-5").map(|found| found.0), Some(1_767_571_200));
    assert_eq!(read("Nov 2026"), Some((1_793_491_200, Month, false)));
    assert_eq!(read("2026-11-15T24:00:00Z").map(|found| found.0), Some(NOON + 43_200));
    assert_eq!(read("2016-12-31T23:59:60Z").map(|found| found.0), Some(1_483_228_800));
    assert_eq!(read("12:30 AM 15 Nov 2026"), Some((NOON - 43_200 + 1800, Minute, false)));
}

#[test]
fn what_is_no_date_or_could_be_two() {
    for text in [
        "",
        "today",
        "0000-00-00 00:00:00",
        "2026-02-30",
        "2026-13-01",
        "03/04/2026",
        "12:00",
        "5",
        "2026-11-15T25:00:00Z",
        "2026-11-15T12:00:00 and a half",
        "2026-11-15T12:00:00garbage-garbage",
        "15 Nov Dec 2026",
        "03 25 Sep",
        "12:00 03 25 Sep",
        "Sun, 03 25 Sep 12:00 GMT",
        "25 03 September",
        "03-25-Sep",
        "03-12-31",
        "031231",
        "-0312",
        "03335",
        "2026-366",
        "2026000",
        "2026-000",
        "2026-1111-15",
        "20261115T1260Z",
        "20261115T12000Z",
        "20261131T120000Z",
        "2013-01-27-01",
        "2013-01-28T11:30:00-06:00Textra",
        "Sun, 16 Dec 2012 1:2:3:4 GMT",
        "Sun, 31 Dec 2012 23:59:59 -9999",
        "Nov",
        "２０２６-11-15",
        "99999999999999999999999999999",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
    assert_eq!(When::parse(&"2".repeat(1000)), None);
}

#[test]
fn a_date_is_judged_at_a_moment() {
    let judged = |text: &str| When::parse(text).map(|when| when.judged(at(NOON)));
    assert_eq!(judged("2026-11-15"), Some(Judgement::Plausible));
    assert_eq!(judged("2026-11-15T12:04:00Z"), Some(Judgement::Plausible));
    assert_eq!(judged("2026-11-15T12:06:00Z"), Some(Judgement::Future));
    // Somewhere it is tomorrow already.
    assert_eq!(judged("2026-11-16"), Some(Judgement::Plausible));
    assert_eq!(judged("2026-11-17"), Some(Judgement::Future));
    assert_eq!(judged("9999-12-31"), Some(Judgement::Future));
    assert_eq!(judged("1970-01-01T00:00:00Z"), Some(Judgement::Ancient));
    assert_eq!(judged("0001-01-01T00:00:00"), Some(Judgement::Ancient));
    assert_eq!(judged("1989"), Some(Judgement::Ancient));
    assert_eq!(judged("1990"), Some(Judgement::Plausible));
}

#[test]
fn a_day_is_all_of_it() {
    let when = |text: &str| When::parse(text).expect("a date");
    let day = when("2026-11-15");
    assert_eq!(
        (day.earliest(), day.latest()),
        (at(NOON - 43_200), Time::from_nanos((NOON + 43_200) * 1_000_000_000 - 1))
    );
    assert_eq!(when("2024-02").latest(), Time::from_nanos(at(1_709_251_200).as_nanos() - 1));
    assert_eq!(when("2024").latest(), Time::from_nanos(at(1_735_689_600).as_nanos() - 1));
    assert!(!when("2026-11-15T12:00Z").is_surely_after(day));
    assert!(!day.is_surely_after(when("2026-11-15T00:00Z")));
    assert!(when("2026-11-16").is_surely_after(day));
    assert!(day.may_be_after(at(NOON)));
    assert!(!day.may_be_after(at(NOON + 43_200)));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,60}") {
        let _ = When::parse(&text);
    }

    #[test]
    fn nor_anything_that_looks_like_a_date(parts in prop::collection::vec(prop::sample::select(vec![
        "2026", "15", "1", "99999", "0", "60", "-", "/", ".", ":", "T", " ", ",", "Nov", "Sun", "Z", "+01:00", "+", "GMT", "pm", "(", ")", "[", "st", "é",
    ]), 0..14)) {
        if let Some(when) = When::parse(&parts.concat()) {
            prop_assert!(when.earliest() <= when.latest());
            let _ = when.judged(at(NOON));
        }
    }

    #[test]
    fn what_is_written_properly_is_read_exactly(seconds in 0i64..4_000_000_000) {
        let shown = httpdate::fmt_http_date(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds.unsigned_abs()));
        prop_assert_eq!(read(&shown), Some((seconds, Precision::Second, true)));
    }
}
