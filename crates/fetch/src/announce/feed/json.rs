//! JSON Feed. Each value is read by itself, so that one that is wrong spoils nothing else; what is not asked for is skipped without being kept.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Draft, Feed, Limits, NoFeed, Written, kept};
use crate::announce::Cut;
use crate::announce::inflow::Inflow;
use crate::url::PageUrl;

/// More than any feed names; the limit on entries is the caller's.
const MOST: usize = 100_000;

/// A value as it is written, not read yet.
type Raw<'a> = Option<&'a RawValue>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole<'a> {
    #[serde(borrow)]
    home_page_url: Raw<'a>,
    #[serde(borrow)]
    feed_url: Raw<'a>,
    #[serde(borrow)]
    next_url: Raw<'a>,
    #[serde(borrow)]
    hubs: Raw<'a>,
    #[serde(borrow)]
    items: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Hub<'a> {
    #[serde(borrow)]
    url: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    url: Raw<'a>,
    #[serde(borrow)]
    date_published: Raw<'a>,
    #[serde(borrow)]
    date_modified: Raw<'a>,
}

pub(super) fn read(body: &[u8], inflow: &mut Inflow, url: &PageUrl, limits: Limits) -> Result<Feed, NoFeed> {
    let mut text = String::new();
    let mut take = |piece: &str, _: bool| {
        text.push_str(piece);
        piece.len()
    };
    inflow.push(body, &mut take);
    inflow.finish(&mut take);
    if inflow.cut() == Some(Cut::Size) {
        return Err(NoFeed::Json(format!("it is larger than {} bytes", limits.bytes)));
    }
    // No `from_reader`, and text of one kind only: nesting is bounded by the parser.
    let whole: Whole<'_> = serde_json::from_str(&text).map_err(|why| NoFeed::Json(why.to_string()))?;
    let place = |raw| string(raw).and_then(|text| url.join(&text).ok());
    let mut feed = Feed {
        home: place(whole.home_page_url),
        itself: place(whole.feed_url),
        next: place(whole.next_url),
        cut: inflow.cut(),
        ..Feed::default()
    };
    for hub in list(whole.hubs) {
        if let Some(url) = object::<Hub<'_>>(hub).and_then(|hub| place(hub.url)) {
            feed.hub(url);
        }
    }
    for item in list(whole.items) {
        if !feed.has_room(limits) {
            break;
        }
        let Some(item) = object::<Item<'_>>(item) else {
            feed.bad(&"it is no object with a member of each name");
            continue;
        };
        let written = |text| Written { text, is_unknown: false };
        let id = string(item.id);
        let draft = Draft {
            link: string(item.url).map(written),
            base: None,
            name: id.clone().map(written),
            id,
            published: string(item.date_published),
            updated: string(item.date_modified),
            dated: None,
        };
        feed.take(draft, url);
    }
    Ok(feed)
}

/// The text of a string, or a whole number, which some write where a string belongs; `None` if it is anything else.
fn string(raw: Raw<'_>) -> Option<String> {
    let raw = raw?.get();
    if raw.starts_with('"') {
        return serde_json::from_str::<String>(raw).ok().and_then(|text| kept(&text));
    }
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { kept(raw) } else { None }
}

/// The members of an object; `None` if it is anything else, or has a member that is asked for twice.
fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    // serde reads a list as the members of a struct in their order.
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok())?
}

/// The first [`MOST`] values of a list; none, if it is anything else.
fn list(raw: Raw<'_>) -> Vec<&RawValue> {
    let list = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    list.map(|List(values)| values).unwrap_or_default()
}

struct List<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for List<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = List<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List<'de>, A::Error> {
        let mut found = Vec::new();
        while found.len() < MOST {
            let Some(one) = list.next_element()? else { return Ok(List(found)) };
            found.push(one);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(List(found))
    }
}
