//! What a sitemap says.

use super::Scope;
use crate::announce::when::When;
use crate::url::PageUrl;

/// One thing that a sitemap names.
#[derive(Clone, Debug, PartialEq)]
pub enum Announced {
    /// A page.
    Page(Page),
    /// Another sitemap.
    Sitemap(Sitemap),
}

/// A page, and what its site says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Where it is.
    pub url: PageUrl,
    /// How it stands to the sitemap that names it.
    pub scope: Scope,
    /// When it is said to have changed last. Nothing is checked: [`When::judged`] tells what is absurd.
    pub last_modified: Option<When>,
    /// How often it is said to change.
    pub change_frequency: Option<ChangeFrequency>,
    /// How much it is said to matter beside others of its site, 0 to 1.
    pub priority: Option<f64>,
    /// For an article: what the news extension says.
    pub news: Option<News>,
}

/// A sitemap that an index names.
#[derive(Clone, Debug, PartialEq)]
pub struct Sitemap {
    /// Where it is.
    pub url: PageUrl,
    /// How it stands to the index.
    pub scope: Scope,
    /// When it is said to have changed last.
    pub last_modified: Option<When>,
}

/// What the news extension says of an article.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// When it was published.
    pub published: Option<When>,
    /// Its headline.
    pub title: Option<String>,
}

/// `changefreq`: how often a site says that a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeFrequency {
    /// Each time it is looked at.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// It is an archive.
    Never,
}

impl ChangeFrequency {
    /// Reads one of the protocol's seven words.
    pub fn parse(text: &str) -> Option<Self> {
        const WORDS: [(&str, ChangeFrequency); 7] = [
            ("always", ChangeFrequency::Always),
            ("hourly", ChangeFrequency::Hourly),
            ("daily", ChangeFrequency::Daily),
            ("weekly", ChangeFrequency::Weekly),
            ("monthly", ChangeFrequency::Monthly),
            ("yearly", ChangeFrequency::Yearly),
            ("never", ChangeFrequency::Never),
        ];
        WORDS.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim())).map(|(_, meant)| meant)
    }
}

/// A `priority` between 0 and 1; `None` if it is no number.
pub(super) fn priority(text: &str) -> Option<f64> {
    let number: f64 = text.trim().replace(',', ".").parse().ok()?;
    number.is_finite().then(|| number.clamp(0.0, 1.0))
}
