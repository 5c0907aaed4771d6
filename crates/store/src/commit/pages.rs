//! Hosts, pages, and what people decide about them.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::batch::{Added, Committed};
use crate::facts::{Edit, HostUpdate, NewPage, Origin, PageId, PageState, Role};
use crate::millis;
use crate::query::CHAIN;

pub(super) fn update_hosts(connection: &Connection, hosts: &[HostUpdate]) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT INTO hosts (name, gap, back_off_until, failures, wanted_gap, paused) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (name) DO UPDATE SET gap = ?2, back_off_until = ?3, failures = ?4, wanted_gap = ?5, paused = ?6",
    )?;
    let mut robots = connection.prepare_cached(
        "UPDATE hosts SET robots = ?2, robots_fetched = ?3, robots_status = ?4 WHERE name = ?1",
    )?;
    for host in hosts {
        let until = host.back_off_until.map(millis::deadline);
        let (gap, wanted) = (host.gap.map(millis::at_least), host.wanted_gap.map(millis::at_least));
        write.execute((&host.name, gap, until, host.failures, wanted, host.paused))?;
        if let Some(news) = &host.robots {
            robots.execute((&host.name, &news.text, millis::happened(news.fetched), news.status))?;
        }
    }
    Ok(())
}

/// Adds pages, but for those at the places that were `refused`.
pub(super) fn add(
    connection: &Connection,
    pages: &[NewPage],
    refused: &HashSet<usize>,
    done: &mut Committed,
) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT INTO pages (url, host, importance, max_age, added, found, role, hub, born, decay, hint)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (url) DO NOTHING",
    )?;
    let mut known = connection.prepare_cached("SELECT id FROM pages WHERE url = ?1")?;
    // In the order of their addresses: neighbours in the index are written together, which for large batches is many times
    // faster, and pages of a host come one after the other.
    let mut order: Vec<usize> = (0..pages.len()).filter(|at| !refused.contains(at)).collect();
    order.sort_unstable_by_key(|at| &pages[*at].url);
    let mut last_host: Option<(&str, i64)> = None;
    done.pages = vec![None; pages.len()];
    for at in order {
        let page = &pages[at];
        let host = match last_host {
            Some((name, id)) if name == page.host => id,
            _ => host_id(connection, &page.host)?,
        };
        last_host = Some((&page.host, host));
        let max_age = page.max_age.map(millis::took);
        let added = millis::happened(page.added);
        let Origin { role, hub, born, decay, hint } = page.origin;
        let row = params![
            page.url.as_str(),
            host,
            page.importance,
            max_age,
            added,
            page.found,
            role.as_str(),
            hub.map(|hub| hub.0),
            born.map(millis::happened),
            decay,
            hint
        ];
        let new = write.execute(row)? > 0;
        let id = if new {
            connection.last_insert_rowid()
        } else {
            known.query_row((page.url.as_str(),), |row| row.get(0))?
        };
        done.pages[at] = Some(Added { page: PageId(id), new });
    }
    Ok(())
}

fn host_id(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    let mut known = connection.prepare_cached("SELECT id FROM hosts WHERE name = ?1")?;
    if let Some(id) = known.query_row((name,), |row| row.get(0)).optional()? {
        return Ok(id);
    }
    connection.prepare_cached("INSERT INTO hosts (name) VALUES (?1)")?.insert((name,))
}

pub(super) fn edit(connection: &Connection, edits: &[Edit], done: &mut Committed) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "UPDATE pages SET importance = ifnull(?2, importance), state = ifnull(?3, state),
                          max_age = CASE WHEN ?4 THEN ?5 ELSE max_age END,
                          decay = CASE WHEN ?6 THEN ?7 ELSE decay END, role = ifnull(?8, role) WHERE id = ?1",
    )?;
    for edit in edits {
        let state = edit.state.map(PageState::as_str);
        let max_age = edit.max_age.flatten().map(millis::took);
        let found = write.execute(params![
            edit.page.0,
            edit.importance,
            state,
            edit.max_age.is_some(),
            max_age,
            edit.decay.is_some(),
            edit.decay.flatten(),
            edit.role.map(Role::as_str)
        ])?;
        if found == 0 {
            done.unknown.push(edit.page);
        }
    }
    Ok(())
}

/// Removes pages with everything that refers to them.
pub(crate) fn remove(
    connection: &Connection,
    pages: &[PageId],
    done: &mut Committed,
) -> rusqlite::Result<()> {
    let of_page = |table: &str, key: &str, refers: &str| {
        let looks = format!(
            "{CHAIN} DELETE FROM {table} WHERE {key} IN (SELECT {refers} FROM chain JOIN observations o USING (id))"
        );
        connection.prepare_cached(&looks)
    };
    let (mut changes, mut looks) =
        (of_page("changes", "seq", "o.change")?, of_page("observations", "id", "o.id")?);
    let mut write = connection.prepare_cached("DELETE FROM pages WHERE id = ?1")?;
    for page in pages {
        changes.execute((page.0, i64::MAX))?;
        looks.execute((page.0, i64::MAX))?;
        if write.execute((page.0,))? == 0 {
            done.unknown.push(*page);
        }
    }
    Ok(())
}
