//! What fetchers saw.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Request, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};
use refrain_core::time::Span;
use refrain_engine::{Brought, Handle, MOST_AT_A_TIME, Receipt, Saw};
use refrain_fetch::url::PageUrl;
use refrain_store::{Digest, Reader};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::super::App;
use super::super::body;
use super::super::input::{AnySeconds, Form, Moment, NoQuery, at_most, form, json};
use crate::serve::problem::{Answer, Problem};

/// What has at most so many bytes is read at once: to hand it to another thread would take longer.
const SHORT: usize = 64 << 10;
/// So many lines of a head are taken.
const MOST_HEADERS: usize = 200;

/// What was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Results<'a> {
    #[serde(borrow)]
    #[schema(max_items = 1000)]
    results: Vec<OneResult<'a>>,
}

/// What came of one fetch: a `status`, or `error`, `disallowed` or `given_back`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneResult<'a> {
    /// As it was given.
    #[serde(borrow)]
    #[schema(value_type = String, max_length = 100)]
    lease: Cow<'a, str>,
    /// The HTTP status.
    #[schema(minimum = 100, maximum = 599)]
    status: Option<u16>,
    /// There was no answer, or none of use: why, in a sentence.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    error: Option<Cow<'a, str>>,
    /// The fetcher found that robots.txt forbids it.
    disallowed: Option<bool>,
    /// It was not fetched, and is somebody else's at once.
    given_back: Option<bool>,
    /// Who answered, after redirects, if it was not the page's own address.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, max_length = 8192)]
    url: Option<Cow<'a, str>>,
    /// The lines of the head.
    #[serde(borrow)]
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    headers: Option<BTreeMap<Cow<'a, str>, Cow<'a, str>>>,
    /// In place of `headers`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    etag: Option<Cow<'a, str>>,
    /// In place of `headers`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    last_modified: Option<Cow<'a, str>>,
    /// In place of `headers`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    content_type: Option<Cow<'a, str>>,
    /// In place of `headers`.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 9e9)]
    retry_after_seconds: Option<AnySeconds>,
    /// The body, without its content coding, if it is text
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    body: Option<Cow<'a, str>>,
    /// or anything else.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, content_encoding = "base64")]
    body_base64: Option<Cow<'a, str>>,
    /// Without the body: what it is known by, `sha256:` and 64 hexadecimal digits.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    digest: Option<Cow<'a, str>>,
    /// Without the body: whether the page is another one than before.
    changed: Option<bool>,
    /// Without the body: what the page calls itself.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    title: Option<Cow<'a, str>>,
    /// When the request was sent that got this answer. Without it the request may have been sent at any time since the lease was given, and what
    /// signals announced since then is not taken to be in the copy.
    #[schema(value_type = Option<String>, format = DateTime)]
    fetched_at: Option<Moment>,
    /// How long the whole fetch took.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 9e9)]
    duration_seconds: Option<AnySeconds>,
    /// How long the host took to begin its answer.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 9e9)]
    response_seconds: Option<AnySeconds>,
    /// Bytes received.
    bytes: Option<u64>,
}

/// What became of them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Receipts {
    /// Each, in order.
    results: Vec<OneReceipt>,
}

/// What became of a result.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OneReceipt {
    lease: String,
    /// `taken`: it is known now; `over`: it was answered before, or came too late; `unknown`: nobody was given this; `refused`: it says
    /// nothing of use.
    result: &'static str,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Bring back what was seen
///
/// To send a result twice does no harm: the second is `over`.
#[utoipa::path(post, path = "/v1/fetches/results", tag = "fetches",
    request_body(content = Results<'_>, content_type = "application/json"),
    responses((status = 200, body = Receipts)))]
