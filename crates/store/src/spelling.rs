//! From version 6 to version 7: addresses in the one spelling that URLs have since then.
//!
//! Until version 6 a page could be stored under two addresses: with octets that may stand in no path and no query (`[ ] { } | ^ \` and the
//! backtick) as they were found, or percent-encoded; with an empty query, or without one. Now such octets are always encoded, and an empty
//! query is none. A page whose address changes keeps its number. Of two that become one, the page with more observations stays
//! ([`merge`]).
//!
//! This is the change between two versions of the schema: it stays as it is when the spelling of URLs changes again.

use rusqlite::{Connection, OptionalExtension, params};

use crate::batch::Committed;
use crate::commit;
use crate::facts::PageId;
use crate::query::CHAIN;

/// What became of addresses when a data directory was brought up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Respelled {
    /// Pages that have another address now.
    pub renamed: u64,
    /// Pages that were the same as another one, and are no more.
    pub merged: u64,
    /// Looks at those, which are no more.
    pub looks: u64,
}

/// Returns the address in the spelling of version 7; `None` if it is spelled so already. The host stays as it is.
fn respelled(url: &str) -> Option<String> {
    let host = url.find("://")? + "://".len();
    let path = host + url[host..].find(['/', '?'])?;
    let (before, rest) = url.split_at(path);
    let rest = rest.strip_suffix('?').filter(|path| !path.contains('?')).unwrap_or(rest);
    let mut spelled = before.to_owned();
    for letter in rest.chars() {
        if matches!(letter, '[' | '\\' | ']' | '^' | '`' | '{' | '|' | '}') {
            spelled.push_str(&format!("%{:02X}", u32::from(letter)));
        } else {
            spelled.push(letter);
        }
    }
    (spelled != url).then_some(spelled)
}

/// Gives every page its address in the new spelling.
pub(crate) fn upgrade(connection: &Connection) -> rusqlite::Result<Respelled> {
    connection
        .execute_batch("CREATE TEMP TABLE merged (page INTEGER PRIMARY KEY, kept INTEGER NOT NULL) STRICT")?;
    let mut done = Respelled::default();
    for (page, url) in others(connection, "url")? {
        respell(connection, page, &url, &mut done)?;
    }
    for (page, redirect) in others(connection, "redirect")? {
        connection
            .prepare_cached("UPDATE pages SET redirect = ?2 WHERE id = ?1")?
            .execute((page, respelled(&redirect)))?;
    }
    connection.execute_batch(
        "UPDATE pages SET hub = nullif((SELECT kept FROM merged WHERE page = hub), id) WHERE hub IN (SELECT page FROM merged);
         UPDATE items SET page = (SELECT kept FROM merged WHERE merged.page = items.page)
             WHERE page IN (SELECT page FROM merged);
         DROP TABLE merged",
    )?;
    Ok(done)
}

/// The pages with another spelling than the new one in a column, with what is there.
fn others(connection: &Connection, column: &str) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut read =
        connection.prepare(&format!("SELECT id, {column} FROM pages WHERE {column} IS NOT NULL"))?;
    let mut rows = read.query(())?;
    let mut others = Vec::new();
    while let Some(row) = rows.next()? {
        let url = row.get_ref(1)?.as_str()?;
        if respelled(url).is_some() {
            others.push((row.get(0)?, url.to_owned()));
        }
    }
    Ok(others)
}

fn respell(connection: &Connection, page: i64, old: &str, done: &mut Respelled) -> rusqlite::Result<()> {
    let Some(new) = respelled(old) else { return Ok(()) };
    let same: Option<i64> = connection
        .prepare_cached("SELECT id FROM pages WHERE url = ?1")?
        .query_row((&new,), |row| row.get(0))
        .optional()?;
    // Records in the archive have the address that answered.
    connection
        .prepare_cached("UPDATE versions SET url = ?2 WHERE page = ?1 AND url IS NULL")?
        .execute((page, old))?;
    if let Some(same) = same {
        if looks_at(connection, same)? >= looks_at(connection, page)? {
            return merge(connection, (page, old), same, done);
        }
        merge(connection, (same, &new), page, done)?;
    }
    done.renamed += 1;
    connection.prepare_cached("UPDATE pages SET url = ?2 WHERE id = ?1")?.execute((page, new))?;
    Ok(())
}

