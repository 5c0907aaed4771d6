//! Spans of time and rates as people type them: `24h`, `15s`, `100ms`, `10/s`.

use refrain_core::time::Span;

const UNITS: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// The longest span: nanoseconds end after some centuries.
const LONGEST: f64 = 9e9;

/// A span: a number and a unit. 0 needs none.
pub(crate) fn span(text: &str) -> Result<Span, String> {
    let expected = "expected a time like 15s, 500ms, 5m, 24h or 7d";
    let text = text.trim();
    if text == "0" {
        return Ok(Span::ZERO);
    }
    let at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or(expected)?;
    let (number, unit) = text.split_at(at);
    let number: f64 = number.trim().parse().map_err(|_| expected)?;
    let (_, seconds) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or(expected)?;
    let seconds = number * seconds;
    if !(0.0..=LONGEST).contains(&seconds) {
        return Err(format!("{expected}, not negative and less than 280 years"));
    }
    Ok(Span::from_secs(seconds))
}

/// A span that is more than nothing.
pub(crate) fn some_span(text: &str) -> Result<Span, String> {
    span(text).and_then(|span| {
        if span == Span::ZERO { Err("expected more than no time".to_owned()) } else { Ok(span) }
    })
}

/// A rate: a number per unit. Says how long one takes.
pub(crate) fn rate(text: &str) -> Result<Span, String> {
    let expected = "expected a rate like 10/s, 30/m or 0.5/h";
    let (number, unit) = text.split_once('/').ok_or(expected)?;
    let number: f64 = number.trim().parse().map_err(|_| expected)?;
    let (_, seconds) = UNITS.into_iter().find(|(name, _)| *name == unit.trim()).ok_or(expected)?;
    let each = seconds / number;
    if !(each.is_finite() && (1e-9..=LONGEST).contains(&each)) {
        return Err(format!("{expected}, greater than 0 and at most one per nanosecond"));
    }
    Ok(Span::from_secs(each))
}

/// A size: a number and a unit. How many bytes that is.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let expected = "expected a size like 64kB, 10MB or 1GB";
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or(expected)?;
    let (number, unit) = text.split_at(at);
    let number: f64 = number.trim().parse().map_err(|_| expected)?;
    let units = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    let (_, unit) = units.into_iter().find(|(name, _)| *name == unit).ok_or(expected)?;
    let bytes = (number * unit).round();
    if !(1.0..=1e15).contains(&bytes) {
        return Err(format!("{expected}, at least 1B"));
    }
    Ok(bytes as u64)
}

/// A span as a person says it: `100 ms`, `15 s`, `2 h 40 m`, `3 d`.
pub(crate) fn spoken(span: Span) -> String {
    let seconds = span.as_secs();
    let small = [("us", 1e-6, 1e-3), ("ms", 1e-3, 1.0), ("s", 1.0, 120.0)];
    if let Some((name, unit, _)) = small.into_iter().find(|(_, _, below)| seconds < *below) {
        return format!("{} {name}", crate::chart::short(seconds / unit));
    }
    let (large, parts, small, unit) =
        if seconds < 172_800.0 { ("h", 60, "m", 60.0) } else { ("d", 24, "h", 3600.0) };
    let count = (seconds / unit).round() as u64;
    match (count / parts, count % parts) {
        (0, some) => format!("{some} {small}"),
        (many, 0) => format!("{many} {large}"),
        (many, some) => format!("{many} {large} {some} {small}"),
    }
}

/// A span as a person says it who does not care about more than two digits: `150 ms`.
pub(crate) fn about(span: Span) -> String {
    let seconds = span.as_secs();
    if seconds == 0.0 || seconds >= 60.0 {
        return spoken(Span::from_secs(seconds.round()));
    }
    let digit = 10_f64.powf(seconds.log10().floor() - 1.0);
    spoken(Span::from_secs((seconds / digit).round() * digit))
}

/// A span like a clock shows it: `0:07`, `1:02:03`.
pub(crate) fn clock(span: Span) -> String {
    let seconds = span.as_secs() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_rates() {
        assert_eq!(span("24h"), Ok(Span::from_whole_secs(86_400)));
        assert_eq!(span(" 1.5m "), Ok(Span::from_whole_secs(90)));
        assert_eq!(span("500ms"), Ok(Span::from_millis(500)));
        assert_eq!(span("0"), Ok(Span::ZERO));
        for wrong in ["", "15", "h", "15 parsecs", "-1s", "NaNs", "1e300d", "inf h"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
        assert!(some_span("0s").is_err());
        assert_eq!(rate("10/s"), Ok(Span::from_millis(100)));
        assert_eq!(rate("30/m"), Ok(Span::from_whole_secs(2)));
        for wrong in ["", "10", "0/s", "-1/s", "1/parsec", "NaN/s", "1e300/s"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        assert_eq!(spoken(Span::from_whole_secs(86_400)), "24 h");
        assert_eq!(spoken(Span::from_whole_secs(9600)), "2 h 40 m");
        assert_eq!(spoken(Span::from_whole_secs(2400)), "40 m");
        assert_eq!(spoken(Span::from_whole_secs(604_800 + 7200)), "7 d 2 h");
        assert_eq!(spoken(Span::from_whole_secs(15)), "15 s");
        assert_eq!(spoken(Span::from_millis(100)), "100 ms");
        assert_eq!((bytes("64kB"), bytes("1.5 MB")), (Ok(64_000), Ok(1_500_000)));
        for wrong in ["", "7", "0B", "-1kB", "1 elephant", "NaNB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(about(Span::from_secs(0.1528)), "150 ms");
        assert_eq!(about(Span::from_secs(90.4)), "90 s");
        assert_eq!(clock(Span::from_whole_secs(7)), "0:07");
        assert_eq!(clock(Span::from_whole_secs(3723)), "1:02:03");
    }
}
