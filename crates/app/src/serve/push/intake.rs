//! Bodies and queries as they come in: never more than fits, never for longer than is reasonable.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use super::problem::Problem;

/// The largest body that is read.
pub(crate) const LARGEST: usize = 4 << 20;
/// Who sends one has so long.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 30_000 });
/// More fields than any form of ours has, but for lists of addresses.
const MOST_FIELDS: usize = 10_001;

/// Reads a body.
pub(crate) async fn body(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    if headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is compressed; expected it as it is",
        ));
    }
    let too_large = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is too large; expected at most {LARGEST} bytes"),
        )
    };
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|length| length > LARGEST as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(PATIENCE, to_bytes(body, LARGEST)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(why)) if is_too_large(&why) => Err(too_large()),
        Ok(Err(_)) => Err(Problem::malformed("the body breaks off; expected all of it")),
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body is slow; expected all of it within {} seconds", PATIENCE.as_secs()),
        )),
    }
}

fn is_too_large(why: &axum::Error) -> bool {
    let mut cause = std::error::Error::source(why);
    while let Some(inner) = cause {
        if inner.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// What a body is said to be: `application/json`, in lower case; empty if nothing is said.
pub(crate) fn kind(headers: &HeaderMap) -> String {
    let line = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    line.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Fields of a query or a form, in order.
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn read(text: &[u8]) -> Self {
        let fields = form_urlencoded::parse(text).take(MOST_FIELDS);
        Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The one of this name. Who says something twice means neither.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        let mut found = self.all(name);
        found.next().filter(|_| found.next().is_none())
    }

    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
