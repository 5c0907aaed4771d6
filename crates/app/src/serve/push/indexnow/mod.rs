//! IndexNow: a site says which of its pages changed, and shows by a file with a key that it is the site who says so.

mod call;
mod keys;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use refrain_core::time::Span;
use refrain_engine::{Kind, Over, Recent, Said};
use refrain_fetch::client::Request;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::intake;
use super::problem::Problem;
use super::verdict::Verdict;
use super::{Answer, Push};
use crate::serve::server::Peer;
use crate::serve::server::slots::network;
use call::Call;
use keys::{Claim, Found, Keys, Task};

const DOOR: &str = "indexnow";
/// Of a key file so much counts; a key is shorter.
const KEY_FILE: usize = 1024;
/// So many calls wait for their keys at a time; each may be as large as a body.
const MOST_WAITING: usize = 16;
/// So many calls are known again.
const MOST_CALLS: usize = 10_000;
/// The same call again within this says nothing new.
const SAME_FOR: Span = Span::from_whole_secs(600);
/// Who calls waits for so long; then the key is looked at without them.
const WAIT: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 5000 });
/// A host that does not answer is asked again, after this,
const AGAIN: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 20_000 });
/// so many times in all.
const TRIES: u32 = 3;

pub(super) struct Desk {
    keys: Keys,
    calls: Mutex<Recent<[u8; 32], ()>>,
    waiting: Arc<Semaphore>,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self {
            keys: Keys::new(),
            calls: Mutex::new(Recent::new(MOST_CALLS)),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `GET /indexnow?url=…&key=…`
pub(super) async fn one(State(push): State<Arc<Push>>, peer: Option<Extension<Peer>>, uri: Uri) -> Response {
    let answer = match Call::of_query(uri.query().unwrap_or_default()) {
        Ok(call) => push.called(call, peer).await,
        Err(problem) => Err(problem),
    };
    push.answer(DOOR, answer)
}

/// `POST /indexnow`
pub(super) async fn many(
    State(push): State<Arc<Push>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let call = intake::body(&headers, body).await.and_then(|body| Call::of_json(&body));
    let answer = match call {
        Ok(call) => push.called(call, peer).await,
        Err(problem) => Err(problem),
    };
    push.answer(DOOR, answer)
}

impl Push {
    async fn called(self: &Arc<Self>, call: Call, peer: Option<Extension<Peer>>) -> Answer {
        let origin = call.origin();
        let first = call.urls.first().map(|url| url.origin().to_owned());
        if !self.ears.knows_host(&origin) && !first.is_some_and(|host| self.ears.knows_host(&host)) {
            return Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("no pages of {origin} are crawled here; expected a host with some"),
            ));
        }
        let now = self.ears.now();
        let name = (call.location.as_str().to_owned(), call.key.clone());
        match self.indexnow.keys.verdict(&name, now) {
            Some(true) => return self.index(call).await,
            Some(false) => return Err(wrong_key(&call)),
            None => {}
        }
        let Ok(permit) = Arc::clone(&self.indexnow.waiting).try_acquire_owned() else {
            return Err(Problem::too_many("too many keys are looked for at this moment", 30));
        };
        // What was passed on by this machine may come from anybody.
        let address = peer.map(|Extension(Peer(peer))| network(peer.ip())).filter(|ip| !ip.is_loopback());
        let claim = Claim { name, host: origin, address };
        let task = self.indexnow.keys.begin(&claim, now)?;
        let push = Arc::clone(self);
        let verified = tokio::spawn(async move {
            let _permit = permit;
            let found = match task {
                Task::Look(others) => {
                    let found = push.look_for(&call).await;
                    push.indexnow.keys.end(&claim, found.unwrap_or(Found::Unanswered), push.ears.now());
                    others.send_replace(found.ok());
                    found?
                }
                Task::Wait(mut found) => {
                    let found = found.wait_for(Option::is_some).await.map_err(|_| Over)?;
                    found.ok_or(Over)?
                }
            };
            if found == Found::There { push.index(call).await } else { Err(wrong_key(&call)) }
        });
        match tokio::time::timeout(WAIT, verified).await {
            Ok(Ok(answer)) => answer,
            // The runtime ends.
            Ok(Err(_)) => Err(Problem::over()),
            Err(_) => Ok((Verdict::Pending, StatusCode::ACCEPTED.into_response())),
        }
    }

    /// Whether the site has the key where it says, looked up politely.
    async fn look_for(&self, call: &Call) -> Result<Found, Over> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                tokio::time::sleep(AGAIN).await;
            }
            let request = Request { max_body: Some(KEY_FILE + 1), ..Request::new(call.location.clone()) };
            // Redirects lead to where somebody else may decide what is said.
            if let Some(Ok(answer)) = self.ears.get(request).await? {
                let is_short = !answer.truncated && answer.body.len() <= KEY_FILE;
                let is_key = answer.body.trim_ascii() == call.key.as_bytes();
                let is_there = answer.status == 200 && is_short && is_key;
                return Ok(if is_there { Found::There } else { Found::NotThere });
            }
        }
        Ok(Found::Unanswered)
    }

    /// What a site says of its pages is handed on.
    async fn index(&self, call: Call) -> Answer {
        let mut mark = Sha256::new();
        for url in &call.urls {
            mark.update(url.as_str());
            mark.update(b"\n");
        }
        let mark: [u8; 32] = mark.finalize().into();
        let now = self.ears.now();
        if !locked(&self.indexnow.calls).first(mark, (), now, SAME_FOR) {
            return Ok((Verdict::Replayed, StatusCode::OK.into_response()));
        }
        let adds = self.settings.indexnow_adds;
        let said = call.urls.into_iter().map(|url| Said { url, changed: None, adds }).collect();
        if let Err(over) = self.signal(Kind::IndexNow, said).await {
            locked(&self.indexnow.calls).forget(&mark);
            return Err(over.into());
        }
        Ok((Verdict::Taken, StatusCode::OK.into_response()))
    }
}

fn wrong_key(call: &Call) -> Problem {
    let Call { location, .. } = call;
    Problem::new(
        StatusCode::FORBIDDEN,
        format!("the key is not at {location}; expected a file with nothing else in it"),
    )
}

#[cfg(test)]
mod tests;
