//! What another crawler saw: `url, time, changed`, in any order.

use std::collections::HashMap;
use std::path::Path;

use refrain_core::time::Time;
use refrain_engine::Watched;
use refrain_fetch::url::PageUrl;
use refrain_lab::trace::unix;

use super::table::{Columns, Row, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns { required: &["url", "time", "changed"], ..Columns::NONE };
const URL: usize = 0;
const TIME: usize = 1;
const CHANGED: usize = 2;

const A_TIME: &str = "a time like 2026-11-15T12:00:00Z, or seconds since 1970";
const A_FLAG: &str = "0 or 1";

/// Visits of another crawler, page by page.
pub(crate) struct Visits {
    /// The pages, with their visits in the order of time.
    pub(crate) pages: Vec<Watched>,
    /// The line on which each visit stands.
    pub(crate) lines: Vec<Vec<u64>>,
    /// Lines that only repeat another one.
    pub(crate) repeated: u64,
    /// The name of the file.
    pub(crate) name: String,
}

/// A line: a page by its number, the millisecond, the line, and had it changed?
type Visit = (u32, i64, u64, bool);

impl Visits {
    /// Nothing that is in the future at `now` was seen.
    pub(crate) fn read(path: &Path, now: Time) -> Result<Self, Failure> {
        let mut table = Table::open(path, COLUMNS)?;
        let mut pages: Vec<Watched> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut visits: Vec<Visit> = Vec::new();
        while let Some(row) = table.next_row()? {
            let url = PageUrl::parse(row.text(URL)?.trim()).map_err(|why| row.complain(URL, why))?;
            let time = time(&row, now)?;
            let changed = match row.bytes(CHANGED).trim_ascii() {
                b"1" | b"true" => true,
                b"0" | b"false" => false,
                _ => return Err(row.not_what_was_expected(CHANGED, A_FLAG)),
            };
            let number = numbers.get(url.as_str()).copied().unwrap_or_else(|| {
                let number = pages.len() as u32;
                numbers.insert(url.as_str().to_owned(), number);
                pages.push(Watched { url, looks: Vec::new() });
                number
            });
            visits.push((number, time.as_nanos().div_euclid(1_000_000), row.line(), changed));
        }
        if visits.is_empty() {
            return Err(
                table.complain("there is a header, but no visits; expected at least one line after it")
            );
        }
        visits.sort_unstable();
        let mut lines = vec![Vec::new(); pages.len()];
        let mut repeated = 0;
        for (place, (page, millis, line, changed)) in visits.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| visits[before]);
            match before.filter(|before| (before.0, before.1) == (*page, *millis)) {
                Some((_, _, _, same)) if same == *changed => repeated += 1,
                Some((_, _, first, _)) => {
                    return Err(table.complain(format!(
                        "line {line}, column changed: line {first} has the same page and time, and says the opposite"
                    )));
                }
                None => {
                    pages[*page as usize].looks.push((Time::from_nanos(millis * 1_000_000), *changed));
                    lines[*page as usize].push(*line);
                }
            }
        }
        Ok(Self { pages, lines, repeated, name: table.name().to_owned() })
    }
}

fn time(row: &Row<'_>, now: Time) -> Result<Time, Failure> {
    let wrong = || row.not_what_was_expected(TIME, A_TIME);
    let text = row.text(TIME)?.trim();
    let time = if let Ok(seconds) = text.parse::<f64>() {
        // To the nearest millisecond, as the store has it: decimals are seldom exact.
        unix(seconds).ok_or_else(wrong)?;
        Time::from_nanos((seconds * 1e3).round() as i64 * 1_000_000)
    } else {
        let moment: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
        Time::from_nanos(i64::try_from(moment.as_nanosecond()).map_err(|_| wrong())?)
    };
    if time > now {
        return Err(row.complain(TIME, format!("'{text}' is in the future; expected {A_TIME}")));
    }
    Ok(time)
}
