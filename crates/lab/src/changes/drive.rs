//! Visits to pages, under a virtual clock.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::time::{Span, Time};
use refrain_fetch::change::{HostNoise, Judgement, Kept, Look, Reported, Rules, Visit, judge};

use super::noise::Page;
use super::{Noise, Outcome, Settings};

/// A page, and what a crawl knows of it.
struct Watched {
    page: Page,
    due: Time,
    kept: Option<Kept>,
    /// The copy that was reported last.
    reported: Option<Reported>,
    visits: Vec<(Time, bool)>,
    second_looks: u64,
    largest: usize,
}

/// All pages with one kind of noise; they are of one host.
pub(super) fn visit_host(noise: Noise, settings: &Settings) -> Outcome {
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed ^ (noise as u64) << 32);
    let mut host = HostNoise::default();
    let end = Time::ZERO + settings.time;
    let mut pages: Vec<Watched> = (0..settings.pages)
        .map(|number| Watched {
            page: Page::new(noise, number, settings.time, &mut random),
            due: wait(Time::ZERO, settings.every, &mut random),
            kept: None,
            reported: None,
            visits: Vec::new(),
            second_looks: 0,
            largest: 0,
        })
        .collect();
    while let Some(next) = pages.iter_mut().min_by_key(|page| page.due).filter(|page| page.due < end) {
        let now = next.visit(&mut host, settings.looks_again, &mut random);
        next.due = wait(now, settings.every, &mut random);
    }
    let mut outcome = Outcome::default();
    for page in pages {
        let changes = page.page.changes();
        let first = page.visits.first().map_or(Time::ZERO, |(time, _)| *time);
        let since = changes.partition_point(|change| *change <= first);
        outcome += Outcome {
            second_looks: page.second_looks,
            largest: page.largest as u64,
            ..Outcome::of_page(&changes[since..], page.visits.get(1..).unwrap_or_default())
        };
    }
    outcome
}

/// The time of the next visit.
fn wait(now: Time, every: Span, random: &mut ChaCha8Rng) -> Time {
    now + Span::from_secs(every.as_secs() * random.random_range(0.5..1.5))
}

impl Watched {
    /// Visits the page, and looks again as long as that is asked for. Returns when that is over.
    fn visit(&mut self, host: &mut HostNoise, looks_again: bool, random: &mut ChaCha8Rng) -> Time {
        let rules = Rules::default();
        let mut now = self.due;
        let mut doubt = None;
        loop {
            let look = Look::new(self.page.html(now).as_bytes(), None, &rules);
            let Some(kept) = &self.kept else {
                self.kept = Some(Kept::first(&look));
                self.reported = Some(Reported { look, time: now });
                self.visits.push((now, false));
                return now;
            };
            let visit = Visit {
                rules: &rules,
                doubt,
                time: now,
                may_look_again: looks_again,
                is_quiet_host: host.is_quiet(),
            };
            let Judgement { verdict, kept, doubt: left, found_noise } =
                judge(kept, &look, visit, || self.reported.clone());
            if let Some(left) = left {
                let span = self.page.pair_span(random);
                doubt = Some((left, span));
                now = now + span;
                self.second_looks += 1;
                continue;
            }
            if let Some(found) = found_noise {
                host.learn(found);
            }
            // As it is stored.
            let bytes = kept.to_bytes();
            self.largest = self.largest.max(bytes.len());
            self.kept = Kept::from_bytes(&bytes).ok();
            if verdict.changed {
                self.reported = Some(Reported { look, time: now });
            }
            self.visits.push((now, verdict.changed));
            return now;
        }
    }
}
