//! The shape of a URL: what pages made by the same template share. `/news/2026/11/15/a-new-frontier.html` and
//! `/news/2026/11/14/we-moved.html` are both `/news/0/0/0/*.html`; what one shows about its rate says something about the other.

/// Deeper paths are cut: their shapes would be too many to learn from.
const DEEPEST: usize = 6;
/// A name as long as this is a title or a key, not a section.
const LONGEST_NAME: usize = 20;

/// The shape of a URL's path and query; the host is not part of it.
///
/// Numbers become `0`, titles and keys `*` (what holds a dash, an underscore or a percent sign, mixes letters with digits,
/// or is long); endings like `.html` stay; of a query, the names of its parameters.
pub fn url_shape(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    // After scheme and host, if they are there.
    let path = match path.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => path,
    };
    let mut shape = String::new();
    for (depth, segment) in path.trim_start_matches('/').split('/').enumerate() {
        shape.push('/');
        if depth == DEEPEST {
            shape.push('…');
            break;
        }
        push_segment(&mut shape, segment);
    }
    if let Some(query) = query {
        let mut names: Vec<&str> =
            query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(DEEPEST);
        shape.push('?');
        shape.push_str(&names.join("&"));
    }
    shape
}

fn push_segment(shape: &mut String, segment: &str) {
    let is_ending =
        |ending: &str| (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    let (name, ending) = match segment.rsplit_once('.') {
        Some((name, ending)) if !name.is_empty() && is_ending(ending) => (name, Some(ending)),
        _ => (segment, None),
    };
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let joined = name.bytes().any(|b| matches!(b, b'-' | b'_' | b'%' | b'+' | b'.' | b','));
    if !name.is_empty() && digits == name.len() {
        shape.push('0');
    } else if joined || digits > 0 || name.len() >= LONGEST_NAME {
        shape.push('*');
    } else {
        shape.push_str(&name.to_lowercase());
    }
    if let Some(ending) = ending {
        shape.push('.');
        shape.push_str(&ending.to_lowercase());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn templates_are_recognised() {
        for (url, shape) in [
            ("https://example.org/news/2026/11/15/a-new-frontier.html", "/news/0/0/0/*.html"),
            ("https://example.org/news/2026/11/14/we-moved.HTML#top", "/news/0/0/0/*.html"),
            ("https://example.org", "/"),
            ("https://example.org/", "/"),
            ("/about", "/about"),
            ("https://example.org/item?id=17&page=2", "/item?id&page"),
            ("https://example.org/item?page=3&id=4", "/item?id&page"),
            ("https://example.org/a/b/c/d/e/f/g/h", "/a/b/c/d/e/f/…"),
            ("https://example.org/u/3f2a9b/profile", "/u/*/profile"),
            ("https://example.org/v1.2/notes", "/*.2/notes"),
        ] {
            assert_eq!(url_shape(url), shape, "{url}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_shape(url in "\\PC{0,80}") {
            prop_assert!(url_shape(&url).starts_with('/'));
        }
    }
}