fn looks_at(connection: &Connection, page: i64) -> rusqlite::Result<u64> {
    let sql = format!("{CHAIN} SELECT count(*) FROM chain");
    connection
        .prepare_cached(&sql)?
        .query_row((page, i64::MAX), |row| row.get::<_, i64>(0))
        .map(i64::cast_unsigned)
}

/// Merges a page into another one, which is the same under another address.
///
/// Kept with the other page: all versions, signals, what was announced, reads, the larger importance, the stricter greatest age, a pause, the
/// fact that a person chose the page; and what refers to the page refers to the other one. Given up: its looks and changes, and what was
/// learned of them, because two series of looks at one body are not one series of changes. How many looks those were is written into
/// `meta`, as `merged.` and the address.
fn merge(
    connection: &Connection,
    (page, url): (i64, &str),
    kept: i64,
    done: &mut Respelled,
) -> rusqlite::Result<()> {
    // What a page found by itself has, and a chosen one has not.
    const FOUND: &str = "('link', 'redirect', 'sitemap', 'feed', 'websub', 'indexnow')";
    let looks = looks_at(connection, page)?;
    let pair = params![kept, page];
    for sql in [
        format!(
            "UPDATE pages SET
                 importance = max(pages.importance, other.importance),
                 max_age = min(ifnull(pages.max_age, other.max_age), ifnull(other.max_age, pages.max_age)),
                 added = min(pages.added, other.added),
                 state = iif(other.state = 'paused', 'paused', pages.state),
                 found = iif(chosen, other.found, pages.found),
                 hub = nullif(iif(chosen, other.hub, pages.hub), ?1),
                 decay = iif(chosen, other.decay, pages.decay)
             FROM (SELECT o.*, o.found NOT IN {FOUND} AND k.found IN {FOUND} AS chosen
                   FROM pages o JOIN pages k ON k.id = ?1 WHERE o.id = ?2) AS other
             WHERE pages.id = ?1"
        )
        .as_str(),
        "UPDATE versions SET page = ?1 WHERE page = ?2",
        "UPDATE signals SET page = ?1 WHERE page = ?2",
        "INSERT INTO announced (page, kind, said) SELECT ?1, kind, said FROM announced WHERE page = ?2
             ON CONFLICT (page, kind) DO UPDATE SET said = max(said, excluded.said)",
        "INSERT INTO reads (page, count, time) SELECT ?1, count, time FROM reads WHERE page = ?2
             ON CONFLICT (page) DO UPDATE SET count = count + excluded.count, time = max(time, excluded.time)",
        "UPDATE OR IGNORE hubs SET page = ?1 WHERE page = ?2",
        "INSERT INTO merged (page, kept) VALUES (?2, ?1)",
        "UPDATE merged SET kept = ?1 WHERE kept = ?2",
    ] {
        connection.prepare_cached(sql)?.execute(pair)?;
    }
    commit::remove(connection, &[PageId(page)], &mut Committed::default())?;
    commit::meta(connection, &[(format!("merged.{url}"), looks.to_string().into_bytes())])?;
    done.merged += 1;
    done.looks += looks;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_encoded_is() {
        for (old, new) in [
            ("http://a/b[c]|d^e", "http://a/b%5Bc%5D%7Cd%5Ee"),
            ("http://a/?b[c]={d}`\\", "http://a/?b%5Bc%5D=%7Bd%7D%60%5C"),
            ("http://[::1]:81/[x]", "http://[::1]:81/%5Bx%5D"),
            ("http://a/b?", "http://a/b"),
        ] {
            assert_eq!(respelled(old).as_deref(), Some(new), "{old}");
            assert_eq!(respelled(new), None, "{new}");
        }
        for url in [
            "http://a/",
            "http://[::1]/",
            "http://a/b%5B?c=d&e",
            "http://a/b??",
            "http://a/?b?",
            "http://a/?/",
            "x",
        ] {
            assert_eq!(respelled(url), None, "{url}");
        }
    }
}
