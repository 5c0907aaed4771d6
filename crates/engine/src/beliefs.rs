//! What a crawl that started now would believe of its pages: for people who ask, without crawling.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use refrain_core::estimate::Posterior;
use refrain_core::estimate::counts::Counts;
use refrain_core::estimate::signals::quality::Quality;
use refrain_core::frontier::{
    AgeLimits, Attentive, AttentivePage, AttentivePast, Budget, Found, Frontier, FrontierError, HostId,
    Hourly, HourlyPage, Manners, Model, Settings as FrontierSettings,
};
use refrain_core::page::SinceFetch;
use refrain_core::time::{Span, Time};
use refrain_store::{HostRow, PageRow, Reader};

use crate::CrawlError;
use crate::listening::Listening;
use crate::restore::{Learner, first_worth_at_most, is_crawled, not_before, recalled, remembered};
use crate::standing::Standing;

/// What was learned from all pages of a store. It is as large as the hosts and the shapes of addresses are many; pages come and go.
pub struct Beliefs {
    frontier: Frontier<Learner>,
    hosts: HashMap<refrain_store::HostId, HostId>,
    /// Pages of which signals may come.
    announced: HashSet<refrain_store::PageId>,
    /// Signals since the last fetch of each page, and which kinds count on which hosts.
    listening: Listening,
}

/// What is believed of a page.
#[derive(Clone, Copy, Debug)]
pub struct Believed {
    /// How often it changes, per second.
    pub changes: Posterior,
    /// What that comes from: intervals between two looks, and changes.
    pub counts: Counts,
    /// What its signals are worth; `None` if no signal of it counts.
    pub signals: Option<Quality>,
    /// How likely the copy is to be stale now; `None` if there is none.
    pub stale: Option<f64>,
    /// What a fetch now is worth: seconds for which the copy will be fresh that otherwise would not, times the importance.
    pub value: f64,
}

/// When a page's turn comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// When it is worth the price, or must be fetched, and its host lets us; `None` if waiting alone never makes it so, or the price
    /// is not known.
    pub due: Option<Time>,
    /// After failures: not before this moment.
    pub not_before: Option<Time>,
}

impl Beliefs {
    /// Learns from all pages of a store, as a crawl does when it starts.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn learn(reader: &Reader, now: Time) -> Result<Self, CrawlError> {
        let learner = Hourly::new(Attentive::default());
        let frontier = Frontier::new(learner, Budget::Rate(1.0), FrontierSettings::default(), now)?;
        let (hosts, announced) = (HashMap::new(), HashSet::new());
        let mut beliefs = Self { frontier, hosts, announced, listening: Listening::default() };
        beliefs.recall_signals(reader)?;
        let mut failed = None;
        reader.pages(|row| {
            // What is not crawled teaches nothing.
            if !is_crawled(row.state) {
                return ControlFlow::Continue(());
            }
            let host = beliefs.host(row.host);
            let heard = beliefs.announced.contains(&row.id);
            match recalled(beliefs.frontier.model_mut().inner_mut(), &row, host, (now, heard)) {
                Ok(_) => ControlFlow::Continue(()),
                Err(why) => {
                    failed = Some(why);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(beliefs), |why| Err(why.into()))
    }

    fn recall_signals(&mut self, reader: &Reader) -> Result<(), CrawlError> {
        let mut hosts = HashMap::new();
        for voice in reader.voices()? {
            if let Some(row) = reader.host(&voice.host)? {
                hosts.insert(voice.host, self.host(row.id));
            }
        }
        let learner = self.frontier.model_mut().inner_mut();
        self.listening = Listening::recall(reader, learner, |name| hosts.get(name).copied())?;
        let announced = &mut self.announced;
        reader.announced(|page, _, _| {
            announced.insert(page);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Signals since the last fetch of a page that count on its host, as in the crawl.
    fn signals(&mut self, row: &PageRow<'_>) -> u32 {
        let host = self.host(row.host);
        self.listening.heard_of(row.id, host)
    }

    fn host(&mut self, host: refrain_store::HostId) -> HostId {
        let frontier = &mut self.frontier;
        *self.hosts.entry(host).or_insert_with(|| frontier.add_host(Manners::default()))
    }

    fn consider(
        &mut self,
        row: &PageRow<'_>,
        now: Time,
    ) -> Result<(AttentivePage, AttentivePast, Posterior), FrontierError> {
        let host = self.host(row.host);
        let heard = self.announced.contains(&row.id);
        let learner = self.frontier.model_mut().inner_mut();
        let (mut page, mut past) = remembered(learner, row, host, (now, heard))?;
        let belief = learner.consider(&mut page, &mut past, host);
        Ok((page, past, belief))
    }

    /// What is believed of a page now.
    ///
    /// # Errors
    /// If its importance is no number.
    pub fn of(&mut self, row: &PageRow<'_>, now: Time) -> Result<Believed, CrawlError> {
        let (page, past, changes) = self.consider(row, now)?;
        let (stale, value) = match row.fetched {
            Some(fetched) => {
                let (elapsed, signals) = (now.since(fetched).as_secs(), self.signals(row));
                let survival = page.log_fresh(elapsed, signals).unwrap_or(changes.log_survival(elapsed));
                let since = SinceFetch::with_signals(fetched, signals);
                (Some(-survival.exp_m1()), self.frontier.model().value(&HourlyPage::new(page), &since, now))
            }
            None => (None, first_worth_at_most(row.importance, &row.origin).profit),
        };
        let signals = page.quality().filter(|quality| page.is_heard() && quality.signal_rate() > 0.0);
        Ok(Believed { changes, counts: past.history().counts(), signals, stale, value })
    }

    /// When a page's turn comes, if the crawl goes on as it stands.
    ///
    /// # Errors
    /// If its importance is no number.
    pub fn outlook(
        &mut self,
        row: &PageRow<'_>,
        host: &HostRow,
        standing: &Standing,
        now: Time,
    ) -> Result<Outlook, CrawlError> {
        let not_before = not_before(row, now);
        let price = standing.price.filter(|_| is_crawled(row.state)).map(|price| price.value);
        let Some(price) = price else {
            return Ok(Outlook { due: None, not_before });
        };
        let (page, past, _) = self.consider(row, now)?;
        // A frontier with this page alone, which costs what it costs there.
        let budget = Budget::Price { price, cap: standing.rate };
        let mut frontier = Frontier::new(Learner::default(), budget, FrontierSettings::default(), now)?;
        let gap = host.gap.unwrap_or(Span::ZERO).max(standing.gap);
        let id = frontier.add_host(Manners { gap, ..Manners::default() });
        let page = HourlyPage::new(page);
        let page = if let Some(fetched) = row.fetched {
            frontier.insert_with_past(now, page, past, id, fetched)?
        } else {
            let interest = first_worth_at_most(row.importance, &row.origin);
            let found = Found { page, host: id, born: row.born().min(now), interest };
            frontier.discover_with_past(now, found, past)?
        };
        for _ in 0..self.signals(row) {
            frontier.signal(now, page)?;
        }
        if let Some(most) = row.max_age {
            frontier.limit_age(now, page, AgeLimits { most, ..AgeLimits::default() })?;
        }
        let opens = not_before.into_iter().chain(host.back_off_until).max().unwrap_or(now);
        let due = frontier.explain(now, page, price)?.due.map(|due| due.max(opens));
        Ok(Outlook { due, not_before: not_before.filter(|until| *until > now) })
    }
}
