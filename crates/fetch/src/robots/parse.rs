//! Lines, groups and agents of a robots.txt.

use refrain_core::time::Span;

use super::pattern::Pattern;
use super::{Robots, Rule};
use crate::url::PageUrl;

/// What lies beyond so many bytes is ignored; RFC 9309 asks for at least this much.
pub const LARGEST: usize = 500 * 1024;

/// More rules than any host needs; each is tried on each URL of the host.
const MOST_RULES: usize = 20_000;
const MOST_SITEMAPS: usize = 1000;
const LONGEST_SITEMAP: usize = 2048;

/// Nobody means longer pauses than a day; a number beyond is a mistake, and would stop the crawl of the host.
const LONGEST_DELAY_S: f64 = 86_400.0;

/// What groups for some agent say, together.
#[derive(Default)]
struct Gathered {
    named: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Span>,
}

/// Whom the lines at hand are for.
#[derive(Default)]
struct Group {
    ours: bool,
    everybodys: bool,
    /// Rules were seen: the next `User-agent` line starts another group.
    has_rules: bool,
}

pub(super) fn parse(bytes: &[u8], agent: &str) -> Robots {
    let (mut ours, mut everybodys) = (Gathered::default(), Gathered::default());
    let mut sitemaps = Vec::new();
    let mut group = Group::default();
    for line in complete(bytes).split(|byte| matches!(byte, b'\n' | b'\r')) {
        let Some((key, value)) = record(line) else { continue };
        let is = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
        if is("user-agent") {
            if group.has_rules {
                group = Group::default();
            }
            if is_everybody(value) {
                group.everybodys = true;
                everybodys.named = true;
            } else if product(value).eq_ignore_ascii_case(agent.as_bytes()) {
                group.ours = true;
                ours.named = true;
            }
        } else if is("allow") || is("disallow") {
            group.has_rules = true;
            if let Some(pattern) = Pattern::new(value) {
                let rule = Rule { allow: is("allow"), pattern };
                for gathered in concerned(&group, &mut ours, &mut everybodys) {
                    if gathered.rules.len() < MOST_RULES {
                        gathered.rules.push(rule.clone());
                    }
                }
            }
        } else if is("crawl-delay") {
            if let Some(delay) = seconds(value) {
                for gathered in concerned(&group, &mut ours, &mut everybodys) {
                    gathered.crawl_delay = gathered.crawl_delay.max(Some(delay));
                }
            }
        } else if is("sitemap")
            && let Ok(url) = std::str::from_utf8(value)
            && !url.is_empty()
            && url.len() <= LONGEST_SITEMAP
            && sitemaps.len() < MOST_SITEMAPS
        {
            sitemaps.push(url.to_owned());
        }
    }
    let Gathered { mut rules, crawl_delay, .. } = if ours.named { ours } else { everybodys };
    rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.len()), !rule.allow));
    let hosts = sitemaps.iter().filter_map(|named: &String| PageUrl::parse(named).ok());
    let sitemap_hosts = hosts.map(|url| url.origin().to_owned()).collect();
    Robots { rules, crawl_delay, sitemaps, sitemap_hosts }
}

/// Without a byte order mark, and up to the last line that is whole: half a rule would mean something else.
fn complete(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.len() <= LARGEST {
        return bytes;
    }
    let kept = &bytes[..LARGEST];
    let end = kept.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(0);
    &kept[..end]
}

/// A line as key and value, without its comment. Where the colon was forgotten, two words will do.
fn record(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
    let (key, value) = if let Some(colon) = line.iter().position(|byte| *byte == b':') {
        (&line[..colon], &line[colon + 1..])
    } else {
        let gap = line.iter().position(u8::is_ascii_whitespace)?;
        let (key, value) = (&line[..gap], line[gap..].trim_ascii());
        if value.iter().any(u8::is_ascii_whitespace) {
            return None;
        }
        (key, value)
    };
    Some((key.trim_ascii(), value.trim_ascii()))
}

fn is_everybody(value: &[u8]) -> bool {
    matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..])
}

/// `FooBot` of `FooBot/1.2 (like others)`.
fn product(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    &value[..end.unwrap_or(value.len())]
}

fn concerned<'a>(
    group: &Group,
    ours: &'a mut Gathered,
    everybodys: &'a mut Gathered,
) -> impl Iterator<Item = &'a mut Gathered> {
    group.ours.then_some(ours).into_iter().chain(group.everybodys.then_some(everybodys))
}

fn seconds(value: &[u8]) -> Option<Span> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (0.0..=LONGEST_DELAY_S).contains(&seconds).then(|| Span::from_secs(seconds))
}
