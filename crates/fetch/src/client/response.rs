//! What came back.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hyper::ext::ReasonPhrase;
use refrain_core::time::{Span, Time};

use super::allowance::Hold;
use super::connect::Remote;
use super::decode::{Coded, Decoded};
use super::headers::Headers;
use crate::clock::span;
use crate::error::FetchError;
use crate::url::{BadUrl, PageUrl};

/// One answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The words after it, where they are not the usual ones.
    pub reason: Option<Bytes>,
    /// The version of the protocol.
    pub version: Version,
    /// The lines of the head.
    pub headers: Headers,
    /// Whom we talked to.
    pub remote: Option<SocketAddr>,
    /// From the order to the head of the answer, connecting included.
    pub first_byte: Span,
    /// From the order to the end of the answer.
    pub whole: Span,
    /// The body as sent, still in its content coding: what an archive keeps.
    pub raw: Bytes,
    /// The body without its content coding: what is looked at.
    pub body: Bytes,
    /// The body was cut off at the largest size allowed.
    pub truncated: bool,
    /// The content codings that [`Response::body`] is still in, because it was asked for like that.
    pub coded: Coded,
    /// The memory that the body takes among all bodies.
    pub hold: Hold,
    /// Where a redirect leads, resolved.
    pub location: Option<Result<PageUrl, BadUrl>>,
}

/// The version of the protocol that an answer came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

/// The `Content-Type` of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentType {
    /// `text/html`, in lower case.
    pub essence: String,
    /// The character encoding's label, as given.
    pub charset: Option<String>,
}

impl Response {
    pub(super) fn new(
        url: &PageUrl,
        parts: http::response::Parts,
        body: Decoded,
        first_byte: Duration,
        whole: Duration,
    ) -> Self {
        let status = parts.status.as_u16();
        let headers = Headers::from(parts.headers);
        let location = headers
            .get("location")
            .filter(|_| matches!(status, 300..=303 | 305..=308))
            .map(|target| url.join(String::from_utf8_lossy(target).trim()));
        Self {
            status,
            reason: parts
                .extensions
                .get::<ReasonPhrase>()
                .map(|reason| Bytes::copy_from_slice(reason.as_bytes())),
            version: match parts.version {
                http::Version::HTTP_2 => Version::Http2,
                http::Version::HTTP_10 => Version::Http10,
                _ => Version::Http11,
            },
            headers,
            remote: parts.extensions.get::<Remote>().map(|remote| remote.address),
            first_byte: span(first_byte),
            whole: span(whole),
            raw: body.raw,
            body: body.bytes,
            truncated: body.truncated,
            coded: body.coded,
            hold: body.hold,
            location,
        }
    }

    /// Hands out the body without any content coding, up to `limit` bytes, in small pieces, until a piece is refused (false). Returns whether
    /// there was more.
    ///
    /// # Errors
    /// If the body is not in the codings that its head names.
    pub fn pieces(&self, limit: usize, each: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool, FetchError> {
        self.coded.pieces(&self.body, (limit, self.truncated), each)
    }

    /// The version of the page, to be sent back verbatim.
    pub fn etag(&self) -> Option<&[u8]> {
        self.headers.get("etag")
    }

    /// How long the server asks us to stay away, at the moment `now`.
    pub fn retry_after(&self, now: Time) -> Option<Span> {
        let value = self.headers.text("retry-after")?;
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // Only a number too large to hold can fail to parse.
            return Some(Span::from_whole_secs(value.parse().unwrap_or(u64::MAX)));
        }
        date(value).map(|then| then.since(now))
    }

    /// What kind of thing the body is said to be.
    pub fn content_type(&self) -> Option<ContentType> {
        let lines: Vec<&str> =
            self.headers.all("content-type").filter_map(|line| std::str::from_utf8(line).ok()).collect();
        ContentType::parse(&lines.join(","))
    }

