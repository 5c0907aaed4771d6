//! The queues of a crawl: what is in them, and when something of them may be given.

use maud::{Markup, html};
use refrain_core::queues::QueueNow;
use refrain_core::time::Time;
use refrain_engine::queues::{Queues, Which};

use super::{Asked, LOOKED_AT, brief, crumbs, linked, more, search};
use crate::chart::{counted, grouped};
use crate::serve::dashboard::desk::Desk;
use crate::serve::dashboard::words;
use crate::serve::problem::Answer;
use crate::units;

/// So many are shown at a time.
const SHOWN: usize = 50;

pub(super) async fn shown(desk: &Desk, queues: &Queues, crawl: &str, asked: &Asked) -> Answer<Markup> {
    let which = Which { from: asked.from, contains: asked.wanted(), most: SHOWN, most_seen: LOOKED_AT };
    let portion = queues.show_queues(crawl.to_owned(), which).await?;
    Ok(html! {
        (crumbs(None))
        h1 { "Queues of " (brief(crawl)) }
        (search(Some(crawl), asked, "Key has"))
        section #queues data-live {
            @if !portion.found.is_empty() { (table(crawl, &portion.found, desk.now)) }
            @else if portion.next.is_some() { p.empty { "None of the next " (grouped(LOOKED_AT)) " queues is one of these." } }
            @else { p.empty { "No such queues. " a href=(Asked::path(Some(crawl), None, "", 0)) { "Show all of the crawl" } ", or " a href="/queues" { "all crawls" } "." } }
            (more(Some(crawl), asked, portion.next, "queues"))
        }
    })
}

fn table(crawl: &str, queues: &[QueueNow], now: Time) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption { (counted(queues.len(), "queue")) ", in the order in which they began; given: to a crawler that has not brought it back" }
                thead { tr {
                    th.n scope="col" { "waiting" } th.n scope="col" { "given" } th.n scope="col" { "completed" } th.n scope="col" { "delay" } th.n scope="col" { "last given" }
                    th.n scope="col" { "next" } th scope="col" { "queue" }
                } }
                tbody { @for queue in queues { tr {
                    td.n data-name="waiting" { (grouped(queue.items - queue.completed)) }
                    td.n data-name="given" { (grouped(queue.leased)) }
                    td.n data-name="completed" { (grouped(queue.completed)) }
                    td.n data-name="delay" { (delay(queue)) }
                    td.n data-name="last given" { (words::ago_or(queue.manners.served, now, "never")) }
                    td.n data-name="next" { (next(queue, now)) }
                    th.address scope="row" { (linked(&queue.key, || Asked::path(Some(crawl), Some(&queue.key), "", 0))) (state(queue, now)) }
                } } }
            }
        }
    }
}

/// The time between two turns.
pub(super) fn delay(queue: &QueueNow) -> String {
    if queue.delay.as_secs() > 0.0 { units::about(queue.delay) } else { "none".to_owned() }
}

/// When something may be given.
pub(super) fn next(queue: &QueueNow, now: Time) -> Markup {
    html! {
        @match queue.ready {
            Some(ready) if ready <= now => "now",
            Some(ready) => (words::ago(ready, now)),
            None => "–",
        }
    }
}

/// What keeps it from being asked, if that is worth a word.
pub(super) fn state(queue: &QueueNow, now: Time) -> Markup {
    html! {
        @if let Some(until) = queue.manners.blocked_until.filter(|until| *until > now) { " " span.tag.bad { "blocked " (words::left(until, now)) } }
        @if let Some(limit) = queue.manners.limit { " " span.tag { (grouped(queue.counted)) " of " (grouped(limit as usize)) " allowed" } }
    }
}
