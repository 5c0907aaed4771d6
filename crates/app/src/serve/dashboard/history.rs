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
/// So many points are shown at most.
pub(super) const SHOWN: usize = 120;
/// What looks found is gathered over so many of them: one by one they are few, and say nothing.
pub(super) const GATHERED: usize = SHOWN / 10;
/// How long each of them is: as short as so many allow, in seconds that clocks know.
const PIECES: [u64; 14] = [2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600];

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
            foretold: now.foretold - before.foretold,
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
        self.since(now - span).into_iter().reduce(|before, later| before.and(&later))
    }

    /// The share of fresh copies as the latest looks found it: of what is expected now.
    pub(super) fn found(&self, pulse: &Pulse) -> Option<f64> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner).samples.front().map(start)?;
        let piece = Span::from_whole_secs(piece(pulse.time.since(first)));
        let lately = self.lately(pulse.time, Span::from_nanos(GATHERED as u64 * piece.as_nanos()))?;
        found(pulse.freshness, lately)
    }
}

impl Board {
    /// How it went for so long, in not too many pieces.
    pub(super) async fn samples(&self, now: Time, span: Span) -> Answer<Vec<Sample>> {
        let from = now - span;
        let kept = self.app.readers.scan(move |reader| reader.samples(from)).await?;
        Ok(gathered(&joined(kept, self.recent.since(from), span), now))
    }
}

/// The share of fresh copies that was expected, corrected by what looks found in a while; `None` if they were too few to say anything.
pub(super) fn found(expected: Option<f64>, lately: Sample) -> Option<f64> {
    const FEW: u64 = 10;
    let seen = lately.changed + lately.unchanged;
    Sample { freshness: expected, ..lately }.found().filter(|_| seen >= FEW)
}

/// When a sample began.
pub(super) fn start(sample: &Sample) -> Time {
    sample.time - sample.span
}

/// What was kept, and what is remembered: of an hour the latter, which is finer, of more what is not on the disk yet.
fn joined(mut kept: Vec<Sample>, recent: Vec<Sample>, span: Span) -> Vec<Sample> {
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

/// How many seconds a piece of so long a time is.
fn piece(whole: Span) -> u64 {
    let fits = |piece: &u64| *piece as f64 * SHOWN as f64 >= whole.as_secs();
    PIECES.into_iter().find(fits).unwrap_or(PIECES[PIECES.len() - 1])
}

/// Samples in pieces of the same length: seconds, if all began a moment ago.
fn gathered(samples: &[Sample], now: Time) -> Vec<Sample> {
    let whole = samples.first().map_or(Span::ZERO, |first| now.since(start(first)));
    let piece = Span::from_whole_secs(piece(whole)).as_nanos().cast_signed();
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
            foretold: 2.0,
            rate: 1.0,
            price: Some(1.0),
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
    fn few_looks_say_nothing() {
        let lately = sample(60, 60);
        assert_eq!(found(Some(0.8), lately), None);
        assert_eq!(found(Some(0.8), Sample { unchanged: 9, ..lately }), Some(0.4));
        assert_eq!(found(None, Sample { unchanged: 9, ..lately }), None);
    }

    #[test]
    fn pieces_add_up() {
        let samples: Vec<Sample> = (1..=600).map(|two| sample(2 * two, 2)).collect();
        let pieces = gathered(&samples, at(1200));
        assert_eq!((pieces.len(), pieces[0].span, pieces[0].requests), (120, Span::from_whole_secs(10), 10));
        let begun = gathered(&samples[..598], at(1196));
        assert_eq!((begun.len(), begun[119].span), (120, Span::from_whole_secs(6)), "more than half of one");
        let begun = gathered(&samples[..597], at(1194));
        assert_eq!((begun.len(), begun[118].span), (119, Span::from_whole_secs(14)), "less than half of one");
        let spent: u64 = begun.iter().map(|sample| sample.requests).sum();
        assert_eq!(spent, 2 * 597);
    }

    #[test]
    fn what_has_just_begun_is_told_by_seconds_and_nothing_by_many() {
        let samples: Vec<Sample> = (1..=1800).map(|two| sample(2 * two, 2)).collect();
        for (count, pieces) in [(0, 0), (1, 1), (5, 5), (30, 30), (120, 120), (121, 48), (1800, 120)] {
            assert_eq!(gathered(&samples[..count], at(2 * count as i64)).len(), pieces, "{count}");
        }
        // A month of hours, and a minute in memory.
        let mut month: Vec<Sample> = (1..=720).map(|hour| sample(3600 * hour, 3600)).collect();
        month.extend((1..=30).map(|two| sample(3600 * 720 + 2 * two, 2)));
        let pieces = gathered(&month, at(3600 * 720 + 60));
        assert!(pieces.len() <= SHOWN + 1, "{}", pieces.len());
        assert_eq!(pieces.iter().map(|piece| piece.requests).sum::<u64>(), 3600 * 720 + 60);
    }
}
