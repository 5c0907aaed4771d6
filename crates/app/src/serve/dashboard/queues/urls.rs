//! A queue, and the URLs in it.

use std::collections::HashMap;

use maud::{Markup, html};
use refrain_core::queues::{QueueNow, Whole};
use refrain_core::time::{Span, Time};
use refrain_engine::queues::{Queues, Which};
use refrain_store::ItemRow;

use super::listed::{delay, next, state};
use super::{Asked, brief, crumbs, no_queue};
use crate::chart::grouped;
use crate::data::harmless::harmless;
use crate::serve::dashboard::desk::Desk;
use crate::serve::dashboard::words::{self, Portion};
use crate::serve::problem::Answer;
use crate::serve::urlfrontier::metadata;

/// So many are shown at a time.
const SHOWN: usize = 50;
/// What a crawler says of a URL is read if it has at most so many bytes,
const LONGEST_READ: usize = 16 << 10;
/// and so much of it is shown, in bytes of the page.
const LONGEST_SHOWN: usize = 600;

/// Longer URLs are cut.
const LONGEST_URL: usize = 300;

/// A URL as it is now, and as it was written down, with the number of bytes that its crawler says of it.
type Row = (Whole, ItemRow, usize);

pub(super) async fn shown(
    desk: &Desk,
    queues: &Queues,
    crawl: &str,
    key: &str,
    asked: &Asked,
) -> Answer<Markup> {
    let which = Which { from: asked.from, most: SHOWN, ..Which::default() };
    let found = queues.show_items(crawl.to_owned(), key.to_owned(), which).await?.ok_or_else(no_queue)?;
    let ids: Vec<u32> = found.items.iter().map(|item| item.id.0).collect();
    let rows = desk.read(move |reader| reader.items_shown(&ids, LONGEST_READ)).await?;
    let mut rows: HashMap<u32, (ItemRow, usize)> = rows.into_iter().map(|row| (row.0.id, row)).collect();
    // Those that are not on the disk yet are shown next time.
    let rows: Vec<Row> = found
        .items
        .into_iter()
        .filter_map(|item| rows.remove(&item.id.0).map(|(row, bytes)| (item, row, bytes)))
        .collect();
    let portion = Portion { skip: asked.from, shown: rows.len(), most: SHOWN, all: found.queue.items };
    Ok(html! {
        (crumbs(Some(crawl)))
        h1 { (brief(key)) }
        section #queue data-live { (facts(&found.queue, desk.now)) }
        section #urls data-live {
            h2 { "URLs" }
            @if rows.is_empty() {
                p.empty { @if found.queue.items == 0 { "Nothing is in it: it was only said how it is treated." }
                    @else { "There are no more. " a href=(Asked::path(Some(crawl), Some(key), "", 0)) { "Back to the beginning" } "." } }
            } @else { (table(&rows, &portion, desk.now)) }
            (words::pager("URLs", &portion, |from| Asked::path(Some(crawl), Some(key), "", from)))
        }
    })
}

fn facts(queue: &QueueNow, now: Time) -> Markup {
    html! {
        dl.rows {
            dt { "URLs" } dd { (grouped(queue.items)) ", " (grouped(queue.completed)) " of them completed (never again)" }
            dt { "given" } dd { (grouped(queue.leased)) ", and not brought back" (state(queue, now)) }
            dt { "delay" } dd { (delay(queue)) @if queue.manners.delay.is_none() { ", that of all queues" } }
            dt { "last given" } dd { (words::ago_or(queue.manners.served, now, "never")) }
            dt { "next" } dd { (next(queue, now)) }
        }
    }
}

fn table(rows: &[Row], portion: &Portion, now: Time) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption {
                    (grouped(portion.skip + 1)) " to " (grouped(portion.skip + rows.len())) " of " (grouped(portion.all))
                    ", in the order in which they came"
                }
                thead { tr { th.n scope="col" { "due" } th.n scope="col" { "given" } th.n scope="col" { "came" } th scope="col" { "URL" } } }
                tbody { @for (item, row, bytes) in rows { tr {
                    td.n data-name="due" { (due(item, now)) }
                    td.n data-name="given" { @match item.lease.map(moment).filter(|until| *until > now) { Some(until) => (words::left(until, now)), None => "–" } }
                    td.n data-name="came" { (words::ago(moment(item.created), now)) }
                    th.address scope="row" { (address(row)) (said(row, *bytes)) }
                } } }
            }
        }
    }
}

fn moment(second: u32) -> Time {
    Time::ZERO + Span::from_whole_secs(second.into())
}

fn due(item: &Whole, now: Time) -> Markup {
    html! {
        @if item.due == 0 { span.tag { "completed" } }
        @else if item.is_parked { "when it is worth it" }
        @else if moment(item.due) <= now { "now" }
        @else { (words::ago(moment(item.due), now)) }
    }
}

/// The URL, which leads to what is known of its page, if anything is.
fn address(row: &ItemRow) -> Markup {
    let shown: String = row.url.chars().take(LONGEST_URL).collect();
    let is_long = shown.len() < row.url.len();
    html! {
        @match row.page {
            Some(page) => (words::page(page, &shown)),
            None if is_long => (harmless(&shown)),
            None => (words::outside(&row.url)),
        }
        @if is_long { "…" }
    }
}

/// What its crawler says of it.
fn said(row: &ItemRow, bytes: usize) -> Markup {
    let all = metadata::read_all(&row.metadata);
    html! {
        @if bytes > LONGEST_READ { div.small.soft { (grouped(bytes)) " bytes of metadata: too many to be shown" } }
        @else if !all.is_empty() {
            details.small { summary { (crate::chart::counted(all.len(), "key")) " of metadata" }
                @let lines: Vec<String> = all.iter().map(|(key, values)| format!("{key}: {}", values.join(", "))).collect();
                @let (shown, left) = words::excerpt(lines.iter().map(String::as_str), LONGEST_SHOWN);
                pre tabindex="0" { (shown) }
                @if left > 0 { p.soft { "There is more." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use refrain_core::queues::{ItemId, QueueId};

    fn row(url: &str, metadata: Vec<u8>) -> ItemRow {
        ItemRow { id: 1, queue: 1, created: 5, due: 7, since: 0, page: None, url: url.to_owned(), metadata }
    }

    #[test]
    fn strangers_do_nothing_here() {
        let hostile = "<script>alert(1)</script>";
        let row = row("http://a.example/<script>", metadata::of([(hostile, hostile)]));
        let shown = said(&row, row.metadata.len()).into_string() + &address(&row).into_string();
        assert!(shown.contains("1 key of metadata") && !shown.contains("<script>"), "{shown}");
        assert!(said(&row, 1 << 20).into_string().contains("1,048,576 bytes of metadata"));
    }

    #[test]
    fn a_url_is_due_in_words() {
        let item = |due, is_parked| Whole {
            id: ItemId(1),
            queue: QueueId(0),
            due,
            is_parked,
            created: 5,
            lease: None,
        };
        let now = moment(100);
        assert!(due(&item(0, false), now).into_string().contains("completed"));
        assert_eq!(due(&item(u32::MAX, true), now).into_string(), "when it is worth it");
        assert_eq!(due(&item(100, false), now).into_string(), "now");
        assert!(due(&item(7300, false), now).into_string().contains("in 2 h"));
    }
}
