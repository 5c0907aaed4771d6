//! How it went: lately from memory, before that from the store.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use refrain_core::time::{Span, Time};
use refrain_engine::{Pulse, Summary};
use refrain_store::Sample;
use tokio::sync::watch;

use super::Board;
use crate::serve::problem::Answer;

/// A sample is taken so often,
const EVERY: Span = Span::from_whole_secs(2);
/// and so many are remembered: an hour.
const REMEMBERED: usize = 1800;
/// So many points are shown.
const SHOWN: usize = 120;

/// The last hour.
#[derive(Default)]
pub(super) struct Recent(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    samples: VecDeque<Sample>,
    /// What the crawl had come to when the next one began.
    before: Option<(Time, Summary)>,
}

impl Recent {
    /// Hears every pulse, until there are none any more.
    pub(super) async fn listen(self: Arc<Self>, mut pulses: watch::Receiver<Option<Arc<Pulse>>>) {
        while pulses.changed().await.is_ok() {
            let pulse = pulses.borrow_and_update().clone();
            if let Some(pulse) = pulse {
                self.hear(&pulse);
            }
        }
    }

    fn hear(&self, pulse: &Pulse) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (time, now) = (pulse.time, pulse.summary);
        let Some((since, before)) = inner.before else {
            inner.before = Some((time, now));
            return;
        };
        let span = time.since(since);
        if span < EVERY {
            return;
        }
        let sample = Sample {
            time,
            span,
            freshness: pulse.freshness,
            fresh: now.fresh - before.fresh,
            watched: now.watched - before.watched,
            rate: pulse.rate,
            price: now.price,
            requests: now.requests - before.requests,
            looks: now.looks - before.looks,
            changed: now.changed - before.changed,
            unchanged: now.unchanged - before.unchanged,
            failed: now.failed - before.failed,
        };
        inner.before = Some((time, now));
        if inner.samples.len() == REMEMBERED {
            inner.samples.pop_front();
        }
        inner.samples.push_back(sample);
    }

    fn since(&self, from: Time) -> Vec<Sample> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.samples.iter().filter(|sample| sample.time > from).copied().collect()
    }

    /// The last while, as one.
    pub(super) fn lately(&self, now: Time, span: Span) -> Option<Sample> {
        let from = Time::from_nanos(now.as_nanos().saturating_sub_unsigned(span.as_nanos()));
        self.since(from).into_iter().reduce(|before, later| before.and(&later))
    }
}

impl Board {
    /// How it went for so long, in not too many pieces.
    pub(super) async fn samples(&self, now: Time, span: Span) -> Answer<Vec<Sample>> {
        let from = Time::from_nanos(now.as_nanos().saturating_sub_unsigned(span.as_nanos()));
        let kept = self.app.readers.scan(move |reader| reader.samples(from)).await?;
        Ok(gathered(&joined(kept, self.recent.since(from), span), span))
    }
}

/// What was kept, and what is remembered: of an hour the latter, which is finer, of more what is not on the disk yet.
fn joined(mut kept: Vec<Sample>, recent: Vec<Sample>, span: Span) -> Vec<Sample> {
    let start = |sample: &Sample| {
        Time::from_nanos(sample.time.as_nanos().saturating_sub_unsigned(sample.span.as_nanos()))
    };
    let Some(first) = recent.first().map(start) else { return kept };
    if span <= Span::from_whole_secs(3600) {
        kept.retain(|sample| sample.time <= first);
        kept.extend(recent);
    } else {
        let last = kept.last().map_or(Time::MIN, |sample| sample.time);
        kept.extend(recent.into_iter().filter(|sample| start(sample) >= last));
    }
    kept
}

/// Samples in pieces of the same length.
fn gathered(samples: &[Sample], span: Span) -> Vec<Sample> {
    let piece = (span.as_nanos() / SHOWN as u64).max(1).cast_signed();
    let mut pieces: Vec<(i64, Sample)> = Vec::new();
    for sample in samples {
        let number = (sample.time.as_nanos() - 1).div_euclid(piece);
        match pieces.last_mut() {
            Some((own, so_far)) if *own == number => *so_far = so_far.and(sample),
            _ => pieces.push((number, *sample)),
        }
    }
    let mut whole: Vec<Sample> = pieces.into_iter().map(|(_, sample)| sample).collect();
    // The last piece has only begun: by itself it says little, and says it loudly.
    if let [.., before, last] = whole.as_mut_slice()
        && 2 * last.span.as_nanos() < before.span.as_nanos()
    {
        *before = before.and(last);
        whole.pop();
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    fn sample(end: i64, seconds: u64) -> Sample {
        Sample {
            time: at(end),
            span: Span::from_whole_secs(seconds),
            freshness: Some(0.5),
            fresh: 1.0,
            watched: 2.0,
            rate: 1.0,
            price: 1.0,
            requests: seconds,
            looks: 1,
            changed: 1,
            unchanged: 0,
            failed: 0,
        }
    }

    #[test]
    fn the_last_hour_is_finer() {
        let kept: Vec<Sample> = (1..=10).map(|minute| sample(60 * minute, 60)).collect();
        let recent: Vec<Sample> = (151..=310).map(|two| sample(2 * two, 2)).collect();
        let hour = joined(kept.clone(), recent.clone(), Span::from_whole_secs(3600));
        assert_eq!(hour.len(), 5 + 160, "five minutes from the disk, the rest from memory");
        let day = joined(kept, recent, Span::from_whole_secs(86_400));
        assert_eq!(day.len(), 10 + 10, "all minutes, and twenty seconds that are not on the disk yet");
        let spent: u64 = day.iter().map(|sample| sample.requests).sum();
        assert_eq!(spent, 620);
    }

    #[test]
    fn pieces_add_up() {
        let samples: Vec<Sample> = (1..=600).map(|two| sample(2 * two, 2)).collect();
        let pieces = gathered(&samples, Span::from_whole_secs(3600));
        assert_eq!(pieces.len(), 40);
        assert_eq!((pieces[0].span, pieces[0].requests), (Span::from_whole_secs(30), 30));
        let begun = gathered(&samples[..580], Span::from_whole_secs(3600));
        assert_eq!((begun.len(), begun[38].span), (39, Span::from_whole_secs(20)), "more than half of one");
        let begun = gathered(&samples[..572], Span::from_whole_secs(3600));
        assert_eq!((begun.len(), begun[37].span), (38, Span::from_whole_secs(34)), "less than half of one");
        let spent: u64 = begun.iter().map(|sample| sample.requests).sum();
        assert_eq!(spent, 2 * 572);
    }
}
