//! Why an item is refused, and how that is told: in the log and in a counter by reason. The wire knows only SKIPPED and FAIL.

use super::counts::{Counts, REASONS};

/// Why an item is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The item has no URL.
    NoUrl,
    /// The client names no key, and the URL has no host name to take for one.
    NoKey,
    /// The URL is too long.
    LongUrl,
    /// The key or the name of the crawl is too long.
    LongName,
    /// The metadata are too large.
    LargeMetadata,
    /// The crawl is server scheduled, and Refrain knows no page at this URL: not http(s), or not a valid URL.
    NotAPage,
    /// The limit of pages or of URLs is reached. The item may be sent again.
    NoRoom,
}

impl Refusal {
    pub(super) const ALL: [Self; REASONS] = [
        Self::NoUrl,
        Self::NoKey,
        Self::LongUrl,
        Self::LongName,
        Self::LargeMetadata,
        Self::NotAPage,
        Self::NoRoom,
    ];

    /// The label of the counter.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::NoUrl => "no_url",
            Self::NoKey => "no_key",
            Self::LongUrl => "long_url",
            Self::LongName => "long_name",
            Self::LargeMetadata => "large_metadata",
            Self::NotAPage => "not_a_page",
            Self::NoRoom => "no_room",
        }
    }

    /// The reason as the log says it.
    fn sentence(self) -> &'static str {
        match self {
            Self::NoUrl => "the item has no URL",
            Self::NoKey => "the item has no key, and its URL has no host name to take for one",
            Self::LongUrl => "the URL is longer than 32768 bytes",
            Self::LongName => "the key or the name of the crawl is longer than 4096 bytes",
            Self::LargeMetadata => "the metadata are larger than the frontier keeps",
            Self::NotAPage => {
                "the crawl is server scheduled, and only http and https URLs without a password can be scheduled"
            }
            Self::NoRoom => "the limit of pages (max_pages) or of URLs is reached",
        }
    }
}

/// The refusals of a stream. The log has the first of each reason as a warning and the others at the level DEBUG: a client may send millions.
#[derive(Default)]
pub(super) struct Refusals {
    warned: [bool; REASONS],
    /// Refusals by reason since the last [`Refusals::count`].
    new: [u64; REASONS],
}

impl Refusals {
    /// An item is refused; `url` is what the log shows of it.
    pub(super) fn add(&mut self, refusal: Refusal, url: &str) {
        const SHOWN: usize = 200;
        let index = refusal as usize;
        self.new[index] += 1;
        let (why, url) = (refusal.sentence(), url.chars().take(SHOWN).collect::<String>());
        let url = url.escape_debug();
        if std::mem::replace(&mut self.warned[index], true) {
            tracing::debug!(%url, why, "an item of a frontier client is refused");
        } else {
            tracing::warn!(%url, why, "an item of a frontier client is refused; others of its stream for this reason are logged at the level DEBUG");
        }
    }

    /// Adds the new refusals to the counter.
    pub(super) fn count(&mut self, counts: &Counts) {
        for refusal in Refusal::ALL {
            counts.refused(refusal, std::mem::take(&mut self.new[refusal as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_label_and_counter() {
        let (counts, mut refusals) = (Counts::default(), Refusals::default());
        for (times, refusal) in (1..).zip(Refusal::ALL) {
            for _ in 0..times {
                refusals.add(refusal, "http://a.example/\n");
            }
        }
        refusals.count(&counts);
        refusals.count(&counts);
        let mut text = String::new();
        prometheus_client::encoding::text::encode_registry(&mut text, &counts.registry).unwrap();
        for (times, refusal) in (1..).zip(Refusal::ALL) {
            let line = format!("frontier_putURLs_refused_total{{reason=\"{}\"}} {times}", refusal.label());
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
