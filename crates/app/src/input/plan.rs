//! `gaps.csv` of a plan: how often hosts may be asked.

use std::path::Path;

use refrain_core::time::Span;

use super::pages::Hosts;
use super::table::{Columns, Table};
use crate::failure::Failure;
use crate::units;

const GAPS: Columns = Columns { required: &["host", "gap"], ..Columns::NONE };
const A_GAP: &str = "a time like 15s or 500ms";

/// Puts the gaps of a file, by host, in the place of those that hosts have.
pub(crate) fn read_gaps(path: &Path, hosts: &Hosts, gaps: &mut [Span]) -> Result<(), Failure> {
    let mut table = Table::open(path, GAPS)?;
    while let Some(row) = table.next_row()? {
        let gap = units::span(&String::from_utf8_lossy(row.bytes(1)));
        let gap = gap.map_err(|_| row.not_what_was_expected(1, A_GAP))?;
        // Hosts without pages need no gap.
        if let Some(host) = hosts.number(row.text(0)?) {
            gaps[host as usize] = gap;
        }
    }
    Ok(())
}
