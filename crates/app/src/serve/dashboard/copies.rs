//! Copies of pages, and what changed between two. Strangers wrote them: they are shown as text, or in a frame in which nothing runs and from which nothing
//! goes out.

use axum::body::Body;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use maud::{Markup, PreEscaped, html};
use refrain_fetch::charset;
use refrain_fetch::client::ContentType;
use refrain_store::warc::Record;
use refrain_store::{PageId, PageRecord, Reader, Version, VersionId};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::Place;
use super::words;
use crate::chart::counted;
use crate::cli::Which;
use crate::data::diff::compare::{Between, Compared, NotCompared, compare, text_of};
use crate::data::diff::header;
use crate::data::diff::hunks::Hunk;
use crate::data::harmless::harmless;
use crate::serve::api::input::{Number, VersionNumber};
use crate::serve::api::pages::diff::{rules, said};
use crate::serve::api::pages::known;
use crate::serve::problem::{Answer, Problem};

/// So much of strangers' text is shown, in bytes of the page.
const LONGEST: usize = 60_000;
/// In the frame nothing runs, nothing is loaded, nothing is sent.
const FRAME: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
const DNS_PREFETCH: HeaderName = HeaderName::from_static("x-dns-prefetch-control");

fn version_of(reader: &Reader, id: i64, number: i64) -> Answer<(PageRecord, Version)> {
    let page = known(reader, id)?;
    let version = reader.version(VersionId(number))?.filter(|version| version.page == PageId(id));
    let version = version.ok_or_else(|| {
        Problem::missing(
            "no-such-version",
            format!("version {number} of page {id} is not kept, or never was"),
        )
    })?;
    Ok((page, version))
}

/// How a copy is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Look {
    r#as: String,
}

/// A copy, as text or as a page
pub(super) async fn page(
    desk: Desk,
    Number(id): Number,
    VersionNumber(number): VersionNumber,
    Query(look): Query<Look>,
) -> Answer<Response> {
    let own = desk.app.clone();
    let read = move |reader: &Reader| {
        let (page, version) = version_of(reader, id, number)?;
        let lines = text_of(reader, &version, &rules(&own, &page)?)?;
        Ok::<_, Problem>((page, version, lines))
    };
    let (page, version, lines) = desk.read(read).await?;
    let path = format!("/pages/{id}/copy/{number}");
    let is_page = look.r#as == "page";
    let main = html! {
        h1 { "Copy of " (harmless(&page.url)) }
        p.lead { "Version " (number) ", seen " (words::moment(version.time)) ". " a href={ "/pages/" (id) } { "Back to the page" } "." }
        div.head { nav aria-label="How it is shown" { ul.tabs {
            li { a href=(path) aria-current=[(!is_page).then_some("true")] { "Text" } }
            li { a href={ (path) "?as=page" } aria-current=[is_page.then_some("true")] { "Page, without scripts and pictures" } }
            li { a href={ (path) "/download" } download { "Download" } }
        } } }
        @if is_page { iframe.copy sandbox="" src={ (path) "/body" } title={ "Version " (number) ", as a page" } referrerpolicy="no-referrer" {} }
        @else { (text(lines.as_deref())) }
    };
    Ok(desk.show(Place::Pages, "Copy", &main))
}

fn text(lines: Option<&[String]>) -> Markup {
    let Some(lines) = lines else {
        return html! { p.empty { "It is no text. It can be downloaded." } };
    };
    let (shown, left) = words::excerpt(lines.iter().map(String::as_str), LONGEST);
    html! {
        pre tabindex="0" { (shown) }
        @if left > 0 { p.soft { "There is more: " (counted(left, "line")) ". The download has it." } }
    }
}

/// A copy as it came.
async fn answer_of(desk: &Desk, id: i64, number: i64) -> Answer<Record> {
    let read = move |reader: &Reader| {
        let (_, version) = version_of(reader, id, number)?;
        reader.answer(version.id)?.ok_or_else(|| {
            Problem::missing("no-such-version", format!("version {number} has just been dropped"))
        })
    };
    desk.read(read).await
}

/// What all copies are sent with: nothing of them runs, and nobody keeps them.
fn guarded(body: impl IntoResponse, kind: &'static str, disposition: &str) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, FRAME),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "private, no-store"),
        (DNS_PREFETCH, "off"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(disposition) = HeaderValue::from_str(disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    response
}

/// The copy itself, as bytes: the API is for programs, and lets nobody in who has only signed in here
pub(super) async fn download(
    desk: Desk,
    Number(id): Number,
    VersionNumber(number): VersionNumber,
) -> Answer<Response> {
    let record = answer_of(&desk, id, number).await?;
    let name = format!("attachment; filename=\"page-{id}-version-{number}\"");
    Ok(guarded(Body::from(record.body), "application/octet-stream", &name))
}

/// The copy itself, for the frame
pub(super) async fn body(
    desk: Desk,
    Number(id): Number,
    VersionNumber(number): VersionNumber,
) -> Answer<Response> {
    let record = answer_of(&desk, id, number).await?;
    let kind = header(&record.head, "content-type").and_then(|line| ContentType::parse(&line));
    let essence = kind.as_ref().map_or("", |kind| kind.essence.as_str());
    let is_html = matches!(essence, "text/html" | "application/xhtml+xml");
    let is_text = is_html || essence.starts_with("text/");
    let shown = if is_text {
        let text = charset::decoded(&record.body, kind.as_ref().and_then(|kind| kind.charset.as_deref()));
        if is_html { without_hints(&text) } else { text.into_owned() }
    } else {
        "It is no page; it can be downloaded.".to_owned()
    };
    let kind = if is_html { "text/html; charset=utf-8" } else { "text/plain; charset=utf-8" };
    Ok(guarded(shown, kind, "inline"))
}

/// HTML in which no `<link>` is one any more: browsers connect to where they point, whatever the policy says.
fn without_hints(html: &str) -> String {
    const LINK: &str = "<link";
    let mut shown = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let is_link = from.get(..LINK.len()).is_some_and(|start| start.eq_ignore_ascii_case(LINK));
        let taken = if is_link { LINK.len() } else { 1 };
        shown.push_str(if is_link { "<no-link" } else { "<" });
        rest = &from[taken..];
    }
    shown.push_str(rest);
    shown
}

/// What to compare.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Ends {
    from: Option<i64>,
    to: Option<i64>,
    raw: Option<String>,
}

