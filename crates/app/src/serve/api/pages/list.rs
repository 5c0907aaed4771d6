//! Pages, a few at a time, among millions.

use std::ops::ControlFlow;

use axum::Json;
use axum::extract::State;
use refrain_store::{HostId, PageId, PageRow, PageState, Reader, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::cursor::Cursor;
use super::super::input::{Asked, limit};
use super::super::shapes::{Listed, State as Shown};
use super::address;
use crate::serve::problem::{Answer, Problem};
use crate::serve::readers::Readers;

/// So many rows are looked at for one answer, whether they are asked for or not: so none takes long.
const LOOKED_AT: usize = 20_000;
/// So many pages are in an answer.
const USUAL: u32 = 100;
const MOST: u32 = 1000;

/// Which pages.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The one with this address.
    pub(crate) url: Option<String>,
    /// Those of this host: `example.org`, or `https://example.org:8443`.
    pub(crate) host: Option<String>,
    /// Those whose addresses begin like this; they come in the order of addresses.
    pub(crate) prefix: Option<String>,
    /// Those in this state.
    #[param(inline, value_type = Shown, required = false)]
    pub(crate) state: Option<Shown>,
    /// Those whose last look failed, or did not.
    pub(crate) failing: Option<bool>,
    /// Those that were never fetched, or were.
    pub(crate) never_fetched: Option<bool>,
    /// At most so many.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub(crate) limit: Option<u32>,
    /// Go on here: `next` of the answer before.
    pub(crate) cursor: Option<String>,
}

/// Some of the pages.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Pages {
    pub(crate) pages: Vec<Listed>,
    /// Where to go on; none at the end. There may be more although there are few here, or none.
    pub(crate) next: Option<String>,
}

/// Pages, in the order in which they were added
#[utoipa::path(get, path = "/v1/pages", tag = "pages", params(Which), responses((status = 200, body = Pages)))]
pub(crate) async fn list(State(readers): State<Readers>, Asked(which): Asked<Which>) -> Answer<Json<Pages>> {
    let limit = limit(which.limit, USUAL, MOST)?;
    readers.scan(move |reader| select(reader, &which, limit)).await.map(Json)
}

/// What a row must be like.
struct Filter {
    hosts: Option<Vec<HostId>>,
    state: Option<PageState>,
    failing: Option<bool>,
    never_fetched: Option<bool>,
}

impl Filter {
    fn has(&self, row: &PageRow<'_>) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(&row.host))
            && self.state.is_none_or(|state| row.state == state)
            && self.failing.is_none_or(|failing| row.is_failing() == failing)
            && self.never_fetched.is_none_or(|never| row.fetched.is_none() == never)
    }
}

/// Those pages, a few of them.
pub(crate) fn select(reader: &Reader, which: &Which, limit: usize) -> Answer<Pages> {
    let hosts = match &which.host {
        Some(name) => Some(reader.hosts_named(name.trim_end_matches('/'))?),
        None => None,
    };
    if hosts.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Pages::default());
    }
    let filter = Filter {
        hosts,
        state: which.state.map(stored),
        failing: which.failing,
        never_fetched: which.never_fetched,
    };
    if let Some(typed) = &which.url {
        let page = reader.page(address(typed)?.as_str())?;
        let page = page.filter(|page| filter.has(&page.row()));
        let fits = |page: &&refrain_store::PageRecord| {
            which.prefix.as_ref().is_none_or(|prefix| page.url.starts_with(prefix.as_str()))
        };
        let pages = page.as_ref().filter(fits).map(|page| Listed::from(&page.row())).into_iter().collect();
        return Ok(Pages { pages, next: None });
    }
    let cursor = which.cursor.as_deref().map(Cursor::read).transpose()?;
    match (&which.prefix, cursor) {
        (None, None) => by_number(reader, &filter, 0, limit),
        (None, Some(Cursor::After(number))) => by_number(reader, &filter, number, limit),
        (Some(prefix), None) => by_address(reader, &filter, prefix, prefix, limit),
        (Some(prefix), Some(Cursor::From(from))) if from.starts_with(prefix.as_str()) => {
            by_address(reader, &filter, prefix, &from, limit)
        }
        _ => Err(Problem::bad("the cursor is of another list; expected the same query as before")),
    }
}

fn by_number(reader: &Reader, filter: &Filter, after: i64, limit: usize) -> Answer<Pages> {
    let parts = match &filter.hosts {
        None => vec![Part::read(filter, after, limit, |each| reader.pages_after(PageId(after), each))?],
        Some(hosts) => hosts
            .iter()
            .map(|host| {
                Part::read(filter, after, limit, |each| reader.pages_of_host(*host, PageId(after), each))
            })
            .collect::<Result<_, _>>()?,
    };
    // Beyond the least of these not all parts were read.
    let end = parts.iter().filter_map(|part| part.end).min();
    let mut pages: Vec<Listed> = parts.into_iter().flat_map(|part| part.pages).collect();
    pages.retain(|page| end.is_none_or(|end| page.id <= end));
    pages.sort_by_key(|page| page.id);
    let last = if pages.len() > limit { pages.get(limit - 1).map(|page| page.id) } else { end };
    pages.truncate(limit);
    Ok(Pages { pages, next: last.map(|last| Cursor::After(last).written()) })
}

/// A part of a list by numbers.
struct Part {
    pages: Vec<Listed>,
    /// The last number that was looked at, if there are more.
    end: Option<i64>,
}

impl Part {
    /// The pages that pass, at most so many, and of a limited number.
    fn read(
        filter: &Filter,
        after: i64,
        limit: usize,
        read: impl FnOnce(&mut dyn FnMut(PageRow<'_>) -> ControlFlow<()>) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let (mut part, mut last, mut looked_at) = (Self { pages: Vec::new(), end: None }, after, 0);
        read(&mut |row| {
            if part.pages.len() == limit || looked_at == LOOKED_AT {
                part.end = Some(last);
                return ControlFlow::Break(());
            }
            (last, looked_at) = (row.id.0, looked_at + 1);
            if filter.has(&row) {
                part.pages.push(Listed::from(&row));
            }
            ControlFlow::Continue(())
        })?;
        Ok(part)
    }
}

fn by_address(reader: &Reader, filter: &Filter, prefix: &str, from: &str, limit: usize) -> Answer<Pages> {
    let (mut pages, mut looked_at, mut next) = (Vec::new(), 0, None);
    reader.pages_by_address(from, |row| {
        if !row.url.starts_with(prefix) {
            return ControlFlow::Break(());
        }
        if pages.len() == limit || looked_at == LOOKED_AT {
            next = Some(Cursor::From(row.url.to_owned()).written());
            return ControlFlow::Break(());
        }
        looked_at += 1;
        if filter.has(&row) {
            pages.push(Listed::from(&row));
        }
        ControlFlow::Continue(())
    })?;
    Ok(Pages { pages, next })
}

fn stored(state: Shown) -> PageState {
    match state {
        Shown::Active => PageState::Active,
        Shown::Paused => PageState::Paused,
        Shown::Gone => PageState::Gone,
        Shown::Disallowed => PageState::Disallowed,
    }
}
