//! Times in text that move on by themselves: a clock (`14:32`), and how long ago something was (`3 minutes ago`).

use std::ops::Range;

use refrain_core::time::Time;

/// A time expression in a block of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimeText {
    pub(super) bytes: Range<usize>,
    pub(super) shown: Shown,
}

/// What a time expression says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    /// A time of day, in seconds; the day may have twice twelve hours.
    Clock(f64),
    /// The age of something, in seconds: between these two.
    Age(f64, f64),
}

const HALF_DAY: f64 = 43_200.0;
/// Time zones are whole multiples of this apart.
const ZONE_STEP: f64 = 900.0;
/// A page that shows the present time shows it at most this much late: it is a minute old by rounding, and another one in a cache or by a wrong clock.
const LATE: f64 = 120.0;
/// A clock may be wrong by this much.
const EARLY: f64 = 60.0;

/// A page that tells an age was made at most this long before it was fetched.
const DELAY: f64 = 30.0;

/// Whether two expressions, each shown at its moment, differ only because time passed.
///
/// Two times of day do so if each is the time at which the page was fetched, in the same time zone. Two ages do so if one and the same event can
/// have both.
pub(super) fn is_explained((was, then): (Shown, Time), (is, now): (Shown, Time)) -> bool {
    match (was, is) {
        (Shown::Clock(was), Shown::Clock(is)) => {
            let zone = zone(was, then);
            zone.is_some() && zone == self::zone(is, now)
        }
        (Shown::Age(was_low, was_high), Shown::Age(is_low, is_high)) => {
            let elapsed = now.since(then).as_secs();
            was_low + elapsed <= is_high + DELAY && is_low <= was_high + elapsed + DELAY
        }
        _ => false,
    }
}

/// The time zone, in steps, in which a time of day is the present time.
fn zone(shown: f64, now: Time) -> Option<i64> {
    let ahead = shown - now.since(Time::ZERO).as_secs();
    let step = ((ahead + LATE) / ZONE_STEP).floor();
    let steps = (HALF_DAY / ZONE_STEP) as i64;
    (ahead - step * ZONE_STEP <= EARLY).then_some((step as i64).rem_euclid(steps))
}

/// A piece of a text.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    start: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is(&self, mark: &str) -> bool {
        self.text == mark
    }

    /// At most four digits.
    fn number(&self) -> Option<u32> {
        let is_number = self.text.len() <= 4 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        self.text.parse().ok().filter(|_| is_number)
    }
}

/// Runs of digits, runs of letters, and single marks, without spaces.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let kind = |letter: char| match letter {
        letter if letter.is_ascii_digit() => 0,
        letter if letter.is_alphabetic() => 1,
        letter if letter.is_whitespace() => 2,
        _ => 3,
    };
    let mut tokens = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        let of = kind(letter);
        let mut end = start + letter.len_utf8();
        while let Some((at, next)) = letters.next_if(|(_, next)| of < 2 && kind(*next) == of) {
            end = at + next.len_utf8();
        }
        if of != 2 {
            tokens.push(Token { text: &text[start..end], start });
        }
    }
    tokens
}

/// The time expressions of a block, in order.
pub(super) fn find(block: &str) -> Vec<TimeText> {
    let tokens = tokens(block);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((first, after, shown)) = clock(&tokens, at).or_else(|| age(&tokens, at)) else {
            at += 1;
            continue;
        };
        found.push(TimeText { bytes: tokens[first].start..tokens[after - 1].end(), shown });
        at = after;
    }
    found
}

/// A clock that begins at this token: its first token, the one after it, and the time.
fn clock(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize, Shown)> {
    let adjoins =
        |at: usize| at > 0 && tokens.get(at).is_some_and(|token| token.start == tokens[at - 1].end());
    let part = |at: usize, digits: Range<usize>, below: u32| {
        let token = tokens.get(at).filter(|token| digits.contains(&token.text.len()))?;
        token.number().filter(|number| *number < below)
    };
    let after_colon = |at: usize| {
        let is_joined = adjoins(at) && adjoins(at + 1) && tokens[at].is(":");
        is_joined.then(|| part(at + 1, 2..3, 60)).flatten()
    };
    let is_within = adjoins(at) && [":", ".", ",", "-"].contains(&tokens[at - 1].text);
    let hours = part(at, 1..3, 24).filter(|_| !is_within)?;
    let minutes = after_colon(at + 1)?;
    let seconds = after_colon(at + 3);
    let mut after = at + if seconds.is_some() { 5 } else { 3 };
    if adjoins(after) && tokens[after].is(":") {
        return None;
    }
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    match (text(after), text(after + 1), text(after + 2), text(after + 3)) {
        ("am" | "pm" | "AM" | "PM" | "Am" | "Pm", ..) => after += 1,
        ("a" | "p" | "A" | "P", ".", "m" | "M", ".") => after += 4,
        _ => {}
    }
    let seconds = 3600 * hours + 60 * minutes + seconds.unwrap_or(0);
    Some((at, after, Shown::Clock(f64::from(seconds))))
}

