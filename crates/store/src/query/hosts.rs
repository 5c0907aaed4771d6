//! Hosts.

use std::ops::ControlFlow;

use refrain_core::time::{Span, Time};
use rusqlite::Row;

use super::text;
use crate::error::StoreError;
use crate::facts::{HostId, Robots};
use crate::reader::Reader;

/// All that is known of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRow {
    /// Its number.
    pub id: HostId,
    /// Scheme, name and port.
    pub name: String,
    /// The least time between the starts of two requests; `None`: the default.
    pub gap: Option<Span>,
    /// Not to be visited before.
    pub back_off_until: Option<Time>,
    /// Failures in a row.
    pub failures: u32,
    /// Its robots.txt, if it was ever asked for.
    pub robots: Option<Robots>,
    /// The gap that somebody wants.
    pub wanted_gap: Option<Span>,
    /// Whether it is left alone until somebody says otherwise.
    pub paused: bool,
}

const COLUMNS: &str =
    "id, name, gap, back_off_until, failures, robots, robots_fetched, robots_status, wanted_gap, paused";

impl Reader {
    /// Every host, in the order of their numbers, for as long as `each` wants more.
    pub fn hosts(&self, mut each: impl FnMut(HostRow) -> ControlFlow<()>) -> Result<(), StoreError> {
        self.each_row(&format!("SELECT {COLUMNS} FROM hosts ORDER BY id"), (), |row| Ok(each(host(row)?)))
    }

    /// Hosts with a greater number, in their order, at most `limit`; without the texts of their robots.txt, which are long.
    pub fn hosts_after(&self, after: HostId, limit: usize) -> Result<Vec<HostRow>, StoreError> {
        let columns = COLUMNS.replace(" robots,", " NULL,");
        let sql = format!("SELECT {columns} FROM hosts WHERE id > ?1 ORDER BY id LIMIT ?2");
        self.all(&sql, (after.0, i64::try_from(limit).unwrap_or(i64::MAX)), host)
    }

    /// The host of this name.
    pub fn host(&self, name: &str) -> Result<Option<HostRow>, StoreError> {
        self.one(&format!("SELECT {COLUMNS} FROM hosts WHERE name = ?1"), (name,), host)
    }

    /// The host with this number.
    pub fn host_by_id(&self, id: HostId) -> Result<Option<HostRow>, StoreError> {
        self.one(&format!("SELECT {COLUMNS} FROM hosts WHERE id = ?1"), (id.0,), host)
    }

    /// The hosts that somebody may mean by a name: with or without scheme and port; an address of IPv6 with or without brackets.
    pub fn hosts_named(&self, name: &str) -> Result<Vec<HostId>, StoreError> {
        let bracketed = name.parse::<std::net::Ipv6Addr>().map(|address| format!("[{address}]"));
        let name = bracketed.as_deref().unwrap_or(name);
        let sql = "SELECT id FROM hosts WHERE name IN (?1, 'http://' || ?1, 'https://' || ?1)
                       OR substr(name, 1, length(?1) + 1) = ?1 || ':'
                       OR substr(name, 1, length(?1) + 8) = 'http://' || ?1 || ':'
                       OR substr(name, 1, length(?1) + 9) = 'https://' || ?1 || ':'";
        self.all(sql, (name,), |row| row.get(0).map(HostId))
    }
}

fn host(row: &Row<'_>) -> rusqlite::Result<HostRow> {
    let robots = match text::moment(row, 6)? {
        Some(fetched) => Some(Robots {
            text: text::bytes(row, 5)?.unwrap_or_default().to_vec(),
            fetched,
            status: row.get(7)?,
        }),
        None => None,
    };
    Ok(HostRow {
        id: HostId(row.get(0)?),
        name: row.get(1)?,
        gap: text::span(row, 2)?,
        back_off_until: text::moment(row, 3)?,
        failures: row.get(4)?,
        robots,
        wanted_gap: text::span(row, 8)?,
        paused: row.get(9)?,
    })
}
