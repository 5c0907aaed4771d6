use super::*;
use proptest::prelude::*;

/// The tokens of a document that comes in windows of so many bytes at least, in short.
fn read(text: &str, window: usize) -> Vec<String> {
    let mut tokens = Tokens::new();
    let mut found: Vec<String> = Vec::new();
    let mut each = |token: Token<'_>| match token {
        Token::Start { name, attributes, empty } => {
            found.push(format!("<{name}|{}{}", attributes.trim(), if empty { "/" } else { "" }));
        }
        Token::End { name } => found.push(format!("/{name}")),
        // Pieces that follow each other are one.
        Token::Text(text) | Token::Literal(text) => {
            let text = if matches!(token, Token::Text(_)) {
                resolved(text).text.into_owned()
            } else {
                text.to_owned()
            };
            match found.last_mut() {
                Some(last) if last.starts_with('=') => last.push_str(&text),
                _ => found.push(format!("={text}")),
            }
        }
    };
    let (mut start, mut end) = (0, 0);
    loop {
        end = (end + window.max(1)).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let last = end == text.len();
        start += tokens.read(&text[start..end], last, &mut each);
        if last {
            assert_eq!(start, end);
            return found;
        }
    }
}

const DOCUMENT: &str = "<?xml version='1.0'?><!-- <a> ' --><!DOCTYPE x [<!ENTITY a \"b>]\"> <!-- it's > -->]><r a='>' b=\"<\">one &amp; two<e/><![CDATA[<b>&amp;]]]]></r>";

#[test]
fn a_document_in_pieces_of_any_size() {
    let expected = ["<r|a='>' b=\"<\"", "=one & two", "<e|/", "=<b>&amp;]]", "/r"];
    for window in 1..=DOCUMENT.len() {
        assert_eq!(read(DOCUMENT, window), expected, "{window}");
    }
}

#[test]
fn what_is_malformed_is_read_as_far_as_it_makes_sense() {
    assert_eq!(read("<a>1 < 2 & 3</a", 3), ["<a|", "=1 < 2 & 3"]);
    // The quote is open to the end, and with it the tag.
    assert!(read("<a b='><c>", 4).is_empty());
    assert_eq!(read("text < <!x> </ b >", 5), ["=text <  ", "/b"]);
}

#[test]
fn a_tag_without_end_does_not_hide_the_rest() {
    let text = format!("<a b='{}><c>after</c>", "x".repeat(2 * LONGEST_TAG));
    assert_eq!(read(&text, 8192), ["<c|", "=after", "/c"]);
    let text = format!("<{}><c/>", "x".repeat(2 * LONGEST_TAG));
    assert_eq!(read(&text, 8192), ["<c|/"]);
}

#[test]
fn a_document_type_that_never_ends_says_nothing() {
    let text = format!("<!DOCTYPE a [{}<b>", "<!ENTITY a \"&b;&b;\">".repeat(10_000));
    assert!(read(&text, 8192).is_empty());
}

proptest! {
    #[test]
    fn windows_make_no_difference(parts in prop::collection::vec(prop::sample::select(vec![
        "<a>", "</a>", "<b c='d'/>", "<!--", "-->", "<![CDATA[", "]]>", "]", "&", "amp;", "&#6", "5;", "<!DOCTYPE x [", "'", "\"", "<", ">", "é", "<?", "?>", "/", "-", "text",
    ]), 0..30), window in 1usize..40) {
        let text = parts.concat();
        prop_assert_eq!(read(&text, window), read(&text, text.len()));
    }

    #[test]
    fn what_is_well_formed_is_read_as_others_do(names in prop::collection::vec("[a-c]{1,2}", 1..6), text in "[a-z &<>']{0,20}") {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let mut document = String::new();
        for name in &names {
            document.push_str(&format!("<{name} v=\"{}\">", escaped.replace('"', "&quot;")));
        }
        document.push_str(&escaped);
        for name in names.iter().rev() {
            document.push_str(&format!("</{name}>"));
        }
        let tree = roxmltree::Document::parse(&document).expect("well-formed");
        let deepest = tree.descendants().rfind(roxmltree::Node::is_element).expect("an element");
        let mut ours = (String::new(), String::new());
        Tokens::new().read(&document, true, &mut |token| match token {
            Token::Start { attributes, .. } => ours.0 = attribute(attributes, "v").map(|value| value.text.into_owned()).unwrap_or_default(),
            Token::Text(text) => ours.1.push_str(&resolved(text).text),
            _ => {}
        });
        prop_assert_eq!(ours.0.as_str(), deepest.attribute("v").unwrap_or_default());
        prop_assert_eq!(ours.1.as_str(), deepest.text().unwrap_or_default());
    }
}
