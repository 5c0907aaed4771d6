//! WebSub: hubs push what is new in feeds. Found hubs are asked for it, come to see whether we meant it, and sign what they send.
//!
//! A subscription is on the disk before its hub is asked, so that no callback comes that nobody knows.

mod book;
mod kept;
mod signature;
mod subscription;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode, Uri};
use refrain_core::time::Span;
use refrain_engine::{Kind, Over, Said};
use refrain_fetch::announce::find::sniff;
use refrain_fetch::client::{self, ContentType, Headers, Post};
use refrain_fetch::url::{LONGEST, PageUrl};
use refrain_store::PageId;
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::intake::{self, Fields};
use super::problem::Problem;
use super::recent::Recent;
use super::verdict::Verdict;
use super::{Answer, Push};
use book::Book;
use subscription::{LEASE, State as How, Subscription};

const DOOR: &str = "websub";
/// So many bodies are known again,
const MOST_SEEN: usize = 20_000;
/// for so long.
const SEEN_FOR: Span = Span::from_whole_secs(86_400);
/// Hubs may lead elsewhere so often.
const MOST_REDIRECTS: usize = 3;
/// What a hub wants to hear again is never longer.
const LONGEST_CHALLENGE: usize = 4096;
/// Nothing is slept through for longer.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

