//! Where a list goes on: a text that only we understand.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::serve::problem::{Answer, Problem};

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// After this number.
    After(i64),
    /// From this address on.
    From(String),
}

impl Cursor {
    pub(crate) fn written(&self) -> String {
        match self {
            Self::After(number) => URL_SAFE_NO_PAD.encode(format!("n{number}")),
            Self::From(address) => URL_SAFE_NO_PAD.encode(format!("a{address}")),
        }
    }

    pub(crate) fn read(text: &str) -> Answer<Self> {
        let wrong =
            || Problem::bad("the cursor is not one that was given; expected `next` of the page before");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
        let inner = String::from_utf8(bytes).map_err(|_| wrong())?;
        if let Some(number) = inner.strip_prefix('n') {
            return number.parse().map(Self::After).map_err(|_| wrong());
        }
        inner.strip_prefix('a').map(|address| Self::From(address.to_owned())).ok_or_else(wrong)
    }

    /// After which number a list by numbers goes on.
    pub(crate) fn number(text: Option<&str>) -> Answer<i64> {
        match text.map(Self::read).transpose()? {
            None => Ok(0),
            Some(Self::After(number)) => Ok(number),
            Some(Self::From(_)) => Err(Problem::bad("the cursor is of another list")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for cursor in [Cursor::After(17), Cursor::From("https://example.org/ü".into())] {
            assert_eq!(Cursor::read(&cursor.written()).unwrap(), cursor);
        }
        for wrong in ["", "x", "bjE", "eDE", "n17", "\u{fc}"] {
            assert!(wrong == "bjE" || Cursor::read(wrong).is_err(), "{wrong}");
        }
    }
}
