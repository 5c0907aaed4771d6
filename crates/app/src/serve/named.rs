//! The host that a request is addressed to: its Host line, the authority of an absolute request target, `:authority` in HTTP/2.
//!
//! All of them must agree and be well-formed: whatever is decided by the name of the host is decided by the whole name.

use std::net::{IpAddr, Ipv6Addr};

use axum::extract::Request;
use http::header::HOST;
use http::{HeaderMap, HeaderValue};

use super::problem::Problem;

/// The name in a Host line: a host, and perhaps a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named<'a> {
    Address(IpAddr),
    Name(&'a str),
}

impl<'a> Named<'a> {
    /// Parses `host` or `host:port`, where the host is an IPv4 address, an IPv6 address in brackets or a name; `None` if it is anything else.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (inside, rest) = rest.split_once(']')?;
            (Self::Address(inside.parse::<Ipv6Addr>().ok()?.into()), rest)
        } else {
            let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
            let is_name = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
            (name.parse().map_or(is_name.then_some(Self::Name(name))?, Self::Address), rest)
        };
        let is_port = port.is_empty()
            || port.strip_prefix(':').is_some_and(|port| {
                port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
            });
        is_port.then_some(host)
    }

    /// The one that the Host line names.
    pub(crate) fn of(headers: &'a HeaderMap) -> Option<Self> {
        Self::parse(headers.get(HOST)?.to_str().ok()?)
    }

    /// Returns true if this can only mean this machine.
    pub(crate) fn is_loopback(self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
        }
    }
}

/// Refuses a request that names several hosts, or one in a form that RFC 9112 does not have; leaves the name in the Host line.
pub(crate) fn settle(request: &mut Request) -> Result<(), Problem> {
    let wrong = |what: &str| Err(Problem::bad(format!("{what}; expected one host and perhaps a port")));
    let mut lines = request.headers().get_all(HOST).iter();
    let (line, more) = (lines.next(), lines.next());
    if more.is_some() {
        return wrong("there are several Host lines");
    }
    // HTTP/1.0 needs none, and an empty one says that the target has no host.
    let line = match line.map(HeaderValue::to_str) {
        None => None,
        Some(Ok(text)) if text.is_empty() || Named::parse(text).is_some() => Some(text),
        Some(_) => return wrong("the Host line names no host"),
    };
    if let Some(target) = request.uri().authority() {
        if Named::parse(target.as_str()).is_none() {
            return wrong("the target of the request names no host");
        }
        if line.is_some_and(|line| !line.eq_ignore_ascii_case(target.as_str())) {
            return wrong("the Host line and the target of the request name different hosts");
        }
        if let (None, Ok(name)) = (line, HeaderValue::from_str(target.as_str())) {
            request.headers_mut().insert(HOST, name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_whole_names_mean_this_machine() {
        for near in [
            "localhost",
            "LOCALHOST:7070",
            "127.0.0.1",
            "127.9.9.9:1",
            "[::1]",
            "[::1]:7070",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(Named::parse(near).is_some_and(Named::is_loopback), "{near}");
        }
        for far in [
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.evil",
            "192.0.2.1",
            "[2001:db8::1]:1",
            "localhost.",
        ] {
            assert!(Named::parse(far).is_some_and(|named| !named.is_loopback()), "{far}");
        }
        for none in [
            "",
            ":7070",
            "[::1].evil",
            "[::1",
            "[::1]evil:7070",
            "[127.0.0.1]",
            "[localhost]",
            "::1",
            "localhost:7070@evil",
            "evil@localhost",
            "localhost:evil",
            "localhost:70701",
            "localhost:+1",
            "localhost:80:80",
            "localhost/",
            "localhost, evil",
            "localhost evil",
            "localhost#evil",
            "localhost?evil",
            "local%68ost",
            " localhost",
        ] {
            assert_eq!(Named::parse(none), None, "{none}");
        }
    }

    #[test]
    fn all_that_a_request_names_is_one_host() {
        let named = |target: &str, lines: &[&str]| {
            let mut request = Request::builder().uri(target);
            for line in lines {
                request = request.header(HOST, *line);
            }
            let mut request = request.body(Body::empty()).unwrap();
            settle(&mut request).ok()?;
            Some(request.headers().get(HOST).map(|line| line.to_str().unwrap().to_owned()))
        };
        let is = |line: &str| Some(Some(line.to_owned()));
        assert_eq!(named("/", &["localhost:7070"]), is("localhost:7070"));
        assert_eq!(named("/", &[]), Some(None));
        assert_eq!(named("/", &[""]), is(""));
        assert_eq!(named("http://localhost:7070/v1", &[]), is("localhost:7070"));
        assert_eq!(named("http://localhost:7070/v1", &["LocalHost:7070"]), is("LocalHost:7070"));
        for (target, lines) in [
            ("/", &["localhost", "localhost"][..]),
            ("/", &["localhost", "evil.example"]),
            ("/", &["localhost:7070@evil"]),
            ("/", &["[::1].evil"]),
            ("/", &["localhost\u{e9}"]),
            ("http://evil.example/", &["localhost"]),
            ("http://localhost/", &["evil.example"]),
            ("http://localhost/", &["localhost:7070"]),
            ("http://localhost/", &[""]),
            ("http://localhost:7070@evil/", &[]),
            ("http://me@localhost/", &["localhost"]),
        ] {
            assert_eq!(named(target, lines), None, "{target} {lines:?}");
        }
    }
}
