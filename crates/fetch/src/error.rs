//! How a fetch fails.

use std::fmt;
use std::net::IpAddr;

/// Why there is no answer. Each says in a sentence what happened; none is the end of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The host's name leads nowhere.
    #[error("the host's name could not be resolved: {0}")]
    Dns(String),
    /// The name leads to an address where no crawler has any business.
    #[error("{0} is not a public address; allow private addresses if it is meant to be crawled")]
    Forbidden(IpAddr),
    /// Nobody listens, or the way there is broken.
    #[error("no connection: {0}")]
    Connect(String),
    /// No trust, or no common language.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// Something took longer than it may.
    #[error("timed out {0}")]
    Timeout(Stage),
    /// The body came, but too slowly.
    #[error("the body came at less than {least} bytes per second")]
    TooSlow {
        /// What was expected at least.
        least: u64,
    },
    /// The head of the answer is too large.
    #[error("the answer's head is larger than allowed")]
    Headers,
    /// What came is not HTTP, or the connection broke before an answer came.
    #[error("no proper HTTP answer: {0}")]
    Protocol(String),
    /// The body broke off, or was framed wrongly.
    #[error("the body broke off: {0}")]
    Body(String),
    /// The body is not in the content encoding that its head names.
    #[error("the body is not proper {coding}: {why}")]
    Encoding {
        /// The coding, by its name in `Content-Encoding`.
        coding: &'static str,
        /// What the decoder said.
        why: String,
    },
    /// The server closed a connection that was kept from an earlier request, before any byte of an answer to this one.
    #[error("the server closed the connection that was kept from an earlier request")]
    Closed,
    /// Connections were dropped, since they are likely to be dead.
    #[error("the connection was given up: the machine had been asleep")]
    Interrupted,
    /// There was no room for the body among others.
    #[error("other large bodies took all the memory for bodies for too long")]
    NoRoom,
    /// The request cannot be written as HTTP.
    #[error("no request can be made of it: {0}")]
    Request(String),
}

impl FetchError {
    /// Whether the reason lies on our side: it says nothing about the page or the host, and the request can be made again.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Interrupted | Self::NoRoom)
    }

    /// Whether the host answered all the same: then something is wrong with the page, not with the host or the way to it.
    pub fn is_of_page(&self) -> bool {
        matches!(self, Self::Headers | Self::Body(_) | Self::Encoding { .. } | Self::Request(_))
    }
}

/// What was under way when the time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Resolving the host's name.
    Dns,
    /// Connecting.
    Connect,
    /// Agreeing on a secure connection.
    Tls,
    /// Waiting for the head of the answer.
    Head,
    /// Reading the body.
    Body,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dns => "resolving the host's name",
            Self::Connect => "connecting",
            Self::Tls => "securing the connection",
            Self::Head => "waiting for an answer",
            Self::Body => "reading the body",
        })
    }
}
