//! What all pages have in common: the head, the foot, and what browsers are told about them.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::door::Visitor;
use super::{Board, assets, live};
use crate::chart::counted;

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
    Queues,
    Plan,
}

const PLACES: [(Place, &str, &str); 7] = [
    (Place::Overview, "/", "Overview"),
    (Place::Pages, "/pages", "Pages"),
    (Place::Hosts, "/hosts", "Hosts"),
    (Place::Signals, "/signals", "Signals"),
    (Place::Hubs, "/hubs", "Hubs"),
    (Place::Queues, "/queues", "Queues"),
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
                        @for (own, path, name) in PLACES.into_iter().filter(|(own, ..)| *own != Place::Queues || board.has_queues) {
                            li { a href=(path) aria-current=[(own == place).then_some("page")] { (name) } }
                        }
                    }
                }
                div.pulse {
                    span.dot aria-hidden="true" {}
                    span.over data-n="over" { (number("over").unwrap_or_default()) }
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
            @if board.has_api { a href="/openapi.json" { "API" } }
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

/// What is wrong, as a page that says what to do.
fn wrong(status: StatusCode, detail: &str, wait: Option<u64>) -> Response {
    let title = match status {
        StatusCode::NOT_FOUND => "Not here",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::UNAUTHORIZED => "Who is it?",
        StatusCode::TOO_MANY_REQUESTS => "Too fast",
        status if status.is_client_error() => "Not understood",
        StatusCode::SERVICE_UNAVAILABLE => "Not now",
        _ => "Something went wrong",
    };
    let main = html! {
        h1 { (title) }
        p.answer { (capital(detail)) "." }
        p {
            @match (status, wait) {
                (StatusCode::UNAUTHORIZED, _) => { a href="/sign-in" { "Sign in" } "." },
                (_, Some(wait)) => { "Wait " (counted(wait as usize, "second")) ", and load the page again." },
                (StatusCode::INTERNAL_SERVER_ERROR, _) => { "Load the page again. If that does not help, look for the word ERROR in the log, and tell us of it; the crawl goes on meanwhile. " a href="/" { "To the overview" } "." },
                _ => { a href="/" { "To the overview" } ", or back to the page before." },
            }
        }
    };
    bare(status, title, &main)
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether somebody wants a page to read, where there are pages; programs get what they understand.
fn is_for_people(path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(ACCEPT).and_then(|line| line.to_str().ok()).unwrap_or_default();
    let is_for_programs = ["/v1/", "/push/"].iter().any(|door| path.starts_with(door))
        || ["/metrics", "/health", "/ready", "/openapi.json"].contains(&path);
    accepts.contains("text/html") && !is_for_programs
}

/// A path that leads nowhere, for people.
pub(crate) fn missing(path: &str, headers: &HeaderMap) -> Option<Response> {
    is_for_people(path, headers)
        .then(|| wrong(StatusCode::NOT_FOUND, "there is no such page in this dashboard", None))
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
    dressed(next.run(request).await).await
}

/// After everything else that may answer for a page: who asks too often, or meets a panic, is told so as a page.
pub(crate) async fn for_people(request: Request, next: Next) -> Response {
    let is_for_people = is_for_people(request.uri().path(), request.headers());
    let response = next.run(request).await;
    if is_for_people { dressed(response).await } else { response }
}

/// A problem as a page; anything else as it is.
async fn dressed(response: Response) -> Response {
    /// Sentences are shorter than this.
    const LONGEST: usize = 64 << 10;
    let is_problem =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/problem+json");
    if !is_problem {
        return response;
    }
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, LONGEST).await.unwrap_or_default();
    let details: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let wait = parts.headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
    let mut dressed = wrong(parts.status, details["detail"].as_str().unwrap_or("something went wrong"), wait);
    for (name, value) in &parts.headers {
        dressed.headers_mut().entry(name).or_insert(value.clone());
    }
    dressed.headers_mut().remove(CONTENT_LENGTH);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use refrain_core::time::Span;
    use refrain_engine::Clock;

    use crate::serve::allowance::Allowance;
    use crate::serve::guard::Guard;
    use crate::serve::server::Peer;
    use crate::serve::tokens::Book;

    use super::*;

    const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

    /// What somebody at an address is told at a path: status, content type, text.
    async fn told(doors: &Router, from: &str, path: &str, accept: &str) -> (u16, String, String) {
        let request = Request::builder().uri(path).header("host", "localhost").header(ACCEPT, accept);
        let mut request = request.body(Body::empty()).unwrap();
        request.extensions_mut().insert(Peer(from.parse().unwrap()));
        let (parts, body) = doors.clone().oneshot(request).await.unwrap().into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        let kind = parts.headers[CONTENT_TYPE].to_str().unwrap().to_owned();
        (parts.status.as_u16(), kind, String::from_utf8_lossy(&text).into_owned())
    }

    #[tokio::test]
    async fn people_are_told_what_to_do_and_programs_what_it_is() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::start());
        let book = Book::open(folder.path(), clock.now()).unwrap();
        // One request in a long time.
        let allowance = Allowance::new(Span::from_whole_secs(1000));
        let listen = "127.0.0.1:7070".parse().unwrap();
        let guard = Arc::new(Guard::new(clock, book, allowance, listen, None, Arc::new(|_| {})));
        let panics = || async { if folder_is_gone() { "never" } else { panic!("as it should") } };
        let doors = Router::new().route("/boom", get(panics)).route("/v1/boom", get(panics));
        let doors = crate::serve::behind(doors, &guard);
        let (status, kind, page) = told(&doors, "192.0.2.1:1", "/boom", BROWSER).await;
        assert_eq!((status, kind.as_str()), (500, "text/html; charset=utf-8"));
        assert!(page.contains("<h1>Something went wrong</h1>") && page.contains("the log"), "{page}");
        for (from, path, accept) in [("192.0.2.2:1", "/boom", "*/*"), ("192.0.2.3:1", "/v1/boom", BROWSER)] {
            let (status, kind, _) = told(&doors, from, path, accept).await;
            assert_eq!((status, kind.as_str()), (500, "application/problem+json"), "{path}");
        }
        assert!(told(&doors, "192.0.2.4:1", "/nowhere", BROWSER).await.2.contains("<h1>Not here</h1>"));
        let (status, kind, page) = told(&doors, "192.0.2.4:1", "/nowhere", BROWSER).await;
        assert_eq!((status, kind.as_str()), (429, "text/html; charset=utf-8"));
        assert!(
            page.contains("<h1>Too fast</h1>") && page.contains("seconds, and load the page again"),
            "{page}"
        );
        assert_eq!(told(&doors, "192.0.2.4:1", "/nowhere", "*/*").await.1, "application/problem+json");
    }

    /// Nothing that the compiler could know.
    fn folder_is_gone() -> bool {
        !std::env::temp_dir().exists()
    }
}
