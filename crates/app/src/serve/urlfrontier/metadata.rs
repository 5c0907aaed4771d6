//! What crawlers say of their URLs: keys with lists of values. It is kept and given back in the form in which it came, the encoded fields of a
//! URLInfo; whoever wants to know what it says reads it in place.

use std::collections::BTreeMap;

use prost::{DecodeError, Message};

use super::proto::StringList;

/// The number of the field, and that it has a length.
pub(super) const FIELD: u8 = 3 << 3 | 2;

/// The longest metadata of a URL that are taken, in bytes as they are sent: what other servers take in a whole message.
const LONGEST: usize = 4 << 20;
/// The most keys and values in them.
const MOST: usize = 100_000;

/// An entry as others would read it.
#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<StringList>,
}

/// Adds an entry that somebody sent. One that is not as everybody writes it is written anew; one that is none is refused.
pub(super) fn add(metadata: &mut Vec<u8>, entry: &[u8]) -> Result<(), DecodeError> {
    if read(entry).is_some_and(|(_, values)| values.are_texts()) {
        push(metadata, entry);
    } else {
        push(metadata, &Entry::decode(entry)?.encode_to_vec());
    }
    Ok(())
}

fn push(metadata: &mut Vec<u8>, entry: &[u8]) {
    metadata.push(FIELD);
    // Into a list there is always room.
    let _ = prost::encode_length_delimiter(entry.len(), metadata);
    metadata.extend_from_slice(entry);
}

/// What somebody would send who says this.
pub(crate) fn of<'a>(said: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut metadata = Vec::new();
    for (key, value) in said {
        let value = StringList { values: vec![value.to_owned()] };
        push(&mut metadata, &Entry { key: key.to_owned(), value: Some(value) }.encode_to_vec());
    }
    metadata
}

/// All of it, by key; of a key that was said twice, the last.
pub(crate) fn read_all(metadata: &[u8]) -> BTreeMap<String, Vec<String>> {
    entries(metadata).map(|(key, values)| (key.to_owned(), values.all())).collect()
}

/// What somebody would send who says all of this.
pub(crate) fn written(said: &BTreeMap<String, Vec<String>>) -> Vec<u8> {
    let mut metadata = Vec::new();
    for (key, values) in said {
        let value = Some(StringList { values: values.clone() });
        push(&mut metadata, &Entry { key: key.clone(), value }.encode_to_vec());
    }
    metadata
}

/// The keys and their values, in the order in which they were said.
pub(super) fn entries(mut metadata: &[u8]) -> impl Iterator<Item = (&str, Values<'_>)> {
    std::iter::from_fn(move || {
        let (_, entry) = field(&mut metadata)?;
        // What was added can be read.
        read(entry)
    })
}

/// Returns false for metadata that are too long or have too many keys and values: each is read whenever its URL is given out.
pub(super) fn is_bearable(metadata: &[u8]) -> bool {
    let count = || entries(metadata).map(|(_, values)| 1 + values.texts().count()).sum::<usize>();
    // Each key and each value takes at least two bytes.
    metadata.len() <= 2 * MOST || (metadata.len() <= LONGEST && count() <= MOST)
}

/// A key and its values.
fn read(mut entry: &[u8]) -> Option<(&str, Values<'_>)> {
    let (mut key, mut values) = ("", Values(&[]));
    // Each of them at most once, in this order: as everybody writes them.
    let mut last = 0;
    while !entry.is_empty() {
        let (number, bytes) = field(&mut entry)?;
        match number {
            1 if last < 1 => key = std::str::from_utf8(bytes).ok()?,
            2 if last < 2 => values = Values(bytes),
            _ => return None,
        }
        last = number;
    }
    Some((key, values))
}

/// The values of a key.
#[derive(Clone, Copy)]
pub(super) struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn are_texts(mut self) -> bool {
        while !self.0.is_empty() {
            match field(&mut self.0) {
                Some((1, text)) if std::str::from_utf8(text).is_ok() => {}
                _ => return false,
            }
        }
        true
    }

    fn texts(mut self) -> impl Iterator<Item = &'a str> {
        let fields = std::iter::from_fn(move || field(&mut self.0));
        fields.filter_map(|(_, text)| std::str::from_utf8(text).ok())
    }

    fn all(self) -> Vec<String> {
        self.texts().map(str::to_owned).collect()
    }

    /// The last one.
    pub(super) fn last(self) -> Option<&'a str> {
        self.texts().last()
    }

    /// The first one, which for nearly all keys is the only one.
    pub(super) fn first(self) -> Option<&'a str> {
        self.texts().next()
    }
}

/// The next field: its number, and what is in it, if it has a length.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    let head = varint(bytes)?;
    if head & 7 != 2 {
        return None;
    }
    let length = usize::try_from(varint(bytes)?).ok()?;
    let (inside, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some((head >> 3, inside))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str, values: &[&str]) -> Vec<u8> {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        Entry { key: key.to_owned(), value: Some(StringList { values }) }.encode_to_vec()
    }

    #[test]
    fn what_was_said_is_read_in_its_order() {
        let mut metadata = Vec::new();
        let long = "y".repeat(70_000);
        for (key, values) in [("", &[""][..]), ("a", &["1", "2"]), ("none", &[]), ("ключ", &[&long])] {
            add(&mut metadata, &entry(key, values)).unwrap();
        }
        let found: Vec<_> = entries(&metadata).map(|(key, values)| (key, values.first())).collect();
        let long = long.as_str();
        assert_eq!(found, [("", Some("")), ("a", Some("1")), ("none", None), ("ключ", Some(long))]);
        let all = read_all(&metadata);
        assert_eq!(all["a"], ["1", "2"]);
        assert_eq!((all["none"].len(), read_all(&written(&all))), (0, all));
        assert_eq!(of([("a", "b")]), [FIELD, 8, 10, 1, b'a', 18, 3, 10, 1, b'b']);
    }

    #[test]
    fn metadata_are_bounded() {
        let value = |length| of([("k", "v".repeat(length).as_str())]);
        let rest = value(4_000_000).len() - 4_000_000;
        assert!(is_bearable(&[]) && is_bearable(&value(LONGEST - rest)));
        assert!(!is_bearable(&value(LONGEST - rest + 1)));
        let keys = |count| of((0..count).map(|_| ("", "")));
        assert!(is_bearable(&keys(MOST / 2)) && !is_bearable(&keys(MOST / 2 + 1)));
        let values = |count| {
            let mut metadata = Vec::new();
            add(&mut metadata, &entry("k", &vec![""; count])).unwrap();
            metadata
        };
        assert!(is_bearable(&values(MOST - 1)) && !is_bearable(&values(MOST)));
    }

    #[test]
    fn what_is_written_unusually_is_written_anew() {
        let usual = entry("k", &["v"]);
        // The value before the key; the key twice; a field that nobody knows.
        let (key, value) = usual.split_at(3);
        for unusual in [[value, key].concat(), [key, key, value].concat(), [key, value, &[0x20, 7]].concat()]
        {
            let mut metadata = Vec::new();
            add(&mut metadata, &unusual).unwrap();
            assert_eq!(metadata, of([("k", "v")]), "{unusual:?}");
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for none in [
            &b"\xff\xff"[..],
            b"\x0a\x05ab",
            b"\x0a\x02\xc3\x28",
            b"\x12\x04\x0a\x02\xc3\x28",
            b"\x0b",
            b"\x12\x01\x0a",
        ] {
            let mut metadata = Vec::new();
            assert!(add(&mut metadata, none).is_err(), "{none:?}");
            assert!(metadata.is_empty());
        }
    }
}
