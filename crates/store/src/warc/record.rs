//! Records as they are written.

use std::net::IpAddr;

use refrain_core::time::Time;

use super::date;
use super::fields::Fields;
use super::head::HttpHead;
use super::{LARGEST_BLOCK, member};
use crate::address::Address;
use crate::digest::Digest;
use crate::error::StoreError;

/// The field that names the page, where another address answered.
pub(super) const PAGE: &str = "Refrain-Page";
const RESPONSE: &str = "application/http; msgtype=response";
const REQUEST: &str = "application/http; msgtype=request";

/// What a record is to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has the body.
    Response,
    /// It says that the body is that of an earlier record.
    Revisit,
}

/// Why a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// It was longer than the crawler takes.
    Length,
    /// It took longer than the crawler waits.
    Time,
    /// The connection broke.
    Disconnect,
    /// Something else.
    Unspecified,
}

/// A body and its digest, which is computed once.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    bytes: &'a [u8],
    digest: Digest,
}

impl<'a> Body<'a> {
    /// Computes the digest.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, digest: Digest::of(bytes) }
    }

    /// What it is known by.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// An answer with its body.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The address that answered.
    pub url: &'a Address,
    /// The page that was fetched: another address, if a redirect led to this one.
    pub page: &'a Address,
    /// When.
    pub time: Time,
    /// From which address.
    pub ip: Option<IpAddr>,
    /// Status line and headers.
    pub head: &'a HttpHead,
    /// The body.
    pub body: Body<'a>,
    /// Whether and why there was more of it.
    pub truncated: Option<Truncated>,
    /// What was asked, if that is to be kept.
    pub request: Option<&'a HttpHead>,
}

/// An answer whose body is already there.
#[derive(Clone, Copy, Debug)]
pub struct Revisit<'a> {
    /// The address that answered.
    pub url: &'a Address,
    /// The page that was fetched: another address, if a redirect led to this one.
    pub page: &'a Address,
    /// When.
    pub time: Time,
    /// From which address.
    pub ip: Option<IpAddr>,
    /// Status line and headers; of a 304, if the server said so itself.
    pub head: &'a HttpHead,
    /// The digest of the body.
    pub digest: Digest,
    /// The address of the version that has the body,
    pub earlier_url: &'a Address,
    /// and its time.
    pub earlier_time: Time,
    /// Whether the server said "not modified"; otherwise it sent the same body again.
    pub not_modified: bool,
}

/// A record ready to be appended to a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) url: Address,
    pub(crate) digest: Digest,
}

impl Encoded {
    /// The digest of the body.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Its compressed size.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Response<'_> {
    /// Compresses and hashes the record; this is the work, appending is none.
    pub fn encode(&self) -> Result<Encoded, StoreError> {
        let block = [self.head.as_bytes(), self.body.bytes];
        let digest = self.body.digest;
        let id = record_id("response", self.url, self.time, digest);
        let mut fields = started("response", &id, self.url, self.time, self.ip);
        name_page(&mut fields, self.url, self.page);
        fields.add("WARC-Payload-Digest", digest);
        if let Some(why) = self.truncated {
            fields.add("WARC-Truncated", why.as_str());
        }
        let mut bytes = Vec::new();
        finished(fields, RESPONSE, &block, &mut bytes)?;
        if let Some(request) = self.request {
            let asked = Digest::of(request.as_bytes());
            let mut fields = started(
                "request",
                &record_id("request", self.url, self.time, asked),
                self.url,
                self.time,
                None,
            );
            fields.add("WARC-Concurrent-To", &id);
            finished(fields, REQUEST, &[request.as_bytes()], &mut bytes)?;
        }
        Ok(Encoded { bytes, kind: Kind::Response, url: self.url.clone(), digest })
    }
}