/// An age whose number, or word for one, is this token: its first token, the one after it, and the age.
fn age(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize, Shown)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    if matches!((text(at), text(at + 1)), ("just" | "Just", "now")) {
        return Some((at, at + 2, Shown::Age(0.0, 120.0)));
    }
    let (least, most) = match (tokens[at].number(), tokens[at].text) {
        (Some(number), _) => ((f64::from(number) - 0.5).max(0.0), f64::from(number) + 1.0),
        (None, one) if is_one(one) => (0.5, 2.0),
        (None, few) if is_few(few) => (0.0, 60.0),
        _ => return None,
    };
    let word = text(at + 1).to_lowercase();
    let unit = unit(&word)?;
    let mut after = at + 2;
    // `3 min. ago`
    let marker = if text(after) == "." { after + 1 } else { after };
    let before = |back: usize| at.checked_sub(back).map_or("", text);
    // `about 3 hours ago`, `vor etwa 3 Stunden`, `a few seconds ago`
    let mut first = at - usize::from(is_few(text(at)) && matches!(before(1), "a" | "A"));
    while first > 0 && is_about(text(first - 1)) {
        first -= 1;
    }
    let ahead = at - first;
    if is_after(text(marker)) {
        after = marker + 1;
    } else if is_before(before(ahead + 1)) {
        first -= 1;
    } else if matches!((before(ahead + 3), before(ahead + 2), before(ahead + 1)), ("il" | "Il", "y", "a")) {
        // `il y a 3 heures`
        first -= 3;
    } else if !word.ends_with(['前', '전']) {
        return None;
    }
    // Months and years differ in length.
    Some((first, after, Shown::Age(least * unit, most * unit * 1.05)))
}

fn is_one(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "A"
            | "An"
            | "one"
            | "One"
            | "einer"
            | "einem"
            | "un"
            | "une"
            | "una"
            | "um"
            | "uma"
            | "een"
            | "en"
            | "ett"
            | "et"
    )
}

fn is_few(word: &str) -> bool {
    matches!(
        word,
        "few"
            | "einigen"
            | "wenigen"
            | "quelques"
            | "unos"
            | "alcuni"
            | "alguns"
            | "enkele"
            | "några"
            | "noen"
    )
}

fn is_about(word: &str) -> bool {
    matches!(
        word,
        "about"
            | "About"
            | "almost"
            | "Almost"
            | "around"
            | "Around"
            | "less"
            | "Less"
            | "than"
            | "over"
            | "Over"
            | "etwa"
            | "rund"
            | "environ"
            | "circa"
            | "cerca"
    )
}

/// Words that make an age of a duration, after it.
fn is_after(word: &str) -> bool {
    matches!(
        word,
        "ago"
            | "Ago"
            | "AGO"
            | "fa"
            | "atrás"
            | "geleden"
            | "sedan"
            | "siden"
            | "sitten"
            | "temu"
            | "назад"
            | "тому"
            | "önce"
            | "前"
            | "전"
    )
}

/// The same, before it.
fn is_before(word: &str) -> bool {
    matches!(word, "vor" | "Vor" | "hace" | "Hace" | "há" | "Há" | "před" | "Před" | "преди")
}

/// Units of time in the languages of many pages, and their seconds. A star stands for any ending.
const UNITS: [(f64, &str); 7] = [
    (1.0, "s sec* sek* seg* сек* san* 秒* 초*"),
    (60.0, "m min* мин* хв* dak* 分* 분*"),
    (
        3600.0,
        "h hr hrs hour* std* stunde* heure* hora* ora ore uur uren tim timm* time timer tunti* godz* hod* час* годин* saat* 小时* 小時* 時間* 시간*",
    ),
    (
        86_400.0,
        "d day* tag* jour* dia dias día días giorn* dag* päivä* dni dzień dnem dny день дня дней дні* gün* 天* 日* 일*",
    ),
    (
        7.0 * 86_400.0,
        "w wk wks week* wek* woche* semaine* seman* settiman* veck* uge* uke* viikko* tydz* tygod* týd* недел* тиж* hafta* 周* 週* 주*",
    ),
    (
        30.0 * 86_400.0,
        "mo mos month* monat* mois mes meses mês mese mesi maand* månad* måned* kuukau* miesi* měsí* месяц* міся* ay 个月* 個月* か月* 개월*",
    ),
    (
        365.0 * 86_400.0,
        "y yr yrs year* jahr* an ans ann* año* ano anos jaar* år vuo* rok* lat lata год года лет yıl* 年* 년*",
    ),
];

