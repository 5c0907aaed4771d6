//! What is wrong with a request, for programs and for people (RFC 9457).

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

/// Why a request changes nothing: a status, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// When to come back, in seconds.
    retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }

    /// It cannot be read.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// It comes too often.
    pub(crate) fn too_many(detail: impl Into<String>, retry_after: u32) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail) }
    }

    /// The crawl is over, or ends at this moment.
    pub(crate) fn over() -> Self {
        Self {
            retry_after: Some(30),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "the crawl ends at this moment; expected it to run")
        }
    }
}

impl From<refrain_engine::Over> for Problem {
    fn from(_: refrain_engine::Over) -> Self {
        Self::over()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let mut answer = (self.status, body.to_string()).into_response();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            // Either way of handing over a token.
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            headers.append(
                WWW_AUTHENTICATE,
                HeaderValue::from_static("Basic realm=\"refrain\", charset=\"UTF-8\""),
            );
        }
        answer
    }
}
