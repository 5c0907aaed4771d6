//! A door for programs that know what changed: caches that were purged, content management systems. Each has a token, which says whom it speaks for.

mod body;
mod kept;
mod speaker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use refrain_core::time::{Span, Time};
use refrain_engine::{Heard, Kind, Recent, Source};

use super::intake;
use super::problem::Problem;
use super::verdict::Verdict;
use super::{Answer, Push};
use kept::Taken;
use speaker::token;
pub(crate) use speaker::{Speaker, Tokens};

const DOOR: &str = "webhook";
/// So many posts are known again,
const MOST_SEEN: usize = 100_000;
/// for so long.
const SEEN_FOR: Span = Span::from_whole_secs(86_400);
const LONGEST_ID: usize = 256;
/// A post may be so old, or from so far ahead.
const SKEW: Span = Span::from_whole_secs(300);

pub(super) struct Desk {
    seen: Mutex<Recent<(Source, String), ()>>,
    /// How many were taken, over all restarts.
    taken: AtomicU64,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { seen: Mutex::new(Recent::new(MOST_SEEN)), taken: AtomicU64::new(0) }
    }

    fn seen(&self) -> MutexGuard<'_, Recent<(Source, String), ()>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `POST /push/webhook`
pub(super) async fn post(State(push): State<Arc<Push>>, headers: HeaderMap, body: Body) -> Response {
    // Nobody's bytes are read before it is known whose they are.
    let speaker = token(&headers).and_then(|token| push.settings.tokens.source_of(&token));
    let Some(speaker) = speaker else {
        let unknown = "the token is missing or unknown; expected one in the head, as Bearer or as the password of Basic";
        return push.answer(DOOR, Err(Problem::new(StatusCode::UNAUTHORIZED, unknown)));
    };
    let door = Kind::Source(speaker.source).as_str();
    push.answer(door, push.posted(&speaker, &headers, body).await)
}

impl Push {
    /// What was taken before a restart is not taken again.
    pub(super) fn recall_posts(&self) {
        let kept = self.ears.kept(kept::START).unwrap_or_else(|why| {
            tracing::warn!("posts that were taken cannot be read: {why}");
            Vec::new()
        });
        let (now, mut seen) = (self.ears.now(), self.webhook.seen());
        for one in Taken::read(&kept) {
            self.webhook.taken.fetch_max(one.number + 1, Ordering::Relaxed);
            let rest = (one.time() + SEEN_FOR).since(now);
            if let Some(mark) = one.mark().filter(|_| rest > Span::ZERO) {
                seen.put(mark, (), now, rest);
            }
        }
    }

    async fn posted(&self, speaker: &Speaker, headers: &HeaderMap, body: Body) -> Answer {
        let now = self.ears.now();
        let id = id_of(headers)?;
        check_age(headers, now)?;
        let body = intake::body(headers, body).await?;
        let said = body::read(&intake::kind(headers), &body, now)?;
        if let Some(stranger) = said.iter().find(|said| !speaker.speaks_for(&said.url)) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("{}: this token does not speak for its host", stranger.url),
            ));
        }
        let mark = id.map(|id| (speaker.source, id));
        if let Some(mark) = &mark
            && !self.webhook.seen().first(mark.clone(), (), now, SEEN_FOR)
        {
            return Ok((Verdict::Replayed, answered("replayed", &[])));
        }
        match self.signal(Kind::Source(speaker.source), said).await {
            Ok(heard) => {
                // Afterwards: who is killed in between hears of it twice, which harms less than not at all.
                if let Some((source, id)) = &mark {
                    let number = self.webhook.taken.fetch_add(1, Ordering::Relaxed);
                    let (name, value) = Taken::new(number, Kind::Source(*source).as_str(), id, now).written();
                    self.ears.keep(name, value).await?;
                }
                Ok((Verdict::Taken, answered("taken", &heard)))
            }
            Err(over) => {
                // It did not count: it may come again.
                if let Some(mark) = &mark {
                    self.webhook.seen().forget(mark);
                }
                Err(over.into())
            }
        }
    }
}

/// What became of it, in numbers.
fn answered(verdict: &str, heard: &[Heard]) -> Response {
    let count = |what: Heard| heard.iter().filter(|heard| **heard == what).count();
    let body = serde_json::json!({
        "verdict": verdict,
        "news": count(Heard::News),
        "known": count(Heard::Known),
        "unknown": count(Heard::Stranger),
    });
    axum::Json(body).into_response()
}

/// What a post is called, by those who send it again if in doubt.
fn id_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(line) = headers.get("webhook-id").or_else(|| headers.get("idempotency-key")) else {
        return Ok(None);
    };
    let id = line.to_str().ok().map(str::trim).filter(|id| (1..=LONGEST_ID).contains(&id.len()));
    let id = id.ok_or_else(|| {
        Problem::malformed(format!(
            "webhook-id or Idempotency-Key is none; expected 1 to {LONGEST_ID} letters"
        ))
    })?;
    Ok(Some(id.to_owned()))
}

/// Who says when it was posted must have posted it just now.
fn check_age(headers: &HeaderMap, now: Time) -> Result<(), Problem> {
    let Some(line) = headers.get("webhook-timestamp") else { return Ok(()) };
    let bad =
        |why: &str| Problem::malformed(format!("webhook-timestamp {why}; expected Unix seconds of just now"));
    let secs: i64 =
        line.to_str().ok().and_then(|text| text.trim().parse().ok()).ok_or_else(|| bad("is no number"))?;
    let posted = Time::from_nanos(secs.saturating_mul(1_000_000_000));
    if now.since(posted).max(posted.since(now)) > SKEW {
        Err(bad("is not of the last five minutes"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
