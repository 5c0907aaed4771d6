//! What hosts ask of crawlers, as far as it is known.

use refrain_core::time::{Span, Time};
use refrain_fetch::robots::{Robots, Ruling};
use refrain_fetch::url::PageUrl;

/// What a host asks, and since when that is known.
#[derive(Clone, Debug)]
pub(crate) struct HostRules {
    /// When robots.txt was asked for.
    pub(crate) asked: Time,
    /// The status of the answer; none: there was no answer.
    pub(crate) status: Option<u16>,
    /// The answer.
    pub(crate) verdict: Verdict,
}

/// What the answer means.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// These rules.
    Rules(Robots),
    /// Nothing may be asked for now.
    Wait,
}

/// A host without robots.txt is asked for one again after so long, in the case of a failure at first; twice as long each time.
const RETRY: Span = Span::from_whole_secs(60);
/// The longest wait between two such questions.
const LONGEST_RETRY: Span = Span::from_whole_secs(6 * 3600);

impl HostRules {
    /// As they were kept: the text of robots.txt, or its absence.
    pub(crate) fn kept(asked: Time, status: Option<u16>, text: &[u8], agent: &str) -> Self {
        let verdict = match status.map(|status| Ruling::of_status(status, Span::ZERO)) {
            Some(Ruling::Parse | Ruling::Everything | Ruling::Redirect) => {
                Verdict::Rules(Robots::parse(text, agent))
            }
            _ => Verdict::Wait,
        };
        Self { asked, status, verdict }
    }

    /// Whether they still hold.
    pub(crate) fn hold(&self, now: Time, robots_for: Span) -> bool {
        match self.verdict {
            Verdict::Rules(_) => now.since(self.asked) < robots_for,
            Verdict::Wait => false,
        }
    }

    /// Whether they are these rules.
    pub(crate) fn says(&self, robots: &Robots) -> bool {
        matches!(&self.verdict, Verdict::Rules(own) if own == robots)
    }

    /// The same rules, to be read again before they are relied on.
    pub(crate) fn outdated(&self) -> Self {
        Self { asked: Time::MIN, ..self.clone() }
    }

    /// Whether a page may be asked for.
    pub(crate) fn allow(&self, url: &PageUrl) -> bool {
        match &self.verdict {
            Verdict::Rules(robots) => robots.allows(url),
            Verdict::Wait => false,
        }
    }

    /// Whether the host lets what is found at `source` speak for its pages: it names that, or something else there (an index, mostly).
    pub(crate) fn vouch_for(&self, source: &PageUrl) -> bool {
        matches!(&self.verdict, Verdict::Rules(robots) if robots.names_sitemap_on(source.origin()))
    }

    /// The gap that the host asks for.
    pub(crate) fn gap(&self) -> Option<Span> {
        match &self.verdict {
            Verdict::Rules(robots) => robots.crawl_delay(),
            Verdict::Wait => None,
        }
    }

    /// How long to wait before the next question, after so many without an answer.
    pub(crate) fn retry(failures: u32) -> Span {
        let doubled = RETRY.as_nanos().saturating_mul(1 << failures.min(20));
        Span::from_nanos(doubled).min(LONGEST_RETRY)
    }
}

/// What a host's robots.txt says of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsSay {
    /// It may be fetched; the line that says so, if there is one.
    Allowed(Option<String>),
    /// It may not; the line that says so.
    Disallowed(String),
    /// It cannot be had: nothing may be fetched.
    Nothing,
}

/// What a robots.txt that is kept says of a page.
pub fn robots_say(kept: &refrain_store::Robots, url: &PageUrl, agent: &str) -> RobotsSay {
    let rules = HostRules::kept(kept.fetched, kept.status, &kept.text, agent);
    let Verdict::Rules(robots) = &rules.verdict else { return RobotsSay::Nothing };
    let rule = robots.rule_for(url);
    match rule {
        Some(rule) if !robots.allows(url) => RobotsSay::Disallowed(rule),
        allowed => RobotsSay::Allowed(allowed),
    }
}
