//! Findings as files: for programs (JSON, CSV), as pictures (SVG), and a page of text.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::draw;
use super::record::{Chart, Record, Table, said};
use crate::failure::Failure;
use crate::input::csv_field;
use crate::output::to_file;

/// Where the files of experiments are.
pub(super) fn folder(out: &Path) -> PathBuf {
    out.join("figures")
}

/// Writes all files of an experiment. What is read again, the JSON, is never there in part.
pub(super) fn write(out: &Path, record: &Record) -> Result<(), Failure> {
    let folder = folder(out);
    let path = |file: &str, end: &str| {
        let dash = if file.is_empty() { "" } else { "-" };
        folder.join(format!("{}{dash}{file}.{end}", record.name))
    };
    for chart in &record.charts {
        to_file(&path(&chart.file, "csv"), |out| write_chart(out, chart))?;
        to_file(&path(&chart.file, "svg"), |out| out.write_all(draw::file(chart).as_bytes()))?;
    }
    for table in &record.tables {
        // A chart may be called the same.
        to_file(&path(&format!("{}-table", table.file), "csv"), |out| write_table(out, table))?;
    }
    to_file(&path("", "md"), |out| write_text(out, record))?;
    let (json, new) = (path("", "json"), path("", "json.new"));
    to_file(&new, |out| {
        serde_json::to_writer_pretty(&mut *out, record)?;
        writeln!(out)
    })?;
    fs::rename(&new, &json)
        .map_err(|why| Failure::system(format!("{}: cannot be written", json.display()), why))
}

/// All records of a folder, in any order.
pub(super) fn read(out: &Path) -> Result<Vec<Record>, Failure> {
    let folder = folder(out);
    let expected = "expected a folder that refrain lab run has written";
    let unreadable = |path: &Path, why: &dyn std::fmt::Display| {
        Failure::input(format!("{}: cannot be read ({why}); {expected}", path.display()))
    };
    let mut records = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|why| unreadable(&folder, &why))? {
        let path = entry.map_err(|why| unreadable(&folder, &why))?.path();
        if path.extension().is_some_and(|end| end == "json") {
            let text = fs::read(&path).map_err(|why| unreadable(&path, &why))?;
            records.push(serde_json::from_slice(&text).map_err(|why| unreadable(&path, &why))?);
        }
    }
    if records.is_empty() {
        return Err(Failure::input(format!("{}: there are no findings; {expected}", folder.display())));
    }
    Ok(records)
}

fn write_chart(out: &mut dyn Write, chart: &Chart) -> io::Result<()> {
    writeln!(out, "curve,x,y,standard_error,shade")?;
    for curve in &chart.curves {
        let name = csv_field(&curve.name);
        for point in &curve.points {
            let shade = point.shade.map_or_else(String::new, |shade| shade.to_string());
            writeln!(out, "{name},{},{},{},{shade}", point.x, point.y, point.error)?;
        }
    }
    Ok(())
}

fn write_table(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    for row in std::iter::once(&table.columns).chain(&table.rows) {
        let cells: Vec<_> = row.iter().map(|cell| csv_field(cell)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

fn write_text(out: &mut dyn Write, record: &Record) -> io::Result<()> {
    writeln!(out, "# {}: {}\n", record.name, record.title)?;
    writeln!(out, "{} of the {} paper. `{}`\n", record.figure, record.paper, record.command)?;
    writeln!(out, "{}\n", record.asked)?;
    record.found.iter().try_for_each(|found| writeln!(out, "{found}\n"))?;
    writeln!(out, "{}\n", record.setting)?;
    for claim in &record.claims {
        writeln!(
            out,
            "- **{}.** The paper: {} Measured: {}",
            said(claim.verdict),
            claim.paper,
            claim.measured
        )?;
    }
    writeln!(out, "\n{}", record.use_of_it)
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::record;
    use super::*;

    #[test]
    fn a_chart_and_a_table_may_have_one_name() {
        let out = tempfile::tempdir().unwrap();
        fs::create_dir(folder(out.path())).unwrap();
        let mut record = record("polite-3", "polite", &[]);
        record.tables[0].file.clone_from(&record.charts[0].file);
        write(out.path(), &record).unwrap();
        let name = format!("polite-3-{}", record.charts[0].file);
        let text = |end: &str| fs::read_to_string(folder(out.path()).join(format!("{name}{end}"))).unwrap();
        assert!(text(".csv").starts_with("curve,x,y,standard_error,shade\n"));
        assert_eq!(text("-table.csv").lines().count(), 2);
        assert_eq!(read(out.path()).unwrap().len(), 1);
    }
}
