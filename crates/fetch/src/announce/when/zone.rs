//! Time zones: offsets, and the few names that everybody understands alike.

/// Names that mean one offset wherever they are written, in quarters of an hour east of UTC. `IST` and `AST` mean several.
const NAMES: [(&str, i64); 29] = [
    ("Z", 0),
    ("UT", 0),
    ("UTC", 0),
    ("GMT", 0),
    ("WET", 0),
    ("WEST", 4),
    ("BST", 4),
    ("CET", 4),
    ("MEZ", 4),
    ("MET", 4),
    ("CEST", 8),
    ("MESZ", 8),
    ("MEST", 8),
    ("EET", 8),
    ("EEST", 12),
    ("MSK", 12),
    ("JST", 36),
    ("AEST", 40),
    ("AEDT", 44),
    ("NZST", 48),
    ("NZDT", 52),
    ("EST", -20),
    ("EDT", -16),
    ("CST", -24),
    ("CDT", -20),
    ("MST", -28),
    ("MDT", -24),
    ("PST", -32),
    ("PDT", -28),
];

/// A zone as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// Seconds east of UTC.
    Known(i64),
    /// It has the form of a zone's name, and is none that we know.
    Unknown,
}

impl Zone {
    pub(super) fn offset(self) -> Option<i64> {
        match self {
            Self::Known(offset) => Some(offset),
            Self::Unknown => None,
        }
    }

    /// `Z`, `CET`, `+01:00`, `+0100`, `+01`, `GMT+0100`; `None` if it is nothing of the kind.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.starts_with(['+', '-']) {
            return offset(text);
        }
        // `Etc/GMT+5` is five hours west, against all other uses of the sign: with an offset it is not read.
        let text = match text.strip_prefix("Etc/") {
            Some(name) if name.bytes().all(|byte| byte.is_ascii_alphabetic()) => name,
            _ => text,
        };
        let letters = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (name, rest) = text.split_at(letters);
        if name.is_empty() || name.len() > 5 {
            return None;
        }
        let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        match (known, rest) {
            (Some((_, quarters)), "") => Some(Self::Known(quarters * 900)),
            // `GMT+0100`, and the `Z+00:00` of those who append both.
            (Some((_, 0)), rest) => offset(rest),
            (None, "") => Some(Self::Unknown),
            _ => None,
        }
    }
}

fn offset(text: &str) -> Option<Zone> {
    let (sign, digits) = match text.as_bytes() {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let value = |digit: &u8| digit.is_ascii_digit().then(|| i64::from(digit - b'0'));
    let pair = |tens: &u8, ones: &u8| Some(value(tens)? * 10 + value(ones)?);
    let (hours, minutes) = match digits {
        [a] => (value(a)?, 0),
        [a, b] => (pair(a, b)?, 0),
        [a, b':', b, c] => (value(a)?, pair(b, c)?),
        // Seconds of offsets were last of use in 1972.
        [a, b, b':', c, d] | [a, b, c, d] | [a, b, b':', c, d, b':', b'0', b'0'] => {
            (pair(a, b)?, pair(c, d)?)
        }
        _ => return None,
    };
    // -00:00 says that the zone is not known (RFC 3339, section 4.3).
    if sign < 0 && hours == 0 && minutes == 0 {
        return Some(Zone::Unknown);
    }
    (hours <= 15 && minutes < 60).then_some(Zone::Known(sign * (hours * 3600 + minutes * 60)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_as_they_are_written() {
        for (text, hours) in [
            ("Z", 0.0),
            ("gmt", 0.0),
            ("+01:00", 1.0),
            ("+0530", 5.5),
            ("-8", -8.0),
            ("-03:30", -3.5),
            ("PDT", -7.0),
            ("GMT+0200", 2.0),
            ("Z+00:00", 0.0),
            ("+5:45", 5.75),
            ("MET", 1.0),
            ("mest", 2.0),
            ("Etc/GMT", 0.0),
        ] {
            assert_eq!(Zone::parse(text), Some(Zone::Known((hours * 3600.0) as i64)), "{text}");
        }
        assert_eq!(Zone::parse("-0000"), Some(Zone::Unknown));
        assert_eq!(Zone::parse("XYZ"), Some(Zone::Unknown));
        for wrong in ["", "+", "+1:2:3", "+99:00", "nowhere", "CET+0100", "Etc/GMT+5", "é"] {
            assert_eq!(Zone::parse(wrong), None, "{wrong}");
        }
    }
}
