//! `refrain explain`: why a page is fetched, or not.

pub(crate) mod explained;
mod machine;
pub(crate) mod queued;
pub(crate) mod sheet;

use refrain_core::estimate::{Confidence, Estimate};
use refrain_core::time::Time;
use refrain_engine::{Beliefs, Believed, Clock, Outlook, RobotsSay, Standing, robots_say};
use refrain_fetch::url::PageUrl;
use refrain_store::{HostRow, Observation, PageRecord, Reader, Signal};

use super::known_page;
use crate::cli::ExplainArgs;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::progress::Progress;
use explained::{SHOWN, SURE};

/// All that decides about a page.
pub(crate) struct Facts {
    pub(crate) now: Time,
    pub(crate) page: PageRecord,
    pub(crate) host: HostRow,
    /// What robots.txt says of it; `None`: nobody asked yet.
    pub(crate) robots: Option<RobotsSay>,
    pub(crate) believed: Believed,
    /// Changes per second, and how sure its interval is.
    pub(crate) rate: Estimate,
    pub(crate) sure: f64,
    pub(crate) standing: Option<Standing>,
    pub(crate) outlook: Option<Outlook>,
    pub(crate) is_under_way: bool,
    pub(crate) looks: Vec<Observation>,
    pub(crate) signals: Vec<Signal>,
    /// Where it is in queues of other crawlers.
    pub(crate) queued: queued::Places,
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

fn gather(reader: &Reader, page: PageRecord) -> Result<Facts, Failure> {
    let now = Clock::start().now();
    let host = reader.host_by_id(page.host)?;
    let host =
        host.ok_or_else(|| Failure::OnTheWay(format!("{}: its host is missing; `refrain check`", page.url)))?;
    let standing = Standing::read(reader)?;
    let mut beliefs = {
        let _progress = Progress::spinner("learning from all pages");
        Beliefs::learn(reader, now)?
    };
    let believed = beliefs.of(&page.row(), now)?;
    let outlook = match &standing {
        Some(standing) => Some(beliefs.outlook(&page.row(), &host, standing, now)?),
        None => None,
    };
    let agent = standing.as_ref().map_or("Refrain", |standing| standing.agent.as_str());
    let url = PageUrl::parse(&page.url).ok();
    let robots = host.robots.as_ref().zip(url).map(|(robots, url)| robots_say(robots, &url, agent));
    let confidence =
        Confidence::new(SURE).ok_or_else(|| Failure::OnTheWay("no such confidence".to_owned()))?;
    Ok(Facts {
        rate: believed.changes.estimate(confidence),
        sure: SURE,
        is_under_way: reader.is_under_way(page.id)?,
        looks: reader.observations_of(page.id, SHOWN)?,
        signals: reader.signals_of(page.id, SHOWN)?,
        queued: queued::places(reader, &page.url, Some(page.id))?,
        now,
        page,
        host,
        robots,
        believed,
        standing,
        outlook,
    })
}
