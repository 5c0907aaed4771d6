//! Copies of pages, as they came. Strangers wrote them: whoever opens one in a browser must not be harmed by it.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LINK,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use refrain_core::time::Time;
use refrain_store::{PageId, Reader, Version, VersionId};
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::App;
use super::super::input::{Asked, Moment, NoQuery, Number, VersionNumber};
use super::known;
use crate::data::diff::header;
use crate::serve::problem::{Answer, Problem};

/// RFC 7089: when the copy was what the page was.
const MEMENTO: HeaderName = HeaderName::from_static("memento-datetime");
/// The number of the version.
const VERSION: HeaderName = HeaderName::from_static("refrain-version");

/// Which copy.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct At {
    /// The latest that was seen at or before this moment; without it, the latest of all.
    #[param(value_type = Option<String>, format = DateTime)]
    at: Option<Moment>,
}

/// The copy of a page
#[utoipa::path(get, path = "/v1/pages/{id}/copy", tag = "copies",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page"), At,
           ("If-None-Match" = Option<String>, Header, description = "Nothing is sent if it is still this one.")),
    responses((status = 200, description = "The body, as it came.", body = Vec<u8>, content_type = "*/*"),
              (status = 304, description = "It is still that one.")))]
pub(crate) async fn copy(
    State(app): State<App>,
    Number(id): Number,
    Asked(at): Asked<At>,
    headers: HeaderMap,
) -> Answer<Response> {
    let time = at.at.map_or(Time::MAX, |at| at.0);
    send(&app, headers, move |reader| at_time(reader, id, time)).await
}

/// A version of a page
#[utoipa::path(get, path = "/v1/pages/{id}/versions/{version}", tag = "copies",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page"),
           ("version" = i64, Path, minimum = 1, description = "The number of the version"),
           ("If-None-Match" = Option<String>, Header, description = "Nothing is sent if it is still this one.")),
    responses((status = 200, description = "The body, as it came.", body = Vec<u8>, content_type = "*/*"),
              (status = 304, description = "It is still that one.")))]
pub(crate) async fn version(
    State(app): State<App>,
    Number(id): Number,
    VersionNumber(number): VersionNumber,
    _: NoQuery,
    headers: HeaderMap,
) -> Answer<Response> {
    send(&app, headers, move |reader| {
        known(reader, id)?;
        let found = reader.version(VersionId(number))?.filter(|version| version.page == PageId(id));
        found.ok_or_else(|| {
            Problem::missing(
                "no-such-version",
                format!("version {number} of page {id} is not kept, or never was"),
            )
        })
    })
    .await
}

/// The version of a page that was the latest at a moment.
pub(crate) fn at_time(reader: &Reader, id: i64, time: Time) -> Answer<Version> {
    known(reader, id)?;
    reader.version_at(PageId(id), time)?.ok_or_else(|| {
        Problem::missing(
            "no-such-version",
            format!("there is no copy of page {id}, or none that old is kept"),
        )
    })
}

/// Sends a version, unless who asks has it.
pub(crate) async fn send(
    app: &App,
    asked: HeaderMap,
    find: impl FnOnce(&Reader) -> Answer<Version> + Send + 'static,
) -> Answer<Response> {
    app.readers
        .scan(move |reader| {
            let version = find(reader)?;
            let tag = format!("\"{}\"", version.digest);
            let mut response = if has(&asked, &tag) {
                StatusCode::NOT_MODIFIED.into_response()
            } else {
                let record = reader.answer(version.id)?.ok_or_else(|| {
                    Problem::missing(
                        "no-such-version",
                        format!("version {} has just been dropped", version.id.0),
                    )
                })?;
                let kind = header(&record.head, "content-type");
                let mut response = Response::new(Body::from(record.body));
                describe(response.headers_mut(), kind.as_deref(), &version);
                response
            };
            let headers = response.headers_mut();
            put(headers, ETAG, &tag);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
            Ok::<_, Problem>(response)
        })
        .await
}

fn has(asked: &HeaderMap, tag: &str) -> bool {
    let lines = asked.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| {
        let one = one.trim();
        one == "*" || one.trim_start_matches("W/") == tag
    })
}

fn describe(headers: &mut HeaderMap, kind: Option<&str>, version: &Version) {
    let kind = kind.and_then(|kind| HeaderValue::from_str(kind).ok());
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let is_plain = kind.to_str().is_ok_and(|kind| {
        let essence = kind.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("text/plain")
    });
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !is_plain {
        put(headers, CONTENT_DISPOSITION, &format!("attachment; filename=\"version-{}\"", version.id.0));
    }
    let seconds = version.time.as_nanos().div_euclid(1_000_000_000).max(0).cast_unsigned();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    put(headers, MEMENTO, &httpdate::fmt_http_date(time));
    put(headers, VERSION, &version.id.0.to_string());
    put(headers, LINK, &format!("<{}>; rel=\"original\"", version.url));
}

/// What cannot be said in a header is left out.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
