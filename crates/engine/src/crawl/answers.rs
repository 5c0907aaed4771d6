//! What comes of visits: to the frontier, which learns from it, and to the store, which keeps it.

use std::sync::Arc;

use refrain_core::estimate;
use refrain_core::frontier;
use refrain_core::time::{Span, Time};
use refrain_store::{HostUpdate, Known, Look, Outcome, PageState, Robots};

use super::Crawl;
use super::shown::Shown;
use crate::CrawlError;
use crate::decision::Decision;
use crate::links::SECOND_LOOK;
use crate::read::{Answer, Read};
use crate::restore::shape;
use crate::rules::{HostRules, Verdict};
use crate::settings::Until;
use crate::told::Told;
use crate::visit::{Seen, Visited};

/// A page that failed is tried again after this, then after twice as long, and so on.
const RETRY: Span = Span::from_whole_secs(60);
/// But not later than this.
const LONGEST_RETRY: Span = Span::from_whole_secs(86_400);
/// A page that is not found is looked for again after this, then after twice as long: it may be a mistake of the moment.
const RETRY_NOT_FOUND: Span = Span::from_whole_secs(3600);
/// But not later than this.
pub(crate) const LONGEST_GONE: Span = Span::from_whole_secs(60 * 86_400);
/// A robots.txt that is longer is not kept as it came.
const LONGEST_AS_IT_CAME: usize = 32 << 10;
/// A page that leads to another one is looked at again after this.
const RETRY_REDIRECTED: Span = Span::from_whole_secs(86_400);
/// Nobody is left alone for longer, whatever they ask.
const LONGEST_BACK_OFF: Span = Span::from_whole_secs(7 * 86_400);
/// A host that does not answer is left alone for this, then for twice as long.
const BACK_OFF: Span = Span::from_whole_secs(30);

fn doubled(first: Span, times: u32, longest: Span) -> Span {
    Span::from_nanos(first.as_nanos().saturating_mul(1 << times.min(30))).min(longest)
}

/// How long a page is left alone that could not be fetched, after so many failures before.
pub(crate) fn retry_after(failures: u32) -> Span {
    doubled(RETRY, failures, LONGEST_RETRY)
}

/// The same for a page that is not there any more.
pub(crate) fn retry_gone(failures: u32) -> Span {
    doubled(RETRY_NOT_FOUND, failures, LONGEST_GONE)
}

/// What a visit means.
struct Meaning {
    outcome: Outcome,
    state: PageState,
    note: Option<String>,
    /// How long the page is left alone, if it was not seen.
    retry: Option<Span>,
}

impl Crawl {
    /// A visit of our own is over.
    pub(super) fn visited(&mut self, now: Time, visited: Visited) -> Result<(), CrawlError> {
        self.visits.end(visited.number);
        if visited.order.is_some() {
            self.journal.release(visited.stored);
        }
        if matches!(visited.seen, Seen::Over) {
            return Ok(());
        }
        self.take_in(now, visited)
    }

    /// A page was looked at, by whomever.
    pub(super) fn take_in(&mut self, now: Time, mut visited: Visited) -> Result<(), CrawlError> {
        let shown = self.show(now, &mut visited)?;
        if let Some(order) = visited.order {
            self.measure(&visited);
            self.judge_signals(&visited)?;
            self.answer(now, order, &visited, &shown)?;
            self.learn_hub(now, visited.stored, visited.page, &shown)?;
        }
        if matches!(visited.seen, Seen::Postponed(_)) {
            return Ok(());
        }
        self.judge_host(now, &visited.host, &visited.seen)?;
        self.try_well_known(now, &visited.host);
        let meaning = meaning(&visited);
        if !meaning.outcome.is_fresh() {
            visited.memo.failures += 1;
        }
        let (stored, order) = (visited.stored, visited.order);
        self.record(now, visited, meaning);
        self.was_hurried(now, stored, order)
    }

    /// Tells the frontier.
    fn answer(
        &mut self,
        now: Time,
        order: frontier::OrderId,
        visited: &Visited,
        shown: &Shown,
    ) -> Result<(), CrawlError> {
        let meaning = meaning(visited);
        let outcome = match &visited.seen {
            Seen::Read(read) => {
                self.heed_hint(now, visited, read)?;
                self.as_hub(visited.page, seen(read, now), shown)?
            }
            // Asked for earlier, it would only lead there again.
            Seen::Postponed(until) => frontier::Outcome::Failed { retry_after: until.since(now) },
            _ => frontier::Outcome::Failed { retry_after: meaning.retry.unwrap_or(RETRY) },
        };
        let frontier = &mut self.scheduler.frontier;
        match frontier.answer(now, order, outcome, visited.response) {
            // So late that the page was ordered again, and that order answered: nothing to learn from this one.
            Ok(()) | Err(frontier::FrontierError::UnknownOrder(_)) => {}
            Err(why) => return Err(why.into()),
        }
        let once = self.settings.until == Until::Once && !matches!(visited.seen, Seen::Postponed(_));
        let over = once || matches!(visited.seen, Seen::Disallowed);
        if over && frontier.page(visited.page).is_ok() {
            frontier.remove(now, visited.page)?;
            self.scheduler.pages.remove(visited.page);
        }
        Ok(())
    }

