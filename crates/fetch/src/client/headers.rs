//! The lines of an answer's head, as they came.

use http::header::{HeaderMap, HeaderValue};

/// Names (in lower case) and values, in the order of their names' first appearance; equal names stand together.
#[derive(Clone, Debug, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// The first value with this name (in lower case), as bytes.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(HeaderValue::as_bytes)
    }

    /// The first value with this name (in lower case), if it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok().map(str::trim)
    }

    /// All values with this name (in lower case).
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).into_iter().map(HeaderValue::as_bytes)
    }

    /// Every line.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }
}

impl From<HeaderMap> for Headers {
    fn from(map: HeaderMap) -> Self {
        Self(map)
    }
}
