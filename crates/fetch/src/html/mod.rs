//! HTML as it is read here: one pass over tags and text, however malformed, for any number of visitors.
//!
//! The letters are told apart by a tokenizer that follows the standard. No tree is built; the few things that need one (what
//! is not shown, drawings and formulas, which have rules of their own) are followed by name.

mod attributes;
mod reader;

pub(crate) use attributes::Attributes;

/// Who wants to know what is on a page.
pub(crate) trait Visitor {
    /// A tag opens. Its name is in small letters.
    fn opened(&mut self, tag: &str, attributes: &Attributes);
    /// A tag closes.
    fn closed(&mut self, tag: &str);
    /// Text that a reader sees, up to the next tag, its entities decoded.
    fn text(&mut self, text: &str, is_title: bool);
}

/// Shows what is read without scripts: its tags, but no text, because readers have scripts. What would hold for the whole page (`<base>`) is
/// left out.
struct Unscripted<'a>(&'a mut dyn Visitor);

impl Visitor for Unscripted<'_> {
    fn opened(&mut self, tag: &str, attributes: &Attributes) {
        if tag != "base" {
            self.0.opened(tag, attributes);
        }
    }

    fn closed(&mut self, _: &str) {}
    fn text(&mut self, _: &str, _: bool) {}
}

/// Both.
impl<A: Visitor, B: Visitor> Visitor for (&mut A, &mut B) {
    fn opened(&mut self, tag: &str, attributes: &Attributes) {
        self.0.opened(tag, attributes);
        self.1.opened(tag, attributes);
    }

    fn closed(&mut self, tag: &str) {
        self.0.closed(tag);
        self.1.closed(tag);
    }

    fn text(&mut self, text: &str, is_title: bool) {
        self.0.text(text, is_title);
        self.1.text(text, is_title);
    }
}

impl<V: Visitor> Visitor for &mut V {
    fn opened(&mut self, tag: &str, attributes: &Attributes) {
        (**self).opened(tag, attributes);
    }

    fn closed(&mut self, tag: &str) {
        (**self).closed(tag);
    }

    fn text(&mut self, text: &str, is_title: bool) {
        (**self).text(text, is_title);
    }
}

/// Shows a page to a visitor.
pub(crate) fn read(html: &str, visitor: impl Visitor) {
    let Ok(()) = html5gum::Tokenizer::new_with_emitter(html, reader::Reader::new(visitor, true)).finish();
}

/// Shows what stands in a `<noscript>` to the visitor of the page around it.
fn read_unscripted(html: &str, visitor: &mut dyn Visitor) {
    let reader = reader::Reader::new(Unscripted(visitor), false);
    let Ok(()) = html5gum::Tokenizer::new_with_emitter(html, reader).finish();
}
