//! What is wanted of a server: what was typed goes first, then what the file says, then what is usual.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use refrain_core::time::Span;
use refrain_engine::{Clock, LONGEST_LEASE, Schedules, Settings};
use refrain_fetch::url::PageUrl;
use refrain_store::Schedule;

use super::allowance::Allowance;
use super::counted;
use super::guard::{Answered, Count, Guard};
use super::metrics::Metrics;
use super::push::USUAL_SUBSCRIPTIONS;
use super::server::Limits;
use super::tokens::Book;
use crate::cli::ServeArgs;
use crate::crawl::config::{self, Config};
use crate::failure::Failure;

const USUAL: &str = "127.0.0.1:7070";
pub(crate) const LEASE: Span = Span::from_whole_secs(300);
const COMMIT_WITHIN: Span = Span::from_millis(50);
const BURST: Span = Span::from_whole_secs(1);
const CONNECTIONS: usize = 1024;
const PER_ADDRESS: usize = 64;
/// One request in this time.
const EACH: Span = Span::from_millis(1);
const MAX_BODY: usize = 32_000_000;

/// What is wanted of a server.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) listen: SocketAddr,
    /// Whether it fetches by itself.
    pub(crate) fetches: bool,
    /// Certificate and key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) public: Option<PageUrl>,
    pub(crate) lease: Span,
    pub(crate) commit_within: Span,
    pub(crate) burst: Span,
    pub(crate) limits: Limits,
    /// One request of an address in this time.
    pub(crate) each: Span,
    pub(crate) max_body: usize,
    /// So many feeds are subscribed to.
    pub(crate) subscriptions: usize,
    pub(crate) indexnow_adds: bool,
    pub(crate) reads_memory: Option<Span>,
    /// Where crawlers that speak URLFrontier are listened to, if they are.
    pub(crate) urlfrontier: Option<SocketAddr>,
    pub(crate) schedules: Schedules,
}

impl Wanted {
    pub(crate) fn new(args: &ServeArgs, config: &Config) -> Result<Self, Failure> {
        let urlfrontier = match &args.urlfrontier {
            Some(typed) => Some(address("--urlfrontier", typed)?),
            None => config.urlfrontier.listen.map(|listen| listen.0),
        };
        let schedules = schedules(&config.urlfrontier);
        let config = &config.serve;
        let listen = args.listen.as_deref().or(config.listen.as_deref()).unwrap_or(USUAL);
        let tls = match (&args.tls_cert, &args.tls_key) {
            (Some(cert), Some(key)) => Some((cert.clone(), key.clone())),
            _ => match (&config.tls_cert, &config.tls_key) {
                (Some(cert), Some(key)) => Some((cert.clone(), key.clone())),
                (None, None) => None,
                _ => {
                    return Err(Failure::input(
                        "[serve]: there is only one of tls_cert and tls_key; expected both",
                    ));
                }
            },
        };
        let public = args.public_url.as_deref().or(config.public_url.as_deref());
        let lease = config.lease.map_or(LEASE, |period| period.0);
        if !(Span::from_whole_secs(1)..=LONGEST_LEASE).contains(&lease) {
            return Err(Failure::input("[serve] lease: expected 1s to 25m"));
        }
        let limits = Limits {
            connections: some("connections", config.connections, CONNECTIONS)?,
            per_address: some("connections_per_address", config.connections_per_address, PER_ADDRESS)?,
        };
        Ok(Self {
            listen: address("--listen", listen)?,
            fetches: !args.no_fetch && config.fetch.unwrap_or(true),
            tls,
            public: public.map(public_url).transpose()?,
            lease,
            commit_within: config.commit_within.map_or(COMMIT_WITHIN, |period| period.0),
            burst: config.burst.map_or(BURST, |period| period.0),
            limits,
            each: config.requests.map_or(EACH, |each| each.0),
            max_body: config.max_body.map_or(MAX_BODY, |bytes| bytes.0 as usize),
            subscriptions: config.subscriptions.unwrap_or(USUAL_SUBSCRIPTIONS),
            indexnow_adds: config.indexnow_adds.unwrap_or(false),
            reads_memory: config.reads_memory.map(|period| period.0),
            urlfrontier,
            schedules,
        })
    }

