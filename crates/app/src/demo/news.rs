//! News: a front page with links to the latest articles, which matter for some seconds.

use std::fmt::Write as _;

use refrain_core::time::Span;

use super::announce::LINK_TO_FEED;
use super::hosts::{Holds, Host};
use super::words::sentence;
use super::world::{World, moments, token};
use crate::synthetic::Synthetic;

/// A front page shows so many articles,
const SHOWN: usize = 20;
/// and none that is older than so many seconds.
const LINGERS: f64 = 40.0;
/// After so many seconds an article is asked for half as much.
pub(super) const HALF_LIFE: f64 = 10.0;

/// How fast interest in articles falls, per second.
pub(crate) const DECAY: f64 = std::f64::consts::LN_2 / HALF_LIFE;

/// Pages of a host with news that never change, and a form whose address differs at every visit.
pub(super) const BOILERPLATE: [&str; 3] = ["/about", "/imprint", "/subscribe"];

/// An article: it appears, and is asked for less and less.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Article {
    /// The number of its host.
    pub(crate) host: usize,
    pub(crate) path: String,
    title: String,
    /// When it appeared, in seconds; some before the start.
    pub(crate) born: f64,
    /// How many requests it gets in all its life.
    pub(crate) profit: f64,
}

impl Article {
    /// The requests that are still to come: what its first fetch is worth.
    pub(crate) fn worth(&self, time: f64) -> f64 {
        self.profit * (-DECAY * (time - self.born).max(0.0)).exp()
    }

    /// What it was worth as soon as anybody could look.
    pub(crate) fn possible(&self) -> f64 {
        self.worth(self.born.max(0.0))
    }

    fn is_shown(&self, time: f64) -> bool {
        (0.0..LINGERS).contains(&(time - self.born))
    }
}

/// The articles of a host, one every so many seconds in the mean; at the start there are some already.
pub(super) fn articles(
    host: usize,
    every: f64,
    profit: f64,
    seconds: f64,
    random: &mut Synthetic,
) -> Vec<Article> {
    let births = moments(random, 1.0 / every, LINGERS + seconds);
    let article = |(number, born): (usize, f64)| {
        let title = sentence(random, 5);
        let path = format!("/{}-{}", title.replace(' ', "-"), number + 1);
        Article { host, path, title, born: born - LINGERS, profit }
    };
    births.into_iter().enumerate().map(article).collect()
}

impl World {
    /// The articles that the front page of a host shows, and its feed, the latest first: by number.
    pub(crate) fn latest(&self, host: usize, time: f64) -> Vec<usize> {
        let of_host = self.articles.iter().enumerate().filter(|(_, article)| article.host == host);
        let mut shown: Vec<usize> =
            of_host.filter(|(_, article)| article.is_shown(time)).map(|(number, _)| number).collect();
        shown.reverse();
        shown.truncate(SHOWN);
        shown
    }

    /// The article with this address that is there by now.
    pub(crate) fn find_article(&self, host: usize, path: &str, time: f64) -> Option<usize> {
        let is_it = |article: &Article| article.host == host && article.path == path && article.born <= time;
        self.articles.iter().position(is_it)
    }

    /// What all articles that have appeared by a moment are worth together, fetched at once.
    pub(crate) fn possible_profit(&self, until: f64) -> f64 {
        self.articles.iter().filter(|article| article.born <= until).map(Article::possible).sum()
    }

    /// The front page of a host; `visit` is different each time.
    pub(super) fn front_page(&self, host: usize, time: f64, visit: u64) -> String {
        let name = &self.hosts[host].name;
        let [about, imprint, subscribe] = BOILERPLATE;
        let mut html = format!(
            "<!doctype html><html><head><meta charset=utf-8>{LINK_TO_FEED}<title>{name}</title></head><body>\
             <nav><a href={about}>About</a> <a href={imprint}>Imprint</a> \
             <a href=\"{subscribe}?session={}\">Subscribe</a></nav><main><h1>{name}</h1><ul>\n",
            token(visit)
        );
        for number in self.latest(host, time) {
            let Article { path, title, .. } = &self.articles[number];
            let _ = writeln!(html, "<li><a href=\"{path}\">{title}</a></li>");
        }
        html + "</ul></main></body></html>\n"
    }

