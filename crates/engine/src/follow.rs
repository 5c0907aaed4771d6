//! Which links become pages.

use refrain_fetch::url::PageUrl;

/// Which links become pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Those to the same host.
    SameHost,
    /// Those to the same site: `news.example.org` and `www.example.org` are one.
    SameSite,
    /// Those whose address fits a pattern with `*` for anything.
    Pattern(String),
}

impl std::fmt::Display for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::SameHost => "same-host",
            Self::SameSite => "same-site",
            Self::Pattern(pattern) => pattern,
        })
    }
}

impl Follow {
    /// Whether a link on one page leads to another that is to be crawled.
    pub fn leads(&self, from: &PageUrl, to: &PageUrl) -> bool {
        match self {
            Self::SameHost => {
                (from.host(), from.port(), from.is_secure()) == (to.host(), to.port(), to.is_secure())
            }
            Self::SameSite => from.site() == to.site(),
            Self::Pattern(pattern) => fits(pattern, to.as_str()),
        }
    }
}

/// Whether a text fits a pattern with `*` for anything: each part is found where it first can be, which is as good as anywhere.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(found) = rest.find(before) else { return false };
            rest = &rest[found + before.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit() {
        for (pattern, text, expected) in [
            ("http://a/*", "http://a/b/c", true),
            ("http://a/*/c", "http://a/b/c", true),
            ("http://a/*/c", "http://a/b/cd", false),
            ("*aab", "aaab", true),
            ("a*b*c", "abbc", true),
            ("a*b*c", "ac", false),
            ("ab", "ab", true),
            ("ab", "abc", false),
            ("*", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn hosts_and_sites() {
        let url = |text: &str| PageUrl::parse(text).unwrap();
        let from = url("https://news.example.co.uk/");
        assert!(Follow::SameSite.leads(&from, &url("http://www.example.co.uk/x")));
        assert!(!Follow::SameHost.leads(&from, &url("https://www.example.co.uk/x")));
        assert!(Follow::SameHost.leads(&from, &url("https://news.example.co.uk/x")));
        assert!(!Follow::SameSite.leads(&from, &url("https://other.co.uk/")));
    }
}
