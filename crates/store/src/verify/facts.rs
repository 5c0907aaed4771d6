//! The database by itself: is it sound, do facts agree with each other?

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::report::{Progress, Report};
use crate::commit::MOST_AHEAD;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{IMPORTED, Outcome, PageState};
use crate::reader::Reader;

const EVERY: u64 = 10_000;
const GO_ON: rusqlite::Result<ControlFlow<()>> = Ok(ControlFlow::Continue(()));

/// SQLite's own checks.
pub(super) fn database(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) -> Result<(), StoreError> {
    progress(Progress { what: "database", done: 0, of: None });
    reader.each_row("PRAGMA integrity_check", (), |row| {
        let said: String = row.get(0)?;
        if said != "ok" {
            report.damage(format!("the database is damaged: {said}"));
        }
        GO_ON
    })?;
    reader.each_row("PRAGMA foreign_key_check", (), |row| {
        let (table, id, missing): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        report.damage(format!(
            "row {} of {table} refers to a row of {missing} that is not there",
            id.unwrap_or(0)
        ));
        GO_ON
    })
}

/// Looks at a page follow each other in time as they do in number, but for those of other crawlers, which come afterwards; and each is in the
/// chain of its page.
pub(super) fn observations(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) -> Result<(), StoreError> {
    reader.each_row("SELECT id, outcome FROM observations", (), |row| {
        let (id, outcome): (i64, String) = (row.get(0)?, row.get(1)?);
        if Outcome::from_name(&outcome).is_none() {
            report.damage(format!("observation {id} has the outcome {outcome:?}, which there is not"));
        }
        GO_ON
    })?;
    let sql = "SELECT o.page, o.id, o.counted IS ?1, o.before, p.id IS NOT NULL, p.observation, o.time
               FROM observations o LEFT JOIN pages p ON p.id = o.page ORDER BY o.page, o.time, o.id";
    let mut looks = Looks::default();
    let mut before = (0, 0, 0);
    reader.each_row(sql, (IMPORTED,), |row| {
        let (page, id, imported): (i64, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        report.checked.observations += 1;
        if report.checked.observations.is_multiple_of(EVERY) {
            progress(Progress { what: "observations", done: report.checked.observations, of: None });
        }
        if looks.page != page {
            std::mem::take(&mut looks).check_chain(report);
            looks = Looks { page, is_there: row.get(4)?, last: row.get(5)?, ..Looks::default() };
        }
        looks.before.insert(id, row.get(3)?);
        if !imported {
            let time: i64 = row.get(6)?;
            // What is dated years ahead was dated by a wrong clock.
            if before.0 == page && before.1 > id && time - before.2 <= MOST_AHEAD {
                report.damage(format!(
                    "observation {id} of page {page} was written earlier but made later than {}",
                    before.1
                ));
            }
            before = (page, id, time);
        }
        GO_ON
    })?;
    looks.check_chain(report);
    let sql = "SELECT id, observation FROM pages p WHERE observation IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.id = p.observation AND o.page = p.id)";
    reader.each_row(sql, (), |row| {
        let (page, last): (i64, i64) = (row.get(0)?, row.get(1)?);
        report.damage(format!("the last look at page {page}, observation {last}, is not there"));
        GO_ON
    })
}

/// The looks at a page.
#[derive(Default)]
struct Looks {
    page: i64,
    is_there: bool,
    /// The last one, as the page has it.
    last: Option<i64>,
    /// To each the one before.
    before: HashMap<i64, Option<i64>>,
}

impl Looks {
    fn check_chain(mut self, report: &mut Report) {
        if !self.before.is_empty() && !self.is_there {
            report.damage(format!(
                "{} observations are of page {}, which is not there",
                self.before.len(),
                self.page
            ));
            return;
        }
        let mut next = self.last;
        // Each is taken out, so that a circle ends.
        while let Some(before) = next.and_then(|id| self.before.remove(&id)) {
            next = before;
        }
        if let Some(lost) = self.before.keys().min() {
            report
                .damage(format!("observation {lost} of page {} is not in the chain of its looks", self.page));
        } else if let Some(lost) = next.filter(|_| self.last != next) {
            report.damage(format!(
                "the chain of looks at page {} leads to observation {lost}, which is not one of them",
                self.page
            ));
        }
    }
}

/// Each change of a page starts from what the one before led to, and some look saw it.
pub(super) fn changes(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) -> Result<(), StoreError> {
    let sql = "SELECT c.seq, c.page, c.old, c.new, o.page, o.outcome, p.digest
               FROM changes c LEFT JOIN observations o ON o.id = c.observation LEFT JOIN pages p ON p.id = c.page
               ORDER BY c.page, c.seq";
    let mut before: Option<Changed> = None;
    reader.each_row(sql, (), |row| {
        let change = Changed { seq: row.get(0)?, page: row.get(1)?, new: row.get(3)?, now: row.get(6)? };
        let old: Option<Digest> = row.get(2)?;
        let seen: (Option<i64>, Option<String>) = (row.get(4)?, row.get(5)?);
        let earlier = before.take_if(|before| before.page == change.page);
        let earlier = earlier.and_then(|earlier| earlier.new);
        let outcome = seen.1.as_deref().and_then(Outcome::from_name);
        if old.is_none() && earlier.is_some() && outcome == Some(Outcome::First) {
            report.note(format!(
                "page {} was fetched as if for the first time at change {}: its copy was lost",
                change.page, change.seq
            ));
        } else if earlier != old {
            report.damage(format!(
                "change {} of page {} does not start where the one before ended",
                change.seq, change.page
            ));
        }
        if let Some(last) = before.take() {
            last.check_end(report);
        }
        let is_change = outcome.is_some_and(Outcome::may_be_change);
        if seen.0 != Some(change.page) || !is_change {
            report.damage(format!(
                "change {} of page {} has no observation that saw it",
                change.seq, change.page
            ));
        }
        before = Some(change);
        report.checked.changes += 1;
        if report.checked.changes.is_multiple_of(EVERY) {
            progress(Progress { what: "changes", done: report.checked.changes, of: None });
        }
        GO_ON
    })?;
    if let Some(last) = before {
        last.check_end(report);
    }
    Ok(())
}

struct Changed {
    seq: i64,
    page: i64,
    new: Option<Digest>,
    /// The digest that the page has now.
    now: Option<Digest>,
}

impl Changed {
    fn check_end(&self, report: &mut Report) {
        if self.now.is_none() && self.new.is_some() {
            report.note(format!(
                "page {} has lost the copy that change {} made; it will be fetched anew",
                self.page, self.seq
            ));
        } else if self.new != self.now {
            report.damage(format!("page {} is not what change {}, its last, made it", self.page, self.seq));
        }
    }
}

/// What was fetched has been learned from, and whatever a page has now, a change told of.
pub(super) fn pages(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) -> Result<(), StoreError> {
    let sql = "SELECT id, fetched IS NOT NULL AND history IS NULL,
                      digest IS NOT NULL AND id NOT IN (SELECT page FROM changes), state FROM pages";
    reader.each_row(sql, (), |row| {
        let (id, unlearned, untold): (i64, bool, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if unlearned {
            report.note(format!("page {id} was fetched but has no history; it will be learned anew"));
        }
        // SQLite's own check leaves out the constraints of a database that is opened to read.
        let state: String = row.get(3)?;
        if PageState::from_name(&state).is_none() {
            report.damage(format!("page {id} is in the state {state:?}, which there is not"));
        }
        if untold {
            report.damage(format!("page {id} has a digest that no change tells of"));
        }
        report.checked.pages += 1;
        if report.checked.pages.is_multiple_of(EVERY) {
            progress(Progress { what: "pages", done: report.checked.pages, of: None });
        }
        GO_ON
    })
}