    /// An article: it is never changed.
    pub(super) fn article_body(&self, number: usize) -> String {
        let title = &self.articles[number].title;
        let mut random = Synthetic::new(self.seed ^ 0xa27 << 32 ^ number as u64);
        let mut html = format!(
            "<!doctype html><html><head><meta charset=utf-8>{LINK_TO_FEED}<title>{title}</title></head><body>\
             <nav><a href=/>home</a></nav><main><h1>{title}</h1>\n"
        );
        for _ in 0..4 {
            let _ = writeln!(html, "<p>{}</p>", sentence(&mut random, 24));
        }
        html + "</main></body></html>\n"
    }
}

/// What is on a page that is on every site.
pub(super) fn boilerplate(path: &str) -> String {
    let title = path.trim_start_matches('/');
    format!(
        "<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head><body>\
         <nav><a href=/>home</a></nav><main><h1>{title}</h1>\n<p>Nothing of interest.</p></main></body></html>\n"
    )
}

/// What publishers tell crawlers: how much their articles matter, and for how long.
pub(crate) fn known_beforehand(world: &World, port: u16) -> Vec<(String, refrain_engine::News)> {
    let half_life = Span::from_secs(HALF_LIFE);
    let told = |host: &Host| match host.holds {
        Holds::News { profit, .. } => {
            let start = format!("http://{}.localhost:{port}/", host.name);
            Some((start, refrain_engine::News { importance: profit * DECAY, half_life }))
        }
        Holds::Pages(..) => None,
    };
    world.hosts.iter().filter_map(told).collect()
}

/// Requests per second for all articles of a host together, if it has any.
pub(super) fn asked_for(host: &Host) -> Option<f64> {
    match host.holds {
        Holds::News { every, profit } => Some(profit / every),
        Holds::Pages(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use refrain_fetch::links::links;
    use refrain_fetch::url::PageUrl;

    use super::*;

    fn paths(world: &World, time: f64, visit: u64) -> Vec<String> {
        let url = PageUrl::parse("http://sport.press.localhost/").expect("a URL");
        let found = links(&world.front_page(0, time, visit), &url, "Refrain");
        found.links.iter().map(|link| link.url.path_and_query().to_owned()).collect()
    }

    fn small() -> World {
        World::of(vec![Host::of_news("sport", 2.0, 10.0)], 3, 300.0)
    }

    #[test]
    fn a_link_comes_and_vanishes() {
        let world = small();
        for article in &world.articles[30..60] {
            let is_there = |age: f64| paths(&world, article.born + age, 1).contains(&article.path);
            assert!(!is_there(-0.001) && is_there(0.0) && !is_there(LINGERS));
        }
        // At the start there is something to read.
        assert!(world.latest(0, 0.0).len() > 5);
    }

    #[test]
    fn only_the_token_differs_between_visits() {
        let world = small();
        let (one, other) = (paths(&world, 100.0, 1), paths(&world, 100.0, 2));
        let differ: Vec<_> = one.iter().zip(&other).filter(|(one, other)| one != other).collect();
        assert!(differ.len() == 1 && differ[0].0.starts_with("/subscribe?session="), "{differ:?}");
        assert_eq!(one.len(), other.len());
        assert_eq!(one.len(), world.latest(0, 100.0).len() + BOILERPLATE.len());
        assert!(one.len() <= SHOWN + BOILERPLATE.len());
    }

    #[test]
    fn the_seed_decides() {
        let (one, other) = (small(), small());
        assert_eq!(one.articles, other.articles);
        assert_eq!(one.article_body(7), other.article_body(7));
        assert_ne!(one.article_body(7), one.article_body(8));
    }

    #[test]
    fn interest_falls_by_half_in_a_half_life() {
        let article = small().articles.pop().expect("an article");
        assert_eq!(article.worth(article.born), article.profit);
        assert!((article.worth(article.born + HALF_LIFE) / article.profit - 0.5).abs() < 1e-9);
        assert_eq!(article.possible(), article.profit);
    }
}
