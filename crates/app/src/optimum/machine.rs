//! Results for machines: JSON and CSV.

use std::io::{self, Write};

use refrain_core::optimum::{Allocation, Visit};
use serde::Serialize;

use crate::input::{Ids, csv_field};

/// What stands in JSON and CSV for each page.
#[derive(Serialize)]
struct PageLine<'a> {
    page_id: &'a str,
    rate: f64,
    /// Mean time between fetches; nothing if it is never fetched.
    interval: Option<f64>,
    freshness: f64,
}

impl<'a> PageLine<'a> {
    fn new(page_id: &'a str, visit: Visit) -> Self {
        let interval = (visit.rate > 0.0).then(|| 1.0 / visit.rate);
        Self { page_id, rate: visit.rate, interval, freshness: visit.freshness }
    }
}

/// `{"price":…,"freshness":…,"rate":…,[…]"pages":[…]}`, one page a line. `extra` fields come before the pages.
pub(super) fn write_json(
    out: &mut dyn Write,
    ids: &Ids,
    optimum: &Allocation,
    extra: &[(&str, f64)],
) -> io::Result<()> {
    write!(
        out,
        "{{\"price\":{},\"freshness\":{},\"rate\":{}",
        number(optimum.price),
        number(optimum.freshness),
        number(optimum.rate)
    )?;
    for (name, value) in extra {
        write!(out, ",\"{name}\":{}", number(*value))?;
    }
    write!(out, ",\"pages\":[")?;
    for (index, visit) in optimum.visits.iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &PageLine::new(ids.get(index), *visit))?;
    }
    writeln!(out, "\n]}}")
}

/// A number as JSON has it.
fn number(value: f64) -> serde_json::Value {
    serde_json::Value::from(value)
}

/// `page_id,rate,interval,freshness`; the interval of a page that is never fetched is empty.
pub(super) fn write_csv(out: &mut dyn Write, ids: &Ids, optimum: &Allocation) -> io::Result<()> {
    writeln!(out, "page_id,rate,interval,freshness")?;
    for (index, visit) in optimum.visits.iter().enumerate() {
        let line = PageLine::new(ids.get(index), *visit);
        write!(out, "{},{},", csv_field(line.page_id), line.rate)?;
        if let Some(interval) = line.interval {
            write!(out, "{interval}")?;
        }
        writeln!(out, ",{}", line.freshness)?;
    }
    Ok(())
}
