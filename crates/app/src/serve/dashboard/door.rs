//! Who comes in, and for what.
//!
//! On loopback, as long as there is no token, everybody who sits at this machine. Then whoever shows a token: programs with every request, people
//! once, which makes a session. Browsers are made to do things by other sites: so what changes something must say that it comes from here, and what is only
//! looked at is given to nobody else's page.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{AUTHORIZATION, CACHE_CONTROL, COOKIE, HOST, ORIGIN, SET_COOKIE};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use maud::html;
use serde::Deserialize;

use super::{Board, Shared, frame};
use crate::serve::api::body;
use crate::serve::guard::Guard;
use crate::serve::problem::{Answer, Problem};
use crate::serve::server::Peer;
use crate::serve::tokens::{Scope, Token};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
/// Forms are no longer than this.
pub(super) const LONGEST_FORM: usize = 64 << 10;

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visitor {
    /// Whether they may change something.
    pub(super) may_write: bool,
    /// Whether they came by signing in, and may leave.
    pub(super) signed_in: bool,
}

/// Why somebody does not come in.
enum Shut {
    /// They have to sign in.
    SignIn,
    /// They followed a link of another site: then browsers keep our cookie back, until they come from here.
    Bounce,
    /// They may not.
    No(Problem),
}

impl Board {
    fn visitor(&self, method: &Method, headers: &HeaderMap) -> Result<Visitor, Shut> {
        if headers.contains_key(AUTHORIZATION) {
            let caller = self.guard.admit(headers, Scope::Read).map_err(Shut::No)?;
            let may_write = caller.0.is_none_or(|token| token.allows(Scope::Write));
            return Ok(Visitor { may_write, signed_in: false });
        }
        if let Some(token) = self.session(headers) {
            // A page of another site may not look through our eyes.
            if is_foreign(headers) && !is_followed(method, headers) {
                return Err(Shut::No(Problem::forbidden("the request comes from a page of another site")));
            }
            return Ok(Visitor { may_write: token.allows(Scope::Write), signed_in: true });
        }
        if self.guard.is_open() {
            let may = if is_followed(method, headers) { Guard::is_direct } else { Guard::is_ours };
            may(&self.guard, headers).map_err(Shut::No)?;
            return Ok(Visitor { may_write: true, signed_in: false });
        }
        Err(if is_foreign(headers) && is_followed(method, headers) { Shut::Bounce } else { Shut::SignIn })
    }

    /// Whether somebody who looks still may.
    pub(super) fn admits(&self, headers: &HeaderMap) -> bool {
        self.visitor(&Method::GET, headers).is_ok()
    }

    /// The token of who is signed in, if it still holds.
    fn session(&self, headers: &HeaderMap) -> Option<Arc<Token>> {
        let now = self.app.clock.now();
        let cookie = self.cookie(headers)?;
        let token = self.sessions.find(&cookie, now)?;
        let holds = self.guard.holds(&token) && token.allows(Scope::Read);
        if !holds {
            self.sessions.end(&cookie);
        }
        holds.then_some(token)
    }

    fn cookie(&self, headers: &HeaderMap) -> Option<String> {
        let name = self.guard.cookie_name();
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| value.to_owned())
    }

    /// What a browser is told to keep; nothing, to forget it.
    fn set_cookie(&self, value: &str) -> String {
        let name = self.guard.cookie_name();
        let secure = if self.guard.is_secure() { "; Secure" } else { "" };
        let life = if value.is_empty() { 0 } else { 7 * 86_400 };
        format!("{name}={value}; Path=/; Max-Age={life}; HttpOnly; SameSite=Strict{secure}")
    }

    /// Whether a form was sent from one of our own pages. Browsers say so; who says nothing is no browser, and has the API.
    fn is_own_form(&self, headers: &HeaderMap) -> Answer<()> {
        let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let host = text(&HOST).unwrap_or_default();
        let is_own = match (text(&SEC_FETCH_SITE), text(&ORIGIN)) {
            (Some(site), _) if site != "same-origin" => false,
            (_, Some(origin)) => self.guard.is_own_origin(origin, host),
            (site, None) => site.is_some(),
        };
        if is_own {
            return Ok(());
        }
        Err(Problem::forbidden(
            "the form does not come from this dashboard; expected one of its own pages in a browser, or the API under /v1",
        ))
    }
}

/// Whether a request was made by a page of another site.
fn is_foreign(headers: &HeaderMap) -> bool {
    headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "same-origin" && site != "none")
}

/// Whether somebody goes to a page, by whatever link: what they see nobody else sees.
fn is_followed(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::GET && headers.get(SEC_FETCH_DEST).is_some_and(|dest| dest == "document")
}

