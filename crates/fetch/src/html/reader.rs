//! From the tokenizer to a visitor.

use html5gum::emitters::Emitter;
use html5gum::{Error, State};

use super::{Attributes, Visitor, read_unscripted};

/// What stands in these is not shown to readers. `<noscript>` is among them, as in every browser with scripts: that way it ends at the first
/// `</noscript>`, whatever is in it. Its tags are shown when it ends.
const HIDDEN: [&str; 7] = ["iframe", "noembed", "noframes", "noscript", "script", "style", "xmp"];

/// Tags that end drawings and formulas which were never closed.
const BREAKS_OUT: [&str; 24] = [
    "blockquote",
    "body",
    "br",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "table",
    "ul",
];

/// The state that the tokenizer wants to have kept for it, and where on the page it is.
pub(super) struct Reader<V> {
    visitor: V,
    /// Text up to the next tag: it comes in pieces that may cut letters in two.
    text: Vec<u8>,
    tag: Vec<u8>,
    closes: bool,
    self_closing: bool,
    last_opened: Vec<u8>,
    attributes: Attributes,
    place: Place,
    /// Drawings and formulas around the place: tags have other rules in them.
    foreign: u32,
    /// Scripts run, so that `<noscript>` is text. Not within one: nothing is read a third time.
    scripts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Page,
    Title,
    /// Until this tag closes.
    Hidden(&'static str),
}

impl<V: Visitor> Reader<V> {
    pub(super) fn new(visitor: V, scripts: bool) -> Self {
        Self {
            visitor,
            text: Vec::new(),
            tag: Vec::new(),
            closes: false,
            self_closing: false,
            last_opened: Vec::new(),
            attributes: Attributes::default(),
            place: Place::Page,
            foreign: 0,
            scripts,
        }
    }

    fn show_text(&mut self) {
        if !self.text.is_empty() {
            if !matches!(self.place, Place::Hidden(_)) {
                self.visitor.text(&String::from_utf8_lossy(&self.text), self.place == Place::Title);
            }
            self.text.clear();
        }
    }

    fn opened(&mut self) -> Option<State> {
        self.show_text();
        self.last_opened.clone_from(&self.tag);
        let name = std::str::from_utf8(&self.tag).unwrap_or("");
        self.visitor.opened(name, &self.attributes);
        if matches!(name, "svg" | "math") {
            self.foreign += u32::from(!self.self_closing);
        } else if self.foreign > 0 && BREAKS_OUT.binary_search(&name).is_ok() {
            self.foreign = 0;
        }
        if self.foreign > 0 && self.self_closing {
            return None;
        }
        let hidden = HIDDEN.binary_search(&name).ok().filter(|_| self.scripts || name != "noscript");
        match (hidden, name) {
            // A script that seems to open within a drawing's style is text of that style.
            _ if self.place != Place::Page => {}
            (Some(at), _) => self.place = Place::Hidden(HIDDEN[at]),
            (None, "title") => self.place = Place::Title,
            _ => {}
        }
        if self.foreign > 0 {
            return None;
        }
        match name {
            "title" | "textarea" => Some(State::RcData),
            "plaintext" => Some(State::PlainText),
            "script" => Some(State::ScriptData),
            _ => hidden.map(|_| State::RawText),
        }
    }

    fn closed(&mut self) {
        // In a drawing its tags were shown as they came.
        if self.place == Place::Hidden("noscript") && self.foreign == 0 {
            let inside = std::mem::take(&mut self.text);
            read_unscripted(&String::from_utf8_lossy(&inside), &mut self.visitor);
        }
        self.show_text();
        self.last_opened.clear();
        let name = std::str::from_utf8(&self.tag).unwrap_or("");
        self.visitor.closed(name);
        if matches!(name, "svg" | "math") {
            self.foreign = self.foreign.saturating_sub(1);
        }
        let ends = match self.place {
            Place::Page => false,
            Place::Title => name == "title",
            Place::Hidden(tag) => name == tag,
        };
        // A drawing ends with all that is in it.
        if ends || (self.foreign == 0 && matches!(name, "svg" | "math")) {
            self.place = Place::Page;
        }
    }
}

impl<V: Visitor> Emitter for Reader<V> {
    type Token = std::convert::Infallible;

    fn set_last_start_tag(&mut self, tag: Option<&[u8]>) {
        self.last_opened.clear();
        self.last_opened.extend_from_slice(tag.unwrap_or_default());
    }

    fn emit_string(&mut self, piece: &[u8]) {
        if !matches!(self.place, Place::Hidden(tag) if tag != "noscript") {
            self.text.extend_from_slice(piece);
        }
    }

    fn emit_eof(&mut self) {
        self.show_text();
    }

    fn init_start_tag(&mut self) {
        self.tag.clear();
        self.attributes.clear();
        (self.closes, self.self_closing) = (false, false);
    }

    fn init_end_tag(&mut self) {
        self.tag.clear();
        self.closes = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        if self.closes {
            self.closed();
            return None;
        }
        self.attributes.settle();
        self.opened()
    }

    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        self.tag.extend_from_slice(piece);
    }

    fn init_attribute(&mut self) {
        self.attributes.next();
    }

    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.attributes.push_name(piece);
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        self.attributes.push_value(piece);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.closes && !self.last_opened.is_empty() && self.last_opened == self.tag
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.foreign > 0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Self::Token> {
        None
    }

    // What nobody here wants to know.
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted_for_searching() {
        assert!(HIDDEN.is_sorted() && BREAKS_OUT.is_sorted());
    }
}
