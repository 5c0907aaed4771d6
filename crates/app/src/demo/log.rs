//! What the small web was asked for, as it wrote that down.

use super::profit::Finds;
use super::serve::Site;
use super::truth::Fetches;

/// A request as the server saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// When it came, in seconds since the start,
    pub(crate) asked: f64,
    /// and when it was answered.
    pub(crate) shown: f64,
    pub(crate) host: usize,
    pub(crate) what: Shown,
    pub(crate) status: u16,
}

/// What a request was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A page, by number.
    Page(usize),
    /// An article, by number.
    Article(usize),
    /// A sitemap or a feed.
    Announcements,
    Rules,
    /// Front pages, and what is of no interest.
    Other,
}

impl Site {
    /// When each page was shown.
    pub(crate) fn fetches(&self) -> Fetches {
        let mut fetches: Fetches = vec![Vec::new(); self.world.pages.len()];
        for hit in self.log() {
            if let Shown::Page(page) = hit.what {
                fetches[page].push(hit.shown);
            }
        }
        fetches
    }

    /// When each article was shown first.
    pub(crate) fn finds(&self) -> Finds {
        let mut finds: Finds = vec![None; self.world.articles.len()];
        for hit in self.log() {
            if let Shown::Article(article) = hit.what {
                let first = finds[article].get_or_insert(hit.shown);
                *first = first.min(hit.shown);
            }
        }
        finds
    }

    /// When hosts with news were asked for anything but their rules, in the order of time.
    pub(crate) fn news_moments(&self) -> Vec<f64> {
        let is_news = |hit: &Hit| self.world.hosts[hit.host].has_news() && hit.what != Shown::Rules;
        let mut moments: Vec<f64> =
            self.log().iter().filter(|hit| is_news(hit)).map(|hit| hit.shown).collect();
        moments.sort_by(f64::total_cmp);
        moments
    }

    /// When a host was asked for its announcements, in the order of time.
    pub(crate) fn asked_for_announcements(&self, host: usize) -> Vec<f64> {
        let log = self.log();
        let asked = log.iter().filter(|hit| hit.host == host && hit.what == Shown::Announcements);
        let mut moments: Vec<f64> = asked.map(|hit| hit.shown).collect();
        moments.sort_by(f64::total_cmp);
        moments
    }
}
