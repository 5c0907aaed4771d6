//! What is wanted of a crawl: what was typed goes first, then what the file says, then what is usual.

use std::path::{Path, PathBuf};
use std::time::Duration;

use refrain_core::time::Span;
use refrain_engine::{Follow, News, Politeness, Settings, Until};
use refrain_fetch::change::{By, Rules};
use refrain_fetch::client;
use refrain_fetch::text::Selectors;
use refrain_store::{GREATEST_IMPORTANCE, Retention};

use super::config::{self, Compare, Config, Keep, Period, Site};
use super::webhook::Hook;
use crate::cli::CrawlArgs;
use crate::decisions;
use crate::failure::Failure;

/// The distance between sketches that is no change, if nothing else is said.
const USUAL_DISTANCE: u32 = 3;

/// The budget of a server that only schedules, if nothing else is said: ten fetches a second. It holds for what other fetchers are told to fetch; a
/// client-scheduled crawl of a frontier needs none.
const PERIOD_WITHOUT_FETCHING: Span = Span::from_millis(100);

/// What is wanted of a crawl.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) seeds: Vec<String>,
    pub(crate) data: PathBuf,
    pub(crate) changes: Option<PathBuf>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) decisions: Option<decisions::Wanted>,
    pub(crate) settings: Settings,
}

impl Wanted {
    /// `fetches`: whether it goes out into the web by itself, for which it needs a name.
    pub(crate) fn new(args: &CrawlArgs, config: Config, fetches: bool) -> Result<Self, Failure> {
        let (settings, hooks) = (settings(args, &config, fetches)?, hooks(&config)?);
        let seeds = if args.seeds.is_empty() { config.seeds } else { args.seeds.clone() };
        let data = args.data.clone().or(config.data).unwrap_or_else(|| PathBuf::from("refrain-data"));
        let decisions = logged(args.decisions.as_deref(), config.decisions.as_ref(), &data)?;
        let changes = args.changes.clone().or(config.changes);
        Ok(Self { seeds, data, changes, hooks, decisions, settings })
    }

    /// Whether standard output belongs to the changes.
    pub(crate) fn changes_to_stdout(&self) -> bool {
        self.changes.as_deref() == Some(Path::new("-"))
    }
}

/// Which log of decisions is wanted, if one is.
pub(crate) fn logged(
    typed: Option<&Path>,
    written: Option<&config::Decisions>,
    data: &Path,
) -> Result<Option<decisions::Wanted>, Failure> {
    if typed.is_none() && written.is_none() {
        return Ok(None);
    }
    let folder = typed.or_else(|| written?.folder.as_deref());
    let usual =
        decisions::Wanted::new(folder.map_or_else(|| data.join(decisions::USUAL_FOLDER), Path::to_path_buf));
    let files = written.and_then(|log| log.files).unwrap_or(usual.files);
    if files == 0 {
        return Err(Failure::input("decisions.files is 0; expected at least 1"));
    }
    let file_size = written.and_then(|log| log.file_size).map_or(usual.file_size, |size| size.0);
    Ok(Some(decisions::Wanted { file_size, files, ..usual }))
}

fn hooks(config: &Config) -> Result<Vec<Hook>, Failure> {
    let hooks: Vec<Hook> = config.webhook.iter().map(Hook::new).collect::<Result<_, _>>()?;
    for (index, hook) in hooks.iter().enumerate() {
        if hooks[..index].iter().any(|other| other.name() == hook.name()) {
            return Err(Failure::input(format!(
                "[[webhook]] {}: there are two of this name; expected a name of its own for each",
                hook.name()
            )));
        }
    }
    Ok(hooks)
}

