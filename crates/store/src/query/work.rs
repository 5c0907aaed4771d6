//! Work for other fetchers, and what people read.

use std::ops::ControlFlow;

use super::text;
use crate::error::StoreError;
use crate::facts::{GrantFacts, Leased, PageId, ReadsFacts};
use crate::reader::Reader;

impl Reader {
    /// What other fetchers were given and have not answered, in the order of their numbers.
    pub fn grants(&self) -> Result<Vec<GrantFacts>, StoreError> {
        self.all("SELECT id, until, key, pages FROM grants ORDER BY id", (), |row| {
            let pages = text::bytes(row, 3)?.unwrap_or_default();
            Ok(GrantFacts {
                id: row.get::<_, i64>(0)?.cast_unsigned(),
                until: text::time(row, 1)?,
                key: row.get(2)?,
                pages: pages
                    .as_chunks::<8>()
                    .0
                    .iter()
                    .map(|eight| leased(i64::from_le_bytes(*eight)))
                    .collect(),
            })
        })
    }

    /// The number of the last grant there ever was; 0 before the first.
    pub fn last_grant(&self) -> Result<u64, StoreError> {
        let last = self
            .one("SELECT seq FROM sqlite_sequence WHERE name = 'grants'", (), |row| row.get::<_, i64>(0))?;
        Ok(last.unwrap_or(0).cast_unsigned())
    }

    /// How often people ask for pages, for as long as `each` wants more.
    pub fn reads(&self, mut each: impl FnMut(ReadsFacts) -> ControlFlow<()>) -> Result<(), StoreError> {
        self.each_row("SELECT page, count, time FROM reads ORDER BY page", (), |row| {
            Ok(each(ReadsFacts { page: PageId(row.get(0)?), count: row.get(1)?, time: text::time(row, 2)? }))
        })
    }
}

fn leased(number: i64) -> Leased {
    match number {
        0 => Leased::Answered,
        robots if robots < 0 => Leased::Robots(PageId(robots.saturating_neg())),
        page => Leased::Page(PageId(page)),
    }
}
