//! Percent-encoded octets, and which spelling of an octet a canonical path or query has.
//!
//! An octet is written in one of three ways, by RFC 3986:
//!
//! - an unreserved one (section 2.3) as itself: `%41` means `A` to every server;
//! - one that no path and no query may hold ([`must_be_encoded`]) as `%XY`: a client that sends it raw breaks the grammar, so a
//!   server that takes it at all takes it for its encoded form, and some refuse it;
//! - any other (`/`, `?`, `&`, `=`, `+`, `;`, `%`, …) as it was found: raw it may separate, and encoded it does not.

/// The octet that `%xy` at the start of `bytes` stands for.
pub(crate) fn encoded(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    Some((hex(*high)? << 4) | hex(*low)?)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Octets that mean the same encoded or not (RFC 3986, section 2.3).
pub(crate) fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// Octets that RFC 3986 (section 3.3 and 3.4) lets stand neither in a path nor in a query. The URL parser encodes the same ones but
/// `[ ] | ^ \` and, in queries, `` ` { } ``, which browsers send as they find them.
pub(crate) fn must_be_encoded(octet: u8) -> bool {
    const NEVER: &[u8] = b"\"<>[\\]^`{|}";
    !octet.is_ascii_graphic() || NEVER.contains(&octet)
}

/// The canonical spelling of a path or query; `None` if it is spelled so already.
pub(crate) fn canonical(text: &str) -> Option<String> {
    if !text.bytes().any(|octet| octet == b'%' || must_be_encoded(octet)) {
        return None;
    }
    let (bytes, mut spelled) = (text.as_bytes(), String::with_capacity(text.len() + 8));
    let mut at = 0;
    while at < bytes.len() {
        let (octet, is_encoded) = encoded(&bytes[at..]).map_or((bytes[at], false), |octet| (octet, true));
        if must_be_encoded(octet) || (is_encoded && !is_unreserved(octet)) {
            spelled.push_str(&format!("%{octet:02X}"));
        } else {
            // A percent sign on its own stays: what it means is the server's business.
            spelled.push(char::from(octet));
        }
        at += if is_encoded { 3 } else { 1 };
    }
    (spelled != text).then_some(spelled)
}