    /// What is promised of a page that is seen for the first time says which pages it is like.
    fn heed_hint(&mut self, now: Time, visited: &Visited, read: &Read) -> Result<(), CrawlError> {
        let frontier = &mut self.scheduler.frontier;
        // Of a page that somebody else has watched others have learned already.
        let is_unknown = frontier.past(visited.page).is_ok_and(|past| past.belief().is_none());
        if let (Answer::First, Some(hint), true) = (read.answer, read.hint, is_unknown) {
            let shape = shape(visited.memo.url.as_str(), Some(hint.0));
            frontier.update(now, visited.page, |page| page.inner_mut().set_shape(shape))?;
        }
        Ok(())
    }

    /// A host that does not answer, or says so, is left alone for a while.
    pub(super) fn judge_host(&mut self, now: Time, host: &str, seen: &Seen) -> Result<(), CrawlError> {
        let id = self.scheduler.host(host);
        let Some(entry) = self.scheduler.hosts.get_mut(host) else { return Ok(()) };
        let wait = match seen {
            Seen::SlowDown(asked) => {
                // Who is asked too much and says "at once", or a moment gone by, has not said when.
                let wait = asked
                    .filter(|wait| *wait > Span::ZERO)
                    .unwrap_or_else(|| doubled(BACK_OFF, entry.failures + 1, LONGEST_BACK_OFF));
                entry.failures += 1;
                Some(wait.min(LONGEST_BACK_OFF))
            }
            Seen::Unreachable(_) => {
                let wait = doubled(BACK_OFF, entry.failures, LONGEST_RETRY);
                entry.failures += 1;
                Some(wait)
            }
            Seen::NoRules => Some(HostRules::retry(entry.unruled.saturating_sub(1))),
            // An answer is an answer; most hosts have something that fails.
            _ if entry.failures > 0 => {
                entry.failures = 0;
                None
            }
            _ => return Ok(()),
        };
        entry.back_off = wait.map(|wait| now + wait);
        if entry.back_off.is_some() {
            let until = entry.left_alone();
            self.scheduler.frontier.back_off(now, id, until)?;
        }
        self.write_host(now, host, None);
        if matches!(seen, Seen::SlowDown(_)) {
            self.journal.hurry();
        }
        Ok(())
    }

    /// A host's robots.txt was read, or could not be had.
    pub(super) fn ruled(
        &mut self,
        now: Time,
        host: &str,
        rules: &Arc<HostRules>,
        text: &[u8],
    ) -> Result<(), CrawlError> {
        let id = self.scheduler.host(host);
        let manners = self.scheduler.manners;
        let Some(entry) = self.scheduler.hosts.get_mut(host) else { return Ok(()) };
        let mut named = None;
        entry.rules = Some(Arc::clone(rules));
        let robots = match &rules.verdict {
            Verdict::Rules(robots) => {
                entry.unruled = 0;
                let gap = entry.gap(manners.gap);
                self.scheduler.frontier.set_manners(now, id, frontier::Manners { gap, ..manners })?;
                named = Some(robots.clone());
                // What concerns us says the same to us, and no more to people.
                if text.len() <= LONGEST_AS_IT_CAME { text.to_vec() } else { robots.to_bytes() }
            }
            Verdict::Wait => {
                entry.unruled += 1;
                Vec::new()
            }
        };
        let kept = Robots { text: robots, fetched: rules.asked, status: rules.status };
        self.write_host(now, host, Some(kept));
        if let Some(robots) = named {
            self.outlets_of_robots(now, host, &robots);
        }
        Ok(())
    }

    pub(super) fn write_host(&mut self, now: Time, name: &str, robots: Option<Robots>) {
        let Some(entry) = self.scheduler.hosts.get(name) else { return };
        let asked = entry.rules.as_ref().and_then(|rules| rules.gap());
        let gap = asked.filter(|gap| *gap > self.scheduler.manners.gap);
        let update = HostUpdate {
            name: name.to_owned(),
            gap,
            back_off_until: entry.back_off,
            failures: entry.failures,
            robots,
            wanted_gap: entry.wanted_gap,
            paused: entry.paused,
        };
        self.journal.host(now, update);
    }