impl Revisit<'_> {
    /// Compresses and hashes the record.
    pub fn encode(&self) -> Result<Encoded, StoreError> {
        let profile = if self.not_modified { "server-not-modified" } else { "identical-payload-digest" };
        let id = record_id("revisit", self.url, self.time, self.digest);
        let mut fields = started("revisit", &id, self.url, self.time, self.ip);
        name_page(&mut fields, self.url, self.page);
        fields.add("WARC-Profile", format_args!("http://netpreserve.org/warc/1.1/revisit/{profile}"));
        fields.add("WARC-Refers-To-Target-URI", self.earlier_url);
        fields.add("WARC-Refers-To-Date", date::written(self.earlier_time));
        // Of the body that is not repeated here; that of a 304 would say nothing.
        fields.add("WARC-Payload-Digest", self.digest);
        let mut bytes = Vec::new();
        finished(fields, RESPONSE, &[self.head.as_bytes()], &mut bytes)?;
        Ok(Encoded { bytes, kind: Kind::Revisit, url: self.url.clone(), digest: self.digest })
    }
}

impl Truncated {
    fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
            Self::Unspecified => "unspecified",
        }
    }
}

/// What a WARC file starts with.
pub fn warcinfo(file_name: &str, time: Time) -> Vec<u8> {
    let block = format!(
        "software: refrain/{}\r\nformat: WARC File Format 1.1\r\nconformsTo: \
         https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut fields = Fields::new("warcinfo");
    fields.add("WARC-Record-ID", uuid(&[b"warcinfo", file_name.as_bytes(), &time.as_nanos().to_be_bytes()]));
    fields.add("WARC-Date", date::written(time));
    fields.add("WARC-Filename", file_name);
    let mut bytes = Vec::new();
    // A block of a few lines is not too large.
    let _ = finished(fields, "application/warc-fields", &[block.as_bytes()], &mut bytes);
    bytes
}

fn started(kind: &str, id: &str, url: &Address, time: Time, ip: Option<IpAddr>) -> Fields {
    let mut fields = Fields::new(kind);
    fields.add("WARC-Record-ID", id);
    fields.add("WARC-Date", date::written(time));
    fields.add("WARC-Target-URI", url);
    if let Some(ip) = ip {
        fields.add("WARC-IP-Address", ip);
    }
    fields
}

/// Names the page if another address answered: with that alone nobody could tell whose copy it is.
fn name_page(fields: &mut Fields, url: &Address, page: &Address) {
    if page != url {
        fields.add(PAGE, page);
    }
}

fn finished(
    mut fields: Fields,
    content: &str,
    block: &[&[u8]],
    into: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let length: u64 = block.iter().map(|piece| piece.len() as u64).sum();
    if length > LARGEST_BLOCK {
        return Err(StoreError::Refused(format!(
            "a record of {length} bytes is too large; expected at most {LARGEST_BLOCK}"
        )));
    }
    fields.add("WARC-Block-Digest", Digest::of_pieces(block));
    fields.add("Content-Type", content);
    fields.add("Content-Length", length);
    let header = fields.finish();
    let mut pieces = vec![header.as_bytes()];
    pieces.extend_from_slice(block);
    pieces.push(b"\r\n\r\n");
    member::compress(&pieces, into);
    Ok(())
}

fn record_id(kind: &str, url: &Address, time: Time, digest: Digest) -> String {
    uuid(&[kind.as_bytes(), &time.as_nanos().to_be_bytes(), digest.as_bytes(), url.as_str().as_bytes()])
}

/// A UUID that is computed from what the record says (version 8, RFC 9562): records that differ have different ones, and
/// the same record has the same wherever it is made.
fn uuid(pieces: &[&[u8]]) -> String {
    let digest = Digest::of_pieces(pieces);
    let mut id = [0; 16];
    id.copy_from_slice(&digest.as_bytes()[..16]);
    id[6] = 0x80 | (id[6] & 0x0f);
    id[8] = 0x80 | (id[8] & 0x3f);
    let hex = format!("{:032x}", u128::from_be_bytes(id));
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
