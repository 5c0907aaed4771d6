//! What was learned of hosts' announcements, beside the truth.

use refrain_store::{Reader, StoreError, Voice};

use super::hearing::{Quality, quality};
use super::serve::Site;

/// How far a host's announcements can be believed, and what was learned of that: precision and recall.
pub(crate) struct Compared {
    pub(crate) truth: Quality,
    pub(crate) learned: (f64, f64),
}

/// How far a host's announcements of a kind are believed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learned {
    /// Scheme, name and port, as the store has it.
    pub(crate) host: String,
    pub(crate) kind: String,
    pub(crate) precision: f64,
    pub(crate) recall: f64,
}

/// What a crawl that has ended believes of its hosts' announcements.
fn learned_signals(reader: &Reader) -> Result<Vec<Learned>, StoreError> {
    let learned = |Voice { host, kind, precision, recall, .. }| Learned { host, kind, precision, recall };
    Ok(reader.voices()?.into_iter().map(learned).collect())
}

/// What was learned of announcements, beside the truth; where nothing was learned there is nothing to compare.
pub(crate) fn voices(site: &Site, reader: &Reader) -> Result<Vec<Compared>, StoreError> {
    let hosts = 0..site.world.hosts.len();
    let truths = hosts.filter_map(|host| quality(&site.world, host, &site.asked_for_announcements(host)));
    Ok(beside(truths, &learned_signals(reader)?, site.port))
}

fn beside(truths: impl Iterator<Item = Quality>, learned: &[Learned], port: u16) -> Vec<Compared> {
    let known = |truth: Quality| {
        let name = format!("http://{}.localhost:{port}", truth.host);
        let learned = learned.iter().find(|learned| learned.host == name && learned.kind == truth.kind)?;
        Some(Compared { truth, learned: (learned.precision, learned.recall) })
    };
    truths.filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_belief_stands_beside_its_truth() {
        let truth = |host: &str, kind| Quality { host: host.to_owned(), kind, precision: 1.0, recall: 0.9 };
        let learned = |host: &str, kind: &str, precision| Learned {
            host: host.to_owned(),
            kind: kind.to_owned(),
            precision,
            recall: 0.8,
        };
        let truths = [truth("a", "sitemap"), truth("b", "feed"), truth("c", "sitemap")];
        let all = [
            learned("http://b.localhost:80", "feed", 0.2),
            learned("http://a.localhost:80", "feed", 0.3),
            learned("http://a.localhost:80", "sitemap", 0.4),
        ];
        let voices = beside(truths.into_iter(), &all, 80);
        let shown: Vec<_> = voices.iter().map(|voice| (voice.truth.host.as_str(), voice.learned)).collect();
        assert_eq!(shown, [("a", (0.4, 0.8)), ("b", (0.2, 0.8))]);
    }
}