pub(crate) async fn results(State(app): State<App>, _: NoQuery, request: Request) -> Answer<Json<Receipts>> {
    if form(request.headers()) != Some(Form::Json) {
        return Err(Problem::form("application/json"));
    }
    let bytes = body::whole(request.into_body(), app.max_body).await?;
    let handle = app.handle.clone();
    // To read what was brought is the work here: bodies are parsed and compared.
    let is_short = bytes.len() <= SHORT;
    let read = move |reader: &Reader| read(&handle, reader, &bytes);
    let (mut receipts, places, prepared) =
        if is_short { app.readers.look(read)? } else { app.readers.scan(read).await? };
    if !places.is_empty() {
        let answers = app.handle.hand_in(prepared).await?;
        for (place, answer) in places.into_iter().zip(answers) {
            let (result, detail) = match answer {
                Receipt::Taken => ("taken", None),
                Receipt::Over => ("over", None),
                Receipt::Unknown => ("unknown", None),
                Receipt::Refused(why) => ("refused", Some(why)),
            };
            receipts[place].result = result;
            receipts[place].detail = detail;
        }
    }
    Ok(Json(Receipts { results: receipts }))
}

/// What was brought, as the crawl takes it; where each stood; and the answers so far.
fn read(
    handle: &Handle,
    reader: &Reader,
    bytes: &[u8],
) -> Answer<(Vec<OneReceipt>, Vec<usize>, refrain_engine::Results)> {
    let Results { results } = json(bytes)?;
    at_most(results.len(), MOST_AT_A_TIME)?;
    let mut receipts = Vec::with_capacity(results.len());
    let (mut places, mut brought) = (Vec::new(), Vec::new());
    for (place, one) in results.into_iter().enumerate() {
        let lease = one.lease.clone().into_owned();
        let (result, detail) = match understood(one) {
            Ok(one) => {
                places.push(place);
                brought.push(one);
                ("taken", None)
            }
            Err(why) => ("refused", Some(why)),
        };
        receipts.push(OneReceipt { lease, result, detail });
    }
    Ok((receipts, places, handle.prepare(reader, brought)?))
}

/// What a fetcher says, as the crawl takes it. An error is a sentence.
fn understood(one: OneResult<'_>) -> Result<Brought, String> {
    let lease = one.lease.parse().map_err(|()| "the lease is not one that was given")?;
    let took = one.duration_seconds.map_or(Span::ZERO, |seconds| seconds.0);
    let response = one.response_seconds.map(|seconds| seconds.0);
    let fetched_at = one.fetched_at.as_ref().map(|moment| moment.0);
    let (disallowed, given_back) = (one.disallowed.unwrap_or(false), one.given_back.unwrap_or(false));
    let mut bytes = one.bytes.unwrap_or(0);
    let saw = match (one.status, &one.error, disallowed, given_back) {
        (None, None, false, true) => Saw::GivenBack,
        (None, None, true, false) => Saw::Disallowed,
        (None, Some(why), false, false) => Saw::Nothing(short(why)),
        (Some(status), None, false, false) if (100..600).contains(&status) => {
            let headers = headers(&one)?;
            let url =
                one.url.as_deref().map(PageUrl::parse).transpose().map_err(|why| format!("url: {why}"))?;
            match body_of(&one)? {
                Some(body) => {
                    bytes = one.bytes.unwrap_or(body.len() as u64);
                    Saw::Answer { status, url, headers, body }
                }
                None => Saw::Told {
                    status,
                    url,
                    headers,
                    changed: one.changed,
                    digest: one.digest.as_deref().map(digest).transpose()?,
                    title: one.title.map(Cow::into_owned),
                },
            }
        }
        _ => {
            return Err(
                "expected one of `status` (100 to 599), `error`, `disallowed` and `given_back`".to_owned()
            );
        }
    };
    Ok(Brought { lease, fetched_at, response, took, bytes, saw })
}

fn body_of(one: &OneResult<'_>) -> Result<Option<Bytes>, String> {
    match (&one.body, &one.body_base64) {
        (Some(_), Some(_)) => Err("expected `body` or `body_base64`, not both".to_owned()),
        (Some(text), None) => Ok(Some(Bytes::copy_from_slice(text.as_bytes()))),
        (None, Some(text)) => match STANDARD.decode(text.as_bytes()) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(why) => Err(format!("body_base64 is not base64 ({why})")),
        },
        (None, None) => Ok(None),
    }
}

