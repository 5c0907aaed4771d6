//! The message of which there are millions: a URL. By hand, so that its metadata are neither taken apart when it comes nor put together when
//! it goes.

use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, check_wire_type, decode_varint, skip_field, string};
use prost::{DecodeError, Message};

use super::metadata;

/// URLInfo.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Info {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) crawl: String,
    /// As it is sent: see [`metadata`].
    pub(crate) metadata: Vec<u8>,
}

impl Info {
    fn texts(&self) -> [(u32, &String); 3] {
        [(1, &self.url), (2, &self.key), (4, &self.crawl)]
    }
}

impl Message for Info {
    fn encode_raw(&self, to: &mut impl BufMut) {
        for (number, text) in self.texts().into_iter().filter(|(_, text)| !text.is_empty()) {
            string::encode(number, text, to);
        }
        to.put_slice(&self.metadata);
    }

    fn merge_field(
        &mut self,
        number: u32,
        kind: WireType,
        from: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        match number {
            1 => string::merge(kind, &mut self.url, from, context),
            2 => string::merge(kind, &mut self.key, from, context),
            4 => string::merge(kind, &mut self.crawl, from, context),
            3 => {
                check_wire_type(WireType::LengthDelimited, kind)?;
                let length = usize::try_from(decode_varint(from)?).unwrap_or(usize::MAX);
                if length > from.remaining() {
                    // The error of a text that is cut off is the one that is meant.
                    return string::merge(kind, &mut String::new(), &mut &[1][..], context);
                }
                if let Some(entry) = from.chunk().get(..length) {
                    metadata::add(&mut self.metadata, entry)?;
                    from.advance(length);
                    return Ok(());
                }
                metadata::add(&mut self.metadata, &from.copy_to_bytes(length))
            }
            _ => skip_field(kind, number, from, context),
        }
    }

    fn encoded_len(&self) -> usize {
        let texts = self.texts().into_iter().filter(|(_, text)| !text.is_empty());
        texts.map(|(number, text)| string::encoded_len(number, text)).sum::<usize>() + self.metadata.len()
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_came() {
        let info = Info {
            url: "http://a.example/".to_owned(),
            key: "a.example".to_owned(),
            crawl: "c".to_owned(),
            metadata: metadata::of([("depth", "1"), ("path", "http://b.example/")]),
        };
        let bytes = info.encode_to_vec();
        assert_eq!(bytes.len(), info.encoded_len());
        assert_eq!(Info::decode(&*bytes).unwrap(), info);
        // In pieces, as it may come from the network.
        for at in 0..bytes.len() {
            let (one, two) = bytes.split_at(at);
            assert_eq!(Info::decode(one.chain(two)).unwrap(), info);
        }
        // Cut off anywhere within the metadata, or anywhere else but between fields.
        let whole = (0..bytes.len()).filter(|at| Info::decode(&bytes[..*at]).is_ok()).count();
        assert_eq!(whole, 5, "after none, one, two and so on of the six fields");
        assert!(
            Info::decode(&b"\x1a\xff\xff\xff\xff\x0f"[..]).is_err()
                && Info::decode(&b"\x18\x01"[..]).is_err()
        );
    }
}
