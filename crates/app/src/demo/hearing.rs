//! What can be heard of a host's announcements by who asks for them now and then, and how far that can be believed.

use std::collections::HashMap;

use super::hosts::Voice;
use super::world::World;

/// A page's date has moved since the announcements were asked for before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Signal {
    pub(crate) time: f64,
    pub(crate) page: usize,
    /// A change moved it.
    pub(crate) is_change: bool,
}

/// What who asks at these moments hears of a host. What was said before the first of them is no news.
pub(crate) fn heard(world: &World, host: usize, asked: &[f64]) -> Vec<Signal> {
    let boasts = world.hosts[host].voice == Voice::Boast;
    let mut dates: HashMap<usize, f64> = HashMap::new();
    let mut signals = Vec::new();
    for (round, time) in asked.iter().copied().enumerate() {
        for listed in world.listed(host, time) {
            let before = dates.insert(listed.page, listed.date);
            // A page that is new in a feed was not among the latest before.
            let before = before.unwrap_or(if round == 0 { f64::INFINITY } else { asked[0] });
            if listed.date <= before {
                continue;
            }
            let said = &world.pages[listed.page].said;
            let is_change = !boasts
                && said.iter().any(|said| said.is_change && said.time > before && said.time <= listed.date);
            signals.push(Signal { time, page: listed.page, is_change });
        }
    }
    signals
}

/// How far the announcements of a host could be believed, as they could be heard.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quality {
    pub(crate) host: String,
    pub(crate) kind: &'static str,
    /// The share of signals that a change had moved.
    pub(crate) precision: f64,
    /// Such signals per change, from the first time that anybody asked to the last.
    pub(crate) recall: f64,
}

/// The truth about the announcements of a host's pages; `None` if nothing could be heard.
pub(crate) fn quality(world: &World, host: usize, asked: &[f64]) -> Option<Quality> {
    let home = &world.hosts[host];
    let kind = home.voice.kind().filter(|_| !home.has_news())?;
    let (first, last) = (*asked.first()?, *asked.last()?);
    let signals = heard(world, host, asked);
    let right = signals.iter().filter(|signal| signal.is_change).count() as f64;
    let of_host = world.pages.iter().filter(|page| page.host == host);
    let changes: u64 = of_host.map(|page| page.version(last) - page.version(first)).sum();
    (!signals.is_empty() && changes > 0).then(|| Quality {
        host: home.name.clone(),
        kind,
        precision: right / signals.len() as f64,
        recall: right / changes as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::hosts::{Host, Manner};

    fn truth(voice: Voice, every: f64) -> Option<Quality> {
        let world = World::of(vec![Host::of_pages("a", Manner::Plain, voice, 40, (20.0, 200.0))], 5, 900.0);
        let asked: Vec<f64> = (1..9000).map(|k| f64::from(k) * every).filter(|time| *time < 900.0).collect();
        quality(&world, 0, &asked)
    }

    /// Who asks often hears it all; who asks seldom hears of several changes at once.
    #[test]
    fn an_honest_host_can_be_believed() {
        let often = truth(Voice::Sitemap, 0.1).expect("signals");
        assert!(often.precision == 1.0 && (often.recall - 0.9).abs() < 0.05, "{often:?}");
        let seldom = truth(Voice::Sitemap, 30.0).expect("signals");
        assert!(seldom.precision == 1.0 && seldom.recall < 0.85, "{seldom:?}");
    }

    #[test]
    fn a_boast_says_nothing() {
        let boast = truth(Voice::Boast, 5.0).expect("signals");
        assert_eq!((boast.precision, boast.recall), (0.0, 0.0));
    }

    #[test]
    fn a_feed_is_right_most_of_the_time() {
        let feed = truth(Voice::Feed, 0.1).expect("signals");
        assert!((feed.precision - 0.8).abs() < 0.05 && (feed.recall - 0.9).abs() < 0.05, "{feed:?}");
    }

    #[test]
    fn silence_is_no_signal() {
        assert_eq!(truth(Voice::Silent, 5.0), None);
        assert_eq!(truth(Voice::Sitemap, 1e6), None);
    }
}
