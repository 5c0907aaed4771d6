//! Why a call cannot be answered, in the words of gRPC.

use http::StatusCode;
use refrain_engine::Over;
use tonic::{Code, Status};

use crate::serve::problem::Problem;

/// The crawl is ending.
pub(super) fn over(_: Over) -> Status {
    Status::unavailable("the crawl is ending; nothing changes any more until it is started again")
}

/// What would be a problem over HTTP.
pub(super) fn by(problem: Problem) -> Status {
    let code = match problem.status() {
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        StatusCode::FORBIDDEN => Code::PermissionDenied,
        StatusCode::TOO_MANY_REQUESTS => Code::ResourceExhausted,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
        StatusCode::NOT_FOUND => Code::NotFound,
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Code::InvalidArgument,
        _ => Code::Internal,
    };
    Status::new(code, problem.into_detail())
}