fn settings(args: &CrawlArgs, config: &Config, fetches: bool) -> Result<Settings, Failure> {
    let usual = Settings::default();
    let usual_rate = (!fetches).then_some(PERIOD_WITHOUT_FETCHING);
    let rate = args.rate.or(config.rate.map(|rate| rate.0)).or(usual_rate).ok_or_else(|| {
        Failure::input(
            "the budget is missing; expected --rate, or a rate in refrain.toml, like 2/s for two requests a second",
        )
    })?;
    let patience = args.patience.or(config.patience).unwrap_or(usual.patience);
    if !(patience.is_finite() && patience >= 0.0) {
        return Err(Failure::input("--patience: expected a number that is not negative"));
    }
    let at_least_one = |name: &str, number: usize| {
        if number == 0 {
            Err(Failure::input(format!("{name} is 0; expected at least 1")))
        } else {
            Ok(number)
        }
    };
    let per_host = config.per_host.unwrap_or(usual.per_host);
    at_least_one("per_host", per_host.into())?;
    let parallel = at_least_one("parallel", config.parallel.unwrap_or(usual.parallel))?;
    let until = match (args.duration, args.once) {
        (Some(span), _) => Until::After(span),
        (None, true) => Until::Once,
        (None, false) => Until::Stopped,
    };
    let agent = agent(args, config, fetches)?;
    let client = client(args, config, &agent)?;
    Ok(Settings {
        rate: 1.0 / rate.as_secs(),
        gap: args.gap.or(config.gap.map(|gap| gap.0)).unwrap_or(usual.gap),
        patience,
        per_host,
        parallel,
        agent,
        client,
        rules: all_rules(config)?,
        follow: follow(args.follow.as_ref().or(config.follow.as_ref()))?,
        listen: !args.no_listen && config.listen.unwrap_or(usual.listen),
        news: config.site.iter().filter_map(|site| news(site).transpose()).collect::<Result<_, _>>()?,
        most_pages: args.max_pages.or(config.max_pages).unwrap_or(usual.most_pages),
        politeness: match args.politeness.or(config.politeness) {
            None | Some(config::Politeness::Auto) => Politeness::Auto,
            Some(config::Politeness::Host) => Politeness::Host,
            Some(config::Politeness::Domain) => Politeness::Domain,
            Some(config::Politeness::Ip) => Politeness::Ip,
        },
        most_names: match config.max_names_per_domain {
            Some(0) => return Err(Failure::input("max_names_per_domain is 0; expected at least 1")),
            given => given.unwrap_or(usual.most_names),
        },
        robots_for: config.robots_for.map_or(usual.robots_for, |period| period.0),
        redirects: config.redirects.unwrap_or(usual.redirects),
        revisits: config.keep.revisits.unwrap_or(usual.revisits),
        retention: retention(&config.keep)?,
        until,
        ..usual
    })
}

fn client(args: &CrawlArgs, config: &Config, agent: &str) -> Result<client::Settings, Failure> {
    let usual = client::Settings::default();
    let contact = args.contact.as_ref().or(config.contact.as_ref());
    let about = contact.map(|contact| format!(" (+{contact})")).unwrap_or_default();
    let fetch = &config.fetch;
    let time = |name: &str, given: Option<Period>, usual: Duration| match given {
        Some(Period(Span::ZERO)) => Err(Failure::input(format!("{name} is no time at all; expected some"))),
        Some(Period(span)) => Ok(Duration::from_nanos(span.as_nanos())),
        None => Ok(usual),
    };
    let authorities = if args.authorities.is_empty() { &config.authorities } else { &args.authorities };
    Ok(client::Settings {
        user_agent: format!("{agent}/{}{about}", env!("CARGO_PKG_VERSION")),
        accept: fetch.accept.clone().unwrap_or(usual.accept),
        max_body: fetch.max_body.map_or(usual.max_body, |size| size.0 as usize),
        connect_timeout: time("connect_timeout", fetch.connect_timeout, usual.connect_timeout)?,
        head_timeout: time("head_timeout", fetch.head_timeout, usual.head_timeout)?,
        whole_timeout: time("whole_timeout", fetch.whole_timeout, usual.whole_timeout)?,
        least_speed: fetch.least_speed.map_or(usual.least_speed, |size| size.0),
        speed_window: time("speed_window", fetch.speed_window, usual.speed_window)?,
        allow_private: args.allow_private || config.allow_private.unwrap_or(false),
        extra_authorities: authorities.clone(),
        ..client::Settings::default()
    })
}

