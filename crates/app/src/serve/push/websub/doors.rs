//! What hubs say: whether we meant what we asked, and what is new.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode, Uri};
use refrain_core::time::Span;
use refrain_engine::{Kind, Once, Over, Said};
use refrain_fetch::announce::find::sniff;
use refrain_fetch::client::{self, Coded, ContentType, Headers, Hold};
use refrain_fetch::url::PageUrl;
use refrain_store::PageId;
use sha2::{Digest, Sha256};

use super::signature;
use crate::serve::push::intake::{self, Fields};
use crate::serve::push::problem::Problem;
use crate::serve::push::verdict::Verdict;
use crate::serve::push::{Answer, Push};

const DOOR: &str = "websub";
/// A body is known again for so long.
const SEEN_FOR: Span = Span::from_whole_secs(86_400);
/// What a hub wants to hear again is never longer.
const LONGEST_CHALLENGE: usize = 4096;

/// `GET /push/websub/{id}`: a hub asks whether we meant it, or says that it will not.
pub(crate) async fn verify(State(push): State<Arc<Push>>, uri: Uri) -> Response {
    push.answer(DOOR, push.verify(&uri).await)
}

/// `POST /push/websub/{id}`: what is new.
pub(crate) async fn distribute(
    State(push): State<Arc<Push>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    push.answer(DOOR, push.distribute(&uri, &headers, body).await)
}

impl Push {
    async fn verify(&self, uri: &Uri) -> Answer {
        let nobody = || {
            Problem::new(
                StatusCode::NOT_FOUND,
                "nobody asked for that; expected the answer to a question of ours",
            )
        };
        let id = id_of(uri);
        if self.websub.book().get(id).is_none() {
            return Err(nobody());
        }
        let fields = Fields::read(uri.query().unwrap_or_default().as_bytes());
        let (mode, topic) = (fields.one("hub.mode"), fields.one("hub.topic").unwrap_or_default());
        let now = self.ears.now();
        match mode {
            Some(mode @ ("subscribe" | "unsubscribe")) => {
                let challenge = fields.one("hub.challenge").filter(|text| !text.is_empty());
                let challenge =
                    challenge.filter(|text| text.len() <= LONGEST_CHALLENGE).ok_or_else(|| {
                        Problem::malformed(
                            "hub.challenge is missing or too long; expected a text to be sent back",
                        )
                    })?;
                let lease = fields.one("hub.lease_seconds").and_then(|text| text.parse().ok());
                let one = self.websub.book().change(id, |one| match mode {
                    "subscribe" => one.verified(topic, lease, now),
                    _ => one.released(topic, now),
                });
                one.ok_or_else(nobody)?;
                self.keep(id).await?;
                self.websub.wake.notify_one();
                let headers =
                    [(CONTENT_TYPE, "text/plain; charset=utf-8"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
                Ok((Verdict::Taken, (headers, challenge.to_owned()).into_response()))
            }
            Some("denied") => {
                let one = self.websub.book().change(id, |one| one.denied(topic, now));
                one.ok_or_else(nobody)?;
                self.keep(id).await?;
                self.websub.wake.notify_one();
                Ok((Verdict::Taken, StatusCode::OK.into_response()))
            }
            _ => Err(nobody()),
        }
    }

    async fn distribute(&self, uri: &Uri, headers: &HeaderMap, body: Body) -> Answer {
        let id = id_of(uri);
        // Hubs that are told 410 may forget what they were not asked to.
        let known = self.websub.book().get(id).filter(|one| !one.is_leaving()).cloned();
        let one = known.ok_or_else(|| {
            Problem::new(StatusCode::GONE, "there is no such subscription; expected one of ours")
        })?;
        let body = intake::body(headers, body).await?;
        // Hubs are not told why: what they need to know is that it came.
        let ignored = |verdict| Ok((verdict, StatusCode::ACCEPTED.into_response()));
        let now = self.ears.now();
        let signature = headers.get("x-hub-signature").and_then(|line| line.to_str().ok());
        let is_signed = signature.is_some_and(|line| signature::is_signed(line, &one.secret, &body));
        if !is_signed || !one.is_active(now) {
            return ignored(Verdict::Unverified);
        }
        let Some(url) = self.ears.address(one.page) else {
            self.websub.book().leave(id, now);
            self.websub.wake.notify_one();
            return ignored(Verdict::Stranger);
        };
        let mark = (id.to_owned(), Sha256::digest(&body).into());
        if !self.websub.seen().first(mark.clone(), (), now, SEEN_FOR) {
            return ignored(Verdict::Replayed);
        }
        let once = once(id, &mark.1);
        if let Err(over) = self.hand_on(one.page, url, headers, body, once).await {
            self.websub.seen().forget(&mark);
            return Err(over.into());
        }
        Ok((Verdict::Taken, StatusCode::ACCEPTED.into_response()))
    }

    /// A feed is read; of anything else it is only known that it is new.
    async fn hand_on(
        &self,
        page: PageId,
        url: PageUrl,
        headers: &HeaderMap,
        body: Bytes,
        once: Once,
    ) -> Result<(), Over> {
        let kind = headers.get(CONTENT_TYPE).and_then(|line| ContentType::parse(line.to_str().ok()?));
        if sniff(&body, kind.and_then(|kind| kind.charset).as_deref()).is_feed() {
            self.ears.distributed(page, url, answer_of(headers, body), once).await?;
        } else {
            self.signal_once(Kind::WebSub, vec![Said { url, changed: None, adds: false }], Some(once))
                .await?;
        }
        Ok(())
    }
}

/// A body, as the crawl knows it again after a restart.
fn once(id: &str, body: &[u8; 32]) -> Once {
    let name = [DOOR.as_bytes(), id.as_bytes(), body].concat();
    Once::new(&name, &[], SEEN_FOR)
}

/// As if it had been fetched.
fn answer_of(headers: &HeaderMap, body: Bytes) -> client::Response {
    let mut kept = HeaderMap::new();
    if let Some(kind) = headers.get(CONTENT_TYPE) {
        kept.insert(CONTENT_TYPE, kind.clone());
    }
    client::Response {
        status: 200,
        reason: None,
        version: client::Version::Http11,
        headers: Headers::from(kept),
        remote: None,
        first_byte: Span::ZERO,
        whole: Span::ZERO,
        raw: body.clone(),
        body,
        truncated: false,
        coded: Coded::default(),
        hold: Hold::default(),
        location: None,
    }
}

fn id_of(uri: &Uri) -> &str {
    uri.path().rsplit('/').next().unwrap_or_default()
}
