//! Lines, groups and agents of a robots.txt.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
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

/// The agents that the lines at hand are for.
#[derive(Default)]
struct Group {
    ours: bool,
    everybodys: bool,
    /// A line of the group's own kind was seen: the next `User-agent` line starts another group.
    is_complete: bool,
}

impl Group {
    /// Adds an agent, to another group if this one is complete.
    fn name(&mut self, is_ours: bool, is_everybody: bool) {
        if self.is_complete {
            *self = Self::default();
        }
        self.ours |= is_ours;
        self.everybodys |= is_everybody;
    }
}

/// What a line begins with, misspelled as Google's parser accepts it: any word that begins with one of these is taken for it.
const USER_AGENT: [&str; 3] = ["user-agent", "useragent", "user agent"];
const ALLOW: [&str; 1] = ["allow"];
const DISALLOW: [&str; 6] = ["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
const SITEMAP: [&str; 2] = ["sitemap", "site-map"];

pub(super) fn parse(bytes: &[u8], agent: &str) -> Robots {
    let (mut ours, mut everybodys) = (Gathered::default(), Gathered::default());
    let mut sitemaps = Vec::new();
    // RFC 9309 (section 2.2.4) lets no other line than a rule end a group of rules. A delay is of the agents right above it, though.
    let (mut group, mut delayed) = (Group::default(), Group::default());
    for line in complete(&utf8(bytes)).split(|byte| matches!(byte, b'\n' | b'\r')) {
        let Some((key, value)) = record(line) else { continue };
        let begins = |names: &[&str]| names.iter().any(|name| starts_with(key, name));
        if begins(&USER_AGENT) {
            let is_everybody = is_everybody(value);
            let is_ours = !is_everybody && product(value).eq_ignore_ascii_case(agent.as_bytes());
            group.name(is_ours, is_everybody);
            delayed.name(is_ours, is_everybody);
            ours.named |= is_ours;
            everybodys.named |= is_everybody;
        } else if begins(&ALLOW) || begins(&DISALLOW) {
            (group.is_complete, delayed.is_complete) = (true, true);
            if let Some(pattern) = Pattern::new(value) {
                let rule = Rule { allow: begins(&ALLOW), pattern };
                for gathered in concerned(&group, &mut ours, &mut everybodys) {
                    if gathered.rules.len() < MOST_RULES {
                        gathered.rules.push(rule.clone());
                    }
                }
            }
        } else if key.eq_ignore_ascii_case(b"crawl-delay") {
            delayed.is_complete = true;
            if let Some(delay) = seconds(value) {
                for gathered in concerned(&delayed, &mut ours, &mut everybodys) {
                    gathered.crawl_delay = gathered.crawl_delay.max(Some(delay));
                }
            }
        } else if begins(&SITEMAP)
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

/// Returns the text without its byte order mark; from UTF-16, if the first two letters are of two bytes each. The mark alone does not tell:
/// it may be junk. The start of a UTF-16 text is as long as [`LARGEST`] bytes of UTF-8 and a few more.
fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mark = Encoding::for_bom(bytes).map_or(0, |(_, length)| length);
    let rest = &bytes[mark..];
    let encoding = match rest {
        [a, 0, b, 0, ..] if *a > 0 && *b > 0 => UTF_16LE,
        [0, a, 0, b, ..] if *a > 0 && *b > 0 => UTF_16BE,
        _ => return Cow::Borrowed(rest),
    };
    let start = &rest[..rest.len().min(2 * LARGEST + 4)];
    Cow::Owned(encoding.decode_without_bom_handling(start).0.into_owned().into_bytes())
}

/// The text up to the last line that is whole: half a rule would mean something else.
fn complete(bytes: &[u8]) -> &[u8] {
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

fn starts_with(key: &[u8], name: &str) -> bool {
    key.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
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