/// The crawler's name. Nobody goes out into the web without one, and without somebody who answers for it.
fn agent(args: &CrawlArgs, config: &Config, fetches: bool) -> Result<String, Failure> {
    let agent = args.agent.as_ref().or(config.agent.as_ref());
    let contact = args.contact.as_ref().or(config.contact.as_ref());
    let is_private = args.allow_private || config.allow_private.unwrap_or(false);
    match (agent, contact) {
        (Some(agent), _) if agent.is_empty() || !agent.chars().all(is_token) => Err(Failure::input(format!(
            "--agent {agent}: cannot be found in a robots.txt; expected letters, digits, - and _"
        ))),
        (Some(agent), Some(_)) => Ok(agent.clone()),
        (agent, _) if is_private || !fetches => Ok(agent.cloned().unwrap_or_else(|| "Refrain".to_owned())),
        _ => Err(Failure::input(
            "--agent and --contact are missing: sites must be able to tell who visits them, and whom to ask; \
             expected a name and an address (--allow-private is for your own)",
        )),
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn follow(which: Option<&String>) -> Result<Option<Follow>, Failure> {
    Ok(match which.map(String::as_str) {
        None => None,
        Some("same-host") => Some(Follow::SameHost),
        Some("same-site") => Some(Follow::SameSite),
        Some(pattern) if pattern.contains("://") => Some(Follow::Pattern(pattern.to_owned())),
        Some(pattern) => {
            return Err(Failure::input(format!(
                "--follow {pattern}: this fits no address; expected same-host, same-site, or a pattern like https://example.org/news/*"
            )));
        }
    })
}

/// For how long what is new on a site matters, if that is said.
fn news(site: &Site) -> Result<Option<(String, News)>, Failure> {
    let wrong = |why: &str| Err(Failure::input(format!("[[site]] {}: {why}", site.start)));
    let importance = site.importance.unwrap_or(1.0);
    if !(0.0..=GREATEST_IMPORTANCE).contains(&importance) {
        return wrong(&format!(
            "the importance is {importance}; expected a number from 0 to {GREATEST_IMPORTANCE:e}"
        ));
    }
    match (site.half_life, site.importance) {
        (Some(Period(Span::ZERO)), _) => wrong("half_life is no time at all; expected some"),
        (Some(Period(half_life)), _) => Ok(Some((site.start.clone(), News { importance, half_life }))),
        (None, Some(_)) => wrong("importance is for pages that are news; expected a half_life with it"),
        (None, None) => Ok(None),
    }
}

fn retention(keep: &Keep) -> Result<Option<Retention>, Failure> {
    if keep.versions == Some(0) {
        return Err(Failure::input(
            "keep.versions is 0; expected at least 1: the latest copy is always kept",
        ));
    }
    let retention = Retention { most_bodies: keep.versions, longest: keep.age.map(|age| age.0) };
    Ok((retention != Retention::default()).then_some(retention))
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// What counts as a change of a page: the longest beginning that fits decides.
/// What counts as a change, by beginnings of addresses.
pub(crate) fn all_rules(config: &Config) -> Result<Vec<(String, Rules)>, Failure> {
    config.site.iter().map(rules).collect()
}

pub(crate) fn rules_for(config: &Config, url: &str) -> Result<Rules, Failure> {
    SiteRules::of(config).map(|rules| rules.of_page(url))
}

/// What counts as a change, for all addresses that begin alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteRules(pub(crate) Vec<(String, Rules)>);

impl SiteRules {
    /// As the settings have it.
    pub(crate) fn of(config: &Config) -> Result<Self, Failure> {
        config.site.iter().map(rules).collect::<Result<_, _>>().map(Self)
    }

    /// What counts as a change of a page: the rules with the longest beginning that fits.
    pub(crate) fn of_page(&self, url: &str) -> Rules {
        let fits = self.0.iter().filter(|(start, _)| url.starts_with(start.as_str()));
        fits.max_by_key(|(start, _)| start.len()).map(|(_, rules)| rules.clone()).unwrap_or_default()
    }
}

fn rules(site: &Site) -> Result<(String, Rules), Failure> {
    let wrong = |why: String| Failure::input(format!("[[site]] {}: {why}", site.start));
    if !site.start.contains("://") {
        return Err(wrong(
            "no address begins like this; expected one like https://example.org/news/".to_owned(),
        ));
    }
    let by = match (site.compare, site.distance) {
        (Compare::Simhash, distance) => By::Simhash { distance: distance.unwrap_or(USUAL_DISTANCE) },
        (_, Some(_)) => return Err(wrong("distance is for compare = \"simhash\" only".to_owned())),
        (Compare::Exact, None) => By::Exact,
        (Compare::Text, None) => By::Text,
    };
    if let By::Simhash { distance: 64.. } = by {
        return Err(wrong("the distance is more than 63: nothing would ever be a change".to_owned()));
    }
    let selectors = Selectors::new(&texts(&site.include), &texts(&site.ignore));
    let usual = Rules::default();
    let rules = Rules {
        by,
        selectors: selectors.map_err(|why| wrong(why.to_string()))?,
        ignore_digits: site.ignore_digits.unwrap_or(usual.ignore_digits),
        learn_noise: site.learn_noise.unwrap_or(usual.learn_noise),
        quick: usual.quick,
    };
    Ok((site.start.clone(), rules))
}
