//! The text of the parts of a page that CSS selectors choose.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use lol_html::html_content::{Element, TextType};
use lol_html::{ElementContentHandlers, HtmlRewriter, MemorySettings, Settings, doc_text, element, end_tag};

use super::selectors::Selectors;
use super::{Blocks, is_within, titled};

/// How much the parser may hold on to: depth of tags, and the longest tag.
const PARSER_MEMORY: usize = 16 << 20;

#[derive(Default)]
struct Collector {
    blocks: Blocks,
    title: Blocks,
    /// A text node, until it is complete: it may come in pieces, and an entity may be in two of them.
    node: String,
    scope: Scope,
}

/// Where the piece of text at hand is; set by handlers that run before the one that takes the text.
#[derive(Clone, Copy, Default)]
struct Scope {
    title: bool,
    included: bool,
    ignored: bool,
}

pub(super) fn collect(html: &str, selectors: &Selectors) -> Blocks {
    let collector = Rc::new(RefCell::new(Collector::default()));
    let takes_all = selectors.include.is_empty();
    let marks = |mark: fn(&mut Scope)| {
        let collector = Rc::clone(&collector);
        ElementContentHandlers::default().text(move |_: &mut lol_html::html_content::TextChunk<'_>| {
            mark(&mut collector.borrow_mut().scope);
            Ok(())
        })
    };
    let mut settings = Settings::new()
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(PARSER_MEMORY))
        .append_element_content_handler(element!("*", |tag| {
            cut_at(tag, &collector);
            Ok(())
        }));
    if let Ok(title) = "title".parse() {
        settings =
            settings.append_element_content_handler((Cow::Owned(title), marks(|scope| scope.title = true)));
    }
    for selector in &selectors.include {
        let handler = marks(|scope| scope.included = true);
        settings = settings.append_element_content_handler((Cow::Borrowed(selector), handler));
    }
    for selector in &selectors.ignore {
        let handler = marks(|scope| scope.ignored = true);
        settings = settings.append_element_content_handler((Cow::Borrowed(selector), handler));
    }
    // Handlers of the document run after those of elements, so the scope is known by then.
    let settings = settings.append_document_content_handler(doc_text!(|chunk| {
        let mut collector = collector.borrow_mut();
        let scope = std::mem::take(&mut collector.scope);
        let shown = !matches!(chunk.text_type(), TextType::ScriptData | TextType::RawText);
        if shown && !scope.ignored {
            collector.node.push_str(chunk.as_str());
        }
        if chunk.last_in_text_node() {
            collector.take_node(scope, takes_all);
        }
        Ok(())
    }));
    // A page that asks for too much memory is read as far as it goes, every time.
    let mut parser = HtmlRewriter::new(settings, |_: &[u8]| {});
    let _ = parser.write(html.as_bytes()).and_then(|()| parser.end());
    let mut collector = collector.borrow_mut();
    collector.blocks.cut();
    let body = std::mem::take(&mut collector.blocks);
    if takes_all { titled(&collector.title, body) } else { body }
}

fn cut_at(tag: &mut Element<'_, '_>, collector: &Rc<RefCell<Collector>>) {
    if is_within(&tag.tag_name()) {
        return;
    }
    collector.borrow_mut().blocks.cut();
    if let Some(handlers) = tag.end_tag_handlers() {
        let collector = Rc::clone(collector);
        handlers.push(end_tag!(move |_| {
            collector.borrow_mut().blocks.cut();
            Ok(())
        }));
    }
}

impl Collector {
    fn take_node(&mut self, scope: Scope, takes_all: bool) {
        let node = std::mem::take(&mut self.node);
        let text = html_escape::decode_html_entities(&node);
        if scope.title {
            // Only the first is the page's; drawings have titles as well.
            if self.title.is_empty() {
                self.title.push_words(&text);
                self.title.cut();
            }
        } else if takes_all || scope.included {
            self.blocks.push_words(&text);
        }
    }
}
