//! Somebody says that a sitemap, or a feed, has news. Anybody may: it only counts as far as it turns out to be true.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use refrain_core::time::{Span, Time};
use refrain_engine::{Kind, Recent, Said};
use refrain_fetch::url::PageUrl;
use refrain_store::Role;

use super::intake::{self, Fields};
use super::problem::Problem;
use super::verdict::Verdict;
use super::{Answer, Push};

const DOOR: &str = "ping";
/// A host is heard so often,
const EVERY: Span = Span::from_whole_secs(60);
/// and so many hosts are remembered.
const MOST_HOSTS: usize = 100_000;

pub(super) struct Desk {
    heard: Mutex<Recent<String, ()>>,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { heard: Mutex::new(Recent::new(MOST_HOSTS)) }
    }

    fn is_first(&self, host: &str, now: Time) -> bool {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.first(host.to_owned(), (), now, EVERY)
    }
}

/// `GET /ping?sitemap=…`
pub(super) async fn get(State(push): State<Arc<Push>>, uri: Uri) -> Response {
    let fields = Fields::read(uri.query().unwrap_or_default().as_bytes());
    push.answer(DOOR, push.pinged(&fields).await)
}

/// `POST /ping`, with `sitemap` in the query or in a form.
pub(super) async fn post(
    State(push): State<Arc<Push>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let answer = match intake::body(&headers, body).await {
        Ok(body) => {
            let query = Fields::read(uri.query().unwrap_or_default().as_bytes());
            let fields = if query.one("sitemap").is_some() { query } else { Fields::read(&body) };
            push.pinged(&fields).await
        }
        Err(problem) => Err(problem),
    };
    push.answer(DOOR, answer)
}

impl Push {
    async fn pinged(&self, fields: &Fields) -> Answer {
        let sitemap = fields.one("sitemap");
        let sitemap =
            sitemap.ok_or_else(|| Problem::malformed("sitemap is missing; expected its address, once"))?;
        let url = PageUrl::parse(sitemap).map_err(|why| Problem::malformed(format!("sitemap: {why}")))?;
        let known = self.ears.page(url.as_str()).filter(|(_, role)| *role != Role::Page);
        if known.is_none() {
            return Err(Problem::new(
                StatusCode::NOT_FOUND,
                format!("{url} is no sitemap or feed that is known here; expected one"),
            ));
        }
        let (host, now) = (url.host().to_owned(), self.ears.now());
        if !self.ping.is_first(&host, now) {
            return Err(Problem::too_many(format!("{host} was heard less than a minute ago"), 60));
        }
        self.signal(Kind::Ping, vec![Said { url, changed: None, adds: false }]).await?;
        Ok((Verdict::Taken, StatusCode::OK.into_response()))
    }
}
