//! robots.txt (RFC 9309): what a host asks of crawlers, and what it means that it does not answer.
//!
//! Only what concerns one agent is kept, as the shortest robots.txt that says the same ([`Robots::to_bytes`]): whoever opens
//! the store can read it.

mod parse;
mod pattern;
mod ruling;

pub use parse::LARGEST;
pub use ruling::{PATIENCE, Ruling};

use std::collections::BTreeSet;

use refrain_core::time::Span;

use crate::url::PageUrl;
use pattern::{Pattern, normalised};

/// The rules of one host for one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    /// The longest pattern first, `Allow` before `Disallow` among equals: the first that matches decides.
    rules: Vec<Rule>,
    crawl_delay: Option<Span>,
    sitemaps: Vec<String>,
    /// Where those are that are named in full: scheme, name and port.
    sitemap_hosts: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    pattern: Pattern,
}

impl Robots {
    /// Reads a robots.txt for the agent with this product token (`Refrain`, not `Refrain/1.0`). Never fails: lines that
    /// mean nothing are skipped, and what lies beyond [`LARGEST`] bytes is ignored.
    pub fn parse(bytes: &[u8], agent: &str) -> Self {
        parse::parse(bytes, agent)
    }

    /// Returns whether this page may be fetched, if it is one of the host's.
    pub fn allows(&self, url: &PageUrl) -> bool {
        self.decide(url).0.is_none_or(|rule| rule.allow)
    }

    /// Returns the line that decides about this page, as short as it can be written: `Disallow: /private/`. `None` if none does, and
    /// the page may be fetched.
    pub fn rule_for(&self, url: &PageUrl) -> Option<String> {
        let rule = self.decide(url).0?;
        let mut pattern = Vec::new();
        rule.pattern.write(&mut pattern);
        let name = if rule.allow { "Allow" } else { "Disallow" };
        Some(format!("{name}: {}", String::from_utf8_lossy(&pattern)))
    }

    /// The rule that decides, and the bytes looked at to find it, at most.
    fn decide(&self, url: &PageUrl) -> (Option<&Rule>, usize) {
        let path_and_query = url.path_and_query();
        if path_and_query == "/robots.txt" {
            return (None, 0);
        }
        let path = normalised(path_and_query.as_bytes());
        let mut steps = path.len();
        let rule = self.rules.iter().find(|rule| rule.pattern.matches(&path, &mut steps));
        (rule, steps)
    }

    /// The pause between requests that the host asks for; not part of RFC 9309, but widely used.
    pub fn crawl_delay(&self) -> Option<Span> {
        self.crawl_delay
    }

    /// The sitemaps named, for whomever; as written, not yet resolved.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Whether a sitemap on this host (scheme, name and port) is named, in full.
    pub fn names_sitemap_on(&self, origin: &str) -> bool {
        self.sitemap_hosts.contains(origin)
    }

    /// The shortest robots.txt that means the same to this agent: to be kept, and read again with [`Robots::parse`] for any
    /// agent. It is never larger than [`LARGEST`] and a line.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for sitemap in &self.sitemaps {
            bytes.extend_from_slice(format!("Sitemap:{sitemap}\n").as_bytes());
        }
        if !self.rules.is_empty() || self.crawl_delay.is_some() {
            bytes.extend_from_slice(b"User-agent:*\n");
        }
        if let Some(delay) = self.crawl_delay {
            bytes.extend_from_slice(format!("Crawl-delay:{}\n", delay.as_secs()).as_bytes());
        }
        for rule in &self.rules {
            bytes.extend_from_slice(if rule.allow { b"Allow:" } else { b"Disallow:" });
            rule.pattern.write(&mut bytes);
            bytes.push(b'\n');
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
