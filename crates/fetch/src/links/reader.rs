//! The tags that matter, as they come.

use std::cell::RefCell;

use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};

use super::{Directives, MOST, Relation};
use crate::url::LONGEST;

/// Of these, different ones are kept; more are read, because pages repeat themselves.
const MOST_ANCHORS: usize = 10 * MOST;
const MOST_RELATIONS: usize = 200;
const LONGEST_TITLE: usize = 1000;

/// How much the parser may hold on to: depth of tags, and the longest tag.
pub(crate) const PARSER_MEMORY: usize = 16 << 20;

/// What a page holds, with links as they are written.
#[derive(Default)]
pub(super) struct Found {
    pub(super) title: Option<String>,
    pub(super) base: Option<String>,
    pub(super) anchors: Vec<(String, bool)>,
    pub(super) relations: Vec<(String, Relation)>,
    pub(super) directives: Directives,
    pub(super) incomplete: bool,
    title_text: String,
    title_ended: bool,
}

pub(super) fn read(html: &str, agent: &str) -> Found {
    let found = RefCell::new(Found::default());
    let settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(PARSER_MEMORY))
        .append_element_content_handler(element!("a[href], area[href]", |tag| {
            found.borrow_mut().anchor(tag);
            Ok(())
        }))
        .append_element_content_handler(element!("base[href]", |tag| {
            let mut found = found.borrow_mut();
            if found.base.is_none() {
                found.base = value(tag, "href");
            }
            Ok(())
        }))
        .append_element_content_handler(element!("link[rel][href]", |tag| {
            found.borrow_mut().relation(tag);
            Ok(())
        }))
        .append_element_content_handler(element!("meta[name][content]", |tag| {
            let name = value(tag, "name").unwrap_or_default();
            if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(agent) {
                found.borrow_mut().directives.add(&value(tag, "content").unwrap_or_default());
            }
            Ok(())
        }))
        .append_element_content_handler(text!("head title, title", |chunk| {
            let mut found = found.borrow_mut();
            if !found.title_ended {
                if found.title_text.len() < 4 * LONGEST_TITLE {
                    found.title_text.push_str(chunk.as_str());
                }
                found.title_ended = chunk.last_in_text_node();
            }
            Ok(())
        }));
    let whole = run(settings, html);
    let mut found = found.into_inner();
    found.incomplete |= !whole;
    found.title = title(&found.title_text);
    found
}

/// Reads the page; false if it asked for too much memory.
pub(crate) fn run(settings: Settings<'_, '_>, html: &str) -> bool {
    let mut parser = HtmlRewriter::new(settings, |_: &[u8]| {});
    parser.write(html.as_bytes()).is_ok() && parser.end().is_ok()
}

impl Found {
    fn anchor(&mut self, tag: &Element<'_, '_>) {
        if self.anchors.len() >= MOST_ANCHORS {
            self.incomplete = true;
        } else if let Some(href) = value(tag, "href") {
            let nofollow = value(tag, "rel").is_some_and(|rel| has_word(&rel, "nofollow"));
            self.anchors.push((href, nofollow));
        }
    }

    fn relation(&mut self, tag: &Element<'_, '_>) {
        let (Some(rel), Some(href)) = (value(tag, "rel"), value(tag, "href")) else { return };
        let relation = if has_word(&rel, "canonical") {
            Relation::Canonical
        } else if has_word(&rel, "alternate") {
            // An alternate stylesheet is no page.
            if has_word(&rel, "stylesheet") {
                return;
            }
            let is_feed = is_feed(&value(tag, "type").unwrap_or_default(), &href);
            if is_feed { Relation::Feed } else { Relation::Alternate }
        } else if has_word(&rel, "next") {
            Relation::Next
        } else if has_word(&rel, "prev") || has_word(&rel, "previous") {
            Relation::Previous
        } else if has_word(&rel, "hub") {
            Relation::Hub
        } else if has_word(&rel, "self") {
            Relation::Itself
        } else if has_word(&rel, "sitemap") {
            Relation::Sitemap
        } else {
            return;
        };
        if self.relations.len() < MOST_RELATIONS {
            self.relations.push((href, relation));
        } else {
            self.incomplete = true;
        }
    }
}

/// An attribute, its entities decoded; `None` if it is absent or longer than any URL.
fn value(tag: &Element<'_, '_>, name: &str) -> Option<String> {
    // An entity takes at most some ten characters for one.
    let raw = tag.get_attribute(name).filter(|raw| raw.len() <= 10 * LONGEST)?;
    Some(html_escape::decode_html_entities(raw.trim()).into_owned()).filter(|value| value.len() <= LONGEST)
}

/// Does an alternate form of this type, at this place, announce new pages?
pub(crate) fn is_feed(kind: &str, href: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/rss+xml" | "application/atom+xml" | "application/feed+json" => true,
        // JSON Feed's first version had no type of its own; but most who say so are WordPress, and mean the page itself.
        "application/json" => !href.contains("/wp-json/") && !href.contains("rest_route="),
        _ => false,
    }
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item.eq_ignore_ascii_case(word))
}

fn title(raw: &str) -> Option<String> {
    let decoded = html_escape::decode_html_entities(raw);
    let mut title = String::new();
    for word in decoded.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    let end = (0..=LONGEST_TITLE.min(title.len())).rev().find(|end| title.is_char_boundary(*end));
    title.truncate(end.unwrap_or(0));
    Some(title).filter(|title| !title.is_empty())
}
