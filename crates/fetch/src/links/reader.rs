//! The tags that matter, as they come.

use super::{Directives, MOST, Relation, refresh};
use crate::html::{Attributes, Visitor};
use crate::url::LONGEST;

/// Of these, different ones are kept; more are read, because pages repeat themselves.
const MOST_ANCHORS: usize = 10 * MOST;
const MOST_RELATIONS: usize = 200;
const LONGEST_TITLE: usize = 1000;

/// What a page holds, with links as they are written.
#[derive(Default)]
pub(crate) struct Found {
    /// Our product token, for requests that name us.
    agent: String,
    pub(super) base: Option<String>,
    pub(super) anchors: Vec<(String, bool)>,
    pub(super) relations: Vec<(String, Relation)>,
    pub(super) directives: Directives,
    pub(super) incomplete: bool,
    title_text: String,
    title_ended: bool,
}

impl Found {
    /// Nothing yet.
    pub(crate) fn new(agent: &str) -> Self {
        Self { agent: agent.to_owned(), ..Self::default() }
    }

    /// What the page calls itself.
    pub(super) fn title(&self) -> Option<String> {
        title(&self.title_text)
    }

    fn anchor(&mut self, tag: &Attributes) {
        if let Some(href) = value(tag, "href") {
            let nofollow = tag.get("rel").is_some_and(|rel| has_word(rel, "nofollow"));
            self.leads_to(href, nofollow);
        }
    }

    fn leads_to(&mut self, href: String, nofollow: bool) {
        if self.anchors.len() < MOST_ANCHORS {
            self.anchors.push((href, nofollow));
        } else {
            self.incomplete = true;
        }
    }

    fn meta(&mut self, tag: &Attributes) {
        let (name, content) = (tag.get("name").unwrap_or_default(), tag.get("content").unwrap_or_default());
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(&self.agent) {
            self.directives.add(content);
        }
        if tag.get("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
            && let Some(target) = refresh::target(content).filter(|target| target.len() <= LONGEST)
        {
            self.leads_to(target.to_owned(), false);
        }
    }

    fn relation(&mut self, tag: &Attributes) {
        let (Some(rel), Some(href)) = (tag.get("rel"), value(tag, "href")) else { return };
        let relation = if has_word(rel, "canonical") {
            Relation::Canonical
        } else if has_word(rel, "alternate") {
            // An alternate stylesheet is no page.
            if has_word(rel, "stylesheet") {
                return;
            }
            let is_feed = is_feed(tag.get("type").unwrap_or_default(), &href);
            if is_feed { Relation::Feed } else { Relation::Alternate }
        } else if has_word(rel, "next") {
            Relation::Next
        } else if has_word(rel, "prev") || has_word(rel, "previous") {
            Relation::Previous
        } else if has_word(rel, "hub") {
            Relation::Hub
        } else if has_word(rel, "self") {
            Relation::Itself
        } else if has_word(rel, "sitemap") {
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

impl Visitor for Found {
    fn opened(&mut self, tag: &str, attributes: &Attributes) {
        match tag {
            "a" | "area" => self.anchor(attributes),
            "base" if self.base.is_none() => self.base = value(attributes, "href"),
            "link" => self.relation(attributes),
            "meta" => self.meta(attributes),
            _ => {}
        }
    }

    fn closed(&mut self, tag: &str) {
        self.title_ended |= tag == "title";
    }

    fn text(&mut self, text: &str, is_title: bool) {
        if is_title && !self.title_ended && self.title_text.len() < 4 * LONGEST_TITLE {
            self.title_text.push_str(text);
        }
    }
}

/// An attribute that is a URL; `None` if it is absent or longer than any.
fn value(tag: &Attributes, name: &str) -> Option<String> {
    tag.get(name).filter(|value| value.len() <= LONGEST).map(str::to_owned)
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
    let mut title = String::new();
    for word in raw.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    let end = (0..=LONGEST_TITLE.min(title.len())).rev().find(|end| title.is_char_boundary(*end));
    title.truncate(end.unwrap_or(0));
    Some(title).filter(|title| !title.is_empty())
}
