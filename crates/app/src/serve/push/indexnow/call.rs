//! What an IndexNow call says, before anything of it is believed.

use http::StatusCode;
use refrain_fetch::url::PageUrl;
use serde::Deserialize;

use crate::serve::push::intake::Fields;
use crate::serve::push::problem::Problem;

/// So many addresses in a call, as the protocol has it.
pub(super) const MOST: usize = 10_000;

/// A call that fits together: all pages are of one host, and below the place that vouches for them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) key: String,
    /// Where the key is to be found.
    pub(super) location: PageUrl,
    pub(super) urls: Vec<PageUrl>,
}

/// As it is written; fields that the protocol does not have are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    host: String,
    key: String,
    key_location: Option<String>,
    url_list: Vec<String>,
}

impl Call {
    /// One page, in a query.
    pub(super) fn of_query(query: &str) -> Result<Self, Problem> {
        let fields = Fields::read(query.as_bytes());
        let one = |name: &str| {
            fields
                .one(name)
                .ok_or_else(|| Problem::malformed(format!("{name} is missing; expected it, once")))
        };
        let (url, key) = (page(one("url")?)?, one("key")?);
        Self::new(&authority(&url), key, fields.one("keyLocation"), vec![url])
    }

    /// Many pages, as JSON.
    pub(super) fn of_json(body: &[u8]) -> Result<Self, Problem> {
        let written: Written = serde_json::from_slice(body).map_err(|why| {
            Problem::malformed(format!("not the JSON of IndexNow ({why}); expected host, key and urlList"))
        })?;
        let Written { host, key, key_location, url_list } = written;
        if !(1..=MOST).contains(&url_list.len()) {
            let count = url_list.len();
            return Err(Problem::malformed(format!("urlList has {count} addresses; expected 1 to {MOST}")));
        }
        let urls = url_list.iter().map(|url| page(url)).collect::<Result<_, _>>()?;
        Self::new(host.trim(), &key, key_location.as_deref(), urls)
    }

    fn new(host: &str, key: &str, location: Option<&str>, urls: Vec<PageUrl>) -> Result<Self, Problem> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !(8..=128).contains(&key.len()) || !key.bytes().all(is_letter) {
            return Err(unfit("the key is none; expected 8 to 128 letters, digits and -"));
        }
        let host = host.to_ascii_lowercase();
        if let Some(stranger) = urls.iter().find(|url| authority(url) != host) {
            return Err(unfit(format!("{stranger} is not of {host}; expected addresses of one host")));
        }
        let Some(first) = urls.first() else {
            return Err(Problem::malformed("there is no address; expected one"));
        };
        let Some(location) = location else {
            let location = first.join(&format!("/{key}.txt")).map_err(|why| unfit(why.to_string()))?;
            return Ok(Self { key: key.to_owned(), location, urls });
        };
        let location = page(location)?;
        // What answers with whatever is in its query vouches for nothing.
        if authority(&location) != host || location.path_and_query().contains('?') {
            return Err(unfit(format!(
                "keyLocation is {location}; expected a file on {host}, without a query"
            )));
        }
        let path = location.path_and_query();
        let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
        if let Some(outside) = urls.iter().find(|url| !url.path_and_query().starts_with(folder)) {
            return Err(unfit(format!(
                "{outside} is not below {folder}, where the key is; expected it to be"
            )));
        }
        Ok(Self { key: key.to_owned(), location, urls })
    }

    /// Scheme, name and port of the host that it speaks for.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.location.is_secure() { "https" } else { "http" };
        format!("{scheme}://{}", authority(&self.location))
    }
}

fn unfit(why: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why)
}

fn page(text: &str) -> Result<PageUrl, Problem> {
    PageUrl::parse(text.trim()).map_err(|why| {
        let shown: String = text.chars().take(80).collect();
        unfit(format!("{shown:?}: {why}"))
    })
}

/// The host, and its port where that is not the usual one: `http` and `https` of one host are one site.
fn authority(url: &PageUrl) -> String {
    let (_, rest) = url.as_str().split_once("://").unwrap_or_default();
    rest.split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn posted(json: &str) -> Result<Call, u16> {
        Call::of_json(json.as_bytes()).map_err(|problem| problem.status.as_u16())
    }

    #[test]
    fn calls_that_fit() {
        let call = Call::of_query("url=https%3A%2F%2FExample.org%2Fa&key=abcd-1234").unwrap();
        assert_eq!(call.location.as_str(), "https://example.org/abcd-1234.txt");
        assert_eq!(
            (call.urls[0].as_str(), call.origin().as_str()),
            ("https://example.org/a", "https://example.org")
        );
        let call = posted(
            r#"{"host": "WWW.example.org:8443", "key": "abcd1234", "keyLocation": "https://www.example.org:8443/cat/k.txt",
                "urlList": ["https://www.example.org:8443/cat/1", "http://www.example.org:8443/cat/x/2?q"], "more": {}}"#,
        );
        assert_eq!(
            call.map(|call| (call.urls.len(), call.origin())),
            Ok((2, "https://www.example.org:8443".to_owned()))
        );
    }

    #[test]
    fn calls_that_do_not() {
        for (query, status) in [
            ("", 400),
            ("url=http://a.example/", 400),
            ("url=http://a.example/&url=http://a.example/b&key=abcd1234", 400),
            ("url=nothing&key=abcd1234", 422),
            ("url=ftp://a.example/&key=abcd1234", 422),
            ("url=http://a.example/&key=short", 422),
            ("url=http://a.example/&key=abcd_1234", 422),
            ("url=http://a.example/&key=abcd1234&keyLocation=http://b.example/k.txt", 422),
            ("url=http://a.example/&key=abcd1234&keyLocation=http://a.example:81/k.txt", 422),
            ("url=http://a.example/&key=abcd1234&keyLocation=http://a.example/k?echo=abcd1234", 422),
            ("url=http://a.example/x/&key=abcd1234&keyLocation=http://a.example/y/k.txt", 422),
            ("url=http://a.example/&key=abcd1234&keyLocation=http://a.example/y/k.txt", 422),
        ] {
            assert_eq!(
                Call::of_query(query).map_err(|problem| problem.status.as_u16()),
                Err(status),
                "{query}"
            );
        }
        assert_eq!(posted("{"), Err(400));
        assert_eq!(posted(r#"{"host": "a.example", "key": "abcd1234", "urlList": []}"#), Err(400));
        assert_eq!(posted(r#"{"host": "a.example", "key": "abcd1234", "urlList": [1]}"#), Err(400));
        assert_eq!(
            posted(r#"{"host": "a.example", "key": "abcd1234", "urlList": ["http://b.example/"]}"#),
            Err(422)
        );
        let many = |count| {
            let urls = vec!["\"http://a.example/\""; count].join(",");
            posted(&format!(r#"{{"host": "a.example", "key": "abcd1234", "urlList": [{urls}]}}"#))
                .map(|call| call.urls.len())
        };
        assert_eq!((many(MOST), many(MOST + 1)), (Ok(MOST), Err(400)));
    }

    proptest! {
        #[test]
        fn no_call_is_too_strange(query in "\\PC{0,80}", body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (Call::of_query(&query), Call::of_json(&body));
            if let Ok(call) = Call::of_query(&format!("url=http://a.example/{query}&key=abcd1234&keyLocation=http://a.example/x/{query}")) {
                prop_assert!(call.urls[0].path_and_query().starts_with("/x/"));
            }
        }
    }
}