    fn record(&mut self, now: Time, visited: Visited, meaning: Meaning) {
        let Visited { page, stored, time, status, bytes, took, mut memo, seen, .. } = visited;
        let past = self.scheduler.frontier.past(page).ok();
        let mut look = Look {
            page: stored,
            time,
            elapsed: None,
            outcome: meaning.outcome,
            counted: None,
            status,
            bytes,
            duration: took,
            digest: None,
            state: if self.paused.contains(&stored) { PageState::Paused } else { meaning.state },
            history: past.map(refrain_core::frontier::AttentivePast::to_bytes),
            known: None,
            record: None,
        };
        let mut note = meaning.note;
        if let Seen::Redirected(target) = &seen {
            memo.led_to(target);
            look.known = Some(known(&memo, None, None));
        }
        if let Seen::Read(read) = seen {
            // What was seen first says what is promised; later answers may come from other caches.
            let hint = read.hint.filter(|_| read.answer == Answer::First).map(|hint| hint.0);
            let Read { counted, digest, record, look_again, elapsed, .. } = *read;
            note.clone_from(&counted);
            look.elapsed = elapsed;
            (look.counted, look.digest, look.record) = (counted, digest, record);
            look.known = Some(known(&memo, kept(&memo, look.outcome), hint));
            if look_again && self.settings.fetches {
                self.again.push((now + SECOND_LOOK, stored));
            }
        }
        self.tally(look.outcome, bytes);
        let url = memo.url.as_str().to_owned();
        let (outcome, elapsed) = (look.outcome, look.elapsed);
        self.decided(|| Decision::Looked { time, page: stored, outcome, elapsed });
        self.tell(|| Told::Looked { time, url, outcome, note, status, bytes, took });
        self.journal.look(now, look, memo);
    }

    fn tally(&mut self, outcome: Outcome, bytes: u64) {
        let summary = &mut self.summary;
        summary.looks += 1;
        summary.bytes += bytes;
        *match outcome {
            Outcome::First => &mut summary.first,
            Outcome::Changed => &mut summary.changed,
            Outcome::Unchanged | Outcome::NotModified => &mut summary.unchanged,
            Outcome::Gone | Outcome::Disallowed => &mut summary.gone,
            Outcome::Redirected | Outcome::SlowDown | Outcome::Failed => &mut summary.failed,
        } += 1;
    }
}

/// What an answer said of the page.
fn known(memo: &crate::memo::Memo, kept: Option<Vec<u8>>, hint: Option<u8>) -> Known {
    Known {
        etag: memo.etag.clone(),
        last_modified: memo.last_modified.clone(),
        redirect: memo.redirect.clone(),
        title: memo.title.clone(),
        kept,
        hint,
    }
}

/// What the next body is compared with. Who saw a change without showing the body leaves nothing to compare with: what cannot be read is
/// compared anew.
fn kept(memo: &crate::memo::Memo, outcome: Outcome) -> Option<Vec<u8>> {
    let is_another = matches!(outcome, Outcome::First | Outcome::Changed);
    let kept = memo.kept.as_ref().map(refrain_fetch::change::Kept::to_bytes);
    kept.or_else(|| is_another.then(Vec::new))
}

/// What was seen, as the frontier wants it.
fn seen(read: &Read, now: Time) -> frontier::Outcome {
    let answer = match read.answer {
        Answer::First | Answer::Changed => estimate::Answer::Changed,
        Answer::Unchanged => estimate::Answer::Unchanged,
        Answer::NotModified => estimate::Answer::NotModified,
    };
    // A date in the future is no date.
    match read.modified.filter(|modified| *modified <= now) {
        Some(modified) => frontier::Outcome::Dated { answer, modified },
        None => frontier::Outcome::Seen(answer),
    }
}

fn meaning(visited: &Visited) -> Meaning {
    let failures = visited.memo.failures;
    let means = |outcome, state, note: Option<String>, retry| Meaning { outcome, state, note, retry };
    let retry = Some(retry_after(failures));
    match &visited.seen {
        Seen::Read(read) => {
            let outcome = match read.answer {
                Answer::First => Outcome::First,
                Answer::Changed => Outcome::Changed,
                Answer::Unchanged => Outcome::Unchanged,
                Answer::NotModified => Outcome::NotModified,
            };
            means(outcome, PageState::Active, None, None)
        }
        Seen::Redirected(target) => {
            let note = Some(format!("leads to {target}"));
            means(Outcome::Redirected, PageState::Active, note, Some(RETRY_REDIRECTED))
        }
        Seen::Gone => means(Outcome::Gone, PageState::Gone, None, Some(retry_gone(failures))),
        Seen::Disallowed => {
            means(Outcome::Disallowed, PageState::Disallowed, Some("robots.txt".to_owned()), None)
        }
        Seen::SlowDown(_) => {
            means(Outcome::SlowDown, PageState::Active, Some("asked to slow down".to_owned()), retry)
        }
        Seen::NoRules => {
            let note = Some("robots.txt cannot be had".to_owned());
            means(Outcome::Failed, PageState::Active, note, Some(RETRY))
        }
        Seen::Failed(why) | Seen::Unreachable(why) => {
            means(Outcome::Failed, PageState::Active, Some(why.clone()), retry)
        }
        Seen::Postponed(_) | Seen::Over => means(Outcome::Failed, PageState::Active, None, Some(Span::ZERO)),
    }
}
