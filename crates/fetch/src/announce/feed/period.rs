//! How often a feed says that it changes.

use refrain_core::time::Span;

/// Nobody means more than a year.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// RSS's `ttl`: minutes.
pub(super) fn ttl(text: &str) -> Option<Span> {
    let minutes: f64 = text.trim().parse().ok()?;
    span(minutes * 60.0)
}

/// The syndication module: a period (a day, if none is given), and how often in it (once, if nothing is said).
pub(super) fn every(period: Option<&str>, frequency: Option<&str>) -> Option<Span> {
    if period.is_none() && frequency.is_none() {
        return None;
    }
    let period = match period.map(str::trim) {
        None | Some("daily") => 86_400.0,
        Some("hourly") => 3600.0,
        Some("weekly") => 7.0 * 86_400.0,
        Some("monthly") => 30.0 * 86_400.0,
        Some("yearly") => 365.0 * 86_400.0,
        Some(_) => return None,
    };
    let times: f64 = frequency.map_or(Some(1.0), |text| text.trim().parse().ok())?;
    span(period / times)
}

/// From a minute to a year: the rest is a mistake.
fn span(seconds: f64) -> Option<Span> {
    (60.0..=LONGEST_S).contains(&seconds).then(|| Span::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        let hours = |hours: u64| Some(Span::from_whole_secs(hours * 3600));
        assert_eq!(ttl(" 60 "), hours(1));
        for wrong in ["", "0", "-5", "soon", "NaN", "1e99"] {
            assert_eq!(ttl(wrong), None, "{wrong}");
        }
        assert_eq!(every(Some("hourly"), Some("1")), hours(1));
        assert_eq!(every(None, Some("4")), hours(6));
        assert_eq!(every(Some(" weekly\n"), None), hours(168));
        for (period, frequency) in
            [(None, None), (Some("often"), None), (Some("daily"), Some("0")), (None, Some("-1"))]
        {
            assert_eq!(every(period, frequency), None);
        }
    }
}
