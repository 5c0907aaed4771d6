//! The plan: what budgets buy, at best and politely; what half of it would cost; and what other budgets would have made of what was recorded.

mod outlook;
mod what_if;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::frontier::Budget;
use refrain_core::time::{Span, Time};
use refrain_engine::BudgetNow;
use serde::Deserialize;
use tokio::sync::Notify;

use super::chart::{Chart, HEIGHT, Points, Scale, Table, WIDTH, dot, dot_mark, line, line_mark, one};
use super::desk::Desk;
use super::frame::{self, Place};
use super::words;
use crate::chart::{counted, grouped, percent, short};
use crate::serve::api::App;
use crate::serve::problem::Answer;
pub(super) use outlook::Outlook;
use what_if::WhatIf;

/// It is computed anew, if somebody looks, after so many times what that takes; but not more often than this,
const TIMES: u64 = 20;
const SHORTEST: Span = Span::from_whole_secs(2);
/// and as often as this.
const LONGEST: Span = Span::from_whole_secs(30);
/// Who comes first waits so long.
const PATIENCE: Duration = Duration::from_millis(20);
/// Steps of the slider.
const STEPS: u32 = 400;

/// What is known of budgets.
pub(super) struct Plans {
    state: Mutex<Known>,
    made: Notify,
    what_if: WhatIf,
}

#[derive(Default)]
struct Known {
    outlook: Option<Arc<Outlook>>,
    /// The budget for which it was computed.
    budget: Option<BudgetNow>,
    /// When it began to be computed, and how long that took.
    began: Option<Time>,
    took: Span,
    is_being_made: bool,
}

impl Plans {
    pub(super) fn new(decisions: Option<PathBuf>) -> Self {
        Self { state: Mutex::default(), made: Notify::new(), what_if: WhatIf::new(decisions) }
    }

    fn state(&self) -> MutexGuard<'_, Known> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What budgets buy, if that is known; if not, or not recently, it soon is.
    pub(super) async fn known(self: &Arc<Self>, app: &App) -> Option<Arc<Outlook>> {
        let made = self.made.notified();
        let (found, starts) = {
            let (mut state, now) = (self.state(), app.clock.now());
            let again =
                Span::from_nanos(TIMES.saturating_mul(state.took.as_nanos())).max(SHORTEST).min(LONGEST);
            let is_old = state.began.is_none_or(|began| now.since(began) >= again);
            let starts = is_old && !state.is_being_made;
            if starts {
                (state.is_being_made, state.began) = (true, Some(now));
            }
            (state.outlook.clone(), starts)
        };
        if starts {
            let (own, app) = (Arc::clone(self), app.clone());
            tokio::spawn(async move {
                let began = app.clock.now();
                let computed = compute(&app).await;
                let mut state = own.state();
                (state.is_being_made, state.took) = (false, app.clock.now().since(began));
                // What cannot be computed now stays as it was known.
                if let Some((outlook, budget)) = computed {
                    (state.outlook, state.budget) = (Some(Arc::new(outlook)), Some(budget));
                }
                drop(state);
                own.made.notify_waiters();
            });
        }
        // Who comes first waits a little; where there is nothing to be known nobody does.
        if found.is_some() || !starts {
            return found;
        }
        let _ = tokio::time::timeout(PATIENCE, made).await;
        self.state().outlook.clone()
    }

    /// Replays the log, unless that is done already. Whether there is one.
    pub(super) fn replay(&self, now: Time) -> bool {
        self.what_if.start(now)
    }
}

async fn compute(app: &App) -> Option<(Outlook, BudgetNow)> {
    let budget = app.handle.budget().await.ok()?;
    let sample = app.handle.sample(outlook::SAMPLE).await.ok()?;
    let outlook = move || Outlook::new(&sample, budget.budget.rate());
    Some((tokio::task::spawn_blocking(outlook).await.ok()??, budget))
}

/// Which budget.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// A place of the slider.
    at: Option<u32>,
    done: Option<String>,
}

/// The plan
pub(super) async fn page(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let outlook = desk.plans.known(&desk.app).await;
    let running = desk.app.handle.budget().await.ok();
    let budget = running.or_else(|| desk.plans.state().budget);
    let main = html! {
        (frame::flash(asked.done.as_deref()))
        h1 { "Plan" }
        p.lead { "What a budget buys: the share of copies that are fresh, by importance, with requests spent as well as they can be." }
        @if running.is_none() && budget.is_some() { p { "The crawl is over. This is for its pages as they were believed to change in the end." } }
        @match (&outlook, &budget) {
            (Some(outlook), Some(budget)) => (bought(outlook, budget, &asked, desk.may_change())),
            (_, None) => p.empty { "No crawl runs, so there is no budget to plan." },
            (None, Some(_)) => p.empty { "It is being computed, or there are no pages yet. " a href="/plan" { "Look again" } "." },
        }
        (desk.plans.what_if.html(desk.visitor, desk.now))
    };
    Ok(desk.show(Place::Plan, "Plan", &main))
}

