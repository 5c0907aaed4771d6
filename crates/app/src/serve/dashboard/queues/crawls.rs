//! All crawls of crawlers that fetch by themselves.

use maud::{Markup, html};
use refrain_core::queues::CrawlNow;
use refrain_engine::queues::{CrawlsShown, Queues, Which};
use refrain_store::Schedule;

use super::{Asked, LOOKED_AT, linked, more, search};
use crate::chart::{counted, grouped};
use crate::serve::problem::Answer;

/// So many are shown at a time.
const SHOWN: usize = 50;

pub(super) async fn shown(queues: &Queues, asked: &Asked) -> Answer<Markup> {
    let which = Which { from: asked.from, contains: asked.wanted(), most: SHOWN, most_seen: LOOKED_AT };
    let CrawlsShown { crawls: portion, is_active } = queues.show_crawls(which).await?;
    let is_empty = portion.found.is_empty();
    Ok(html! {
        h1 { "Queues" }
        p.lead { "Crawlers that fetch by themselves keep their URLs here, and come for what is due: StormCrawler, Scrapy and others that speak URLFrontier. In a "
            strong { "client" } " scheduled crawl the crawler says when to come back, in a " strong { "server" } " scheduled one what a fetch is worth." }
        @if !is_active { p.note role="status" { "It is paused (" code { "SetActive" } "): nothing is given to anybody, everything is still taken." } }
        @if is_empty && asked.q.is_empty() && asked.from == 0 && portion.next.is_none() {
            p.empty { "No URL came yet. Point a crawler at the address that was said at the start (" code { "urlfrontier on …" } "); for StormCrawler that is "
                code { "urlfrontier.host" } " and " code { "urlfrontier.port" } ", for Scrapy " code { "SCHEDULER_URLFRONTIER_ENDPOINT" } "." }
        } @else {
            (search(None, asked, "Name has"))
            section #crawls data-live {
                @if is_empty { p.empty { "No such crawls" @if portion.next.is_some() { " among these" } ". " a href="/queues" { "Show all" } "." } }
                @else { (table(&portion.found)) }
                (more(None, asked, portion.next, "crawls"))
            }
        }
    })
}

fn table(crawls: &[(CrawlNow, Schedule)]) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption { (counted(crawls.len(), "crawl")) ", in the order in which they began" }
                thead { tr {
                    th scope="col" { "crawl" } th scope="col" { "scheduled by" } th.n scope="col" { "queues" } th.n scope="col" { "URLs" } th.n scope="col" { "completed" }
                } }
                tbody { @for (crawl, schedule) in crawls { tr {
                    th.address scope="row" { (linked(&crawl.name, || Asked::path(Some(&crawl.name), None, "", 0))) }
                    td data-name="scheduled by" { (schedule.as_str()) }
                    td.n data-name="queues" { (grouped(crawl.queues)) }
                    td.n data-name="URLs" { (grouped(crawl.items as usize)) }
                    td.n data-name="completed" { (grouped(crawl.completed as usize)) }
                } } }
            }
        }
    }
}
