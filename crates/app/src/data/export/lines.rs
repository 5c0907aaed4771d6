//! Pages and looks, as lines of JSON.

use std::io::{self, Write};
use std::ops::ControlFlow;

use refrain_core::time::Span;
use refrain_store::{PageRecord, Seen};
use serde::Serialize;

use super::{Export, unwritten};
use crate::data::written;
use crate::failure::Failure;

/// So many looks are read at a time: in between, the crawl that writes them may empty its log.
const AT_A_TIME: usize = 20_000;

pub(super) fn pages(export: &Export<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    export.chosen.each(export.reader, |row| match export.reader.page_by_id(row.id)? {
        Some(page) => write_line(out, &PageLine::from(&page)).map_err(unwritten),
        None => Ok(()),
    })
}

/// A page as it is exported.
#[derive(Serialize)]
struct PageLine<'a> {
    url: &'a str,
    state: &'static str,
    importance: f64,
    max_age_seconds: Option<f64>,
    added: String,
    found: &'a str,
    looked: Option<String>,
    fetched: Option<String>,
    changed: Option<String>,
    status: Option<u16>,
    failures: u32,
    digest: Option<String>,
    etag: Option<&'a str>,
    last_modified: Option<&'a str>,
    redirect: Option<&'a str>,
    title: Option<&'a str>,
}

impl<'a> From<&'a PageRecord> for PageLine<'a> {
    fn from(page: &'a PageRecord) -> Self {
        Self {
            url: &page.url,
            state: page.state.as_str(),
            importance: page.importance,
            max_age_seconds: page.max_age.map(Span::as_secs),
            added: written(page.added),
            found: &page.found,
            looked: page.looked.map(written),
            fetched: page.fetched.map(written),
            changed: page.changed.map(written),
            status: page.status,
            failures: page.failures,
            digest: page.digest.map(|digest| digest.to_string()),
            etag: page.etag.as_deref(),
            last_modified: page.last_modified.as_deref(),
            redirect: page.redirect.as_deref(),
            title: page.title.as_deref(),
        }
    }
}

pub(super) fn observations(export: &Export<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let mut last = 0;
    loop {
        let (after, mut read, mut result) = (last, 0, Ok(()));
        export.reader.looks(after, |seen| {
            (last, read) = (seen.look.id, read + 1);
            if (export.since..export.until).contains(&seen.look.time)
                && export.chosen.has(seen.url, seen.host)
            {
                result = write_line(out, &LookLine::from(&seen));
            }
            if result.is_err() || read == AT_A_TIME {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        result.map_err(unwritten)?;
        if read < AT_A_TIME {
            return Ok(());
        }
    }
}

/// A look as it is exported.
#[derive(Serialize)]
struct LookLine<'a> {
    id: i64,
    url: &'a str,
    time: String,
    outcome: &'static str,
    counted: Option<&'a str>,
    status: Option<u16>,
    bytes: u64,
    elapsed_seconds: Option<f64>,
    duration_seconds: f64,
    digest: Option<String>,
}

impl<'a> From<&'a Seen<'_>> for LookLine<'a> {
    fn from(seen: &'a Seen<'_>) -> Self {
        let look = &seen.look;
        Self {
            id: look.id,
            url: seen.url,
            time: written(look.time),
            outcome: look.outcome.as_str(),
            counted: look.counted.as_deref(),
            status: look.status,
            bytes: look.bytes,
            elapsed_seconds: look.elapsed.map(Span::as_secs),
            duration_seconds: look.duration.as_secs(),
            digest: look.digest.map(|digest| digest.to_string()),
        }
    }
}

/// A line of JSON.
fn write_line(out: &mut dyn Write, what: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, what)?;
    out.write_all(b"\n")
}
