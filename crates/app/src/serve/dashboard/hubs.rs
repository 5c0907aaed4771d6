//! Pages, sitemaps and feeds that show what is new, and what visits to them are worth.

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::time::Time;
use refrain_engine::PageNow;
use refrain_store::{HubRow, StoreError};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::Place;
use super::words::{self, Portion};
use crate::chart::{counted, grouped};
use crate::serve::problem::Answer;

/// So many are shown at a time.
const SHOWN: usize = 100;
const DAY: f64 = 86_400.0;

/// Which of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    skip: usize,
}

/// Hubs
pub(super) async fn page(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let skip = asked.skip;
    let read = move |reader: &refrain_store::Reader| {
        Ok::<_, StoreError>((reader.count_hubs()?, reader.some_hubs(skip, SHOWN)?))
    };
    let (all, hubs) = desk.read(read).await?;
    let pages = hubs.iter().map(|row| row.hub.page).collect();
    // Without a crawl nobody knows when they are visited next.
    let known = desk.app.handle.explain(pages).await.unwrap_or_else(|_| vec![None; hubs.len()]);
    let main = html! {
        h1 { "Hubs" }
        p.lead { "Front pages, sitemaps and feeds that show links to new pages, and news of known ones. A visit is worth what it shows, and competes with "
            "all others for the budget." }
        @if all == 0 {
            p.empty { "No hub is known yet. Pages become hubs when visits show new links (" code { "--follow same-host" } "), sitemaps and feeds when they have news." }
        } @else {
            section #hubs data-live {
                @if hubs.is_empty() { p.empty { "There are no more. " a href="/hubs" { "Back to the beginning" } "." } }
                @else { (table(&hubs, &known, all, desk.now)) }
                (words::pager("hubs", &Portion { skip, shown: hubs.len(), most: SHOWN, all }, |skip| format!("/hubs?skip={skip}")))
            }
        }
    };
    Ok(desk.show(Place::Hubs, "Hubs", &main))
}

fn table(shown: &[HubRow], known: &[Option<PageNow>], all: usize, now: Time) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption { (counted(all, "hub")) ", the most profitable first; worth: seconds of fresh copy, times importance" }
                thead { tr {
                    th scope="col" { "hub" } th scope="col" { "kind" } th.n scope="col" { "news a day" } th.n scope="col" { "worth of one" } th.n scope="col" { "profit a day" }
                    th.n scope="col" { "halves in" } th.n scope="col" { "visits" } th.n scope="col" { "news" } th.n scope="col" { "visited" } th.n scope="col" { "next visit" }
                } }
                tbody { @for (row, is) in shown.iter().zip(known) { tr {
                    th.address scope="row" { (words::page(row.hub.page, &row.url)) }
                    td data-name="kind" { (row.role.as_str()) }
                    td.n data-name="news a day" { (words::number(row.hub.rate * DAY)) }
                    td.n data-name="worth of one" { (words::number(row.hub.profit)) }
                    td.n data-name="profit a day" { (words::number(row.hub.rate * row.hub.profit * DAY)) }
                    td.n data-name="halves in" { (if row.hub.decay > 0.0 { words::every(row.hub.decay / std::f64::consts::LN_2) } else { "never".to_owned() }) }
                    td.n data-name="visits" { (grouped(row.hub.visits as usize)) } td.n data-name="news" { (grouped(row.hub.news as usize)) }
                    td.n data-name="visited" { (words::ago_or(row.fetched, now, "never")) }
                    td.n data-name="next visit" { @match is.and_then(|is| is.due) { Some(due) if due <= now => "now", Some(due) => (words::ago(due, now)), None => "–" } }
                } } }
            }
        }
    }
}
