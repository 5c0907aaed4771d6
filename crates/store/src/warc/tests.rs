use std::net::{IpAddr, Ipv6Addr};

use proptest::prelude::*;
use refrain_core::time::Time;

use super::*;
use crate::{Address, Digest};

fn head() -> HttpHead {
    HttpHead::response(200, "OK", [("Content-Type", &b"text/html"[..])]).unwrap()
}

fn response<'a>(url: &'a Address, head: &'a HttpHead, body: &'a [u8]) -> Response<'a> {
    Response {
        url,
        page: url,
        time: Time::from_nanos(1_234_567_890),
        ip: None,
        head,
        body: Body::new(body),
        truncated: None,
        request: None,
    }
}

fn read_all(mut bytes: &[u8]) -> Vec<Record> {
    std::iter::from_fn(|| read_record(&mut bytes).unwrap()).collect()
}

#[test]
fn a_response_has_every_field_it_needs() {
    let url = Address::new("https://example.org/a?b").unwrap();
    let asked = HttpHead::request("GET", "/a?b", [("Host", &b"example.org"[..])]).unwrap();
    let ip = Some(IpAddr::V6(Ipv6Addr::LOCALHOST));
    let head = head();
    let made = Response {
        ip,
        truncated: Some(Truncated::Length),
        request: Some(&asked),
        ..response(&url, &head, b"hello\r\n\r\nworld")
    };
    let encoded = made.encode().unwrap();
    let records = read_all(&encoded.bytes);
    assert_eq!(records.len(), 2);
    let (first, second) = (&records[0], &records[1]);
    assert_eq!(first.kind(), "response");
    assert_eq!(first.url(), Some(url.as_str()));
    assert_eq!(first.head, head.as_bytes());
    assert_eq!(first.body, b"hello\r\n\r\nworld");
    assert_eq!(first.payload_digest(), Some(Digest::of(b"hello\r\n\r\nworld")));
    assert_eq!(first.field("warc-date"), Some("1970-01-01T00:00:01.234Z"));
    assert_eq!(first.field("WARC-IP-Address"), Some("::1"));
    assert_eq!(first.field("WARC-Truncated"), Some("length"));
    assert_eq!(second.kind(), "request");
    assert_eq!(second.field("WARC-Concurrent-To"), first.field("WARC-Record-ID"));
    assert_eq!(second.head, asked.as_bytes());
}

#[test]
fn a_record_names_its_page_if_another_address_answered() {
    let (url, page) =
        (Address::new("https://b.example/").unwrap(), Address::new("https://a.example/").unwrap());
    let head = head();
    let told = |page| {
        let made = Response { page, ..response(&url, &head, b"hello") };
        read_all(&made.encode().unwrap().bytes).remove(0)
    };
    assert_eq!((told(&page).page(), told(&page).url()), (Some(page.as_str()), Some(url.as_str())));
    assert_eq!((told(&url).page(), told(&url).field("Refrain-Page")), (Some(url.as_str()), None));
}

#[test]
fn a_revisit_names_what_it_refers_to() {
    let url = Address::new("https://example.org/").unwrap();
    let head = HttpHead::response(304, "Not Modified", []).unwrap();
    let mut revisit = Revisit {
        url: &url,
        page: &url,
        time: Time::from_nanos(9_000_000_000),
        ip: None,
        head: &head,
        digest: Digest::of(b"x"),
        earlier_url: &url,
        earlier_time: Time::from_nanos(1_500_000_000),
        not_modified: true,
    };
    let told = &read_all(&revisit.encode().unwrap().bytes)[0];
    assert_eq!(
        told.field("WARC-Profile"),
        Some("http://netpreserve.org/warc/1.1/revisit/server-not-modified")
    );
    assert_eq!(told.field("WARC-Refers-To-Date"), Some("1970-01-01T00:00:01.500Z"));
    assert_eq!(told.field("WARC-Refers-To-Target-URI"), Some(url.as_str()));
    assert!(told.body.is_empty());
    revisit.not_modified = false;
    let same = &read_all(&revisit.encode().unwrap().bytes)[0];
    assert_eq!(
        same.field("WARC-Profile"),
        Some("http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
    );
    assert_eq!(same.payload_digest(), Some(Digest::of(b"x")));
}

#[test]
fn records_that_differ_have_different_ids_and_the_same_record_has_the_same() {
    let (one, two) = (Address::new("http://a/1").unwrap(), Address::new("http://a/2").unwrap());
    let head = head();
    let id = |url: &Address, body: &[u8]| {
        let bytes = response(url, &head, body).encode().unwrap().bytes;
        read_all(&bytes)[0].field("WARC-Record-ID").unwrap().to_owned()
    };
    assert_eq!(id(&one, b"x"), id(&one, b"x"));
    assert_ne!(id(&one, b"x"), id(&two, b"x"));
    assert_ne!(id(&one, b"x"), id(&one, b"y"));
    assert_eq!(id(&one, b"x").len(), "<urn:uuid:00000000-0000-8000-8000-000000000000>".len());
}

#[test]
fn a_record_without_end_is_refused_before_it_fills_the_memory() {
    let mut bytes = Vec::new();
    super::member::compress(&[b"WARC/1.1\r\nX: ", &vec![b'y'; 1 << 20]], &mut bytes);
    assert_eq!(read_record(&mut &bytes[..]).unwrap_err().to_string(), "has a header without end");
    let mut bytes = Vec::new();
    super::member::compress(&[b"WARC/1.1\r\nContent-Length: 99999999999\r\n\r\n"], &mut bytes);
    assert_eq!(read_record(&mut &bytes[..]).unwrap_err().to_string(), "has no usable Content-Length");
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5),
        path in "[a-z/\\?%=&é]{0,30}",
    ) {
        let url = Address::new(format!("http://a/{path}")).unwrap();
        let head = head();
        let mut file = warcinfo("000001.warc.gz", Time::ZERO);
        for body in &bodies {
            file.extend(response(&url, &head, body).encode().unwrap().bytes);
        }
        let records = read_all(&file);
        prop_assert_eq!(records[0].kind(), "warcinfo");
        prop_assert_eq!(records.len(), bodies.len() + 1);
        for (record, body) in records[1..].iter().zip(&bodies) {
            prop_assert_eq!(&record.body, body);
            prop_assert_eq!(record.url(), Some(url.as_str()));
            prop_assert_eq!(record.payload_digest(), Some(Digest::of(body)));
        }
    }

    #[test]
    fn a_damaged_record_is_never_taken_for_a_sound_one(
        body in prop::collection::vec(any::<u8>(), 0..200),
        at in any::<prop::sample::Index>(),
        flip in 1..=255u8,
    ) {
        let url = Address::new("http://a/").unwrap();
        let head = head();
        let mut bytes = response(&url, &head, &body).encode().unwrap().bytes;
        let sound = read_all(&bytes).remove(0);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        // Bytes of the gzip header that mean nothing may change; what is read is the same, or is not read.
        match read_record(&mut &bytes[..]) {
            Ok(Some(record)) => prop_assert_eq!(record, sound),
            Ok(None) => prop_assert!(false, "a record vanished"),
            Err(_) => {}
        }
    }

    #[test]
    fn a_torn_record_is_refused(body in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>()) {
        let url = Address::new("http://a/").unwrap();
        let head = head();
        let bytes = response(&url, &head, &body).encode().unwrap().bytes;
        let torn = &bytes[..=at.index(bytes.len() - 1)];
        prop_assert!(read_record(&mut &torn[..]).is_err());
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 1..200)) {
        prop_assert!(read_record(&mut &noise[..]).is_err());
    }
}
