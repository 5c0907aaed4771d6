//! Where the price goes, from what winners are worth.

use super::level::{Motion, Rise};
use crate::time::{Span, Time};

/// What winners were worth, and how that moves.
#[derive(Clone, Debug)]
pub(super) struct Trend {
    motion: Motion,
    /// When falling was last looked at, and the value then.
    falling: Option<(Time, f64)>,
    /// The window that is open: since when, and the least that a winner was worth in it. One that is worth much more than others, by a
    /// signal, says nothing about the price.
    window: Option<(Time, f64)>,
    /// The one before.
    before: Option<(Time, f64)>,
    /// Whether it rose from that one.
    rose: bool,
}

/// A window is such a part of a lap,
const WINDOWS: u64 = 32;
/// or ends when a winner is worth so much more than its least.
const RISE: f64 = 1.25;
/// What grows or falls more from one window to the next is a jump.
const JUMP: f64 = 10.0;
/// What falls by a smaller share in a lap is noise.
const LEAST_FALL: f64 = 0.05;
const MOST_FALL: f64 = 4.0;
/// What has been rising for more laps than this hardly rises any more.
const LAPS: f64 = 8.0;
/// A rise is promised for as long as it has gone on, but not for less or more than these parts of a lap.
const SHORTEST: f64 = 1.0 / 32.0;
const LONGEST: f64 = 1.0 / 16.0;
/// The more winners there have been, the more a rise slows down as those go that grew fastest. So it is promised as if it had gone on
/// for longer, by this share for every lap that it has, up to a limit.
const CAUTION: f64 = 16.0;
const MOST_CAUTION: f64 = 0.35;

impl Trend {
    pub(super) fn new() -> Self {
        Self { motion: Motion::Still, falling: None, window: None, before: None, rose: false }
    }

    /// How the price moves.
    pub(super) fn motion(&self) -> Motion {
        self.motion
    }

    /// Someone of this value has won. Whether there is news: the trend was looked at anew. A rise is promised only where the winner grows
    /// evenly: where values jump with signals, those of winners say little about those of others.
    pub(super) fn won(
        &mut self,
        now: Time,
        value: f64,
        lap: Span,
        grows_evenly: impl FnOnce() -> bool,
    ) -> bool {
        // A small race has no laps and knows no trend.
        if !(value > 0.0) || lap == Span::MAX {
            return false;
        }
        let part = Span::from_nanos(lap.as_nanos() / WINDOWS);
        let before = *self.falling.get_or_insert((now, value));
        let (since, least) = *self.window.get_or_insert((now, value));
        let falls = now >= before.0 + part;
        if falls {
            self.look_for_fall(before, (now, value), lap);
        }
        let rises = now > since && (value > RISE * least || now >= since + part);
        if rises {
            self.close_window((now, value), lap, false, grows_evenly);
        } else {
            self.window = Some((since, least.min(value)));
        }
        falls || rises
    }

    /// A level that rose as the price was thought to was too high: from now on it rises half as fast.
    pub(super) fn was_less(&mut self, now: Time) {
        if let Motion::Rises(rise, _) = self.motion {
            let origin = rise.origin - now.since(rise.origin);
            self.motion = Motion::Rises(Rise { origin, ..rise }, None);
        }
    }

    /// Everyone was ranked, since nearly all had reached their levels; this is the greatest value.
    pub(super) fn all_woke(&mut self, now: Time, value: f64, lap: Span, grows_evenly: bool) {
        if value > 0.0 && lap < Span::MAX && self.window.is_none_or(|(since, _)| now > since) {
            self.close_window((now, value), lap, true, || grows_evenly);
        }
    }

    fn look_for_fall(&mut self, (since, before): (Time, f64), (now, value): (Time, f64), lap: Span) {
        let laps = now.since(since).as_secs() / lap.as_secs();
        let fall = (before / value).ln() / laps;
        let falls = fall > LEAST_FALL && laps < 1.0 && before < JUMP * value;
        if falls {
            self.motion = Motion::Falls(fall.min(MOST_FALL) / lap.as_secs());
        } else if matches!(self.motion, Motion::Falls(_)) {
            self.motion = Motion::Still;
        }
        self.falling = Some((now, value));
    }

