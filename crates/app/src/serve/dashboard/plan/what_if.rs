//! The recorded log, replayed with other budgets: one replay at a time, on a thread that yields to others.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use maud::{Markup, html};
use refrain_core::time::{Span, Time};

use super::super::door::Visitor;
use super::super::words;
use crate::chart::{counted, grouped, percent, short};
use crate::lab::replay::{self, what_if};
use crate::units;

/// Times the fetches that were made.
const TIMES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// How much the thread yields to others, as `nice` has it.
const NICE: i32 = 15;

/// What other budgets would have made of what was recorded.
pub(super) struct WhatIf {
    /// Where decisions are logged.
    log: Option<PathBuf>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
enum State {
    #[default]
    NotAsked,
    Running(Time),
    Done(Time, Box<replay::WhatIf>),
    Failed(String),
}

impl WhatIf {
    pub(super) fn new(log: Option<PathBuf>) -> Self {
        Self { log, state: Arc::default() }
    }

    /// Begins, unless it has begun. Whether there is something to replay.
    pub(super) fn start(&self, now: Time) -> bool {
        let Some(log) = self.log.clone() else { return false };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Running(_)) {
            return true;
        }
        *state = State::Running(now);
        let own = Arc::clone(&self.state);
        let run = move || {
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
            let done = std::panic::catch_unwind(|| what_if(&log, &TIMES));
            *own.lock().unwrap_or_else(PoisonError::into_inner) = match done {
                Ok(Ok(done)) => State::Done(now, Box::new(done)),
                Ok(Err(why)) => State::Failed(why.to_string()),
                Err(_) => State::Failed("it failed; the log of the server says more".to_owned()),
            };
        };
        if let Err(why) = std::thread::Builder::new().name("replay".to_owned()).spawn(run) {
            *state = State::Failed(format!("there is no thread for it ({why})"));
        }
        true
    }

    pub(super) fn html(&self, visitor: Visitor, now: Time) -> Markup {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let button = |name: &str| {
            html! { @if visitor.may_write { form method="post" action="/plan" { button name="do" value="what-if" { (name) } } } }
        };
        html! {
            section #what-if data-live {
                h2 { "What would another budget have done?" }
                @if self.log.is_none() {
                    p.soft { "Decisions are not logged here. With " code { "--decisions DIR" } " (or " code { "[decisions]" } " in refrain.toml) the same weeks can be crawled anew with other budgets." }
                } @else {
                    @match &*state {
                        State::NotAsked => { p { "The log of decisions can be crawled anew with other budgets: what they would have made of what was seen." } (button("Replay the log")) }
                        State::Running(since) => p.note role="status" { "The log is being replayed, since " (words::ago(*since, now)) ". It may take a minute; the crawl goes on." },
                        State::Failed(why) => { p.note { "The log could not be replayed: " (why) "." } (button("Try again")) }
                        State::Done(at, done) => { (table(done, *at, now)) (button("Replay it again")) }
                    }
                }
            }
        }
    }
}

fn table(done: &replay::WhatIf, at: Time, now: Time) -> Markup {
    let (per_day, really) = &done.recorded;
    let rows = std::iter::once(("recorded".to_owned(), *per_day, really)).chain(
        done.budgets
            .iter()
            .map(|(times, per_day, score)| (format!("{} times", short(*times)), *per_day, score)),
    );
    html! {
        div.scroll tabindex="0" role="group" aria-label="Replayed budgets" { table {
            caption { (counted(done.pages, "page")) " over " (short(done.days)) " days with " (counted(done.changes, "change")) ", crawled anew " (words::ago(at, now)) "; each sees only what a crawler sees" }
            thead { tr { th scope="col" { "budget" } th.n scope="col" { "fetches a day" } th.n scope="col" { "fresh" } th.n scope="col" { "by pages" } th.n scope="col" { "age" } th.n scope="col" { "fetches" } th.n scope="col" { "for nothing" } } }
            tbody { @for (name, per_day, score) in rows { tr {
                th scope="row" { (name) } td.n { (short(per_day)) } td.n { (percent(score.freshness)) } td.n { (percent(score.plain_freshness)) }
                td.n { (units::about(Span::from_secs(score.age.max(0.0)))) } td.n { (grouped(score.fetches as usize)) }
                td.n { (percent(score.wasted as f64 / score.fetches.max(1) as f64)) }
            } } }
        } }
    }
}
