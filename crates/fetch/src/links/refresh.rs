//! `<meta http-equiv=refresh content="5; url=/next">`: the page that a browser goes on to (HTML Standard, "shared declarative refresh steps").

/// Returns where a refresh leads, as it is written; `None` if it reloads the page, or is malformed.
pub(super) fn target(content: &str) -> Option<&str> {
    let content = content.trim_ascii_start();
    let rest = content.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == content.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let named = named.and_then(|_| rest[3..].trim_ascii_start().strip_prefix('='));
    let url = named.map_or(rest, str::trim_ascii_start);
    let url = match url.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split_once(&url[..1]).map_or(quoted, |(inside, _)| inside),
        None => url,
    };
    Some(url.trim()).filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_as_browsers_read_them() {
        for content in [
            "5; url=/next",
            "0;URL='/next'",
            " 0 ; uRl = \"/next\" x",
            "1.5,/next",
            "1 /next",
            ".5;/next",
            "0;'/next'",
            "0;url='/next",
            "007..8\n;\nurl\n=\n/next\n",
        ] {
            assert_eq!(target(content), Some("/next"), "{content}");
        }
        assert_eq!(target("0; url"), Some("url"));
        assert_eq!(target("0; url/next"), Some("url/next"));
        assert_eq!(target("0; ;/next"), Some(";/next"));
        for content in [
            "",
            "5",
            "5;",
            "5; ",
            "5; url=",
            "5; url=''",
            "url=/next",
            "-1; url=/next",
            "x; /next",
            "5x; /next",
        ] {
            assert_eq!(target(content), None, "{content}");
        }
    }
}
