//! Hosts as the engine and the store name them.

use refrain_fetch::url::PageUrl;

/// Scheme, name and port of a page, the port only if it is not the usual one.
pub(crate) fn host_of(url: &PageUrl) -> String {
    let (scheme, usual) = if url.is_secure() { ("https", 443) } else { ("http", 80) };
    if url.port() == usual {
        format!("{scheme}://{}", url.host())
    } else {
        format!("{scheme}://{}:{}", url.host(), url.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_name() {
        let host = |url: &str| host_of(&PageUrl::parse(url).unwrap());
        assert_eq!(host("http://Example.org:80/a"), "http://example.org");
        assert_eq!(host("https://example.org:8443/?x=://y/"), "https://example.org:8443");
    }
}
