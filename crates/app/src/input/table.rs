//! A CSV table with a header: columns by name, in any order. A column of rates or times may have its unit in its name: `change_rate_per_day`,
//! `age_hours`.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use csv_core::{ReadRecordResult, Reader};

use super::ids::Ids;
use super::lines::Lines;
use super::source::Source;
use crate::failure::Failure;

/// More columns than anyone needs.
const MOST_COLUMNS: usize = 256;

/// The columns a table may have. A row's fields are asked for by position in `required`, then `optional`.
pub(super) struct Columns {
    pub(super) required: &'static [&'static str],
    pub(super) optional: &'static [&'static str],
    /// Those of them that are rates,
    pub(super) rates: &'static [&'static str],
    /// or times: their names may end in a unit.
    pub(super) times: &'static [&'static str],
}

impl Columns {
    pub(super) const NONE: Self = Self { required: &[], optional: &[], rates: &[], times: &[] };

    fn name(&self, column: usize) -> &'static str {
        let all = self.required.iter().chain(self.optional);
        all.copied().nth(column).unwrap_or("?")
    }

    /// Returns the unit that a name of the header ends in, if it is the name of this column, with a unit or without.
    fn matches(&self, column: &str, name: &str) -> Option<UnitSuffix> {
        let rest = name.strip_prefix(column)?;
        if rest.is_empty() {
            return Some(UnitSuffix(None));
        }
        let unit = |(unit, seconds): (&str, f64)| {
            let as_rate = rest.strip_prefix("_per_") == Some(unit);
            let as_time = rest.strip_prefix('_').and_then(|rest| rest.strip_suffix('s')) == Some(unit);
            let fits = (as_rate && self.rates.contains(&column)) || (as_time && self.times.contains(&column));
            fits.then_some(UnitSuffix(Some(seconds)))
        };
        UNITS.into_iter().find_map(unit)
    }
}

/// The unit at the end of a name, in seconds; `None`: there is none.
struct UnitSuffix(Option<f64>);

/// The units that a name of a column may end in, and how many seconds each has.
const UNITS: [(&str, f64); 4] = [("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86_400.0)];

/// A table that is read row by row.
pub(super) struct Table {
    lines: Lines,
    columns: Columns,
    /// Where each column of `columns` stands in the file.
    places: Vec<Option<usize>>,
    /// The unit in the name of each, in seconds.
    units: Vec<Option<f64>>,
    width: usize,
    fields: Fields,
}

/// One row.
pub(super) struct Row<'a> {
    table: &'a Table,
    fields: &'a Fields,
}

impl Table {
    /// Opens a file and reads its header.
    pub(super) fn open(path: &Path, columns: Columns) -> Result<Self, Failure> {
        Self::over(Source::open(path)?, columns)
    }

    /// Reads the header of what was opened.
    pub(super) fn over(source: Source, columns: Columns) -> Result<Self, Failure> {
        let mut lines = Lines::new(source);
        let expected = format!("a header line with the columns {}", columns.required.join(","));
        let name = lines.name().to_owned();
        let mut fields = Fields::default();
        match lines.next()? {
            None => return Err(Failure::input(format!("{name}: the file is empty; expected {expected}"))),
            Some(line) => {
                let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                fields.split(line).map_err(|what| Failure::input(format!("{name}: line 1: {what}")))?;
            }
        }
        let header: Vec<String> =
            (0..fields.len()).map(|i| String::from_utf8_lossy(fields.get(i)).trim().to_owned()).collect();
        let (mut places, mut units) = (Vec::new(), Vec::new());
        for (index, column) in columns.required.iter().chain(columns.optional).enumerate() {
            let mut found = header
                .iter()
                .enumerate()
                .filter_map(|(place, name)| Some((place, columns.matches(column, name)?)));
            let (place, unit) = found.next().unzip();
            if found.next().is_some() {
                return Err(Failure::input(format!("{name}: line 1: the column {column} appears twice")));
            }
            if place.is_none() && index < columns.required.len() {
                return Err(Failure::input(format!(
                    "{name}: line 1: the column {column} is missing; expected {expected}, found {}",
                    header.join(",")
                )));
            }
            places.push(place);
            units.push(unit.and_then(|UnitSuffix(unit)| unit));
        }
        let ignored: Vec<&str> = header
            .iter()
            .enumerate()
            .filter(|(place, _)| !places.contains(&Some(*place)))
            .map(|(_, name)| name.as_str())
            .collect();
        if !ignored.is_empty() {
            eprintln!("refrain: {name}: not used: {}", ignored.join(", "));
        }
        Ok(Self { lines, columns, places, units, width: header.len(), fields })
    }

    /// Whether the file has this column.
    pub(super) fn has(&self, column: usize) -> bool {
        self.places.get(column).is_some_and(Option::is_some)
    }

    /// The unit in the name of this column, in seconds, if there is one.
    pub(super) fn unit(&self, column: usize) -> Option<f64> {
        self.units.get(column).copied().flatten()
    }

    /// Complains unless all of these columns that the file has have a unit in their names, or none has.
    pub(super) fn check_units(&self, columns: &[usize]) -> Result<(), Failure> {
        let there = || columns.iter().copied().filter(|column| self.has(*column));
        let with = there().find(|column| self.unit(*column).is_some());
        let without = there().find(|column| self.unit(*column).is_none());
        let (Some(with), Some(without)) = (with, without) else { return Ok(()) };
        Err(self.complain(format!(
            "line 1: the column {} has its unit of time in its name, {} has none; expected both with a unit (like _per_day) or both without",
            self.columns.name(with),
            self.columns.name(without)
        )))
    }

    /// The name of the file.
    pub(super) fn name(&self) -> &str {
        self.lines.name()
    }

    /// A complaint about the file as a whole.
    pub(super) fn complain(&self, what: impl std::fmt::Display) -> Failure {
        Failure::input(format!("{}: {what}", self.lines.name()))
    }

    /// Complains unless there is something (`pages`), each named once (in `page_id`, a `page`).
    pub(super) fn check_ids(&self, ids: &Ids, column: usize, thing: &str) -> Result<(), Failure> {
        if ids.len() == 0 {
            return Err(self.complain(format!(
                "there is a header, but no {thing}s; expected at least one line after it"
            )));
        }
        if let Some((id, first, again)) = ids.duplicate() {
            return Err(self.complain(format!(
                "line {again}, column {}: '{id}' is on line {first} already; expected each {thing} once",
                self.columns.name(column)
            )));
        }
        Ok(())
    }

    /// The number of the line read last.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next row; blank lines are passed over. `None` at the end.
    pub(super) fn next_row(&mut self) -> Result<Option<Row<'_>>, Failure> {
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if line.is_empty() {
                continue;
            }
            let split = self.fields.split(line);
            if let Err(what) = split {
                return Err(self.complain(format!("line {}: {what}", self.line())));
            }
            if self.fields.len() != self.width {
                return Err(self.complain(format!(
                    "line {}: {} fields; expected {} as in the header",
                    self.line(),
                    self.fields.len(),
                    self.width
                )));
            }
            return Ok(Some(Row { table: self, fields: &self.fields }));
        }
    }
}