    /// Who asks everybody at the doors.
    pub(crate) fn guard(&self, clock: Clock, book: Book, metrics: &Arc<Metrics>) -> Arc<Guard> {
        let metrics = Arc::clone(metrics);
        let count: Count = Arc::new(move |answered: &Answered<'_>| counted::request(&metrics, answered));
        let allowance = Allowance::new(self.each);
        Arc::new(
            Guard::new(clock, book, allowance, self.listen, self.public.clone(), count)
                .with_tls(self.tls.is_some()),
        )
    }

    /// What a server changes about how a crawl goes about it.
    pub(crate) fn apply(&self, settings: &mut Settings) {
        settings.fetches = self.fetches;
        settings.commit_within = self.commit_within;
        settings.burst = self.burst;
        settings.reads_memory = self.reads_memory.unwrap_or(settings.reads_memory);
        settings.schedules = self.schedules.clone();
    }
}

/// Who decides when to come back, by the names of crawls.
fn schedules(config: &config::UrlFrontier) -> Schedules {
    let schedule = |said| match said {
        config::Schedule::Client => Schedule::Client,
        config::Schedule::Server => Schedule::Server,
    };
    let named = config.crawl.iter().map(|crawl| (crawl.pattern.clone(), schedule(crawl.schedule)));
    let default = config.schedule.map_or(Schedules::default().default, schedule);
    Schedules { default, patterns: named.collect() }
}

fn some(name: &str, given: Option<usize>, usual: usize) -> Result<usize, Failure> {
    match given {
        Some(0) => Err(Failure::input(format!("[serve] {name} is 0; expected at least 1"))),
        given => Ok(given.unwrap_or(usual)),
    }
}

/// An address and a port, as somebody typed it after an option.
pub(crate) fn address(option: &str, text: &str) -> Result<SocketAddr, Failure> {
    socket_address(text).map_err(|why| Failure::input(format!("{option} {text}: {why}")))
}

/// An address and a port; if it is none, why.
pub(crate) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        |why: &str| format!("{why}; expected an address and a port, like 127.0.0.1:7070 or [::1]:7070");
    let mut found = text.to_socket_addrs().map_err(|why| wrong(&why.to_string()))?;
    found.next().ok_or_else(|| wrong("there is no such address"))
}

fn public_url(text: &str) -> Result<PageUrl, Failure> {
    let expected = "expected one like https://refrain.example.net/";
    let url = PageUrl::parse(text)
        .map_err(|why| Failure::input(format!("--public-url {text}: {why}; {expected}")))?;
    if url.path_and_query().contains('?') {
        return Err(Failure::input(format!("--public-url {text}: there is a query in it; {expected}")));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn wanted(typed: &[&str], config: &config::Serve) -> Result<Wanted, String> {
        let Command::Serve(args) = Cli::parse_from(["refrain", "serve"].iter().chain(typed)).command else {
            panic!("another command");
        };
        let config = Config { serve: config.clone(), ..Config::default() };
        Wanted::new(&args, &config).map_err(|why| why.to_string())
    }

    #[test]
    fn what_is_typed_goes_first() {
        let usual = wanted(&[], &config::Serve::default()).unwrap();
        assert_eq!((usual.listen.to_string().as_str(), usual.fetches), (USUAL, true));
        let file = config::Serve {
            listen: Some("127.0.0.1:1".into()),
            fetch: Some(false),
            public_url: Some("https://a.example/x".into()),
            ..config::Serve::default()
        };
        let found = wanted(&["--listen", "[::1]:2"], &file).unwrap();
        assert_eq!((found.listen.to_string().as_str(), found.fetches), ("[::1]:2", false));
        assert_eq!(found.public.unwrap().as_str(), "https://a.example/x");
    }

    #[test]
    fn mistakes_are_named() {
        for (typed, says) in [
            (&["--listen", "nowhere"][..], "--listen nowhere: "),
            (&["--urlfrontier", "nowhere"], "--urlfrontier nowhere: "),
            (&["--public-url", "ftp://a/"], "--public-url ftp://a/: "),
            (&["--public-url", "https://a/?b"], "there is a query"),
        ] {
            let why = wanted(typed, &config::Serve::default()).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let half = config::Serve { tls_cert: Some("a".into()), ..config::Serve::default() };
        assert!(wanted(&[], &half).unwrap_err().contains("only one of tls_cert and tls_key"));
    }
}
