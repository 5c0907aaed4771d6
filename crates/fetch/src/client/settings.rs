//! How much of anything a client takes.

use std::path::PathBuf;
use std::time::Duration;

use http::header::HeaderValue;

/// hyper needs at least so much room for a head.
pub(super) const SMALLEST_HEAD: usize = 8192;

/// What a client says of itself, and what it puts up with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The `User-Agent` line: a product token, a version, and where to read about the crawler.
    pub user_agent: String,
    /// The `Accept` line.
    pub accept: String,
    /// Bodies are cut off at so many bytes, as sent and as decoded.
    pub max_body: usize,
    /// The head of an answer: its bytes.
    pub max_head: usize,
    /// The head of an answer: its lines.
    pub max_headers: usize,
    /// For each of: resolving the name, connecting, securing the connection.
    pub connect_timeout: Duration,
    /// From the order to the end of the answer's head, connecting included.
    pub head_timeout: Duration,
    /// From the order to the end of the answer.
    pub whole_timeout: Duration,
    /// A body must come with so many bytes per second, over each [`Settings::speed_window`].
    pub least_speed: u64,
    /// How long a body may be slow before it is given up.
    pub speed_window: Duration,
    /// Connections are kept for so long after use.
    pub idle_timeout: Duration,
    /// So many connections are kept for a host.
    pub idle_per_host: usize,
    /// The answers of name servers are remembered for so many names.
    pub dns_cache: usize,
    /// Connect to addresses that are not public as well: for intranets and tests.
    pub allow_private: bool,
    /// PEM files with certificates of authorities to trust beside Mozilla's.
    pub extra_authorities: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: concat!("Refrain/", env!("CARGO_PKG_VERSION")).to_owned(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            max_body: 10_000_000,
            max_head: 64 * 1024,
            max_headers: 200,
            connect_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(30),
            whole_timeout: Duration::from_secs(120),
            least_speed: 500,
            speed_window: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            idle_per_host: 2,
            dns_cache: 10_000,
            allow_private: false,
            extra_authorities: Vec::new(),
        }
    }
}

/// What cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// A text that cannot stand in a header.
    #[error("{name}: `{value}` cannot be sent in a header; expected printable ASCII characters")]
    Header {
        /// Which setting.
        name: &'static str,
        /// What was given.
        value: String,
    },
    /// A file of authorities.
    #[error("{path}: {why}; expected a PEM file with certificates")]
    Authorities {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// No name servers.
    #[error("{0}")]
    Dns(String),
}

pub(super) fn header(name: &'static str, value: &str) -> Result<HeaderValue, BadSettings> {
    let bad = || BadSettings::Header { name, value: value.to_owned() };
    if value.is_ascii() { HeaderValue::from_str(value).map_err(|_| bad()) } else { Err(bad()) }
}
