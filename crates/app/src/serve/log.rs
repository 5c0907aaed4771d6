//! The log, on standard error, and what the crawl tells that goes into it.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use refrain_engine::{Missed, Pulse, Told, ToldReceiver};
use refrain_store::Seq;
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;
use crate::crawl::feed::Feed;
use crate::failure::Failure;
use crate::serve::metrics::Metrics;
use crate::serve::push::Push;
use crate::units;

/// Between two rounds of listening.
const PAUSE: Duration = Duration::from_millis(2);

/// Begins to log. How much is logged may be changed.
pub(crate) fn start(format: LogFormat, level: &str) -> Result<Levels, Failure> {
    let filter = EnvFilter::try_new(level).map_err(|why| {
        Failure::input(format!(
            "--log-level {level}: {why}; expected error, warn, info, debug or trace, or parts with theirs"
        ))
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let (started, set): (_, Set) = match format {
        LogFormat::Json => {
            let log = log.json().flatten_event(true).with_current_span(false).with_filter_reloading();
            let handle = log.reload_handle();
            (log.try_init(), Box::new(move |filter| handle.reload(filter).is_ok()))
        }
        LogFormat::Text => {
            let log = log.with_ansi(std::io::stderr().is_terminal()).with_target(false);
            let log = log.with_filter_reloading();
            let handle = log.reload_handle();
            (log.try_init(), Box::new(move |filter| handle.reload(filter).is_ok()))
        }
    };
    started.map_err(|why| Failure::OnTheWay(format!("the log cannot be written ({why})")))?;
    Ok(Levels { began: level.to_owned(), said: Mutex::default(), set })
}

type Set = Box<dyn Fn(EnvFilter) -> bool + Send + Sync>;

/// How much is logged of which part, where that was changed since the start.
pub(crate) struct Levels {
    began: String,
    said: Mutex<BTreeMap<String, tracing::Level>>,
    set: Set,
}

impl Levels {
    /// Parts whose levels are remembered.
    const MOST: usize = 100;

    /// From now on a part of Refrain (`refrain::serve`; `refrain` is all of it) is logged down to this level. Others are as they were: what
    /// a library says of every byte would fill the disk. Whether that is one of our parts.
    pub(crate) fn change(&self, part: &str, level: tracing::Level) -> bool {
        let own = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b':');
        if !part.starts_with("refrain") || part.len() > 100 || !part.bytes().all(own) {
            return false;
        }
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= Self::MOST && !said.contains_key(part) {
            return false;
        }
        said.insert(part.to_owned(), level);
        let whole =
            said.iter().fold(self.began.clone(), |whole, (part, level)| format!("{whole},{part}={level}"));
        EnvFilter::try_new(whole).is_ok_and(|filter| (self.set)(filter))
    }
}

/// Who is told of what.
pub(crate) struct Ears {
    /// The last change on the disk.
    pub(crate) changes: watch::Sender<Seq>,
    /// How it is doing.
    pub(crate) pulse: watch::Sender<Option<Arc<Pulse>>>,
    /// A file of changes.
    pub(crate) feed: Option<Feed>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) push: Arc<Push>,
}

impl Ears {
    /// Passes on what the crawl tells, until it is over. Whether the changes could be written.
    pub(crate) fn listen(mut self, mut hears: ToldReceiver) -> Result<(), Failure> {
        let mut fed = self.feed.as_mut().map_or(Ok(()), Feed::catch_up);
        complain(&fed);
        while let Some(first) = hears.blocking_recv() {
            let mut next = Some(first);
            while let Some(told) = next {
                self.hear(told, &mut fed);
                next = hears.try_recv().ok();
            }
            // Who is woken for every one of thousands of visits a second does nothing but wake up.
            std::thread::sleep(PAUSE);
        }
        fed
    }

    fn hear(&mut self, told: Told, fed: &mut Result<(), Failure>) {
        self.metrics.hear(&told);
        match told {
            Told::Changes(seq) => self.reach(seq, fed),
            Told::Pulse(pulse) => {
                self.pulse.send_replace(Some(Arc::from(pulse)));
            }
            Told::Hub { page, topic, hub } => self.push.found_hub(page, &topic, &hub),
            Told::Warning(sentence) => tracing::warn!("{sentence}"),
            Told::Missed(Missed { events, change }) => {
                tracing::warn!(
                    events,
                    "events came faster than they were written; they are not in the log and the metrics"
                );
                if let Some(seq) = change {
                    self.reach(seq, fed);
                }
            }
            Told::Announced { url, kind, signals, found, .. } => {
                tracing::debug!(url, kind = kind.as_str(), signals, found, "heard");
            }
            Told::Looked { url, outcome, note, status, bytes, took, .. } => {
                // Not even put into words, if nobody wants to read it.
                if tracing::enabled!(tracing::Level::DEBUG) {
                    let took = units::spoken(took);
                    tracing::debug!(url, status, bytes, took, note, "{}", outcome.as_str());
                }
            }
        }
    }
}

impl Ears {
    /// Changes up to this one are on the disk.
    fn reach(&mut self, seq: Seq, fed: &mut Result<(), Failure>) {
        self.changes.send_replace(seq);
        if let (Some(feed), true) = (&mut self.feed, fed.is_ok()) {
            *fed = feed.catch_up();
            complain(fed);
        }
    }
}

fn complain(fed: &Result<(), Failure>) {
    if let Err(why) = fed {
        tracing::error!("{why}; the crawl goes on, and `refrain changes` will have them all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_parts_change_their_levels() {
        let filters = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&filters);
        let set = Box::new(move |filter: EnvFilter| {
            kept.lock().unwrap().push(filter.to_string());
            true
        });
        let levels = Levels { began: "warn".to_owned(), said: Mutex::default(), set };
        for part in ["h2", "", "refrain=trace,h2", "refrain\n", "crawlercommons.urlfrontier"] {
            assert!(!levels.change(part, tracing::Level::TRACE), "{part}");
        }
        assert!(levels.change("refrain::serve", tracing::Level::DEBUG));
        assert!(
            levels.change("refrain", tracing::Level::ERROR) && levels.change("refrain", tracing::Level::INFO)
        );
        let last = filters.lock().unwrap().pop().unwrap();
        for part in ["warn", "refrain=info", "refrain::serve=debug"] {
            assert!(last.split(',').any(|found| found == part), "{last}");
        }
        let many = (0..2000)
            .filter(|n| levels.change(&format!("refrain::{}", "x".repeat(n % 90 + 1)), tracing::Level::INFO));
        assert!(many.count() > 0 && levels.said.lock().unwrap().len() <= Levels::MOST);
    }
}
