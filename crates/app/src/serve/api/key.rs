//! `Idempotency-Key`: what a request is called by who sends it, so that it counts once however often it is sent.

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use refrain_core::time::Span;
use refrain_engine::{Once, Reused};

use crate::serve::guard::Caller;
use crate::serve::problem::{Answer, Problem};

const LONGEST: usize = 128;
/// So long a request is known again.
const KNOWN_FOR: Span = Span::from_whole_secs(3600);

/// What a request is called, if it has a name.
#[derive(Clone, Debug)]
pub(crate) struct Key(pub(crate) Option<String>);

impl Key {
    pub(crate) fn of(headers: &HeaderMap) -> Answer<Self> {
        let Some(line) = headers.get("idempotency-key") else { return Ok(Self(None)) };
        let is_one = |key: &&str| {
            (1..=LONGEST).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let wrong = || Problem::bad("Idempotency-Key: expected 1 to 128 letters of ASCII, without spaces");
        let key = line.to_str().ok().filter(is_one).ok_or_else(wrong)?;
        Ok(Self(Some(key.to_owned())))
    }

    /// The name as the crawl knows it, in which everybody has names of their own, at every door; and what is said under it.
    pub(crate) fn once(&self, caller: &Caller, door: &str, says: impl FnOnce() -> Vec<u8>) -> Option<Once> {
        let who = caller.0.as_ref().map_or("", |token| &token.id);
        let name = format!("{door} {who} {}", self.0.as_ref()?);
        Some(Once::new(name.as_bytes(), &says(), KNOWN_FOR))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&parts.headers)
    }
}

impl From<Reused> for Problem {
    fn from(_: Reused) -> Self {
        Self::new(
            http::StatusCode::CONFLICT,
            "key-reused",
            "Idempotency-Key was used for another request within the last hour; expected a new one for each",
        )
    }
}
