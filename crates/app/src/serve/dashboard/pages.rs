//! All pages: searched, filtered, in the order that is asked for.

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use refrain_core::time::Time;
use refrain_store::{PageId, PageRecord, PageState, Reader, Role};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::Place;
use super::ranking::{Order, Part, Portion, Ranked, Ranking, Wanted};
use super::words;
use crate::chart::{grouped, percent, short};
use crate::data::harmless::harmless;
use crate::serve::api::pages::list::{Which, select};
use crate::serve::problem::{Answer, Problem};
use crate::units;

/// So many pages are shown at a time.
const SHOWN: usize = 50;
/// Nobody looks for longer texts.
const LONGEST: usize = 500;

/// Which pages. What is empty is not asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    q: String,
    host: String,
    state: String,
    only: String,
    sort: Option<Order>,
    turned: Option<String>,
    skip: usize,
    cursor: String,
}

impl Asked {
    /// The same list with something else about it.
    fn path(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut other = Self { skip: 0, cursor: String::new(), ..self.clone() };
        change(&mut other);
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("q", &other.q),
            ("host", &other.host),
            ("state", &other.state),
            ("only", &other.only),
            ("cursor", &other.cursor),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some(sort) = other.sort {
            query.append_pair("sort", sort.as_str());
        }
        if other.turned.is_some() {
            query.append_pair("turned", "yes");
        }
        if other.skip > 0 {
            query.append_pair("skip", &other.skip.to_string());
        }
        let query = query.finish();
        if query.is_empty() { "/pages".to_owned() } else { format!("/pages?{query}") }
    }

    fn wanted(&self, reader: &Reader) -> Answer<Wanted> {
        let hosts = match self.host.trim().trim_end_matches('/') {
            "" => None,
            name => Some(reader.hosts_named(name)?),
        };
        let text: String =
            self.q.trim().chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
        Ok(Wanted {
            text: text.to_ascii_lowercase(),
            hosts,
            state: PageState::from_name(&self.state),
            failing: self.only == "failing",
            never_fetched: self.only == "never",
            part: match self.only.as_str() {
                "hub" => Some(Part::Hub),
                "sitemap" => Some(Part::Sitemap),
                "feed" => Some(Part::Feed),
                _ => None,
            },
        })
    }
}

/// A page, and what it is ranked by; nothing, as long as there is no ranking.
type Row = (PageRecord, Option<Ranked>);

/// All pages
pub(super) async fn page(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let (now, own) = (desk.now, asked.clone());
    let unranked = desk.read(move |reader| from_store(reader, &own));
    let table = match desk.ranking.current(desk.app.clock, unranked).await {
        Ok(ranking) => {
            let (ranked, own) = (std::sync::Arc::clone(&ranking), asked.clone());
            let (portion, rows) = desk.read(move |reader| from_ranking(reader, &ranked, &own)).await?;
            ranked_table(&asked, &ranking, &portion, &rows, now)
        }
        Err(unranked) => {
            let (rows, next) = unranked?;
            plain_table(&asked, &rows, next, now)
        }
    };
    let main = html! {
        h1 { "Pages" }
        (filters(&asked))
        section #list data-live { (table) }
    };
    Ok(desk.show(Place::Pages, "Pages", &main))
}

fn from_ranking(reader: &Reader, ranking: &Ranking, asked: &Asked) -> Answer<(Portion, Vec<Row>)> {
    let wanted = asked.wanted(reader)?;
    let portion =
        ranking.list(&wanted, asked.sort.unwrap_or_default(), asked.turned.is_some(), asked.skip, SHOWN);
    let mut rows = Vec::with_capacity(portion.pages.len());
    for ranked in &portion.pages {
        // One that was forgotten meanwhile is left out.
        if let Some(record) = reader.page_by_id(ranked.page)? {
            rows.push((record, Some(*ranked)));
        }
    }
    Ok((portion, rows))
}

fn from_store(reader: &Reader, asked: &Asked) -> Answer<(Vec<Row>, Option<String>)> {
    let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let state = PageState::from_name(&asked.state).map(Into::into);
    let which = Which {
        prefix: text(&asked.q).filter(|text| text.starts_with("http")),
        host: text(&asked.host),
        state,
        failing: (asked.only == "failing").then_some(true),
        never_fetched: (asked.only == "never").then_some(true),
        cursor: text(&asked.cursor),
        ..Which::default()
    };
    let found = select(reader, &which, SHOWN)?;
    let mut rows = Vec::with_capacity(found.pages.len());
    for listed in &found.pages {
        rows.extend(reader.page_by_id(PageId(listed.id))?.map(|record| (record, None)));
    }
    Ok::<_, Problem>((rows, found.next))
}

fn filters(asked: &Asked) -> Markup {
    html! {
        form.filters method="get" action="/pages" role="search" {
            div { label for="q" { "Address has" } input #q type="search" name="q" value=(asked.q) maxlength=(LONGEST) placeholder="any part of it"; }
            div { label for="host" { "Host" } input #host name="host" value=(asked.host) placeholder="example.org"; }
            div { label for="state" { "State" }
                select #state name="state" {
                    option value="" { "any" }
                    @for state in PageState::ALL { option value=(state.as_str()) selected[asked.state == state.as_str()] { (state.as_str()) } }
                } }
            div { label for="only" { "Only" }
                select #only name="only" {
                    @for (value, name) in [("", "all"), ("failing", "failing"), ("never", "never fetched"), ("hub", "hubs"), ("sitemap", "sitemaps"), ("feed", "feeds")] {
                        option value=(value) selected[asked.only == value] { (name) }
                    }
                } }
            @if let Some(sort) = asked.sort { input type="hidden" name="sort" value=(sort.as_str()); }
            @if asked.turned.is_some() { input type="hidden" name="turned" value="yes"; }
            button.main { "Show" }
        }
    }
}

