//! Values with units, as they are written.

use std::net::SocketAddr;

use refrain_core::time::Span;
use serde::Deserialize;

use crate::serve::socket_address;
use crate::units;

/// A time: "15s".
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Period(pub(crate) Span);

/// A rate, "2/s": how long one takes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Each(pub(crate) Span);

/// A size: "10MB".
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Bytes(pub(crate) u64);

/// Where something listens: "127.0.0.1:7071".
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Listen(pub(crate) SocketAddr);

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        socket_address(&text).map(Self)
    }
}

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        units::span(&text).map(Self)
    }
}

impl TryFrom<String> for Each {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        units::rate(&text).map(Self)
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        units::bytes(&text).map(Self)
    }
}