fn unit(word: &str) -> Option<f64> {
    let is_named = |name: &str| name.strip_suffix('*').map_or(name == word, |stem| word.starts_with(stem));
    UNITS.iter().find(|(_, names)| names.split(' ').any(is_named)).map(|(seconds, _)| *seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use refrain_core::time::Span;

    fn found(block: &str) -> Vec<(&str, Shown)> {
        find(block).into_iter().map(|time| (&block[time.bytes], time.shown)).collect()
    }

    fn at(hours: f64) -> Time {
        Time::ZERO + Span::from_secs(20_000.0 * 86_400.0 + 3600.0 * hours)
    }

    fn one(block: &str) -> Shown {
        let found = found(block);
        assert_eq!(found.len(), 1, "{block}: {found:?}");
        found[0].1
    }

    fn explained(was: &str, then: f64, is: &str, now: f64) -> bool {
        is_explained((one(was), at(then)), (one(is), at(now)))
    }

    #[test]
    fn clocks_are_found_and_other_numbers_are_not() {
        assert_eq!(
            found("at 14:32, or 9:05:07 p.m. today"),
            [("14:32", Shown::Clock(52_320.0)), ("9:05:07 p.m.", Shown::Clock(32_707.0))]
        );
        assert_eq!(found("2026-11-18T08:30:00Z").len(), 1);
        for other in ["1:2:3", "25:10", "12:60", "10:20:30:40", "3.14:15", "ratio 4:3", "3 minutes", "1432"] {
            assert_eq!(found(other), [], "{other}");
        }
    }

    #[test]
    fn ages_are_found_in_many_languages() {
        for age in [
            "3 minutes ago",
            "3 min. ago",
            "3m ago",
            "about 3 minutes ago",
            "vor 3 Minuten",
            "vor etwa 3 Minuten",
            "il y a 3 minutes",
            "hace 3 minutos",
            "3 minuti fa",
            "há 3 minutos",
            "3 minuten geleden",
            "3 minuter sedan",
            "3 minutter siden",
            "3 minuuttia sitten",
            "3 minuty temu",
            "před 3 minutami",
            "3 минуты назад",
            "3 dakika önce",
            "3分前",
            "3 分钟前",
            "3분 전",
        ] {
            let block = format!("posted {age} by us");
            let found = found(&block);
            assert_eq!(found.len(), 1, "{age}: {found:?}");
            assert_eq!(found[0].1, Shown::Age(150.0, 252.0), "{age}");
            assert_eq!(found[0].0, age);
        }
        assert_eq!(found("an hour ago, a few seconds ago, less than a minute ago, just now").len(), 4);
        for other in ["3 min read", "delayed by 5 minutes", "in 3 days", "for 3 hours", "chapter 3 ago"] {
            assert_eq!(found(other), [], "{other}");
        }
    }

    #[test]
    fn a_clock_is_explained_if_it_is_the_time_of_the_fetch_at_both_looks() {
        assert!(explained("14:32", 14.54, "15:10", 15.18));
        // In a zone five and a half hours ahead, over noon and midnight.
        assert!(explained("12:30 PM", 7.01, "1:15 AM", 19.76));
        // An hour that was set, and then to another.
        assert!(!explained("14:40", 14.54, "15:40", 15.54));
        // The present time first, then one to come.
        assert!(!explained("14:32", 14.54, "15:00", 14.8));
        // In different zones.
        assert!(!explained("14:32", 14.54, "16:10", 15.18));
    }

    #[test]
    fn an_age_is_explained_if_one_event_can_have_both() {
        assert!(explained("3 minutes ago", 10.0, "1 hour ago", 11.0));
        assert!(explained("an hour ago", 10.0, "3 hours ago", 12.0));
        assert!(explained("just now", 10.0, "2 days ago", 58.5));
        // Something newer, and something older.
        assert!(!explained("5 hours ago", 10.0, "3 minutes ago", 11.0));
        assert!(!explained("3 minutes ago", 10.0, "2 days ago", 11.0));
    }

    proptest! {
        #[test]
        fn whatever_shows_the_time_is_explained(then in 0.0..1000.0, elapsed in 0.0..1000.0, zone in 0..96) {
            let clock = |hours: f64| {
                let minutes = ((hours + f64::from(zone) / 4.0) * 60.0) as u64;
                format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
            };
            prop_assert!(explained(&clock(then), then, &clock(then + elapsed), then + elapsed));
        }

        #[test]
        fn whatever_tells_the_age_of_one_event_is_explained(then in 0.0..1000.0, elapsed in 0.0..1000.0, rounds: bool) {
            let age = |hours: f64| {
                let (number, unit) = match hours {
                    hours if hours < 1.0 => (hours * 60.0, "minutes"),
                    hours if hours < 24.0 => (hours, "hours"),
                    _ => (hours / 24.0, "days"),
                };
                format!("{} {unit} ago", if rounds { number.round() } else { number.floor() })
            };
            prop_assert!(explained(&age(then), then, &age(then + elapsed), then + elapsed));
        }

        #[test]
        fn any_text_can_be_searched(text in ".*") {
            for time in find(&text) {
                prop_assert!(text.get(time.bytes).is_some_and(|found| !found.is_empty()));
            }
        }
    }
}
