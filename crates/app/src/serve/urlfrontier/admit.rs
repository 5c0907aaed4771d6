//! Who may call what: the same questions as at the other doors, with the answers of gRPC.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::AUTHORIZATION;
use tonic::{Code, Status};

use super::refused;
use crate::serve::caught::Caught;
use crate::serve::guard::Guard;
use crate::serve::server::Peer;
use crate::serve::tokens::Scope;

/// What the calls of the service are addressed to.
const SERVICE: &str = "/urlfrontier.URLFrontier/";

/// What a call needs; `None`: there is no such call.
fn scope(name: &str) -> Option<Scope> {
    match name {
        "ListNodes" | "ListCrawls" | "ListQueues" | "GetStats" | "GetActive" | "GetURLStatus"
        | "ListURLs" | "CountURLs" => Some(Scope::Read),
        "GetURLs" | "PutURLs" | "PutDiscovered" | "DeleteCrawl" | "DeleteQueue" | "BlockQueueUntil"
        | "SetActive" | "SetDelay" | "SetLogLevel" | "SetCrawlLimit" | "PurgeURLs" => Some(Scope::Write),
        _ => None,
    }
}

/// Before every call.
pub(super) async fn admit(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let address = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let taken = address.map_or(Ok(()), |address| guard.take(address));
    if let Err(problem) = taken.and_then(|()| guard.settle(&mut request)) {
        return refused::by(problem).into_http();
    }
    if let Err(why) = may(&guard, &request) {
        if let Some(address) = address
            .filter(|_| why.code() == Code::Unauthenticated && request.headers().contains_key(AUTHORIZATION))
        {
            guard.fine(address);
        }
        tracing::debug!(call = request.uri().path(), why = why.message(), "refused");
        return why.into_http();
    }
    let answered = Caught::new(next.run(request)).await;
    answered.unwrap_or_else(|| {
        Status::internal("something went wrong here; the log of the server says what").into_http()
    })
}

fn may(guard: &Guard, request: &Request) -> Result<(), Status> {
    // Health and reflection are for everybody.
    let Some(name) = request.uri().path().strip_prefix(SERVICE) else { return Ok(()) };
    let scope = scope(name).ok_or_else(|| {
        Status::unimplemented(format!("there is no call {name}; expected one of URLFrontier 2.6"))
    })?;
    guard.admit(request.headers(), scope).map(drop).map_err(refused::by)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every call of the description has its scope, and nothing else has one.
    #[test]
    fn every_call_has_a_scope() {
        let described = include_str!("../../../proto/urlfrontier.proto");
        let calls = described.lines().filter_map(|line| line.trim().strip_prefix("rpc "));
        let names: Vec<&str> = calls.filter_map(|call| call.split('(').next()).collect();
        assert_eq!(names.len(), 19);
        for name in names {
            assert!(scope(name).is_some(), "{name}");
        }
        assert_eq!((scope("Brew"), scope("")), (None, None));
    }
}
