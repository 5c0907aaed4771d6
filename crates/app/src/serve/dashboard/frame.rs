//! What all pages have in common: the head, the foot, and what browsers are told about them.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::door::Visitor;
use super::{Board, assets, live};

/// Nothing from anywhere else, nothing inline, nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; frame-src 'self'; base-uri 'none'";

/// Where one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Overview,
    Pages,
    Hosts,
    Signals,
    Hubs,
    Plan,
}

const PLACES: [(Place, &str, &str); 6] = [
    (Place::Overview, "/", "Overview"),
    (Place::Pages, "/pages", "Pages"),
    (Place::Hosts, "/hosts", "Hosts"),
    (Place::Signals, "/signals", "Signals"),
    (Place::Hubs, "/hubs", "Hubs"),
    (Place::Plan, "/plan", "Plan"),
];

/// A page of the dashboard.
pub(super) fn page(board: &Board, visitor: Visitor, place: Place, title: &str, main: &Markup) -> Response {
    let pulse = live::numbers(board);
    let number = |name: &str| pulse.iter().find(|(own, _)| *own == name).map(|(_, text)| text.clone());
    let head = html! {
        header.top {
            div.inner {
                a.brand href="/" { img src=(assets::ICON.path) width="22" height="22" alt=""; "Refrain" }
                nav aria-label="Dashboard" {
                    ul {
                        @for (own, path, name) in PLACES {
                            li { a href=(path) aria-current=[(own == place).then_some("page")] { (name) } }
                        }
                    }
                }
                div.pulse {
                    span.dot aria-hidden="true" {}
                    span { b data-n="fresh" { (number("fresh").unwrap_or_else(|| "–".to_owned())) } " fresh" }
                    span { b data-n="spending" { (number("spending").unwrap_or_else(|| "–".to_owned())) } " of "
                        span data-n="rate" { (number("rate").unwrap_or_else(|| "–".to_owned())) } " requests/s" }
                }
            }
        }
    };
    let foot = html! {
        footer.foot {
            span { "Refrain " (env!("CARGO_PKG_VERSION")) }
            span { "Times are UTC" }
            a href="/openapi.json" { "API" }
            @if !visitor.may_write { span { "You may look, not change" } }
            @if visitor.signed_in {
                form method="post" action="/sign-out" { button.quiet { "Sign out" } }
            }
        }
    };
    whole(StatusCode::OK, title, &head, main, &foot, true)
}

/// A page without the rest of the dashboard.
pub(super) fn bare(status: StatusCode, title: &str, main: &Markup) -> Response {
    let head = html! {
        header.top { div.inner { a.brand href="/" { img src=(assets::ICON.path) width="22" height="22" alt=""; "Refrain" } } }
    };
    whole(status, title, &head, main, &html! {}, false)
}

fn whole(
    status: StatusCode,
    title: &str,
    head: &Markup,
    main: &Markup,
    foot: &Markup,
    is_live: bool,
) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Refrain" }
                link rel="icon" href=(assets::ICON.path) type="image/svg+xml";
                link rel="stylesheet" href=(assets::STYLE.path);
                @if is_live { script type="module" src=(assets::SCRIPT.path) {} }
            }
            body data-stream=[is_live.then_some("/live")] {
                a.skip href="#main" { "To the content" }
                (head)
                main #main tabindex="-1" { (main) }
                (foot)
            }
        }
    };
    let mut response = (status, page.into_string()).into_response();
    protect(response.headers_mut());
    response
}

fn protect(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Nobody else learns where people come from. To ourselves it must be said: with `no-referrer` browsers do not say either whose forms are sent.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// What is wrong, as a page.
fn wrong(status: StatusCode, detail: &str) -> Response {
    let title = match status {
        StatusCode::NOT_FOUND => "Not here",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::UNAUTHORIZED => "Who is it?",
        status if status.is_client_error() => "Not understood",
        StatusCode::SERVICE_UNAVAILABLE => "Not now",
        _ => "Something went wrong",
    };
    let main = html! {
        h1 { (title) }
        p.answer { (capital(detail)) "." }
        p {
            @if status == StatusCode::UNAUTHORIZED { a href="/sign-in" { "Sign in" } }
            @else { a href="/" { "To the overview" } ", or back to the page before." }
        }
    };
    bare(status, title, &main)
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A path that leads nowhere, for people; programs get what they understand.
pub(crate) fn missing(path: &str, headers: &HeaderMap) -> Option<Response> {
    let accepts = headers.get(http::header::ACCEPT).and_then(|line| line.to_str().ok()).unwrap_or_default();
    let is_for_programs = path.starts_with("/v1/") || path.starts_with("/push/");
    (accepts.contains("text/html") && !is_for_programs)
        .then(|| wrong(StatusCode::NOT_FOUND, "there is no such page in this dashboard"))
}

/// The same page again, from here: then a browser shows our cookie.
pub(super) fn again(uri: &Uri) -> Response {
    let to = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; meta http-equiv="refresh" content={ "0; url=" (to) }; title { "Refrain" } }
            body { a href=(to) { "Go on" } }
        }
    };
    let mut response = page.into_string().into_response();
    protect(response.headers_mut());
    response
}

/// After every page: what is wrong is said as a page, too.
pub(super) async fn dress(request: Request, next: Next) -> Response {
    /// Sentences are shorter than this.
    const LONGEST: usize = 64 << 10;
    let response = next.run(request).await;
    let is_problem =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/problem+json");
    if !is_problem {
        return response;
    }
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, LONGEST).await.unwrap_or_default();
    let details: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut dressed = wrong(parts.status, details["detail"].as_str().unwrap_or("something went wrong"));
    for (name, value) in &parts.headers {
        dressed.headers_mut().entry(name).or_insert(value.clone());
    }
    dressed.headers_mut().remove(http::header::CONTENT_LENGTH);
    dressed
}

/// Elsewhere, after something was done: what was done is said there.
pub(super) fn done(path: &str, what: &'static str) -> Response {
    let to = format!("{path}?done={what}");
    let mut response = StatusCode::SEE_OTHER.into_response();
    match HeaderValue::from_str(&to) {
        Ok(to) => {
            response.headers_mut().insert(LOCATION, to);
            response
        }
        Err(_) => (StatusCode::SEE_OTHER, [(LOCATION, "/")], Body::empty()).into_response(),
    }
}

/// What was done, in a sentence; only sentences of ours.
pub(super) fn flash(done: Option<&str>) -> Markup {
    let sentence = match done {
        Some("fetch") => "It is fetched next, as soon as its host allows it.",
        Some("pause") => "It is paused: it is not fetched until somebody takes that back.",
        Some("resume") => "It is crawled again.",
        Some("importance") => "It matters that much from now on.",
        Some("max-age") => "Its copy is kept no older than that.",
        Some("no-max-age") => "Its copy may be of any age again.",
        Some("gap") => "Requests to this host are that far apart from now on.",
        Some("no-gap") => "The gap is the usual one again.",
        Some("host-pause") => "The host is left alone until somebody takes that back.",
        Some("host-resume") => "The host is visited again.",
        Some("back-off") => "The host may be visited at once.",
        Some("budget") => "The budget is another one from now on.",
        Some("what-if") => "The log is being replayed; this page shows what comes of it.",
        _ => return PreEscaped(String::new()),
    };
    html! { p.flash role="status" { (sentence) } }
}
