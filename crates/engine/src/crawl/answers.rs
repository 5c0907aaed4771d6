//! What comes of visits: to the frontier, which learns from it, and to the store, which keeps it.

use std::sync::Arc;

use refrain_core::estimate;
use refrain_core::frontier;
use refrain_core::page::SinceFetch;
use refrain_core::time::{Span, Time};
use refrain_store::{HostUpdate, Known, Look, Outcome, PageState, Robots, Role};

use super::Crawl;
use super::digest::Then;
use super::shown::Shown;
use crate::CrawlError;
use crate::back_off::doubled;
use crate::decision::Decision;
use crate::read::{Answer, Read};
use crate::restore::{shape, share_after};
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
const LONGEST_GONE: Span = Span::from_whole_secs(60 * 86_400);
/// A robots.txt that is longer is not kept as it came.
const LONGEST_AS_IT_CAME: usize = 32 << 10;
/// A page that leads to another one is looked at again after this.
const RETRY_REDIRECTED: Span = Span::from_whole_secs(86_400);

/// Returns how long a page is not fetched after so many failures in a row, the last one included: a page that is gone waits longer than one
/// that could not be fetched.
pub(crate) fn retry(is_gone: bool, failures: u32) -> Span {
    let (first, longest) = if is_gone { (RETRY_NOT_FOUND, LONGEST_GONE) } else { (RETRY, LONGEST_RETRY) };
    doubled(first, failures.saturating_sub(1), longest)
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
    pub(super) fn visited(&mut self, now: Time, mut visited: Box<Visited>) -> Result<(), CrawlError> {
        match visited.seen.take_announced() {
            Some(announced) => self.take_up_announced(now, announced, Then::Visit(visited)),
            None => self.end_visit(now, *visited),
        }
    }

    /// Everything that a visit of our own showed is taken up, but for what a part of a turn is enough for.
    pub(super) fn end_visit(&mut self, now: Time, mut visited: Visited) -> Result<(), CrawlError> {
        self.visits.end(visited.number);
        if visited.order.is_some() {
            self.journal.release(visited.stored);
        }
        if matches!(visited.seen, Seen::Over) {
            return Ok(());
        }
        self.forgive_pause(now, &mut visited);
        self.settle_visit(now, visited)
    }

    /// A page was looked at, by us or by another fetcher; `earlier` is what earlier looks of the same visit showed.
    pub(super) fn take_in(
        &mut self,
        now: Time,
        mut visited: Visited,
        earlier: Shown,
    ) -> Result<(), CrawlError> {
        let mut shown = self.show(now, &mut visited)?;
        shown.add(earlier);
        if let Some(order) = visited.order {
            self.measure(&visited);
            let later = self.judge_signals(&visited)?;
            let copy = SinceFetch::with_signals(visited.time, later);
            self.answer(now, (order, copy), &visited, &shown)?;
            self.learn_hub(now, visited.stored, visited.page, &shown)?;
        }
        if matches!(visited.seen, Seen::Postponed(_)) {
            return Ok(());
        }
        if !self.queued.hides_host(&visited.host, visited.stored, &visited.seen) {
            self.judge_host(now, visited.asked, &visited.host, &visited.seen)?;
        }
        // Without fetchers, guessed feeds and sitemaps would be pages that nothing fetches.
        if self.settings.fetches || self.external.is_there(now) {
            self.try_well_known(now, &visited.host);
        }
        let meaning = meaning(&visited);
        visited.memo.failures = meaning.outcome.failures_after(visited.memo.state, visited.memo.failures);
        visited.memo.state = meaning.state;
        let (stored, order) = (visited.stored, visited.order);
        self.record(now, visited, meaning);
        self.was_hurried(now, stored, order)
    }

    /// Tells the frontier what came of an order: the copy, if there is one, is as of the time in `copy`, and so many signals came later.
    fn answer(
        &mut self,
        now: Time,
        (order, copy): (frontier::OrderId, SinceFetch),
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
        self.answer_order(now, (order, copy), outcome, visited.response)?;
        let frontier = &mut self.scheduler.frontier;
        if meaning.outcome.is_failure() && !matches!(visited.seen, Seen::Postponed(_)) {
            let failures = meaning.outcome.failures_after(visited.memo.state, visited.memo.failures);
            match frontier.discount_first(now, visited.page, share_after(failures)) {
                // It was removed meanwhile.
                Ok(()) | Err(frontier::FrontierError::UnknownPage(_)) => {}
                Err(why) => return Err(why.into()),
            }
        }
        if frontier.page(visited.page).is_ok() && !frontier.is_new(visited.page)? {
            self.scheduler.pages.sites.wait_no_more(visited.page);
        }
        let once = self.settings.until == Until::Once && !matches!(visited.seen, Seen::Postponed(_));
        let is_forbidden = matches!(visited.seen, Seen::Disallowed);
        if (once || is_forbidden) && frontier.page(visited.page).is_ok() {
            frontier.remove(now, visited.page)?;
            self.scheduler.pages.remove(visited.page);
            if is_forbidden {
                let host = self.scheduler.host(&visited.host);
                self.scheduler.forbid(host, visited.stored, now);
            }
        }
        Ok(())
    }

    pub(super) fn answer_order(
        &mut self,
        now: Time,
        (order, copy): (frontier::OrderId, SinceFetch),
        outcome: frontier::Outcome,
        response: Option<Span>,
    ) -> Result<(), CrawlError> {
        match self.scheduler.frontier.answer_as_of(now, order, outcome, response, copy) {
            // So late that the page was ordered again, and that order answered: nothing to learn from this one.
            Ok(()) | Err(frontier::FrontierError::UnknownOrder(_)) => Ok(()),
            Err(why) => Err(why.into()),
        }
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

    /// What an answer that was asked for at `asked`, or its absence, means for the back-off of its host.
    pub(super) fn judge_host(
        &mut self,
        now: Time,
        asked: Time,
        host: &str,
        seen: &Seen,
    ) -> Result<(), CrawlError> {
        let id = self.scheduler.host(host);
        let Some(entry) = self.scheduler.hosts.get_mut(host) else { return Ok(()) };
        match seen {
            Seen::SlowDown(wait) => entry.back_off.slow_down(now, *wait),
            Seen::Unreachable(_) => entry.back_off.unreachable(now),
            Seen::NoRules => entry.back_off.extend(now, HostRules::retry(entry.unruled.saturating_sub(1))),
            // The host was not asked.
            Seen::Disallowed | Seen::Postponed(_) | Seen::Over => return Ok(()),
            // Any answer shows that the host works; most hosts have pages that fail.
            Seen::Read(_) | Seen::Gone | Seen::Redirected(_) | Seen::Failed(_) => {
                if !entry.back_off.answered(asked) {
                    return Ok(());
                }
            }
        }
        let (until, rests_until) = (entry.left_alone(), entry.back_off.until.unwrap_or(Time::MIN));
        self.scheduler.frontier.back_off(now, id, until)?;
        self.queued.rest(id, rests_until);
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
        let before = entry.rules.replace(Arc::clone(rules));
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
            let is_same = matches!(&before, Some(before) if before.says(&robots));
            if !is_same {
                self.scheduler.release(id, now);
            }
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
            back_off_until: entry.back_off.until,
            failures: entry.back_off.failures,
            robots,
            wanted_gap: entry.wanted_gap,
            paused: entry.paused,
        };
        self.journal.host(now, update);
    }

    fn record(&mut self, now: Time, visited: Visited, meaning: Meaning) {
        // The memory of the fetch is free when this is done.
        let Visited { page, stored, time, asked, status, bytes, took, mut memo, seen, room: _room, .. } =
            visited;
        let past = self.scheduler.frontier.past(page).ok();
        let mut look = Look {
            page: stored,
            time,
            asked,
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
            memo.led_to(target.as_ref());
            look.known = Some(known(&memo, None, None));
        }
        if let Seen::Read(read) = seen {
            // What was seen first says what is promised; later answers may come from other caches.
            let hint = read.hint.filter(|_| read.answer == Answer::First).map(|hint| hint.0);
            let Read { counted, digest, record, elapsed, .. } = *read;
            note.clone_from(&counted);
            look.elapsed = elapsed;
            (look.counted, look.digest, look.record) = (counted, digest, record);
            look.known = Some(known(&memo, kept(&memo, look.outcome), hint));
        }
        let role = memo.role;
        self.tally(look.outcome, role, bytes, memo.digest.is_some());
        let url = memo.url.as_str().to_owned();
        let (outcome, elapsed) = (look.outcome, look.elapsed);
        self.decided(|| Decision::Looked { time, page: stored, outcome, elapsed });
        self.tell(|| Told::Looked { time, url, role, outcome, note, status, bytes, took });
        self.journal.look(now, look, memo);
    }

    fn tally(&mut self, outcome: Outcome, role: Role, bytes: u64, has_copy: bool) {
        let summary = &mut self.summary;
        if role == Role::Page {
            summary.page_visits += 1;
            let answers = outcome.is_fresh() || (outcome == Outcome::Gone && has_copy);
            summary.page_answers += u64::from(answers);
        }
        summary.looks += 1;
        summary.bytes += bytes;
        *match outcome {
            _ if outcome.is_fresh() && role != Role::Page => &mut summary.outlets,
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
    let means = |outcome, state, note: Option<String>, retry| Meaning { outcome, state, note, retry };
    let retry = |outcome: Outcome| {
        let failures = outcome.failures_after(visited.memo.state, visited.memo.failures);
        Some(retry(outcome == Outcome::Gone, failures))
    };
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
            let note = target.as_ref().map(|target| format!("leads to {target}"));
            means(Outcome::Redirected, PageState::Active, note, Some(RETRY_REDIRECTED))
        }
        Seen::Gone => means(Outcome::Gone, PageState::Gone, None, retry(Outcome::Gone)),
        Seen::Disallowed => {
            means(Outcome::Disallowed, PageState::Disallowed, Some("robots.txt".to_owned()), None)
        }
        Seen::SlowDown(_) => means(
            Outcome::SlowDown,
            PageState::Active,
            Some("asked to slow down".to_owned()),
            retry(Outcome::SlowDown),
        ),
        Seen::NoRules => {
            let note = Some("robots.txt cannot be had".to_owned());
            means(Outcome::Failed, PageState::Active, note, Some(RETRY))
        }
        Seen::Failed(why) | Seen::Unreachable(why) => {
            means(Outcome::Failed, PageState::Active, Some(why.clone()), retry(Outcome::Failed))
        }
        Seen::Postponed(_) | Seen::Over => means(Outcome::Failed, PageState::Active, None, Some(Span::ZERO)),
    }
}
