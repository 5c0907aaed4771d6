//! What a crawler tells of a look, as our own fetchers would.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use refrain_store::Digest;

use super::{FetchFailure, SeenByOthers};
use crate::handle::Saw;

impl SeenByOthers {
    /// What was seen. Where there is no signature, what a server says of its copy is one.
    pub(crate) fn saw(&self) -> Saw {
        if self.is_forbidden {
            return Saw::Disallowed;
        }
        match &self.failure {
            Some(FetchFailure::NoAnswer(why)) => return Saw::Nothing(why.clone()),
            Some(FetchFailure::OfPage(why)) => return Saw::Failed(why.clone()),
            None => {}
        }
        if let Some(status @ (300..=303 | 305..=399)) = self.status {
            return Saw::Redirected { status, target: self.redirect.clone() };
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
    fn what_its_crawler_says_of_a_failure_goes_before_the_status() {
        let stale = SeenByOthers { status: Some(200), ..SeenByOthers::default() };
        let failed = |failure| SeenByOthers { failure: Some(failure), ..stale.clone() }.saw();
        assert!(matches!(failed(FetchFailure::NoAnswer("x".to_owned())), Saw::Nothing(_)));
        assert!(matches!(failed(FetchFailure::OfPage("x".to_owned())), Saw::Failed(_)));
        assert!(matches!(SeenByOthers { is_forbidden: true, ..stale }.saw(), Saw::Disallowed));
    }

    #[test]
    fn a_redirect_is_one_wherever_it_leads() {
        for status in [300, 301, 302, 303, 307, 308] {
            let seen = SeenByOthers { status: Some(status), ..SeenByOthers::default() };
            assert!(matches!(seen.saw(), Saw::Redirected { target: None, .. }), "{status}");
        }
        let unchanged = SeenByOthers { status: Some(304), ..SeenByOthers::default() };
        assert!(matches!(unchanged.saw(), Saw::Told { status: 304, .. }));
    }
}
