//! The common and the combined log format, perhaps with the virtual host before them:
//! `[vhost[:port]] client identity user [time] "request" status size ["referrer" "agent"]`

use std::borrow::Cow;

use refrain_core::time::{Span, Time};
use refrain_fetch::announce::when::{When, utc};
use refrain_fetch::url::PageUrl;

use super::{Request, Rules, Skip, is_bot, past};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub(super) fn request(line: &str, rules: &Rules) -> Result<Request, Skip> {
    let unlike = || Skip::Bad("it is neither a line of a log nor time,url".to_owned());
    let (who, rest) = line.split_at(dated_at(line).ok_or_else(unlike)?);
    let rest = &rest[1..];
    let (date, rest) = rest.split_once(']').ok_or_else(unlike)?;
    let (asked, rest) = quoted(rest).ok_or_else(unlike)?;
    let mut words = rest.split_ascii_whitespace();
    let status = words
        .next()
        .filter(|word| word.len() == 3)
        .and_then(|word| word.parse::<u16>().ok())
        .ok_or_else(unlike)?;
    let (method, target) =
        asked.split_once(' ').ok_or_else(|| Skip::Bad("its request is no HTTP".to_owned()))?;
    if method != "GET" {
        // What is no word at all was no request either.
        let is_word = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        return Err(if is_word { Skip::Method } else { Skip::Bad("its request is no HTTP".to_owned()) });
    }
    if !matches!(status, 200..=299 | 304) {
        return Err(Skip::Status);
    }
    if !rules.bots && agent(rest).is_some_and(is_bot) {
        return Err(Skip::Bot);
    }
    let time = time(date, rules.now)?;
    let target = target.rsplit_once(" HTTP/").map_or(target, |(target, _)| target);
    Ok(Request { time, url: page(target, who, rules)? })
}

/// Where the date begins: with the first bracket that is not that of an address of IPv6, which a virtual host may have.
fn dated_at(line: &str) -> Option<usize> {
    let address = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    let is_address = address.is_some_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok());
    let from = usize::from(is_address);
    line[from..].find('[').map(|at| from + at)
}

/// The text between the next two quotes, and what follows. Quotes within are escaped.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (_, inside) = text.split_once('"')?;
    let bytes = inside.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some((&inside[..at], &inside[at + 1..]));
        }
        // The escaped character may be a wide one: then no byte of it is a quote.
        at += 2;
    }
}

/// The second quoted text after the status, if the line goes so far.
fn agent(rest: &str) -> Option<&str> {
    let (_, rest) = quoted(rest)?;
    quoted(rest).map(|(agent, _)| agent)
}

fn page(target: &str, who: &str, rules: &Rules) -> Result<PageUrl, Skip> {
    let bad = |why: &dyn std::fmt::Display| Skip::Bad(why.to_string());
    let target = unescaped(target);
    if !target.starts_with('/') {
        return PageUrl::parse(&target).map_err(|why| bad(&why));
    }
    let origin = origin(who, rules.site.as_ref()).ok_or(Skip::Homeless)?;
    // Not resolved as a link: a path with two slashes names no other host.
    PageUrl::parse(&format!("{origin}{target}")).map_err(|why| bad(&why))
}

/// Servers escape what would break their lines: `\"`, `\\`, and bytes as `\x22`. Browsers send all of these percent-encoded.
fn unescaped(target: &str) -> Cow<'_, str> {
    if !target.contains('\\') {
        return Cow::Borrowed(target);
    }
    Cow::Owned(target.replace("\\x", "%").replace("\\\"", "%22").replace("\\\\", "%5C"))
}

/// `https://example.org`, by the virtual host or the site.
fn origin(who: &str, site: Option<&PageUrl>) -> Option<String> {
    let home = site.map(|site| site.robots().as_str().trim_end_matches("/robots.txt").to_owned());
    let mut words = who.split_ascii_whitespace();
    let Some(host) = words.next().filter(|_| words.count() == 3) else { return home };
    // Servers that call themselves by an address of IPv6 leave out the brackets.
    let bracketed = host.parse::<std::net::Ipv6Addr>().map(|address| format!("[{address}]"));
    let host = bracketed.as_deref().unwrap_or(host);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    };
    // The site's scheme and port are right, where the server that wrote the log may be behind another.
    match site {
        Some(site) if site.host().eq_ignore_ascii_case(name.trim_matches(['[', ']'])) => return home,
        _ => {}
    }
    Some(match port {
        Some("80") => format!("http://{name}"),
        None | Some("443") => format!("https://{name}"),
        Some(port) => format!("https://{name}:{port}"),
    })
}

fn time(date: &str, now: Time) -> Result<Time, Skip> {
    let when = usual(date).map(When::exactly).or_else(|| When::parse(date));
    past(when.ok_or_else(|| Skip::Bad("its date cannot be read".to_owned()))?, now)
}

/// `15/Nov/2026:13:00:00 +0100`, as all servers write it unless told otherwise: there are many of them.
fn usual(date: &str) -> Option<Time> {
    let number = |from: usize, to: usize| -> Option<u32> {
        let digits = date.get(from..to)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    };
    let is = |at: usize, byte: u8| date.as_bytes().get(at) == Some(&byte);
    let in_form = date.len() == 26
        && is(2, b'/')
        && is(6, b'/')
        && is(11, b':')
        && is(14, b':')
        && is(17, b':')
        && is(20, b' ');
    if !in_form {
        return None;
    }
    let month = MONTHS.iter().position(|month| date.get(3..6) == Some(*month))? as u32 + 1;
    let local = utc(
        i64::from(number(7, 11)?),
        month,
        number(0, 2)?,
        number(12, 14)?,
        number(15, 17)?,
        number(18, 20)?,
    )?;
    let (hours, minutes) = (number(22, 24)?, number(24, 26)?);
    if hours > 15 || minutes > 59 {
        return None;
    }
    let offset = Span::from_whole_secs(u64::from(hours) * 3600 + u64::from(minutes) * 60);
    match date.as_bytes().get(21) {
        Some(b'+') => Some(local - offset),
        Some(b'-') => Some(local + offset),
        _ => None,
    }
}
