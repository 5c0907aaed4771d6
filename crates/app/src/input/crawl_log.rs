//! What a crawler fetched, and what it saw: `time, page_id, changed`, in the order of time.

use std::collections::HashMap;
use std::path::Path;

use refrain_lab::trace::{LookedAt, unix};

use super::ids::Ids;
use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns =
    Columns { required: &["time", "page_id", "changed"], optional: &["importance", "host"], ..Columns::NONE };
const TIME: usize = 0;
const PAGE_ID: usize = 1;
const CHANGED: usize = 2;
const IMPORTANCE: usize = 3;
const HOST: usize = 4;

/// A crawl, page by page.
pub(crate) struct CrawlLog {
    pub(crate) ids: Ids,
    pub(crate) hosts: Vec<String>,
    pub(crate) pages: Vec<LookedAt>,
}

impl CrawlLog {
    /// A page's importance is that of its last line that has one, or 1; its host that of its first line.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        const EXPECTED: &str = "a time in seconds since 1970";
        let mut table = Table::open(path, COLUMNS)?;
        let mut log = Self { ids: Ids::default(), hosts: Vec::new(), pages: Vec::new() };
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut hosts: HashMap<String, u32> = HashMap::new();
        let mut before = None;
        while let Some(row) = table.next_row()? {
            let time =
                unix(row.number(TIME, EXPECTED)?).ok_or_else(|| row.not_what_was_expected(TIME, EXPECTED))?;
            if before.is_some_and(|before| before > time) {
                return Err(
                    row.complain(TIME, "is before that of the line before; expected the order of time")
                );
            }
            before = Some(time);
            let changed = match row.bytes(CHANGED).trim_ascii() {
                b"1" => true,
                b"0" => false,
                _ => return Err(row.not_what_was_expected(CHANGED, "0 or 1")),
            };
            let has_importance = !row.bytes(IMPORTANCE).is_empty();
            let importance = if has_importance { Some(row.not_negative(IMPORTANCE)?) } else { None };
            let id = row.text(PAGE_ID)?;
            if let Some(number) = numbers.get(id) {
                let page = &mut log.pages[*number];
                page.looks.push((time, changed));
                page.importance = importance.unwrap_or(page.importance);
                continue;
            }
            // The first fetch of a page makes its copy, whatever it says of changes.
            let host = if row.bytes(HOST).is_empty() { "" } else { row.text(HOST)? };
            let group = *hosts.entry(host.to_owned()).or_insert_with(|| {
                log.hosts.push(host.to_owned());
                log.hosts.len() as u32 - 1
            });
            numbers.insert(id.to_owned(), log.pages.len());
            log.ids.push(id, log.pages.len() as u64 + 2);
            let importance = importance.unwrap_or(1.0);
            log.pages.push(LookedAt { importance, group, first: time, looks: Vec::new() });
        }
        if log.pages.iter().all(|page| page.looks.iter().all(|(_, changed)| !changed)) {
            return Err(table.complain("no page was fetched twice and had changed; expected at least one"));
        }
        Ok(log)
    }
}
