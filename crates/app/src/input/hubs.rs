//! `hubs.csv`: hubs and what they show.

use std::path::Path;

use refrain_core::optimum::hubs::Hub;

use super::ids::Ids;
use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns { required: &["hub_id", "link_rate", "profit", "decay"], ..Columns::NONE };

/// The hubs of a file.
#[derive(Debug, Default)]
pub(crate) struct Hubs {
    pub(crate) ids: Ids,
    pub(crate) hubs: Vec<Hub>,
}

impl Hubs {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut table = Table::open(path, COLUMNS)?;
        let mut hubs = Self::default();
        while let Some(row) = table.next_row()? {
            let (link_rate, profit, decay) =
                (row.not_negative(1)?, row.not_negative(2)?, row.not_negative(3)?);
            hubs.hubs.push(Hub::new(link_rate, profit, decay).map_err(|why| row.complain(1, why))?);
            hubs.ids.push(row.text(0)?, row.line());
        }
        table.check_ids(&hubs.ids, 0, "hub")?;
        Ok(hubs)
    }
}