fn bought(outlook: &Outlook, budget: &BudgetNow, asked: &Asked, may_change: bool) -> Markup {
    let rate = budget.budget.rate();
    let at = asked.at.map_or_else(|| outlook.place(rate), |at| f64::from(at.min(STEPS)) / f64::from(STEPS));
    let chosen = outlook.rate_at(at);
    let step = (at * f64::from(STEPS)).round();
    html! {
        section {
            form method="get" action="/plan" {
                label for="at" { "Requests a second" }
                input #at type="range" name="at" min="0" max=(STEPS) step="1" value=(step) data-curve=(outlook.json());
                button { "Show" }
            }
            p.answer {
                strong #chosen-rate { (three(chosen)) } " requests a second buy "
                strong #chosen-polite { (percent(outlook.polite_at(chosen))) } " fresh copies without asking any host too often, "
                strong #chosen-best { (percent(outlook.best_at(chosen))) } " if hosts did not mind."
            }
            (curve(outlook, budget))
        }
        @if may_change {
            div.actions role="group" aria-label="Change the budget" {
                form method="post" action="/plan" {
                    div { label for="rate" { "Budget, requests a second" } input.short #rate name="rate" inputmode="decimal" value=(three(rate)) data-follows required; }
                    button.main name="do" value="budget" { "Spend this from now on" }
                }
            }
        }
        section { h2 { "What would half cost?" } (others(outlook, budget)) }
        p.small.soft {
            "Computed from " @if outlook.sample < outlook.pages { (grouped(outlook.sample)) " pages by chance of " }
            (counted(outlook.pages, "page")) ", as they are believed to change now: right within "
            (format!("{:.1}", 196.0 * outlook.error)) " points in 19 of 20 cases, as far as chance goes. "
            @if outlook.heard > 0.0 { "Of " (percent(outlook.heard)) " of the pages changes are announced: they are fetched by signals where that is worth more, "
                "as good as their signals are believed to be. " } @else { "Nothing announces changes of these pages, as far as is known. " }
            @if outlook.seen < 0.5 { strong { "Only " (percent(outlook.seen)) " of the pages were looked at twice: of the others nothing is known yet, and these figures say little. " } }
            "The polite curve lets no host have more requests than its gap allows, and spends what is left elsewhere."
            @if let Some(most) = outlook.most { " More than " (three(most)) " requests a second cannot be spent politely." }
        }
    }
}

fn three(number: f64) -> String {
    let digits = (2.0 - number.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0);
    short((number * 10_f64.powf(digits)).round() / 10_f64.powf(digits))
}

fn curve(outlook: &Outlook, budget: &BudgetNow) -> Markup {
    let rate = budget.budget.rate();
    let scale = Scale::shares(outlook.polite.iter().copied().fold(f64::INFINITY, f64::min));
    let (mut points, mut rows) = (Points::default(), Vec::new());
    for (place, own) in outlook.rates.iter().enumerate() {
        let (best, polite) = (percent(outlook.best[place]), percent(outlook.polite[place]));
        points.add(
            outlook.place(*own),
            format!("{} requests a second: {polite} fresh, politely; {best} at best", three(*own)),
        );
        rows.push(vec![three(*own), polite, best]);
    }
    let path = |values: &[f64]| {
        line(
            outlook
                .rates
                .iter()
                .zip(values)
                .map(|(rate, value)| Some((outlook.place(*rate), scale.at(*value)))),
        )
    };
    let now = one(WIDTH * outlook.place(rate).clamp(0.0, 1.0));
    let spent = match budget.budget {
        Budget::Rate(_) => String::new(),
        Budget::Price { .. } => " at most".to_owned(),
    };
    let labels = (0..5).map(|part| three(outlook.rate_at(f64::from(part) / 4.0))).collect();
    Chart {
        id: "curve",
        title: "Fresh copies for a budget",
        says: format!(
            "With {} requests a second {} of copies are fresh at best, {} politely.",
            three(rate),
            percent(outlook.best_at(rate)),
            percent(outlook.polite_at(rate))
        ),
        class: "",
        ys: scale.labels(|share| format!("{:.0} %", 100.0 * share)),
        xs: labels,
        drawing: html! {
            line.mark x1=(now) x2=(now) y1="0" y2=(HEIGHT) {}
            path.line.b d=(path(&outlook.best)) {}
            path.line d=(path(&outlook.polite)) {}
            @if let Some(fresh) = budget.freshness { path.pin.ring d=(dot(outlook.place(rate), scale.at(fresh))) {} }
        },
        points,
        legend: vec![
            (line_mark(""), "best that is polite".to_owned()),
            (line_mark("b"), "best if hosts did not mind".to_owned()),
            (html! { path.mark d="M12 0V10" {} }, format!("the budget now: {}{spent} requests a second, a fetch is worth {}", three(rate), budget.price.map_or_else(|| "an unknown value".to_owned(), |price| short(price.value)))),
            (dot_mark("ring"), format!("fresh now: {}", words::share(budget.freshness))),
        ],
        table: Some(Table { head: vec!["requests a second", "polite", "at best"], rows }),
    }
    .html()
}

fn others(outlook: &Outlook, budget: &BudgetNow) -> Markup {
    let rate = budget.budget.rate();
    let now = outlook.polite_at(rate);
    html! {
        div.scroll tabindex="0" role="group" aria-label="Other budgets" { table {
            caption { "Other budgets beside the one of now, politely" }
            thead { tr { th scope="col" { "budget" } th.n scope="col" { span.wide { "requests " } "a second" } th.n.wide scope="col" { "a day" } th.n scope="col" { "fresh" } th.n scope="col" { "difference" } } }
            tbody { @for (times, name) in [(0.25, "a quarter"), (0.5, "half"), (1.0, "as now"), (2.0, "twice"), (4.0, "four times")] {
                @let fresh = outlook.polite_at(times * rate);
                tr { th scope="row" { @if times == 1.0 { strong { (name) } } @else { (name) } }
                    td.n { (three(times * rate)) } td.n.wide { (grouped((times * rate * 86_400.0).round() as usize)) }
                    td.n { (percent(fresh)) }
                    td.n { @if times == 1.0 { "–" } @else { (format!("{:+.1} points", 100.0 * (fresh - now)).replace('-', "−")) } } }
            } }
        } }
    }
}