/// What is shown of a comparison.
struct Difference {
    page: PageRecord,
    ends: Option<(Version, Version)>,
    shown: Markup,
}

/// What changed between two versions
pub(super) async fn changes(desk: Desk, Number(id): Number, Query(ends): Query<Ends>) -> Answer<Response> {
    let (own, raw) = (desk.app.clone(), ends.raw.is_some());
    let read = move |reader: &Reader| {
        let page = known(reader, id)?;
        let versions = reader.versions_of(page.id)?;
        let between = Between { from: ends.from.map(Which::Version), to: ends.to.map(Which::Version), raw };
        match compare(reader, &page, &versions, between, &rules(&own, &page)?) {
            Ok(Compared::Not(why)) => {
                Ok(Difference { page, ends: None, shown: html! { p.empty { (why) "." } } })
            }
            Ok(Compared::Both { from, to, hunks, note, ignored }) => {
                let shown = html! {
                    @if let Some(note) = note { p.empty { (said(note)) "." } }
                    @else {
                        (differences(&hunks))
                        @if ignored > 0 { p.soft { (counted(ignored, "place")) " with noise left out, where it says [ignored]." } }
                    }
                };
                Ok(Difference { page, ends: Some((from.clone(), to.clone())), shown })
            }
            Err(NotCompared::Missing(missing)) => {
                Err(Problem::missing("no-such-version", missing.to_string()))
            }
            Err(NotCompared::Store(why)) => Err(why.into()),
        }
    };
    let Difference { page, ends, shown } = desk.read(read).await?;
    let main = html! {
        h1 { "What changed in " (harmless(&page.url)) }
        p.lead {
            @if let Some((from, to)) = &ends {
                "From " a href={ "/pages/" (id) "/copy/" (from.id.0) } { "version " (from.id.0) } ", " (words::moment(from.time)) ", to "
                a href={ "/pages/" (id) "/copy/" (to.id.0) } { "version " (to.id.0) } ", " (words::moment(to.time)) ". "
            }
            a href={ "/pages/" (id) } { "Back to the page" } "."
        }
        @if let Some((from, to)) = &ends {
            @let path = format!("/pages/{id}/changes?from={}&to={}", from.id.0, to.id.0);
            div.head { nav aria-label="What is compared" { ul.tabs {
                li { a href=(path) aria-current=[(!raw).then_some("true")] { "Text" } }
                li { a href={ (path) "&raw=yes" } aria-current=[raw.then_some("true")] { "All of it, as it came" } }
            } } }
        }
        (shown)
    };
    Ok(desk.show(Place::Pages, "What changed", &main))
}

fn differences(hunks: &[Hunk]) -> Markup {
    let (mut shown, mut is_all) = (String::new(), true);
    for hunk in hunks {
        let mut rows = String::new();
        for (mark, parts) in hunk.lines() {
            let row = row(mark, parts).into_string();
            if shown.len() + rows.len() + row.len() > LONGEST {
                is_all = false;
                break;
            }
            rows.push_str(&row);
        }
        let (old, new) = hunk.place();
        let whole = html! {
            div.diff role="group" aria-label={ "Difference at line " (new) } {
                div.place { "line " (old) " → " (new) }
                (PreEscaped(rows))
            }
        };
        shown.push_str(&whole.into_string());
        if !is_all {
            break;
        }
    }
    html! { (PreEscaped(shown)) @if !is_all { p.soft { "There is more; " code { "refrain diff" } " shows all of it." } } }
}

fn row(mark: char, parts: &[(bool, String)]) -> Markup {
    let whole = parts.iter().all(|(differs, _)| *differs) || parts.iter().all(|(differs, _)| !*differs);
    let text = |part: &str| harmless(part.trim_end_matches(['\n', '\r'])).into_owned();
    match mark {
        '-' => {
            html! { div.row.del data-mark="−" { @for (differs, part) in parts { @if *differs || whole { del { (text(part)) } } @else { (text(part)) } } } }
        }
        '+' => {
            html! { div.row.ins data-mark="+" { @for (differs, part) in parts { @if *differs || whole { ins { (text(part)) } } @else { (text(part)) } } } }
        }
        _ => html! { div.row data-mark=" " { @for (_, part) in parts { (text(part)) } } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hints_are_left() {
        assert_eq!(
            without_hints("<p>a<b</p><LiNk rel=preconnect href=//x><linker><a href='<link'>é<"),
            "<p>a<b</p><no-link rel=preconnect href=//x><no-linker><a href='<no-link'>é<"
        );
    }

    #[test]
    fn what_differs_is_said_in_elements_too() {
        let parts = [(false, "the price is ".to_owned()), (true, "<script>".to_owned())];
        let shown = row('+', &parts).into_string();
        assert!(shown.contains("the price is <ins>&lt;script&gt;</ins>"), "{shown}");
        assert!(row('-', &[(false, "gone\n".to_owned())]).into_string().contains("<del>gone</del>"));
    }
}
