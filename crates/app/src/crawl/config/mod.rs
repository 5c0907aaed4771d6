//! `refrain.toml`: how to crawl, as it is written.

mod given;

use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Deserialize;

use crate::data::changes::RoleChoice;
use crate::failure::Failure;
pub(crate) use given::{Bytes, Each, Listen, Period};

/// A file with every key, its default, and what it is for.
pub(crate) const EXAMPLE: &str = include_str!("refrain.toml");
/// What it is called where none is named.
const USUAL: &str = "refrain.toml";

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) seeds: Vec<String>,
    pub(crate) rate: Option<Each>,
    pub(crate) agent: Option<String>,
    pub(crate) contact: Option<String>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) follow: Option<String>,
    pub(crate) listen: Option<bool>,
    pub(crate) max_pages: Option<u64>,
    pub(crate) max_names_per_domain: Option<u64>,
    pub(crate) gap: Option<Period>,
    pub(crate) politeness: Option<Politeness>,
    pub(crate) patience: Option<f32>,
    pub(crate) per_host: Option<u16>,
    pub(crate) parallel: Option<usize>,
    pub(crate) allow_private: Option<bool>,
    pub(crate) authorities: Vec<PathBuf>,
    pub(crate) robots_for: Option<Period>,
    pub(crate) redirects: Option<usize>,
    pub(crate) changes: Option<PathBuf>,
    pub(crate) fetch: Fetch,
    pub(crate) keep: Keep,
    pub(crate) decisions: Option<Decisions>,
    pub(crate) site: Vec<Site>,
    pub(crate) webhook: Vec<Webhook>,
    pub(crate) serve: Serve,
    pub(crate) urlfrontier: UrlFrontier,
}

/// What is asked for, and how much of it is taken.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Fetch {
    pub(crate) accept: Option<String>,
    pub(crate) max_body: Option<Bytes>,
    pub(crate) connect_timeout: Option<Period>,
    pub(crate) head_timeout: Option<Period>,
    pub(crate) whole_timeout: Option<Period>,
    pub(crate) least_speed: Option<Bytes>,
    pub(crate) speed_window: Option<Period>,
}

/// How `refrain serve` listens, and how much it lets itself be asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Serve {
    pub(crate) listen: Option<String>,
    pub(crate) fetch: Option<bool>,
    pub(crate) tls_cert: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) public_url: Option<String>,
    pub(crate) lease: Option<Period>,
    pub(crate) commit_within: Option<Period>,
    pub(crate) burst: Option<Period>,
    pub(crate) connections: Option<usize>,
    pub(crate) connections_per_address: Option<usize>,
    pub(crate) requests: Option<Each>,
    pub(crate) max_body: Option<Bytes>,
    pub(crate) subscriptions: Option<usize>,
    pub(crate) indexnow_adds: Option<bool>,
    pub(crate) reads_memory: Option<Period>,
}

/// Crawlers that speak URLFrontier.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UrlFrontier {
    pub(crate) listen: Option<Listen>,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) crawl: Vec<NamedCrawl>,
}

/// Crawls, by their names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedCrawl {
    pub(crate) pattern: String,
    pub(crate) schedule: Schedule,
}

/// Who decides when to come back.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Schedule {
    Client,
    Server,
}

/// What is kept of pages.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Keep {
    pub(crate) versions: Option<u32>,
    pub(crate) age: Option<Period>,
    pub(crate) revisits: Option<bool>,
}

/// A log of every decision.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Decisions {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) file_size: Option<Bytes>,
    pub(crate) files: Option<usize>,
}

/// What counts as a change on a site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Site {
    pub(crate) start: String,
    #[serde(default)]
    pub(crate) compare: Compare,
    pub(crate) distance: Option<u32>,
    #[serde(default)]
    pub(crate) include: Vec<String>,
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    pub(crate) ignore_digits: Option<bool>,
    pub(crate) learn_noise: Option<bool>,
    pub(crate) importance: Option<f64>,
    pub(crate) half_life: Option<Period>,
}

/// What keeps requests apart by the gap, beside the host itself.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Politeness {
    /// An IP address, once more than four hosts of the crawl are there
    Auto,
    /// Nothing: each host by itself
    Host,
    /// The registrable domain
    Domain,
    /// An IP address
    Ip,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Compare {
    Exact,
    #[default]
    Text,
    Simhash,
}

/// Who is told of changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Webhook {
    pub(crate) url: String,
    pub(crate) name: Option<String>,
    pub(crate) secret_env: Option<String>,
    pub(crate) secret_file: Option<PathBuf>,
    pub(crate) batch: Option<usize>,
    #[serde(default)]
    pub(crate) roles: Vec<RoleChoice>,
}

