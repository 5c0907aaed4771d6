//! Queues of crawlers that fetch by themselves: their crawls, the queues of one, the URLs of a queue. However many there are, a page shows
//! few of them, and whoever has them looks at few for it.

mod crawls;
mod listed;
mod urls;

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::desk::Desk;
use super::frame::Place;
use crate::data::harmless::harmless;
use crate::serve::problem::{Answer, Problem};

/// So many are looked at for one page, however few of them fit.
const LOOKED_AT: usize = 100_000;
/// Nobody looks for longer texts.
const LONGEST: usize = 500;

/// What is shown: crawls, the queues of one, or the URLs of a queue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    crawl: Option<String>,
    key: Option<String>,
    /// Only what has this text in its name.
    q: String,
    /// From this place on.
    from: usize,
}

impl Asked {
    /// Where something else is shown.
    fn path(crawl: Option<&str>, key: Option<&str>, q: &str, from: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [("crawl", crawl), ("key", key), ("q", Some(q).filter(|q| !q.is_empty()))] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        if from > 0 {
            query.append_pair("from", &from.to_string());
        }
        let query = query.finish();
        if query.is_empty() { "/queues".to_owned() } else { format!("/queues?{query}") }
    }

    fn wanted(&self) -> String {
        self.q.trim().chars().take(LONGEST).collect()
    }
}

/// Queues
pub(super) async fn page(desk: Desk, Query(asked): Query<Asked>) -> Answer<Response> {
    let Some(queues) = desk.queues.clone() else { return closed(&desk).await };
    let (title, main) = match (&asked.crawl, &asked.key) {
        (None, _) => ("Queues".to_owned(), crawls::shown(&queues, &asked).await?),
        (Some(crawl), None) => {
            (format!("Queues of {}", brief(crawl)), listed::shown(&desk, &queues, crawl, &asked).await?)
        }
        (Some(crawl), Some(key)) => (brief(key), urls::shown(&desk, &queues, crawl, key, &asked).await?),
    };
    Ok(desk.show(Place::Queues, &title, &main))
}

/// Longer names lead nowhere: a page of them would be too long for anybody. The API has what is behind them.
const LONGEST_LINKED: usize = 250;

/// A name that strangers chose, and what is behind it.
fn linked(name: &str, path: impl FnOnce() -> String) -> Markup {
    html! { @if name.len() <= LONGEST_LINKED { a href=(path()) { (brief(name)) } } @else { (brief(name)) } }
}

/// A name that strangers chose, as it fits into a line.
fn brief(name: &str) -> String {
    const MOST: usize = 120;
    let mut shown: String = harmless(name).chars().take(MOST).collect();
    if name.chars().count() > MOST {
        shown.push('…');
    }
    shown
}

/// The way back.
fn crumbs(crawl: Option<&str>) -> Markup {
    html! {
        nav.small aria-label="Above" {
            a href="/queues" { "All crawls" }
            @if let Some(crawl) = crawl { " › " a href=(Asked::path(Some(crawl), None, "", 0)) { (brief(crawl)) } }
        }
    }
}

/// What was being looked for.
fn search(crawl: Option<&str>, asked: &Asked, label: &str) -> Markup {
    html! {
        form.filters method="get" action="/queues" role="search" {
            @if let Some(crawl) = crawl { input type="hidden" name="crawl" value=(crawl); }
            div { label for="q" { (label) } input #q type="search" name="q" value=(asked.q); }
            button.main { "Show" }
        }
    }
}

/// The way to more of them, if there may be more.
fn more(crawl: Option<&str>, asked: &Asked, next: Option<usize>, what: &str) -> Markup {
    html! {
        @if let Some(next) = next {
            nav.pager aria-label={ "More " (what) } { a href=(Asked::path(crawl, None, &asked.q, next)) rel="next" { "More" } }
        }
    }
}

/// There are queues, and nobody may ask for them.
async fn closed(desk: &Desk) -> Answer<Response> {
    const MOST: usize = 100;
    let crawls = desk.read(refrain_store::Reader::crawls).await?;
    let main = html! {
        h1 { "Queues" }
        @if crawls.is_empty() {
            p.empty { "No crawler keeps its URLs here. To let StormCrawler, Scrapy and others do that, start with "
                code { "--urlfrontier 127.0.0.1:7071" } "." }
        } @else {
            p.empty { "The door for the crawlers that have queues here is closed. To open it, start with " code { "--urlfrontier 127.0.0.1:7071" } "." }
            ul { @for crawl in crawls.iter().take(MOST) {
                li { (brief(&crawl.name)) " " span.soft { "(" (crawl.schedule.as_str()) " scheduled)" } }
            } }
            @if crawls.len() > MOST { p.soft { "There are " (crate::chart::grouped(crawls.len() - MOST)) " more." } }
        }
    };
    Ok(desk.show(Place::Queues, "Queues", &main))
}

fn no_queue() -> Problem {
    Problem::missing("no-such-queue", "there is no such queue here; the list of queues has them all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_are_part_of_no_address() {
        assert_eq!(Asked::path(None, None, "", 0), "/queues");
        assert_eq!(
            Asked::path(Some("a&b=\"<"), Some("k/ü #"), "", 7),
            "/queues?crawl=a%26b%3D%22%3C&key=k%2F%C3%BC+%23&from=7"
        );
        assert_eq!(brief("a\u{1b}b"), "a\\u{1b}b");
        assert!(linked("a", || "/x".to_owned()).into_string().contains("href"));
        assert!(!linked(&"a".repeat(300), || "/x".to_owned()).into_string().contains("href"));
        assert_eq!(brief(&"x".repeat(200)).chars().count(), 121);
    }
}
