//! Records as they are read again: one gzip member each, and nothing is believed that was not checked.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use refrain_core::time::Time;

use super::LARGEST_BLOCK;
use super::date;
use super::head::end_of_head;
use super::record::PAGE;
use crate::digest::Digest;

/// Fields of a header together: a long address twice, and some.
const LARGEST_HEADER: u64 = 64 * 1024;

/// Why a record cannot be read, as the second half of a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadRecord(String);

/// A record that was read; its block digest has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The named fields, in order.
    pub fields: Vec<(String, String)>,
    /// Of a record of type `application/http`: start line, headers and blank line. Otherwise empty.
    pub head: Vec<u8>,
    /// What follows: the body.
    pub body: Vec<u8>,
}

impl Record {
    /// A field by its name, in whatever case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// What kind of record it is: `response`, `revisit`, …
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// The address it is about.
    pub fn url(&self) -> Option<&str> {
        self.field("WARC-Target-URI")
    }

    /// The page that was fetched: another address than that of the record, if a redirect led to that.
    pub fn page(&self) -> Option<&str> {
        self.field(PAGE).or_else(|| self.url())
    }

    /// When the record was made, to the millisecond.
    pub fn time(&self) -> Option<Time> {
        self.field("WARC-Date").and_then(date::read)
    }

    /// The HTTP status, if there is an HTTP head.
    pub fn status(&self) -> Option<u16> {
        let line = self.head.split(|byte| *byte == b'\n').next()?;
        let status = line.split(|byte| *byte == b' ').nth(1)?;
        std::str::from_utf8(status).ok()?.trim().parse().ok()
    }

    /// The lines of the HTTP head as names and values; what is not UTF-8 is left out.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.head.split(|byte| *byte == b'\n').skip(1);
        lines.filter_map(|line| {
            let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
            Some((name.trim(), value.trim()))
        })
    }

    /// The digest of the body, as the header has it.
    pub fn payload_digest(&self) -> Option<Digest> {
        self.field("WARC-Payload-Digest").and_then(Digest::from_field)
    }
}

/// Reads the next record, or `None` at the end of the input. Afterwards the input is at the next record.
pub fn read_record(input: &mut impl BufRead) -> Result<Option<Record>, BadRecord> {
    if input.fill_buf().map_err(|why| BadRecord(format!("cannot be read ({why})")))?.is_empty() {
        return Ok(None);
    }
    let mut member = BufReader::new(GzDecoder::new(input));
    let fields = read_header(&mut member)?;
    let mut record = Record { fields, head: Vec::new(), body: Vec::new() };
    let length: u64 = record
        .field("Content-Length")
        .and_then(|text| text.parse().ok())
        .filter(|length| *length <= LARGEST_BLOCK)
        .ok_or_else(|| BadRecord("has no usable Content-Length".to_owned()))?;
    let block = read_block(&mut member, length)?;
    // To the very end: that is where gzip has its checksum.
    let mut rest = Vec::new();
    member.take(5).read_to_end(&mut rest).map_err(unreadable)?;
    if rest != b"\r\n\r\n" {
        return Err(BadRecord("does not end where its Content-Length says".to_owned()));
    }
    if let Some(claimed) = record.field("WARC-Block-Digest").and_then(Digest::from_field)
        && claimed != Digest::of(&block)
    {
        return Err(BadRecord("has a block that does not match its digest".to_owned()));
    }
    split(&mut record, block)?;
    Ok(Some(record))
}

fn read_block(member: &mut impl Read, length: u64) -> Result<Vec<u8>, BadRecord> {
    // Not allocated in advance: the length is only a claim until the bytes have come.
    let mut block = Vec::new();
    member.by_ref().take(length).read_to_end(&mut block).map_err(unreadable)?;
    if block.len() as u64 == length {
        Ok(block)
    } else {
        Err(BadRecord("ends before its Content-Length".to_owned()))
    }
}

fn split(record: &mut Record, mut block: Vec<u8>) -> Result<(), BadRecord> {
    let is_http = record.field("Content-Type").is_some_and(|content| content.starts_with("application/http"));
    if is_http {
        let end = end_of_head(&block).ok_or_else(|| BadRecord("has no HTTP head".to_owned()))?;
        record.body = block.split_off(end);
        record.head = block;
    } else {
        record.body = block;
    }
    Ok(())
}

fn read_header(member: &mut impl BufRead) -> Result<Vec<(String, String)>, BadRecord> {
    let header = read_to_blank_line(member)?;
    let text =
        String::from_utf8(header).map_err(|_| BadRecord("has a header that is not UTF-8".to_owned()))?;
    let mut lines = text.split("\r\n");
    if !matches!(lines.next(), Some("WARC/1.1" | "WARC/1.0")) {
        return Err(BadRecord("does not start with WARC/1.1 or WARC/1.0".to_owned()));
    }
    lines
        .filter(|line| !line.is_empty())
        .map(|line| match line.split_once(':') {
            Some((name, value)) => Ok((name.to_owned(), value.trim().to_owned())),
            None => Err(BadRecord(format!("has a header line without a colon: {line:?}"))),
        })
        .collect()
}

fn read_to_blank_line(member: &mut impl BufRead) -> Result<Vec<u8>, BadRecord> {
    let mut header = Vec::new();
    let mut limited = member.by_ref().take(LARGEST_HEADER);
    while limited.read_until(b'\n', &mut header).map_err(unreadable)? > 0 {
        if header.ends_with(b"\r\n\r\n") {
            return Ok(header);
        }
    }
    Err(BadRecord("has a header without end".to_owned()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn unreadable(why: std::io::Error) -> BadRecord {
    BadRecord(format!("cannot be decompressed ({why})"))
}