/// Before every page.
pub(super) async fn admit(State(board): State<Shared>, mut request: Request, next: Next) -> Response {
    let visitor = match board.visitor(request.method(), request.headers()) {
        Ok(visitor) => visitor,
        Err(Shut::No(problem)) => return problem.into_response(),
        Err(Shut::Bounce) => return frame::again(request.uri()),
        Err(Shut::SignIn) if request.method() == Method::GET => {
            let wanted = request.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
            let query: String =
                form_urlencoded::Serializer::new(String::new()).append_pair("to", wanted).finish();
            return Redirect::to(&format!("/sign-in?{query}")).into_response();
        }
        Err(Shut::SignIn) => {
            return Problem::new(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "you are not signed in any more; sign in, and try again",
            )
            .into_response();
        }
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        if let Err(problem) = board.is_own_form(request.headers()) {
            return problem.into_response();
        }
        if !visitor.may_write {
            return Problem::forbidden("your token is for reading only; expected one with the scope write")
                .into_response();
        }
    }
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    response.headers_mut().entry(CACHE_CONTROL).or_insert(http::HeaderValue::from_static("no-store"));
    response
}

/// Where to go then.
#[derive(Debug, Default, Deserialize)]
pub(super) struct To {
    #[serde(default)]
    to: String,
}

impl To {
    /// Only ever to a page of ours.
    fn path(&self) -> &str {
        let is_path = self.to.starts_with('/')
            && !self.to.starts_with("//")
            && self.to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if is_path && !self.to.starts_with("/sign-") { &self.to } else { "/" }
    }
}

/// Asks who it is.
pub(super) async fn ask(State(board): State<Shared>, Query(to): Query<To>, headers: HeaderMap) -> Response {
    if board.guard.is_open() || board.session(&headers).is_some() {
        return Redirect::to(to.path()).into_response();
    }
    gate(&to, None).into_response()
}

fn gate(to: &To, wrong: Option<&str>) -> Response {
    let status = if wrong.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let main = html! {
        div.gate {
            h1 { "Sign in" }
            p.soft { "Paste a token with the scope " code { "read" } ", or " code { "read,write" } " to change something. "
                code { "refrain token create --scope read,write" } " makes one." }
            @if let Some(sentence) = wrong { p.note role="alert" { (sentence) } }
            form method="post" action="/sign-in" {
                input type="hidden" name="to" value=(to.path());
                div {
                    label for="token" { "Token" }
                    input #token type="password" name="token" autocomplete="off" autocapitalize="off" spellcheck="false" required autofocus;
                }
                button.main { "Sign in" }
            }
        }
    };
    frame::bare(status, "Sign in", &main)
}

/// Somebody shows a token.
pub(super) async fn sign_in(State(board): State<Shared>, request: Request) -> Answer<Response> {
    board.is_own_form(request.headers())?;
    let (now, peer) = (board.app.clock.now(), request.extensions().get::<Peer>().copied());
    let fields = fields(request.into_body()).await?;
    let field =
        |name: &str| fields.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str());
    let to = To { to: field("to").to_owned() };
    let token = board.guard.token(field("token").trim()).filter(|token| token.allows(Scope::Read));
    let Some(token) = token else {
        if let Some(Err(wait)) = peer.map(|peer| board.wrong.take(peer.0.ip(), now)) {
            return Err(Problem::later(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many-requests",
                "there were too many wrong tokens from this address; expected a pause",
                wait.as_secs().ceil() as u64,
            ));
        }
        let sentence = "This token is not known, is over, or is not for reading.";
        return Ok(gate(&to, Some(sentence)));
    };
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|why| {
        tracing::error!(%why, "there is no chance to be had");
        Problem::ours()
    })?;
    let cookie = board.sessions.begin(token, random, now);
    Ok(([(SET_COOKIE, board.set_cookie(&cookie))], Redirect::to(to.path())).into_response())
}

/// Somebody leaves.
pub(super) async fn sign_out(State(board): State<Shared>, headers: HeaderMap) -> Answer<Response> {
    board.is_own_form(&headers)?;
    if let Some(cookie) = board.cookie(&headers) {
        board.sessions.end(&cookie);
    }
    Ok(([(SET_COOKIE, board.set_cookie(""))], Redirect::to("/sign-in")).into_response())
}

/// What a form says.
pub(super) async fn fields(body: Body) -> Answer<Vec<(String, String)>> {
    let bytes = body::whole(body, LONGEST_FORM).await?;
    Ok(form_urlencoded::parse(&bytes).into_owned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_to_pages_of_ours() {
        for (to, path) in [
            ("/pages?host=a", "/pages?host=a"),
            ("", "/"),
            ("//evil.example/", "/"),
            ("https://evil.example/", "/"),
            ("/\\evil.example", "/"),
            ("/a\r\nSet-Cookie: x", "/"),
            ("/sign-in?to=/", "/"),
        ] {
            assert_eq!(To { to: to.to_owned() }.path(), path, "{to}");
        }
    }
}
