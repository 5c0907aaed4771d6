//! What requests say, read strictly: whatever is not understood is named in a sentence.

use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use refrain_core::time::{Span, Time};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use super::App;
use super::body;
use crate::serve::problem::{Answer, Problem};

/// The longest span that is taken, in seconds.
pub(crate) const LONGEST: f64 = 9e9;
/// The greatest importance.
pub(crate) const GREATEST: f64 = refrain_store::GREATEST_IMPORTANCE;

/// What stands after the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(why) => {
                let why = why.body_text();
                let why = why.split_once(": ").map_or(why.as_str(), |(_, why)| why);
                Err(Problem::bad(format!("the query is not understood: {why}")))
            }
        }
    }
}

/// A request without a query; one that has one is mistaken.
pub(crate) struct NoQuery;

impl<S: Send + Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match parts.uri.query().filter(|query| !query.is_empty()) {
            None => Ok(Self),
            Some(_) => Err(Problem::bad("the query is not understood: expected none")),
        }
    }
}

/// A part of the path, by name.
pub(crate) async fn named<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Answer<String> {
    let all = RawPathParams::from_request_parts(parts, state)
        .await
        .map_err(|_| Problem::bad("the path is not understood: expected UTF-8, percent-encoded"))?;
    let found = all.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_owned());
    found.ok_or_else(Problem::ours)
}

/// The number of a page, in the path.
pub(crate) struct Number(pub(crate) i64);

impl<S: Send + Sync> FromRequestParts<S> for Number {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = named(parts, state, "id").await?;
        number(&text).map(Self).ok_or_else(|| {
            Problem::bad(format!(
                "`{}` is not the number of a page",
                text.chars().take(40).collect::<String>()
            ))
        })
    }
}

/// The number of a version, in the path.
pub(crate) struct VersionNumber(pub(crate) i64);

impl<S: Send + Sync> FromRequestParts<S> for VersionNumber {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = named(parts, state, "version").await?;
        number(&text).map(Self).ok_or_else(|| {
            Problem::bad(format!(
                "`{}` is not the number of a version",
                text.chars().take(40).collect::<String>()
            ))
        })
    }
}

/// One spelling each: no signs, no zeros before.
fn number(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number >= 1 && number.to_string() == text).then_some(number)
}

/// A body of JSON.
pub(crate) struct Content<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Content<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if form(request.headers()) != Some(Form::Json) {
            return Err(Problem::form("application/json"));
        }
        let bytes = body::whole(request.into_body(), app.max_body).await?;
        json(&bytes).map(Self)
    }
}

/// Reads JSON.
pub(crate) fn json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Answer<T> {
    serde_json::from_slice(bytes).map_err(|why| {
        let sentence = format!("the body is not understood: {why}");
        match why.classify() {
            serde_json::error::Category::Data => Problem::impossible(sentence),
            _ => Problem::bad(sentence),
        }
    })
}

/// In which form a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One value.
    Json,
    /// One value per line.
    Lines,
}

/// The form that a request says its body has.
pub(crate) fn form(headers: &HeaderMap) -> Option<Form> {
    let line = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = line.split(';').next().unwrap_or_default().trim();
    let is = |name: &str| essence.eq_ignore_ascii_case(name);
    if is("application/json") {
        Some(Form::Json)
    } else if is("application/x-ndjson") || is("application/jsonl") || is("application/ndjson") {
        Some(Form::Lines)
    } else {
        None
    }
}

/// A moment as programs write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) Time);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let moment = text.parse::<Timestamp>().ok();
        let nanos = moment.and_then(|moment| i64::try_from(moment.as_nanosecond()).ok());
        let nanos = nanos.ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            D::Error::custom(format!("`{shown}` is not a moment; expected one like 2026-11-15T12:00:00Z"))
        })?;
        Ok(Self(Time::from_nanos(nanos)))
    }
}

fn bounded<'de, D: Deserializer<'de>>(
    deserializer: D,
    is_within: impl Fn(f64) -> bool,
    expected: &str,
) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if is_within(number) {
        Ok(number)
    } else {
        Err(D::Error::custom(format!("{number} is out of range; expected {expected}")))
    }
}

/// How much a page matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Importance(pub(crate) f64);

impl<'de> Deserialize<'de> for Importance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let within = |number| (0.0..=GREATEST).contains(&number);
        bounded(deserializer, within, "a number from 0 to 1e30").map(Self)
    }
}

/// A time that is more than nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seconds(pub(crate) Span);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let within = |number| (0.001..=LONGEST).contains(&number);
        let seconds = bounded(deserializer, within, "seconds from 0.001 to 9e9")?;
        Ok(Self(Span::from_secs(seconds)))
    }
}

/// A time that may be nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnySeconds(pub(crate) Span);

impl<'de> Deserialize<'de> for AnySeconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let within = |number| (0.0..=LONGEST).contains(&number);
        bounded(deserializer, within, "seconds from 0 to 9e9").map(|seconds| Self(Span::from_secs(seconds)))
    }
}

/// A field that may be left out, which leaves things as they are, or be null, which takes something back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Given<T> {
    #[default]
    Nothing,
    Null,
    Is(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Is))
    }
}

impl<T> Given<T> {
    /// What it says; `null` is what that means.
    pub(crate) fn said<U>(self, null: U, is: impl FnOnce(T) -> U) -> Option<U> {
        match self {
            Self::Nothing => None,
            Self::Null => Some(null),
            Self::Is(value) => Some(is(value)),
        }
    }
}

/// A limit that was asked for, or the usual one.
pub(crate) fn limit(asked: Option<u32>, usual: u32, most: u32) -> Answer<usize> {
    let limit = asked.unwrap_or(usual);
    if (1..=most).contains(&limit) {
        Ok(limit as usize)
    } else {
        Err(Problem::bad(format!("limit is {limit}; expected 1 to {most}")))
    }
}

/// Whether there may be so many at a time.
pub(crate) fn at_most(count: usize, most: usize) -> Answer<()> {
    if count <= most {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "too-many",
        format!("there are {count} at a time; expected at most {most}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling() {
        assert_eq!(number("17"), Some(17));
        for wrong in ["0", "-1", "+1", "01", "1.0", "", "x", "99999999999999999999"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values_are_within_reason() {
        assert!(json::<Importance>(b"0").is_ok() && json::<Importance>(b"-0.1").is_err());
        assert!(json::<Seconds>(b"0.001").is_ok() && json::<Seconds>(b"0").is_err());
        assert_eq!(json::<Moment>(b"\"1970-01-01T00:00:01.5Z\"").unwrap().0.as_nanos(), 1_500_000_000);
        assert!(json::<Moment>(b"\"-009999-01-02T00:00:00Z\"").is_err() && json::<Moment>(b"17").is_err());
        assert_eq!(json::<Importance>(b"").unwrap_err().status(), 400);
        assert_eq!(json::<Importance>(b"\"a\"").unwrap_err().status(), 422);
    }
}