    /// The head as an archive keeps it with [`Response::raw`]: HTTP/1.1 lines, without the transfer coding, which is gone
    /// from the body as well.
    pub fn archive_head(&self) -> Vec<u8> {
        let version = if self.version == Version::Http10 { "HTTP/1.0" } else { "HTTP/1.1" };
        let usual = http::StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let mut head = format!("{version} {} ", self.status).into_bytes();
        head.extend_from_slice(self.reason.as_deref().unwrap_or(usual.unwrap_or_default().as_bytes()));
        head.extend_from_slice(b"\r\n");
        for (name, value) in self.headers.iter().filter(|(name, _)| *name != "transfer-encoding") {
            for part in [name.as_bytes(), b": ", value, b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

impl ContentType {
    /// Reads a `Content-Type` line; `None` if it names no type. Of a list, as two lines are joined on their way, the last type
    /// counts; one without a charset keeps that of the same type before it (Fetch Standard, "extract a MIME type").
    pub fn parse(line: &str) -> Option<Self> {
        let mut quoted = false;
        let types = line.split(|c: char| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        types.filter_map(Self::parse_one).filter(|kind| kind.essence != "*/*").reduce(|before, kind| {
            let is_same = kind.charset.is_none() && kind.essence == before.essence;
            if is_same { before } else { kind }
        })
    }

    fn parse_one(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let essence = parts.next()?.trim().to_ascii_lowercase();
        let (kind, subkind) = essence.split_once('/')?;
        if kind.is_empty() || subkind.is_empty() {
            return None;
        }
        let charset = parts
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| {
                value.trim_matches(|c: char| matches!(c, '"' | '\'') || c.is_whitespace()).to_owned()
            })
            .filter(|label| !label.is_empty());
        Some(Self { essence, charset })
    }

    /// HTML, or XHTML.
    pub fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }

    /// Made of characters: text, and the formats that are written in it.
    pub fn is_text(&self) -> bool {
        self.essence.starts_with("text/")
            || self.essence.ends_with("+xml")
            || self.essence.ends_with("+json")
            || matches!(
                self.essence.as_str(),
                "application/json" | "application/xml" | "application/javascript" | "application/x-ndjson"
            )
    }
}

/// An HTTP date; those beyond 2262 are the end of time.
fn date(text: &str) -> Option<Time> {
    let since_epoch = httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Time::from_nanos(i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_read_as_people_write_them() {
        let read = |line| ContentType::parse(line).map(|kind| (kind.essence, kind.charset));
        let html = "text/html".to_owned();
        assert_eq!(read("text/html"), Some((html.clone(), None)));
        assert_eq!(read("Text/HTML; Charset=\"utf-8\""), Some((html.clone(), Some("utf-8".into()))));
        assert_eq!(read("text/html;x=y; charset='koi8-r' "), Some((html.clone(), Some("koi8-r".into()))));
        assert_eq!(read("text/html; charset="), Some((html.clone(), None)));
        assert_eq!(read("text/html; charset=\" utf-8 \""), Some((html.clone(), Some("utf-8".into()))));
        for list in [
            "text/html, text/html; charset=utf-8",
            "text/html; charset=utf-8, text/html",
            "text/plain; charset=koi8-r, text/html; x=\",/\"; charset=utf-8",
            "text/html; charset=utf-8, */*, nothing",
        ] {
            assert_eq!(read(list), Some((html.clone(), Some("utf-8".into()))), "{list}");
        }
        assert_eq!(read("text/plain; charset=utf-8, text/html"), Some((html, None)));
        assert_eq!(read("html"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn dates_are_moments() {
        assert_eq!(
            date("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Time::from_nanos(784_111_777 * 1_000_000_000))
        );
        assert_eq!(date("Fri, 31 Dec 9999 23:59:59 GMT"), Some(Time::MAX));
        assert_eq!(date("yesterday"), None);
    }
}