impl<'a> Row<'a> {
    /// The number of the line it stands on.
    pub(super) fn line(&self) -> u64 {
        self.table.line()
    }

    /// The field in this column; empty if the file does not have it.
    pub(super) fn bytes(&self, column: usize) -> &'a [u8] {
        self.table.places[column].map_or(b"".as_slice(), |place| self.fields.get(place))
    }

    /// The field as text that is not empty.
    pub(super) fn text(&self, column: usize) -> Result<&'a str, Failure> {
        match std::str::from_utf8(self.bytes(column)) {
            Ok("") => Err(self.complain(column, "is empty; expected a name")),
            Ok(text) => Ok(text),
            Err(_) => Err(self.complain(column, "is not UTF-8; expected text")),
        }
    }

    /// The field as a number, whatever its range.
    pub(super) fn number(&self, column: usize, expected: &str) -> Result<f64, Failure> {
        let bytes = self.bytes(column).trim_ascii();
        let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.not_what_was_expected(column, expected))
    }

    /// The field as a finite number that is not negative.
    pub(super) fn not_negative(&self, column: usize) -> Result<f64, Failure> {
        const EXPECTED: &str = "a finite number that is not negative";
        let number = self.number(column, EXPECTED)?;
        if number.is_finite() && number >= 0.0 {
            Ok(number)
        } else {
            Err(self.not_what_was_expected(column, EXPECTED))
        }
    }

    /// A complaint that shows the field.
    pub(super) fn not_what_was_expected(&self, column: usize, expected: &str) -> Failure {
        let text = String::from_utf8_lossy(self.bytes(column));
        let shown: String = text.chars().take(40).collect();
        let dots = if shown.len() < text.len() { "…" } else { "" };
        self.complain(column, format!("'{shown}{dots}' is not {expected}"))
    }

    /// A complaint about one field.
    pub(super) fn complain(&self, column: usize, what: impl std::fmt::Display) -> Failure {
        let name = self.table.columns.name(column);
        self.table.complain(format!("line {}, column {name}: {what}", self.table.line()))
    }
}

/// The fields of one line, reused from line to line.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Fields {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.places[index].clone()]
    }

    /// Splits a line at its commas; quotes as in RFC 4180, within a line.
    fn split(&mut self, line: &[u8]) -> Result<(), String> {
        self.bytes.clear();
        self.places.clear();
        if memchr::memchr(b'"', line).is_some() {
            return self.split_quoted(line);
        }
        self.bytes.extend_from_slice(line);
        let mut start = 0;
        for comma in memchr::memchr_iter(b',', line).chain([line.len()]) {
            self.places.push(start..comma);
            start = comma + 1;
        }
        if self.places.len() > MOST_COLUMNS { Err(too_many()) } else { Ok(()) }
    }

    fn split_quoted(&mut self, line: &[u8]) -> Result<(), String> {
        let mut ended = line.to_vec();
        ended.push(b'\n');
        self.bytes.resize(ended.len(), 0);
        let mut ends = [0; MOST_COLUMNS];
        let (result, _, _, count) = Reader::new().read_record(&ended, &mut self.bytes, &mut ends);
        match result {
            ReadRecordResult::Record => {
                let mut start = 0;
                for &end in &ends[..count] {
                    self.places.push(start..end);
                    start = end;
                }
                Ok(())
            }
            ReadRecordResult::OutputEndsFull => Err(too_many()),
            _ => Err("a quote is not closed; expected it to be closed on the same line".to_owned()),
        }
    }
}

fn too_many() -> String {
    format!("more than {MOST_COLUMNS} fields")
}

/// A field as it must stand in a CSV file.
pub(crate) fn csv_field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
