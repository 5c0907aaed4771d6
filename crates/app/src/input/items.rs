//! `items.csv`: what appeared on hubs, as it was recorded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use refrain_lab::discover::Item;
use refrain_lab::trace::unix;

use super::ids::Ids;
use super::source::Source;
use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns =
    Columns { required: &["source_id", "item_id", "publish_time", "popularity"], ..Columns::NONE };
const SOURCE: usize = 0;
const ITEM: usize = 1;
const TIME: usize = 2;
const POPULARITY: usize = 3;
const EXPECTED_TIME: &str = "a time in seconds since 1970";

/// Sums of profits must stay finite, however many there are.
const MOST_POPULAR: f64 = 1e100;
/// Numbers of items and hubs have 32 bits; memory has an end before.
const MOST_ITEMS: usize = 100_000_000;

/// The items of a file, hub by hub.
#[derive(Debug, Default)]
pub(crate) struct RecordedItems {
    /// The names of hubs.
    pub(crate) hubs: Vec<String>,
    /// The items of each, in the order of time.
    pub(crate) items: Vec<Vec<Item>>,
    /// Names of items, and where each of `items` has its own.
    names: Ids,
    places: Vec<Vec<u32>>,
}

impl RecordedItems {
    /// Reads a file, or `items.csv` or `items.csv.gz` of a directory.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::of(Table::open(&file(path)?, COLUMNS)?)
    }

    /// Those of the examples, which are in the binary.
    pub(crate) fn within(name: &str, bytes: &'static [u8]) -> Result<Self, Failure> {
        Self::of(Table::over(Source::within(name, bytes), COLUMNS)?)
    }

    fn of(mut table: Table) -> Result<Self, Failure> {
        let mut found = Self::default();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut rows: Vec<Vec<(Item, u32)>> = Vec::new();
        while let Some(row) = table.next_row()? {
            let born = unix(row.number(TIME, EXPECTED_TIME)?)
                .ok_or_else(|| row.not_what_was_expected(TIME, EXPECTED_TIME))?;
            let profit = row.not_negative(POPULARITY)?;
            if profit > MOST_POPULAR {
                return Err(row.not_what_was_expected(POPULARITY, "at most 1e100"));
            }
            let place = found.names.len();
            if place >= MOST_ITEMS {
                return Err(
                    row.complain(ITEM, format!("is one too many; expected at most {MOST_ITEMS} items"))
                );
            }
            let source = row.text(SOURCE)?;
            let hub = numbers.get(source).copied().unwrap_or(rows.len());
            if hub == rows.len() {
                numbers.insert(source.to_owned(), hub);
                found.hubs.push(source.to_owned());
                rows.push(Vec::new());
            }
            rows[hub].push((Item { born, profit }, place as u32));
            found.names.push(row.text(ITEM)?, row.line());
        }
        table.check_ids(&found.names, ITEM, "item")?;
        for mut hub in rows {
            hub.sort_by_key(|(item, place)| (item.born, *place));
            let (items, places) = hub.into_iter().unzip();
            found.items.push(items);
            found.places.push(places);
        }
        Ok(found)
    }

    /// The name of an item, by hub and place.
    pub(crate) fn name(&self, hub: u32, place: u32) -> &str {
        self.names.get(self.places[hub as usize][place as usize] as usize)
    }
}

fn file(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let found =
        ["items.csv", "items.csv.gz"].map(|name| path.join(name)).into_iter().find(|path| path.exists());
    found.ok_or_else(|| Failure::input(format!("{}: there is no items.csv or items.csv.gz", path.display())))
}
