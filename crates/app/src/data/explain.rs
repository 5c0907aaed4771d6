//! `refrain explain`: why a page is fetched, or not.

pub(crate) mod explained;
mod machine;
pub(crate) mod queued;
pub(crate) mod sheet;
mod why;

use refrain_core::estimate::{Confidence, Estimate};
use refrain_core::time::{Span, Time};
use refrain_engine::{Beliefs, Believed, Clock, CrawlError, Outlook, RobotsSay, Standing, robots_say};
use refrain_fetch::url::PageUrl;
use refrain_store::{HostRow, Observation, PageRecord, Reader, Signal};

use super::ignored::{self, Noise};
use super::known_page;
use crate::cli::ExplainArgs;
use crate::crawl::config::Config;
use crate::crawl::wanted::rules_for;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::progress::Progress;
use explained::{SHOWN, SURE};
pub(crate) use why::why;

/// All that decides about a page.
pub(crate) struct Facts {
    pub(crate) now: Time,
    pub(crate) page: PageRecord,
    pub(crate) host: HostRow,
    /// What robots.txt says of it; `None`: nobody asked yet.
    pub(crate) robots: Option<RobotsSay>,
    pub(crate) believed: Believed,
    /// What a fetch is worth, now or when the crawl ended; `None`: not known, as nothing fetches it.
    pub(crate) value: Option<f64>,
    /// Changes per second, and how sure its interval is.
    pub(crate) rate: Estimate,
    pub(crate) sure: f64,
    pub(crate) standing: Option<Standing>,
    pub(crate) outlook: Option<Outlook>,
    /// If no crawl runs: how the last one left it.
    pub(crate) left: Option<Left>,
    pub(crate) is_under_way: bool,
    pub(crate) looks: Vec<Observation>,
    pub(crate) signals: Vec<Signal>,
    /// Where it is in queues of other crawlers.
    pub(crate) queued: queued::Places,
    /// What of it does not count as a change.
    pub(crate) noise: Option<Noise>,
}

/// How the last crawl left a data directory. What is said of a page is as of then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// When it wrote last.
    pub(crate) time: Time,
    /// Whether it ended properly; otherwise it was killed, or its machine was.
    pub(crate) ended: bool,
}

impl Left {
    /// A crawl that runs writes at least once a minute.
    const SILENT: Span = Span::from_whole_secs(180);

    /// `None` if a crawl runs, as far as can be seen from outside.
    fn of(standing: &Standing, now: Time) -> Option<Self> {
        let time = standing.time?;
        let is_silent = standing.ended || now.since(time) > Self::SILENT;
        is_silent.then_some(Self { time, ended: standing.ended })
    }
}

pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let page = match known_page(&reader, &args.url) {
        Ok(page) => page,
        // It may be somebody else's, who decides about it.
        Err(unknown) => {
            let places = queued::places(&reader, &args.url, None)?;
            return if places.is_empty() { Err(unknown) } else { only_queued(args, places) };
        }
    };
    let facts = gather(&reader, page)?;
    to_stdout(|out| {
        if args.json {
            machine::write(out, facts)
        } else {
            sheet::write(out, &facts)?;
            queued::write(out, &facts.queued, facts.now)
        }
    })
}

/// An address that is in queues only.
fn only_queued(args: &ExplainArgs, places: queued::Places) -> Result<(), Failure> {
    #[derive(serde::Serialize)]
    struct Explanation<'a> {
        url: &'a str,
        queues: Vec<queued::InQueue>,
    }
    to_stdout(|out| {
        if args.json {
            let all = Explanation { url: &args.url, queues: queued::shapes(places) };
            return writeln!(out, "{}", serde_json::to_string(&all)?);
        }
        writeln!(out, "{}", args.url)?;
        writeln!(out, "It is fetched by another crawler, which decides when.\n")?;
        queued::write(out, &places, Clock::start().now())
    })
}

/// What a crawl would believe of a page at a moment, and when its turn would come.
pub(crate) fn beliefs(
    reader: &Reader,
    page: &PageRecord,
    host: &HostRow,
    standing: Option<&Standing>,
    at: Time,
) -> Result<(Believed, Option<Outlook>), CrawlError> {
    let mut beliefs = Beliefs::learn(reader, at)?;
    let believed = beliefs.of(&page.row(), at)?;
    let outlook = standing.map(|standing| beliefs.outlook(&page.row(), host, standing, at)).transpose()?;
    Ok((believed, outlook))
}

fn gather(reader: &Reader, page: PageRecord) -> Result<Facts, Failure> {
    let now = Clock::start().now();
    let host = reader.host_by_id(page.host)?;
    let host =
        host.ok_or_else(|| Failure::OnTheWay(format!("{}: its host is missing; `refrain check`", page.url)))?;
    let standing = Standing::read(reader)?;
    let left = standing.as_ref().and_then(|standing| Left::of(standing, now));
    let (believed, outlook) = {
        let _progress = Progress::spinner("learning from all pages");
        beliefs(reader, &page, &host, standing.as_ref(), left.map_or(now, |left| left.time))?
    };
    let agent = standing.as_ref().map_or("Refrain", |standing| standing.agent.as_str());
    let url = PageUrl::parse(&page.url).ok();
    let robots = host.robots.as_ref().zip(url).map(|(robots, url)| robots_say(robots, &url, agent));
    let confidence =
        Confidence::new(SURE).ok_or_else(|| Failure::OnTheWay("no such confidence".to_owned()))?;
    Ok(Facts {
        rate: believed.changes.estimate(confidence),
        value: Some(believed.value),
        left,
        sure: SURE,
        is_under_way: reader.is_under_way(page.id)?,
        looks: reader.observations_of(page.id, SHOWN)?,
        signals: reader.signals_of(page.id, SHOWN)?,
        queued: queued::places(reader, &page.url, Some(page.id))?,
        noise: ignored::noise(reader, &page, &rules_for(&Config::find(None)?, &page.url)?)?,
        now,
        page,
        host,
        robots,
        believed,
        standing,
        outlook,
    })
}
