//! What is wrong with a push: a status, which is counted, and a sentence; told as everywhere (`serve::problem`).

use axum::response::{IntoResponse, Response};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};

use crate::serve::problem;

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

    /// What kind of problem this is, in a word that stays the same.
    fn code(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "unauthorized",
            403 => "forbidden",
            404 => "no-such-door",
            405 => "no-such-method",
            408 => "too-slow",
            413 => "too-large",
            415 => "unsupported-type",
            422 => "unusable-content",
            429 => "too-many-requests",
            503 => "over",
            _ => "bad-request",
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
        let (code, is_unknown) = (self.code(), self.status == StatusCode::UNAUTHORIZED);
        let mut answer = match self.retry_after {
            Some(seconds) => problem::Problem::later(self.status, code, self.detail, seconds.into()),
            None => problem::Problem::new(self.status, code, self.detail),
        }
        .into_response();
        if is_unknown {
            // Either way of handing over a token.
            let headers = answer.headers_mut();
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            headers.append(
                WWW_AUTHENTICATE,
                HeaderValue::from_static("Basic realm=\"refrain\", charset=\"UTF-8\""),
            );
        }
        answer
    }
}