impl Config {
    /// The file that was named, or the usual one if it is there, or nothing at all.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Failure> {
        let path = named.unwrap_or(Path::new(USUAL));
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, path).map_err(Failure::input),
            Err(why) if named.is_none() && why.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Err(Failure::input(format!(
                "{}: no such file; expected settings as `refrain config` prints them",
                path.display()
            ))),
            Err(why) => Err(Failure::system(format!("{}: cannot be read", path.display()), why)),
        }
    }

    /// What the file says; names in it are relative to its folder. An error is a sentence.
    fn parse(text: &str, path: &Path) -> Result<Self, String> {
        let mut config: Self = toml::from_str(text).map_err(|why| sentence(&why, text, path))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let here = |file: &mut PathBuf| {
            if file != Path::new("-") {
                *file = folder.join(&*file);
            }
        };
        config.data.iter_mut().chain(&mut config.changes).chain(&mut config.authorities).for_each(here);
        config.decisions.iter_mut().filter_map(|log| log.folder.as_mut()).for_each(here);
        config.webhook.iter_mut().filter_map(|hook| hook.secret_file.as_mut()).for_each(here);
        config.serve.tls_cert.iter_mut().chain(&mut config.serve.tls_key).for_each(here);
        for seed in config.seeds.iter_mut().filter(|seed| !seed.contains("://") && *seed != "-") {
            *seed = folder.join(&*seed).display().to_string();
        }
        Ok(config)
    }
}

/// Where, what, and what was expected, in one line.
fn sentence(why: &toml::de::Error, text: &str, path: &Path) -> String {
    let message = why.message().replace('\n', "; ");
    let Some(span) = why.span() else { return format!("{}: {message}", path.display()) };
    let before = text.get(..span.start).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default().trim();
    format!("{}, line {number}: `{line}`: {message}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        Config::parse(text, Path::new("refrain.toml")).unwrap_err()
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            (
                "rat = \"2/s\"\n",
                "refrain.toml, line 1: `rat = \"2/s\"`: unknown field `rat`, expected one of",
            ),
            ("\n\ngap = \"soon\"", "line 3: `gap = \"soon\"`: expected a time like 15s"),
            ("rate = \"fast\"", "line 1: `rate = \"fast\"`: expected a rate like 10/s"),
            ("[fetch]\nmax_body = \"much\"", "line 2: `max_body = \"much\"`: expected a size like 64kB"),
            ("gap = 3", "line 1: `gap = 3`: invalid type: integer `3`, expected a string"),
            ("[[site]]\ncompare = \"text\"", "missing field `start`"),
            ("[urlfrontier]\nlisten = \"nowhere\"", "line 2: `listen = \"nowhere\"`: "),
            ("[urlfrontier]\nschedule = \"maybe\"", "unknown variant `maybe`, expected `client` or `server`"),
            ("[[urlfrontier.crawl]]\nschedule = \"server\"", "missing field `pattern`"),
            ("[[site]]\nstart = \"http://a/\"\ncompare = \"colour\"", "unknown variant `colour`"),
            (
                "politeness = \"none\"",
                "unknown variant `none`, expected one of `auto`, `host`, `domain`, `ip`",
            ),
            ("rate = ", "line 1: "),
        ] {
            let said = wrong(text);
            assert!(said.contains(says) && !said.contains('\n'), "{text}: {said}");
        }
    }

    /// Every key stands in the example, and nothing else does.
    #[test]
    fn the_example_has_every_key() {
        let whole: String = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
            .fold(String::new(), |text, line| text + line + "\n");
        let config = Config::parse(&whole, Path::new("refrain.toml")).unwrap();
        assert_eq!((config.site.len(), config.webhook.len()), (1, 1));
        for (table, lines) in [
            ("", "zzz = 0"),
            ("[fetch]", "[fetch]\nzzz = 0"),
            ("[keep]", "[keep]\nzzz = 0"),
            ("[decisions]", "[decisions]\nzzz = 0"),
            ("[serve]", "[serve]\nzzz = 0"),
            ("[urlfrontier]", "[urlfrontier]\nzzz = 0"),
            ("[[site]]", "[[site]]\nzzz = 0"),
            ("[[webhook]]", "[[webhook]]\nzzz = 0"),
        ] {
            let said = wrong(lines);
            let (_, names) = said.split_once("expected one of ").unwrap();
            let names: Vec<&str> = names.split(", ").map(|name| name.trim_matches('`')).collect();
            assert!(names.len() > 2, "{said}");
            for name in names {
                let is_there = whole.lines().any(|line| {
                    line.starts_with(&format!("{name} = "))
                        || [format!("[{name}]"), format!("[[{name}]]")].contains(&line.to_owned())
                        || line.trim_matches(['[', ']']).split_once('.').is_some_and(|(_, last)| last == name)
                });
                assert!(is_there, "{table} {name} is not in the example");
            }
        }
    }

    #[test]
    fn names_are_relative_to_the_file() {
        let text = "seeds = [\"a.txt\", \"http://a/\"]\ndata = \"d\"\nchanges = \"-\"";
        let config = Config::parse(text, Path::new("/etc/x/refrain.toml")).unwrap();
        assert_eq!(config.seeds, ["/etc/x/a.txt", "http://a/"]);
        assert_eq!((config.data.unwrap(), config.changes.unwrap()), ("/etc/x/d".into(), "-".into()));
    }
}
