//! Who may use the API, and for what: tokens, kept as digests in the data directory.
//!
//! A token is 32 bytes of chance. Slow hashes protect passwords that people thought up and that can be guessed; nobody guesses 256 bits, so one
//! SHA-256 is enough, and does not let strangers keep the server busy.

mod book;
mod command;
mod file;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

pub(crate) use book::Book;
pub(crate) use command::run;

/// What tokens begin with, so that programs that look for lost secrets find them.
const START: &str = "rfr_";

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Look at everything.
    Read,
    /// Change everything, and fetch.
    Write,
    /// Say that pages changed.
    Signal,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Signal];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Signal => "signal",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A token, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// The beginning of its digest: to speak of it.
    pub(crate) id: String,
    /// The digest, in hexadecimal digits.
    sha256: String,
    pub(crate) scopes: Vec<Scope>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Under which name its signals are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// Of which hosts it may speak; all, if none are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
    /// Milliseconds since 1970.
    created: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
}

/// What is known of a secret: all that is kept.
fn digest(secret: &str) -> [u8; 32] {
    sha2::Sha256::digest(secret.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(bytes)
}

fn millis(time: Time) -> i64 {
    time.as_nanos().div_euclid(1_000_000)
}

impl Token {
    /// A new one, and the secret, of which only the digest is kept.
    fn new(scopes: Vec<Scope>, random: [u8; 32], created: Time) -> (Self, String) {
        let secret = format!("{START}{}", URL_SAFE_NO_PAD.encode(random));
        let sha256 = hex(&digest(&secret));
        let token = Self {
            id: sha256[..8].to_owned(),
            sha256,
            scopes,
            name: None,
            source: None,
            hosts: Vec::new(),
            created: millis(created),
            expires: None,
        };
        (token, secret)
    }

    #[cfg(test)]
    pub(crate) fn for_tests(scopes: Vec<Scope>) -> Self {
        Self::new(scopes, [7; 32], Time::ZERO).0
    }

    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.expires.is_some_and(|expires| expires <= millis(now))
    }

    pub(crate) fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// Whether who speaks for these hosts may speak of a page: `https://example.org` as hosts are named everywhere, `example.org` whatever the scheme
/// and port, `*.example.org` for all below it; of all, if none are named.
pub(crate) fn speaks_for(hosts: &[String], url: &PageUrl) -> bool {
    let host = url.host();
    let fits = |pattern: &String| match pattern.strip_prefix("*.") {
        Some(below) => host.strip_suffix(below).is_some_and(|rest| rest.ends_with('.')),
        None if pattern.contains("://") => {
            PageUrl::parse(pattern).is_ok_and(|named| named.robots() == url.robots())
        }
        None => pattern.eq_ignore_ascii_case(host),
    };
    hosts.is_empty() || hosts.iter().any(fits)
}
