//! What went wrong with a request, as RFC 9457 has it: one sentence for people, one word for programs.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use refrain_engine::Over;
use refrain_store::StoreError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a handler answers with.
pub(crate) type Answer<T> = Result<T, Problem>;

/// Why a request was not answered as it wished. Boxed: it is rare, and results are everywhere.
#[derive(Debug)]
pub(crate) struct Problem(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    code: &'static str,
    detail: String,
    retry_after: Option<u64>,
    headers: Vec<(http::HeaderName, HeaderValue)>,
}

/// As it is sent, with the content type `application/problem+json`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Details {
    /// What kind of problem this is: always `about:blank`, which means that the status says it.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: String,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What kind of problem this is, in a word that stays the same.
    code: String,
    /// What is wrong, and what was expected, in a sentence.
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner { status, code, detail: detail.into(), retry_after: None, headers: Vec::new() }))
    }

    /// The request cannot be understood.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", detail)
    }

    /// It can be understood, but what it says cannot be.
    pub(crate) fn impossible(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unusable-content", detail)
    }

    /// There is no such thing.
    pub(crate) fn missing(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// There is no page of this number.
    pub(crate) fn no_page(id: i64) -> Self {
        Self::missing("no-such-page", format!("there is no page {id}"))
    }

    /// Somebody must say who they are.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
        problem.0.headers.push((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"refrain\"")));
        problem
    }

    /// They may not.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// Not for now; again after so many seconds.
    pub(crate) fn later(
        status: StatusCode,
        code: &'static str,
        detail: impl Into<String>,
        seconds: u64,
    ) -> Self {
        let mut problem = Self::new(status, code, detail);
        problem.0.retry_after = Some(seconds.max(1));
        problem
    }

    /// Too much at a time.
    pub(crate) fn too_large(most: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            format!("the body is longer than {most} bytes; expected several requests"),
        )
    }

    /// It is in a form that is not understood.
    pub(crate) fn form(expected: &str) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-type",
            format!("the body is in a form that is not read here; expected Content-Type: {expected}"),
        )
    }

    /// It took too long to arrive.
    pub(crate) fn slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "the body did not arrive in time")
    }

    /// Something that must not happen; the log knows more than who asked.
    pub(crate) fn ours() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong here; the log of the server says what",
        )
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The sentence.
    pub(crate) fn into_detail(self) -> String {
        self.0.detail
    }
}

impl From<Over> for Problem {
    fn from(_: Over) -> Self {
        Self::later(
            StatusCode::SERVICE_UNAVAILABLE,
            "over",
            "the crawl is ending; nothing changes any more until it is started again",
            5,
        )
    }
}

impl From<StoreError> for Problem {
    fn from(why: StoreError) -> Self {
        tracing::error!(%why, "the store cannot be read");
        Self::ours()
    }
}

impl From<tokio::task::JoinError> for Problem {
    fn from(why: tokio::task::JoinError) -> Self {
        tracing::error!(%why, "a request could not be finished");
        Self::ours()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Inner { status, code, detail, retry_after, headers } = *self.0;
        let details = Details {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Unknown").to_owned(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail,
        };
        // Texts and numbers always become JSON.
        let body = serde_json::to_vec(&details).unwrap_or_default();
        let mut response = (status, body).into_response();
        let own = response.headers_mut();
        own.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry_after {
            own.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        for (name, value) in headers {
            own.insert(name, value);
        }
        response
    }
}
