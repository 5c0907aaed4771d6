//! Bodies: as much as is allowed, no slower than is allowed.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::Settings;
use super::allowance::Claim;
use super::connect::Traffic;
use crate::clock::Stopwatch;
use crate::error::{FetchError, Stage};

/// What was sent as the body, without transfer coding, still in its content coding.
#[derive(Clone)]
pub(super) struct Raw {
    pub(super) bytes: Bytes,
    /// There was more.
    pub(super) truncated: bool,
}

/// Reads until the end, or until there is more than `limit`. A body that is not small reserves the room that it may come to need.
pub(super) async fn read(
    mut body: Incoming,
    limit: usize,
    watch: Stopwatch,
    settings: &Settings,
    (claim, need, traffic): (&mut Claim<'_>, usize, Option<&Traffic>),
) -> Result<Raw, FetchError> {
    // What the head claims about the length is a hint, and only worth a little memory.
    let hint = usize::try_from(body.size_hint().lower()).unwrap_or(0).min(limit).min(64 * 1024);
    let mut bytes = BytesMut::with_capacity(hint);
    let mut pace = Pace::new(watch.elapsed(), settings);
    // Time in which the body waited for room, and was not read.
    let mut waited = Duration::ZERO;
    loop {
        let deadline = watch.after(pace.window_end.min(settings.whole_timeout + waited));
        match tokio::time::timeout_at(deadline, body.frame()).await {
            Err(_) => {
                if watch.elapsed() >= settings.whole_timeout + waited {
                    return Err(FetchError::Timeout(Stage::Body));
                }
            }
            Ok(None) => return Ok(Raw { bytes: bytes.freeze(), truncated: false }),
            Ok(Some(Err(why))) => return Err(FetchError::Body(innermost(&why))),
            Ok(Some(Ok(frame))) => {
                // Trailers say nothing a crawler needs.
                let Ok(data) = frame.into_data() else { continue };
                pace.received += data.len() as u64;
                if let Some(traffic) = traffic {
                    traffic.progress();
                }
                let since = watch.elapsed();
                claim.reserve(bytes.len() + data.len(), need).await?;
                let pause = watch.elapsed().saturating_sub(since);
                (waited, pace.window_end) = (waited + pause, pace.window_end + pause);
                let room = limit - bytes.len();
                if data.len() > room {
                    bytes.extend_from_slice(&data[..room]);
                    return Ok(Raw { bytes: bytes.freeze(), truncated: true });
                }
                bytes.extend_from_slice(&data);
            }
        }
        let now = watch.elapsed();
        // Data that arrives without a pause would never let a timer fire.
        if now >= settings.whole_timeout + waited {
            return Err(FetchError::Timeout(Stage::Body));
        }
        pace.check(now)?;
    }
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Counts what comes, window by window.
struct Pace {
    window: Duration,
    window_end: Duration,
    received: u64,
    least_speed: u64,
}

impl Pace {
    fn new(now: Duration, settings: &Settings) -> Self {
        let window = settings.speed_window.max(Duration::from_millis(1));
        Self { window, window_end: now + window, received: 0, least_speed: settings.least_speed }
    }

    fn check(&mut self, now: Duration) -> Result<(), FetchError> {
        if now < self.window_end {
            return Ok(());
        }
        let expected = self.least_speed as f64 * self.window.as_secs_f64();
        if (self.received as f64) < expected {
            return Err(FetchError::TooSlow { least: self.least_speed });
        }
        self.received = 0;
        self.window_end = now + self.window;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_counts_for_itself() {
        let settings =
            Settings { least_speed: 10, speed_window: Duration::from_secs(10), ..Settings::default() };
        let mut pace = Pace::new(Duration::from_secs(3), &settings);
        pace.received = 100;
        assert_eq!(pace.check(Duration::from_secs(12)), Ok(()));
        assert_eq!(pace.check(Duration::from_secs(13)), Ok(()));
        pace.received = 99;
        assert_eq!(pace.check(Duration::from_secs(22)), Ok(()));
        assert_eq!(pace.check(Duration::from_secs(23)), Err(FetchError::TooSlow { least: 10 }));
    }
}
