//! Numbers as people read them.

/// Four significant digits, without an exponent where that stays readable.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let magnitude = number.abs().log10().floor();
    if !(-4.0..7.0).contains(&magnitude) {
        return format!("{number:.3e}");
    }
    let decimals = (3.0 - magnitude).clamp(0.0, 8.0) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share in percent, with enough digits to tell 99.9 from 100.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A count with its thousands apart: `1,234,567`.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things: `1 page`, `1,234 pages`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(short(0.44400266), "0.444");
        assert_eq!(short(123_456.7), "123457");
        assert_eq!(short(12.0), "12");
        assert_eq!(short(1.5e-9), "1.500e-9");
        assert_eq!(short(0.0), "0");
        assert_eq!(percent(0.5797), "58.0 %");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(counted(1, "page"), "1 page");
        assert_eq!(counted(2000, "page"), "2,000 pages");
    }
}
