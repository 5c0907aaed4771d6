//! IndexNow: a site says which of its pages changed, and shows by a file with a key that it is the site who says so.

mod call;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use refrain_core::time::Span;
use refrain_engine::{Kind, Over, Said};
use refrain_fetch::client::Request;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::intake;
use super::problem::Problem;
use super::recent::Recent;
use super::verdict::Verdict;
use super::{Answer, Push};
use call::Call;

const DOOR: &str = "indexnow";
/// Of a key file so much counts; a key is shorter.
const KEY_FILE: usize = 1024;
/// So many calls wait for their keys at a time; each may be as large as a body.
const MOST_WAITING: usize = 16;
const MOST_VERDICTS: usize = 10_000;
/// A key that was there is believed for so long,
const GOOD_FOR: Span = Span::from_whole_secs(86_400);
/// one that was not is not asked for again for so long,
const BAD_FOR: Span = Span::from_whole_secs(600);
/// and of a host with so many wrong keys in an hour none is asked for: whoever calls must not make us knock at somebody else's door.
const MOST_BAD: u32 = 10;
const AN_HOUR: Span = Span::from_whole_secs(3600);
/// The same call again within this says nothing new.
const SAME_FOR: Span = Span::from_whole_secs(600);
/// Who calls waits for so long; then the key is looked at without them.
const WAIT: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 5000 });
/// A host that does not answer is asked again, after this,
const AGAIN: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 20_000 });
/// so many times in all.
const TRIES: u32 = 3;

pub(super) struct Desk {
    /// Whether a key was at a place.
    keys: Mutex<Recent<(String, String), bool>>,
    /// Wrong keys, by host.
    wrong: Mutex<Recent<String, u32>>,
    calls: Mutex<Recent<[u8; 32], ()>>,
    waiting: Arc<Semaphore>,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self {
            keys: Mutex::new(Recent::new(MOST_VERDICTS)),
            wrong: Mutex::new(Recent::new(MOST_VERDICTS)),
            calls: Mutex::new(Recent::new(MOST_VERDICTS)),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `GET /indexnow?url=…&key=…`
pub(super) async fn one(State(push): State<Arc<Push>>, uri: Uri) -> Response {
    let answer = match Call::of_query(uri.query().unwrap_or_default()) {
        Ok(call) => push.called(call).await,
        Err(problem) => Err(problem),
    };
    push.answer(DOOR, answer)
}

/// `POST /indexnow`
pub(super) async fn many(State(push): State<Arc<Push>>, headers: HeaderMap, body: Body) -> Response {
    let call = intake::body(&headers, body).await.and_then(|body| Call::of_json(&body));
    let answer = match call {
        Ok(call) => push.called(call).await,
        Err(problem) => Err(problem),
    };
    push.answer(DOOR, answer)
}

impl Push {
    async fn called(self: &Arc<Self>, call: Call) -> Answer {
        let origin = call.origin();
        let first =
            call.urls.first().map(|url| url.robots().as_str().trim_end_matches("/robots.txt").to_owned());
        if !self.ears.knows_host(&origin) && !first.is_some_and(|host| self.ears.knows_host(&host)) {
            return Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("no pages of {origin} are crawled here; expected a host with some"),
            ));
        }
        let now = self.ears.now();
        let name = (call.location.as_str().to_owned(), call.key.clone());
        let known = locked(&self.indexnow.keys).get(&name, now).copied();
        match known {
            Some(true) => return self.index(call).await,
            Some(false) => return Err(wrong_key(&call)),
            None => {}
        }
        if locked(&self.indexnow.wrong).get(&origin, now).is_some_and(|count| *count >= MOST_BAD) {
            return Err(Problem::too_many(format!("{origin}: too many keys that were not there"), 3600));
        }
        let Ok(permit) = Arc::clone(&self.indexnow.waiting).try_acquire_owned() else {
            return Err(Problem::too_many("too many keys are looked for at this moment", 30));
        };
        let push = Arc::clone(self);
        let verified = tokio::spawn(async move {
            let _permit = permit;
            let answer =
                if push.has_key(&call).await? { push.index(call).await } else { Err(wrong_key(&call)) };
            Ok::<_, Problem>(answer)
        });
        match tokio::time::timeout(WAIT, verified).await {
            Ok(Ok(answer)) => answer?,
            // The runtime ends.
            Ok(Err(_)) => Err(Problem::over()),
            Err(_) => Ok((Verdict::Pending, StatusCode::ACCEPTED.into_response())),
        }
    }

    /// Whether the site has the key where it says, looked up politely; what came of it is remembered.
    async fn has_key(&self, call: &Call) -> Result<bool, Over> {
        let mut is_there = false;
        for attempt in 0..TRIES {
            if attempt > 0 {
                tokio::time::sleep(AGAIN).await;
            }
            let request = Request { max_body: Some(KEY_FILE + 1), ..Request::new(call.location.clone()) };
            // Redirects lead to where somebody else may decide what is said.
            if let Some(Ok(answer)) = self.ears.get(request).await? {
                let is_short = !answer.truncated && answer.body.len() <= KEY_FILE;
                let is_key = answer.body.trim_ascii() == call.key.as_bytes();
                is_there = answer.status == 200 && is_short && is_key;
                break;
            }
        }
        let now = self.ears.now();
        let name = (call.location.as_str().to_owned(), call.key.clone());
        locked(&self.indexnow.keys).put(name, is_there, now, if is_there { GOOD_FOR } else { BAD_FOR });
        if !is_there {
            let mut wrong = locked(&self.indexnow.wrong);
            let count = wrong.get(&call.origin(), now).copied().unwrap_or(0);
            wrong.put(call.origin(), count + 1, now, AN_HOUR);
        }
        Ok(is_there)
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