pub(super) struct Desk {
    book: Mutex<Book>,
    seen: Mutex<Recent<(String, [u8; 32]), ()>>,
    wake: Notify,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { book: Mutex::default(), seen: Mutex::new(Recent::new(MOST_SEEN)), wake: Notify::new() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Recent<(String, [u8; 32]), ()>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Push {
    /// A page says that a hub distributes it under the name `topic`. It is subscribed to, if hubs can reach us and there is room.
    pub(crate) fn found_hub(&self, page: PageId, topic: &str, hub: &str) {
        let Ok(url) = PageUrl::parse(hub) else { return };
        if self.settings.public_url.is_none() || topic.len() > LONGEST {
            return;
        }
        let (Some(id), Some(secret)) = (unguessable(), unguessable()) else { return };
        let hub = url.as_str().to_owned();
        let mut book = self.websub.book();
        if let Some((old, one)) = book.find(page, &hub) {
            if one.topic == topic {
                return;
            }
            // The page calls itself by another name now; what was asked for under the old one runs out.
            let old = old.clone();
            book.end(&old);
        }
        let one = Subscription::new(page, topic.to_owned(), hub, secret, self.ears.now());
        if book.add(id, one, self.settings.most_subscriptions) {
            self.websub.wake.notify_one();
        }
    }

    /// Subscribes and renews, until `stop` becomes true.
    pub(super) async fn subscribe(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let (watched, push) = (stop.clone(), Arc::clone(&self));
        let waker = tokio::spawn(async move {
            // Whoever can stop us may also be gone: that is an end, too.
            let _ = stop.wait_for(|stop| *stop).await;
            push.websub.wake.notify_one();
        });
        let mut asking = JoinSet::new();
        while !*watched.borrow() && watched.has_changed().is_ok() {
            let now = self.ears.now();
            let work = self.websub.book().work(now);
            for (id, one) in work.keep {
                if self.keep(&id, &one).await.is_err() {
                    return;
                }
            }
            for (id, one) in work.ask {
                let push = Arc::clone(&self);
                asking.spawn(async move {
                    push.ask(&id, &one).await;
                    push.websub.book().asked(&one.hub);
                    push.websub.wake.notify_one();
                });
            }
            while asking.try_join_next().is_some() {}
            let wait =
                work.next.map_or(LONGEST_SLEEP, |next| Duration::from_nanos(next.since(now).as_nanos()));
            let _ = tokio::time::timeout(wait.min(LONGEST_SLEEP), self.websub.wake.notified()).await;
        }
        waker.abort();
    }

    /// What was subscribed to before a restart goes on.
    pub(super) fn restore(&self) {
        if self.settings.public_url.is_none() {
            return;
        }
        let now = self.ears.now();
        let kept = match self.ears.kept(kept::START) {
            Ok(kept) => kept,
            Err(why) => {
                tracing::warn!("subscriptions cannot be read: {why}");
                return;
            }
        };
        let mut book = self.websub.book();
        for (name, value) in kept {
            let Some(one) = kept::read(&value) else { continue };
            let id = name.strip_prefix(kept::START).unwrap_or_default().to_owned();
            book.add(id, one.restored(now), self.settings.most_subscriptions);
        }
    }

    async fn keep(&self, id: &str, one: &Subscription) -> Result<(), Over> {
        self.ears.keep(format!("{}{id}", kept::START), kept::written(one)).await
    }

    /// Asks a hub; it comes back by itself.
    async fn ask(&self, id: &str, one: &Subscription) {
        if self.ears.address(one.page).is_none() {
            // Nobody needs news of a page that is not crawled any more.
            self.websub.book().remove(id);
            let gone = Subscription { state: How::Gone, ..one.clone() };
            let _ = self.keep(id, &gone).await;
            return;
        }
        if self.keep(id, one).await.is_err() {
            return;
        }
        if let Err(why) = self.ask_hub(id, one).await {
            tracing::info!("{}: {why}; it is asked again later", one.hub);
            let now = self.ears.now();
            let changed = self.websub.book().change(id, |one| {
                one.refused(now);
                true
            });
            if let Some(one) = changed {
                // Who cannot keep it is about to end, and asks again when it is back.
                let _ = self.keep(id, &one).await;
            }
        }
    }

    /// The error is a sentence.
    async fn ask_hub(&self, id: &str, one: &Subscription) -> Result<(), String> {
        let public = self.settings.public_url.as_ref().ok_or("hubs cannot reach us")?;
        let callback = format!("{}/push/websub/{id}", public.as_str().trim_end_matches('/'));
        let lease = (LEASE.as_nanos() / 1_000_000_000).to_string();
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("hub.mode", "subscribe")
            .append_pair("hub.topic", &one.topic)
            .append_pair("hub.callback", &callback)
            .append_pair("hub.secret", &one.secret)
            .append_pair("hub.lease_seconds", &lease)
            .finish();
        let body = Bytes::from(body);
        let mut url = PageUrl::parse(&one.hub).map_err(|why| why.to_string())?;
        for _ in 0..=MOST_REDIRECTS {
            let headers = vec![("content-type", "application/x-www-form-urlencoded".to_owned())];
            let answer = self.ears.post(Post { url, headers, body: body.clone() }).await;
            let answer = answer.map_err(|why| why.to_string())?;
            match (answer.status, answer.location) {
                (200..=299, _) => return Ok(()),
                (301 | 302 | 307 | 308, Some(Ok(elsewhere))) => url = elsewhere,
                (status, _) => return Err(format!("it answers with status {status}")),
            }
        }
        Err("it leads from one place to the next".to_owned())
    }
}

/// `GET /push/websub/{id}`: a hub asks whether we meant it, or says that it will not.
pub(super) async fn verify(State(push): State<Arc<Push>>, uri: Uri) -> Response {
    push.answer(DOOR, push.verify(&uri).await)
}

/// `POST /push/websub/{id}`: what is new.
pub(super) async fn distribute(
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
            Some("subscribe") => {
                let challenge = fields.one("hub.challenge").filter(|text| !text.is_empty());
                let challenge =
                    challenge.filter(|text| text.len() <= LONGEST_CHALLENGE).ok_or_else(|| {
                        Problem::malformed(
                            "hub.challenge is missing or too long; expected a text to be sent back",
                        )
                    })?;
                let lease = fields.one("hub.lease_seconds").and_then(|text| text.parse().ok());
                let one = self.websub.book().change(id, |one| one.verified(topic, lease, now));
                self.keep(id, &one.ok_or_else(nobody)?).await?;
                self.websub.wake.notify_one();
                let headers =
                    [(CONTENT_TYPE, "text/plain; charset=utf-8"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
                Ok((Verdict::Taken, (headers, challenge.to_owned()).into_response()))
            }
            Some("denied") => {
                let one = self.websub.book().change(id, |one| one.denied(topic, now));
                self.keep(id, &one.ok_or_else(nobody)?).await?;
                self.websub.wake.notify_one();
                Ok((Verdict::Taken, StatusCode::OK.into_response()))
            }
            // We never ask for an end: what is not renewed runs out.
            _ => Err(nobody()),
        }
    }

    async fn distribute(&self, uri: &Uri, headers: &HeaderMap, body: Body) -> Answer {
        let id = id_of(uri);
        let known = self.websub.book().get(id).cloned();
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
        let Some(url) = self.ears.address(one.page) else { return ignored(Verdict::Stranger) };
        let mark = (id.to_owned(), Sha256::digest(&body).into());
        if !self.websub.seen().first(mark.clone(), (), now, SEEN_FOR) {
            return ignored(Verdict::Replayed);
        }
        if let Err(over) = self.hand_on(one.page, url, headers, body).await {
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
    ) -> Result<(), Over> {
        let kind = headers.get(CONTENT_TYPE).and_then(|line| ContentType::parse(line.to_str().ok()?));
        if sniff(&body, kind.and_then(|kind| kind.charset).as_deref()).is_feed() {
            self.ears.distributed(page, url, answer_of(headers, body)).await?;
        } else {
            self.signal(Kind::WebSub, vec![Said { url, changed: None, adds: false }]).await?;
        }
        Ok(())
    }
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
        location: None,
    }
}

fn id_of(uri: &Uri) -> &str {
    uri.path().rsplit('/').next().unwrap_or_default()
}

/// 32 bytes that nobody guesses, for URLs and secrets; `None` if the system has none.
fn unguessable() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests;
