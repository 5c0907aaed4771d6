//! The log, on standard error, and what the crawl tells that goes into it.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use refrain_engine::{Pulse, Told};
use refrain_store::Seq;
use tokio::sync::mpsc::UnboundedReceiver;
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

/// Begins to log.
pub(crate) fn start(format: LogFormat, level: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(level).map_err(|why| {
        Failure::input(format!(
            "--log-level {level}: {why}; expected error, warn, info, debug or trace, or parts with theirs"
        ))
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).try_init(),
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
    };
    started.map_err(|why| Failure::OnTheWay(format!("the log cannot be written ({why})")))
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
    pub(crate) fn listen(mut self, mut hears: UnboundedReceiver<Told>) -> Result<(), Failure> {
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
            Told::Changes(seq) => {
                self.changes.send_replace(seq);
                if let (Some(feed), true) = (&mut self.feed, fed.is_ok()) {
                    *fed = feed.catch_up();
                    complain(fed);
                }
            }
            Told::Pulse(pulse) => {
                self.pulse.send_replace(Some(Arc::from(pulse)));
            }
            Told::Hub { page, topic, hub } => self.push.found_hub(page, &topic, &hub),
            Told::Warning(sentence) => tracing::warn!("{sentence}"),
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

fn complain(fed: &Result<(), Failure>) {
    if let Err(why) = fed {
        tracing::error!("{why}; the crawl goes on, and `refrain changes` will have them all");
    }
}