    /// The window is over, and the next begins. To rise once is no trend, unless everyone has risen.
    fn close_window(
        &mut self,
        (now, value): (Time, f64),
        lap: Span,
        everyone: bool,
        grows_evenly: impl FnOnce() -> bool,
    ) {
        let (older, newer) =
            if everyone { (self.window, Some((now, value))) } else { (self.before, self.window) };
        let origin = older.zip(newer).and_then(|(older, newer)| origin(older, newer, lap));
        if let Some(origin) = origin.filter(|_| (everyone || self.rose) && grows_evenly()) {
            self.motion = Motion::Rises(promise(origin, now, lap), None);
        } else if matches!(self.motion, Motion::Rises(..)) {
            self.motion = Motion::Still;
        }
        self.rose = origin.is_some();
        self.before = self.window;
        self.window = Some((now, value));
    }
}

/// What can be promised of a rise since then.
fn promise(origin: Time, now: Time, lap: Span) -> Rise {
    let lap = lap.as_secs();
    let laps = now.since(origin).as_secs() / lap;
    let cautious = laps * (1.0 + (CAUTION * laps).min(MOST_CAUTION));
    Rise {
        origin: now - Span::from_secs(cautious * lap),
        until: now + Span::from_secs(laps.clamp(SHORTEST, LONGEST) * lap),
    }
}

/// When values began to grow that were worth this then and that later, if they did so with the square of time.
fn origin(older: (Time, f64), newer: (Time, f64), lap: Span) -> Option<Time> {
    let span = newer.0.since(older.0);
    let growth = newer.1 / older.1;
    if !(growth > 1.0 && growth < JUMP && span > Span::ZERO && span < lap) {
        return None;
    }
    let before = span.as_secs() / (growth.sqrt() - 1.0);
    (before < LAPS * lap.as_secs()).then(|| older.0 - Span::from_secs(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAP: Span = Span::from_whole_secs(3200);

    fn at(secs: f64) -> Time {
        Time::ZERO + Span::from_secs(1000.0 + secs)
    }

    fn watch(trend: &mut Trend, secs: std::ops::Range<u32>, price: impl Fn(f64) -> f64) {
        for second in secs.map(f64::from) {
            trend.won(at(second), price(second), LAP, || true);
        }
    }

    #[test]
    fn squares_are_known_by_their_origin() {
        let mut trend = Trend::new();
        watch(&mut trend, 1000..2000, |second| (second - 400.0).powi(2));
        let Motion::Rises(rise, None) = trend.motion() else { panic!("{:?}", trend.motion()) };
        // Promised with caution: as if it had begun earlier, by a third at most.
        assert!(rise.origin < at(400.0) && rise.origin > at(-200.0), "{rise:?}");
        assert!(rise.until > at(2000.0) && rise.until < at(2300.0), "{rise:?}");
    }

    #[test]
    fn a_fall_is_known_by_its_share() {
        let mut trend = Trend::new();
        watch(&mut trend, 1000..2000, |second| (-second / 3200.0).exp());
        let Motion::Falls(share) = trend.motion() else { panic!("{:?}", trend.motion()) };
        assert!((share * 3200.0 - 1.0).abs() < 1e-6, "{share}");
    }

    /// Neither a few winners that are worth more, by their signals, nor a step make a trend.
    #[test]
    fn noise_is_no_rise() {
        let mut trend = Trend::new();
        for second in 0..4000u32 {
            let value = if second % 7 == 3 { 1.0 + f64::from(second % 11) } else { 1.0 };
            trend.won(at(f64::from(second)), value, LAP, || true);
            assert!(!matches!(trend.motion(), Motion::Rises(..)), "{second}");
        }
        for second in 4000..5000u32 {
            trend.won(at(f64::from(second)), 1.2, LAP, || true);
            assert!(!matches!(trend.motion(), Motion::Rises(..)), "{second}");
        }
    }

    /// When everyone has risen since the last time, there is no doubt.
    #[test]
    fn all_that_rise_are_a_trend_at_once() {
        let mut trend = Trend::new();
        trend.all_woke(at(1.0), 1.0, LAP, true);
        assert_eq!(trend.motion(), Motion::Still);
        trend.all_woke(at(2.0), 4.0, LAP, true);
        let Motion::Rises(rise, None) = trend.motion() else { panic!("{:?}", trend.motion()) };
        assert!(rise.origin <= at(0.0) && rise.origin > at(-0.1), "{rise:?}");
        // A small race has no laps.
        let mut trend = Trend::new();
        trend.all_woke(at(1.0), 1.0, Span::MAX, true);
        trend.all_woke(at(2.0), 4.0, Span::MAX, true);
        assert_eq!(trend.motion(), Motion::Still);
    }
}
