//! What a page asks of crawlers: `<meta name=robots>` and `X-Robots-Tag`.

/// Requests to crawlers, for this page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Do not show it in searches.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
    /// Do not show stored copies of it.
    pub noarchive: bool,
}

impl Directives {
    /// Reads the values of `X-Robots-Tag` lines; those that name another agent than ours are not for us.
    pub fn of_header<'a>(values: impl Iterator<Item = &'a [u8]>, agent: &str) -> Self {
        let mut directives = Self::default();
        for value in values {
            let text = String::from_utf8_lossy(value);
            match text.split_once(':') {
                // `unavailable_after: date` has a colon as well, but is no agent, and nothing to us.
                Some((name, rest)) if name.trim().eq_ignore_ascii_case(agent) => directives.add(rest),
                Some(_) => {}
                None => directives.add(&text),
            }
        }
        directives
    }

    /// Adds a list of requests: `noindex, nofollow`.
    pub(super) fn add(&mut self, list: &str) {
        for word in list.split(',').map(str::trim) {
            let is = |name: &str| word.eq_ignore_ascii_case(name);
            self.noindex |= is("noindex") || is("none");
            self.nofollow |= is("nofollow") || is("none");
            self.noarchive |= is("noarchive");
        }
    }

    /// What either asks for.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }
}
