//! Who may speak, and for whom.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use refrain_engine::Source;
use refrain_fetch::url::PageUrl;

use crate::serve::tokens::speaks_for;

/// A program that announces changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// As what it is learned how far it can be believed.
    pub(crate) source: Source,
    /// Hosts that it speaks for: `https://example.org` (as hosts are named everywhere), `example.org` whatever the scheme and port, `*.example.org` for all
    /// below it; all, if none are named.
    pub(crate) hosts: Vec<String>,
}

/// Who knows the tokens.
pub(crate) trait Tokens: Send + Sync + 'static {
    /// Whose token this is; compared so that the time it takes tells nothing.
    fn source_of(&self, token: &str) -> Option<Speaker>;
}

impl Speaker {
    pub(super) fn speaks_for(&self, url: &PageUrl) -> bool {
        speaks_for(&self.hosts, url)
    }
}

/// The token of a request: `Bearer`, or the password of `Basic` for those who can do nothing else.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    let line = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = line.trim().split_once(' ')?;
    let token = if scheme.eq_ignore_ascii_case("bearer") {
        rest.trim().to_owned()
    } else if scheme.eq_ignore_ascii_case("basic") {
        let decoded = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
        decoded.split_once(':')?.1.to_owned()
    } else {
        return None;
    };
    (!token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_either_way() {
        let found = |line: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, line.parse().unwrap());
            token(&headers)
        };
        assert_eq!(found("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(found("basic Y2RuOmE6Yg==").as_deref(), Some("a:b"));
        for wrong in
            ["", "Bearer", "Bearer  ", "abc", "Digest abc", "Basic ?", "Basic Y2Ru", "Basic Y2RuOg=="]
        {
            assert_eq!(found(wrong), None, "{wrong}");
        }
        assert_eq!(token(&HeaderMap::new()), None);
    }

    #[test]
    fn nobody_speaks_for_strangers() {
        let speaks = |pattern: &str, url: &str| {
            let hosts = vec![pattern.to_owned()];
            Speaker { source: Source::new("cdn").unwrap(), hosts }.speaks_for(&PageUrl::parse(url).unwrap())
        };
        assert!(speaks("example.org", "https://Example.org:8443/a"));
        assert!(!speaks("example.org", "https://www.example.org/"));
        assert!(!speaks("example.org", "https://notexample.org/"));
        assert!(speaks("*.example.org", "https://a.b.example.org/"));
        assert!(
            !speaks("*.example.org", "https://example.org/")
                && !speaks("*.example.org", "https://badexample.org/")
        );
        assert!(speaks("https://example.org", "https://example.org:443/a"));
        assert!(speaks("http://example.org:8080", "http://example.org:8080/a"));
        assert!(!speaks("https://example.org", "http://example.org/a"));
        assert!(!speaks("https://example.org", "https://example.org:8443/a"));
        assert!(!speaks("", "https://example.org/") && !speaks("://", "https://example.org/"));
        let anybody = Speaker { source: Source::new("cdn").unwrap(), hosts: Vec::new() };
        assert!(anybody.speaks_for(&PageUrl::parse("https://anything.example/").unwrap()));
    }
}
