//! What the answer to the request for robots.txt means (RFC 9309, section 2.3.1).

use refrain_core::time::Span;

/// A host whose robots.txt could not be had for this long is taken to have none.
pub const PATIENCE: Span = Span::from_whole_secs(30 * 86_400);

/// What to do with a host after its robots.txt was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The body holds the rules: read it with [`super::Robots::parse`].
    Parse,
    /// The rules that are known still hold: the answer to a conditional request.
    Unchanged,
    /// There is none: everything is allowed.
    Everything,
    /// It could not be had for [`PATIENCE`]: everything is allowed, but go gently.
    EverythingGently,
    /// It is elsewhere: follow up to five redirects, then it counts as [`Ruling::Everything`].
    Redirect,
    /// Nothing is allowed for now: ask again later.
    Wait,
}

impl Ruling {
    /// After an answer with this status; `failing_for` is how long the host has only given answers that mean "wait".
    pub fn of_status(status: u16, failing_for: Span) -> Self {
        match status {
            200..=299 => Self::Parse,
            304 => Self::Unchanged,
            300..=399 => Self::Redirect,
            // "Too many requests" is no statement about robots.txt.
            400..=428 | 430..=499 => Self::Everything,
            _ => Self::of_failure(failing_for),
        }
    }

    /// After no answer at all: no connection, no name, an answer that is not HTTP.
    pub fn of_failure(failing_for: Span) -> Self {
        if failing_for >= PATIENCE { Self::EverythingGently } else { Self::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_mean_what_the_standard_says() {
        let now = |status| Ruling::of_status(status, Span::ZERO);
        assert_eq!(now(200), Ruling::Parse);
        assert_eq!(now(301), Ruling::Redirect);
        assert_eq!(now(304), Ruling::Unchanged);
        for status in [400, 401, 403, 404, 410, 451] {
            assert_eq!(now(status), Ruling::Everything);
        }
        for status in [429, 500, 503, 599, 199, 600] {
            assert_eq!(now(status), Ruling::Wait);
        }
        assert_eq!(Ruling::of_status(503, PATIENCE), Ruling::EverythingGently);
        assert_eq!(Ruling::of_failure(Span::from_whole_secs(29 * 86_400)), Ruling::Wait);
    }
}