const COLUMNS: [(Order, &str, &str); 5] = [
    (Order::Stale, "stale", "how likely the copy is stale"),
    (Order::Value, "worth now", "what a fetch now is worth: seconds of fresh copy, times importance"),
    (Order::Changes, "changes every", "how often it changes, as believed"),
    (Order::Importance, "importance", "how much it matters"),
    (Order::Fetched, "copy is", "how old the copy is"),
];

fn ranked_table(asked: &Asked, ranking: &Ranking, portion: &Portion, rows: &[Row], now: Time) -> Markup {
    let sort = asked.sort.unwrap_or_default();
    let is_all = portion.all == ranking.len();
    html! {
        @if rows.is_empty() { (nobody(asked, portion)) } @else {
            div.scroll {
                table.stack {
                    caption {
                        (grouped(portion.before + 1)) " to " (grouped(portion.before + rows.len())) " of " (grouped(portion.all)) " pages"
                        @if !is_all { " (" (grouped(ranking.len())) " in all)" }
                        ", ranked " (words::ago(ranking.taken, now))
                    }
                    thead { tr {
                        @for (order, name, title) in COLUMNS {
                            @let is_it = order == sort;
                            @let direction = if asked.turned.is_some() { "ascending" } else { "descending" };
                            th.n scope="col" aria-sort=[is_it.then_some(direction)] {
                                a href=(asked.path(|other| {
                                    other.turned = (is_it && asked.turned.is_none()).then(|| "yes".to_owned());
                                    other.sort = Some(order);
                                })) title=(title) { (name) }
                            }
                        }
                        th scope="col" { "page" }
                    } }
                    tbody { @for (record, ranked) in rows { (row(record, ranked.as_ref(), now)) } }
                }
            }
            @let shown = words::Portion { skip: portion.before, shown: rows.len(), most: SHOWN, all: portion.all };
            (words::pager("pages", &shown, |skip| asked.path(|other| other.skip = skip)))
        }
    }
}

fn row(record: &PageRecord, ranked: Option<&Ranked>, now: Time) -> Markup {
    let number = |value: Option<f32>| {
        value
            .filter(|value| value.is_finite())
            .map_or_else(|| "–".to_owned(), |value| short(f64::from(value)))
    };
    let stale = ranked.map(|ranked| f64::from(ranked.stale)).filter(|stale| stale.is_finite());
    html! {
        tr {
            td.n data-name="stale" { (stale.map_or_else(|| "–".to_owned(), percent)) }
            td.n data-name="worth" { (number(ranked.map(|ranked| ranked.value))) }
            td.n data-name="changes every" { (ranked.map_or_else(|| "–".to_owned(), |ranked| words::every(f64::from(ranked.changes)))) }
            td.n data-name="importance" { (short(record.importance)) }
            td.n data-name="copy is" { (record.fetched.map_or_else(|| "missing".to_owned(), |fetched| units::about(now.since(fetched)))) }
            th.address scope="row" {
                (words::page(record.id, &record.url)) " " (words::state(record.state, record.failures))
                @if record.origin.role != Role::Page { " " span.tag { (record.origin.role.as_str()) } }
                @if let Some(title) = record.title.as_deref().filter(|title| !title.trim().is_empty()) {
                    div.small.soft { (harmless(&title.chars().take(120).collect::<String>())) }
                }
            }
        }
    }
}

fn nobody(asked: &Asked, portion: &Portion) -> Markup {
    html! {
        p.empty {
            @if portion.all > 0 { "There are no more: " a href=(asked.path(|_| ())) { "back to the beginning" } "." }
            @else { "No such pages. " a href="/pages" { "Show all" } ", or look for another part of the address." }
        }
    }
}

fn plain_table(asked: &Asked, rows: &[Row], next: Option<String>, now: Time) -> Markup {
    let cannot_search = !asked.q.trim().is_empty() && !asked.q.trim().starts_with("http");
    html! {
        p.note role="status" {
            "All pages are being ranked; until then they come in the order of their numbers. "
            @if cannot_search { "They cannot be searched yet, unless for how their addresses begin (https://…). " }
            a href=(asked.path(|_| ())) { "Look again" } "."
        }
        @if rows.is_empty() && next.is_none() { p.empty { "No such pages. " a href="/pages" { "Show all" } "." } } @else {
            div.scroll {
                table.stack {
                    caption { "Pages, not ranked yet" }
                    thead { tr { @for (_, name, title) in COLUMNS { th.n scope="col" title=(title) { (name) } } th scope="col" { "page" } } }
                    tbody { @for (record, ranked) in rows { (row(record, ranked.as_ref(), now)) } }
                }
            }
            @if let Some(next) = next {
                nav.pager aria-label="More pages" { a href=(asked.path(|other| other.cursor = next)) rel="next" { "More" } }
            }
        }
    }
}
