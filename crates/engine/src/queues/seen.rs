//! What a crawler tells of a look, as our own fetchers would.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use refrain_store::Digest;

use super::SeenByOthers;
use crate::handle::Saw;

impl SeenByOthers {
    /// What was seen. Where there is no signature, what a server says of its copy is one.
    pub(crate) fn saw(&self) -> Saw {
        if self.failed {
            let why = "its crawler could not fetch it".to_owned();
            return if self.status.is_none() { Saw::Nothing(why) } else { Saw::Failed(why) };
        }
        let mut headers = HeaderMap::new();
        put(&mut headers, header::ETAG, self.etag.as_deref());
        put(&mut headers, header::LAST_MODIFIED, self.last_modified.as_deref());
        let validators = || match (&self.etag, &self.last_modified) {
            (None, None) => None,
            (etag, modified) => {
                Some(format!("{} {}", or_none(etag.as_deref()), or_none(modified.as_deref())))
            }
        };
        let digest = self.signature.clone().or_else(validators).map(|text| Digest::of(text.as_bytes()));
        Saw::Told {
            status: self.status.unwrap_or(200),
            url: None,
            headers,
            changed: None,
            digest,
            title: None,
        }
    }
}

fn or_none(text: Option<&str>) -> &str {
    text.unwrap_or("-")
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) {
    // What cannot be sent back to a server is not kept.
    if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(seen: &SeenByOthers) -> Option<Digest> {
        let Saw::Told { digest, .. } = seen.saw() else { panic!() };
        digest
    }

    #[test]
    fn signatures_are_what_is_compared_and_validators_where_there_is_none() {
        let etag = |etag: &str| SeenByOthers { etag: Some(etag.to_owned()), ..SeenByOthers::default() };
        assert_ne!(digest(&etag("a")), digest(&etag("b")));
        let both = |text: &str| SeenByOthers { signature: Some("s".to_owned()), ..etag(text) };
        assert_eq!(digest(&both("a")), digest(&both("b")));
        assert_eq!(digest(&SeenByOthers::default()), None);
    }

    #[test]
    fn what_failed_says_so_whatever_the_status() {
        let failed = |status| SeenByOthers { failed: true, status, ..SeenByOthers::default() }.saw();
        assert!(matches!(failed(None), Saw::Nothing(_)));
        assert!(matches!(failed(Some(200)), Saw::Failed(_)));
    }
}
