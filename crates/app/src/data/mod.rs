//! What looks into a data directory, also while a crawl writes into it; and what fills one, while none does.

pub(crate) mod changes;
mod check;
mod chosen;
pub(crate) mod diff;
pub(crate) mod explain;
mod export;
mod frontier;
pub(crate) mod harmless;
pub(crate) mod ignored;
mod import;
mod pages;
mod recover;
pub(crate) mod shapes;
mod signals;
mod status;

use std::path::Path;

use jiff::Timestamp;
use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{Options, PageRecord, Reader, Respelled, Store, StoreError};

use crate::cli::DataCommand;
use crate::failure::Failure;
use crate::input::Pages;

pub(crate) fn run(command: &DataCommand) -> Result<(), Failure> {
    match command {
        DataCommand::Changes(args) => changes::run(args),
        DataCommand::Diff(args) => diff::run(args),
        DataCommand::Explain(args) => explain::run(args),
        DataCommand::Pages(args) => pages::run(args),
        DataCommand::Export(args) => export::run(args),
        DataCommand::Frontier(args) => frontier::run(args),
        DataCommand::Import(args) => import::run(args),
        DataCommand::Signals(args) => signals::run(args),
        DataCommand::Status(args) => status::run(args),
        DataCommand::Check(args) => check::run(args),
        DataCommand::Recover(args) => recover::run(args),
    }
}

impl From<StoreError> for Failure {
    fn from(why: StoreError) -> Self {
        match why {
            StoreError::NotAStore { .. }
            | StoreError::NoDatabase { .. }
            | StoreError::OlderDatabase { .. }
            | StoreError::Lost { .. }
            | StoreError::Older { .. }
            | StoreError::Locked { .. } => Self::Input(why.to_string()),
            other => Self::OnTheWay(other.to_string()),
        }
    }
}

/// The pages of a file, or those of a data directory as `refrain export --beliefs` writes them.
pub(crate) fn read_pages(file: Option<&Path>, data: Option<&Path>) -> Result<Pages, Failure> {
    match (file, data) {
        (Some(file), _) => Pages::read(file),
        (None, Some(data)) => Pages::of_bytes(&data.display().to_string(), export::beliefs(data)?),
        (None, None) => Err(Failure::input("no pages given; expected --pages FILE or --data DIR")),
    }
}

/// Opens a data directory to write. Says what a killed process left there.
pub(crate) fn open_to_write(directory: &Path) -> Result<Store, Failure> {
    let store = Store::open(directory, Options::default())?;
    if let Some(left) = store.leftovers() {
        eprintln!(
            "refrain: {} bytes were written but not committed when the last process ended; they are in {} now",
            left.bytes,
            left.folder.display()
        );
    }
    if let Some(respelled) = store.respelled().filter(|respelled| *respelled != Respelled::default()) {
        eprintln!(
            "refrain: the spelling of URLs has changed: {} pages have another address now, and {} that were stored under two addresses were merged; \
             {} looks were given up with that (docs/store.md, \"One page, one address\")",
            respelled.renamed, respelled.merged, respelled.looks
        );
    }
    Ok(store)
}

/// A moment as everybody's programs read it: `2026-11-15T12:00:00.5Z`.
pub(crate) fn written(time: Time) -> String {
    let millis = time.as_nanos().div_euclid(1_000_000);
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |moment| moment.to_string())
}

/// A moment as people read it: `2026-11-15 12:00:00`.
pub(crate) fn spelled(time: Time) -> String {
    let seconds = time.as_nanos().div_euclid(1_000_000_000);
    Timestamp::from_second(seconds)
        .map_or_else(|_| seconds.to_string(), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// The page with this address, in whatever spelling.
fn known_page(reader: &Reader, typed: &str) -> Result<PageRecord, Failure> {
    let url = PageUrl::parse(typed).map_err(|why| {
        let why = if typed.contains("://") { why.to_string() } else { "not an address".to_owned() };
        Failure::input(format!("{typed}: {why}; expected one like https://example.org/news"))
    })?;
    if let Some(page) = reader.page(url.as_str())? {
        return Ok(page);
    }
    for near in neighbours(&url) {
        if reader.page(&near)?.is_some() {
            return Err(Failure::input(format!(
                "{url}: no such page; did you mean {near}?",
                url = url.as_str()
            )));
        }
    }
    Err(Failure::input(format!(
        "{}: no such page; expected one that is crawled (`refrain pages` lists them)",
        url.as_str()
    )))
}

/// Addresses that are easily taken for this one: with and without a slash at the end, the other scheme, with and without `www.`.
fn neighbours(url: &PageUrl) -> Vec<String> {
    let (scheme, rest) = url.as_str().split_once("://").unwrap_or(("https", url.as_str()));
    let slashed = rest.strip_suffix('/').map_or_else(|| format!("{rest}/"), str::to_owned);
    let other = |rest: &str| rest.strip_prefix("www.").map_or_else(|| format!("www.{rest}"), str::to_owned);
    let rests = [rest.to_owned(), slashed.clone(), other(rest), other(&slashed)];
    let schemes = if scheme == "https" { ["https", "http"] } else { ["http", "https"] };
    let all = schemes.iter().flat_map(|scheme| rests.iter().map(move |rest| format!("{scheme}://{rest}")));
    all.filter(|near| near != url.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_what_is_easily_mistaken() {
        let near = neighbours(&PageUrl::parse("https://www.example.org/a/").unwrap());
        for expected in [
            "https://www.example.org/a",
            "http://www.example.org/a/",
            "https://example.org/a/",
            "http://example.org/a",
        ] {
            assert!(near.iter().any(|near| near == expected), "{expected}: {near:?}");
        }
        assert_eq!(near.len(), 7);
    }
}
