//! Who lives in a small web.

/// A host of a small web.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Host {
    /// Before `.localhost`.
    pub(crate) name: String,
    pub(crate) manner: Manner,
    pub(crate) voice: Voice,
    pub(super) holds: Holds,
}

/// What there is on a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Holds {
    /// So many pages, each of which changes between every so many seconds and every so many.
    Pages(u32, (f64, f64)),
    /// A front page that shows new articles, one every so many seconds, and what each is worth while it is new.
    News { every: f64, profit: f64 },
}

/// What is special about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Nothing.
    Plain,
    /// Its pages say when they were changed last.
    Dated,
    /// Every page has a clock and a token that differ at every visit.
    Noisy,
    /// It takes its time to answer.
    Slow,
    /// It asks to be left alone now and then.
    Busy,
    /// Its robots.txt asks for a second between visits, and forbids a part.
    Shy,
}

/// How a host announces changes of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Not at all.
    Silent,
    /// A sitemap whose dates move when pages change, if not always.
    Sitemap,
    /// A sitemap that says of every page that it changed just now.
    Boast,
    /// A feed of the latest changes, and of some that were none. On a host with news: of the latest articles.
    Feed,
}

impl Voice {
    /// The kind of its signals.
    pub(crate) fn kind(self) -> Option<&'static str> {
        match self {
            Self::Silent => None,
            Self::Sitemap | Self::Boast => Some("sitemap"),
            Self::Feed => Some("feed"),
        }
    }
}

impl Host {
    pub(crate) fn of_pages(name: &str, manner: Manner, voice: Voice, pages: u32, every: (f64, f64)) -> Self {
        Self { name: name.to_owned(), manner, voice, holds: Holds::Pages(pages, every) }
    }

    /// Its name ends in [`PRESS`]: links on such hosts are followed.
    pub(crate) fn of_news(section: &str, every: f64, profit: f64) -> Self {
        let name = format!("{section}.{PRESS}");
        Self { name, manner: Manner::Plain, voice: Voice::Feed, holds: Holds::News { every, profit } }
    }

    pub(crate) fn has_news(&self) -> bool {
        matches!(self.holds, Holds::News { .. })
    }
}

/// What the names of hosts with news end in.
const PRESS: &str = "press";

/// Fits the addresses of hosts with news, and no others.
pub(crate) fn links_to_follow(port: u16) -> String {
    format!("http://*.{PRESS}.localhost:{port}/*")
}

/// The hosts of the demo: between pages that change every few seconds and archives that change every few hours; who announces changes, and
/// how well; and news.
pub(crate) fn of_demo() -> Vec<Host> {
    let silent = |name, manner, pages, every| Host::of_pages(name, manner, Voice::Silent, pages, every);
    let lively = (6.0, 180.0);
    vec![
        silent("news", Manner::Plain, 40, (2.0, 30.0)),
        silent("market", Manner::Noisy, 30, (4.0, 120.0)),
        silent("wiki", Manner::Plain, 40, (15.0, 3600.0)),
        silent("blog", Manner::Dated, 30, (60.0, 14_400.0)),
        silent("docs", Manner::Dated, 40, (600.0, 36_000.0)),
        silent("slow", Manner::Slow, 10, (10.0, 3600.0)),
        silent("busy", Manner::Busy, 12, (10.0, 3600.0)),
        silent("shy", Manner::Shy, 12, (10.0, 3600.0)),
        Host::of_pages("honest", Manner::Plain, Voice::Sitemap, 30, lively),
        Host::of_pages("boast", Manner::Plain, Voice::Boast, 30, lively),
        Host::of_pages("journal", Manner::Plain, Voice::Feed, 20, lively),
        Host::of_news("politics", 4.0, 40.0),
        Host::of_news("sport", 2.0, 10.0),
        Host::of_news("culture", 8.0, 20.0),
    ]
}

#[cfg(test)]
mod tests {
    use refrain_engine::Follow;
    use refrain_fetch::url::PageUrl;

    use super::*;

    #[test]
    fn links_on_hosts_with_news_are_followed() {
        let follow = Follow::Pattern(links_to_follow(8080));
        for host in of_demo() {
            let url = PageUrl::parse(&format!("http://{}.localhost:8080/a-b-1", host.name)).expect("a URL");
            assert_eq!(follow.leads(&url, &url), host.has_news(), "{}", host.name);
        }
    }
}