fn digest(text: &str) -> Result<Digest, String> {
    Digest::from_field(text)
        .ok_or_else(|| "the digest is none; expected `sha256:` and 64 hexadecimal digits".to_owned())
}

fn headers(one: &OneResult<'_>) -> Result<HeaderMap, String> {
    let mut all = HeaderMap::new();
    let given = one.headers.iter().flatten();
    for (name, value) in given.take(MOST_HEADERS) {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("headers: `{}` cannot be the name of one", short(name)))?;
        all.append(name, line(value)?);
    }
    let more = [(ETAG, &one.etag), (LAST_MODIFIED, &one.last_modified), (CONTENT_TYPE, &one.content_type)];
    for (name, value) in more {
        if let Some(value) = value {
            all.insert(name, line(value)?);
        }
    }
    if let Some(wait) = one.retry_after_seconds {
        all.insert(RETRY_AFTER, HeaderValue::from(wait.0.as_secs().ceil() as u64));
    }
    Ok(all)
}

fn line(value: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(value.trim())
        .or_else(|_| HeaderValue::from_bytes(value.trim().as_bytes()))
        .map_err(|_| format!("`{}` cannot stand in a header", short(value)))
}

fn short(text: &str) -> String {
    text.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saw(text: &str) -> Result<Brought, String> {
        understood(json(text.as_bytes()).unwrap())
    }

    #[test]
    fn results_say_one_thing() {
        let found = saw(r#"{"lease":"1.2.3","status":200,"body":"hé","etag":"\"x\"","headers":{"X-A":"b"}}"#)
            .unwrap();
        let Saw::Answer { status: 200, headers, body, .. } = found.saw else { panic!("{found:?}") };
        assert_eq!((headers["etag"].as_bytes(), headers["x-a"].as_bytes()), (&b"\"x\""[..], &b"b"[..]));
        assert_eq!((body.len(), found.bytes), (3, 3));
        let found = saw(r#"{"lease":"1.2.3r","status":200,"body_base64":"aGk=","bytes":77}"#).unwrap();
        assert!(found.lease.is_robots && found.bytes == 77);
        let told =
            format!(r#"{{"lease":"1.2.3","status":200,"changed":true,"digest":"{}"}}"#, Digest::of(b"a"));
        assert!(matches!(saw(&told).unwrap().saw, Saw::Told { changed: Some(true), digest: Some(_), .. }));
        assert!(matches!(saw(r#"{"lease":"1.2.3","error":"timeout"}"#).unwrap().saw, Saw::Nothing(_)));
        assert!(matches!(saw(r#"{"lease":"1.2.3","given_back":true}"#).unwrap().saw, Saw::GivenBack));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, says) in [
            (r#"{"lease":"x","status":200}"#, "the lease"),
            (r#"{"lease":"1.2.3"}"#, "expected one of"),
            (r#"{"lease":"1.2.3","status":200,"error":"x"}"#, "expected one of"),
            (r#"{"lease":"1.2.3","status":99}"#, "expected one of"),
            (r#"{"lease":"1.2.3","status":200,"body":"a","body_base64":"YQ=="}"#, "not both"),
            (r#"{"lease":"1.2.3","status":200,"body_base64":"?"}"#, "not base64"),
            (r#"{"lease":"1.2.3","status":200,"digest":"sha1:x"}"#, "the digest"),
            (r#"{"lease":"1.2.3","status":200,"url":"ftp://a/"}"#, "url: "),
            (r#"{"lease":"1.2.3","status":200,"etag":"a\nb"}"#, "cannot stand"),
            (r#"{"lease":"1.2.3","status":200,"headers":{"a b":"c"}}"#, "cannot be the name"),
        ] {
            let why = saw(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
