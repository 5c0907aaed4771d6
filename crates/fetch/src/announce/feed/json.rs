//! JSON Feed. Texts that are none are as if absent; what is not asked for is skipped without being kept.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Draft, Feed, Limits, NoFeed, kept};
use crate::announce::Cut;
use crate::announce::inflow::Inflow;
use crate::url::PageUrl;

/// More than any feed names; the limit on entries is the caller's.
const MOST: usize = 100_000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole {
    home_page_url: Loose,
    feed_url: Loose,
    next_url: Loose,
    hubs: Many<Hub>,
    items: Many<Item>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Hub {
    url: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    id: Loose,
    url: Loose,
    date_published: Loose,
    date_modified: Loose,
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
    let whole: Whole = serde_json::from_str(&text).map_err(|why| NoFeed::Json(why.to_string()))?;
    let place = |found: Loose| found.0.and_then(|text| url.join(&text).ok());
    let mut feed = Feed {
        home: place(whole.home_page_url),
        itself: place(whole.feed_url),
        next: place(whole.next_url),
        cut: inflow.cut(),
        ..Feed::default()
    };
    for hub in whole.hubs.0 {
        if let Some(url) = place(hub.url) {
            feed.hub(url);
        }
    }
    for item in whole.items.0 {
        if !feed.has_room(limits) {
            break;
        }
        let draft = Draft {
            link: item.url.0,
            base: None,
            name: item.id.0.clone(),
            id: item.id.0,
            published: item.date_published.0,
            updated: item.date_modified.0,
        };
        feed.take(draft, url);
    }
    Ok(feed)
}

/// Text, or a number where text belongs; anything else is nothing.
#[derive(Default)]
struct Loose(Option<String>);

/// A list, of no more than [`MOST`].
struct Many<T>(Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose(kept(text)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose(Some(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose(Some(number.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Loose, E> {
        Ok(Loose(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose(None))
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Loose, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose(None))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ManyVisitor(std::marker::PhantomData))
    }
}

struct ManyVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Many<T>, E> {
        Ok(Many::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Many<T>, E> {
        Ok(Many::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Many<T>, A::Error> {
        let mut found = Vec::new();
        while found.len() < MOST {
            let Some(one) = list.next_element()? else { return Ok(Many(found)) };
            found.push(one);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Many(found))
    }
}
