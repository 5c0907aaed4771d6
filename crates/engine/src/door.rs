//! How visits ask for more requests than the one that was ordered: every one is polite, and paid for.

use std::sync::Arc;

use bytes::Bytes;
use refrain_core::time::{Span, Time};
use refrain_fetch::url::PageUrl;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::event::Event;
use crate::rules::HostRules;
use crate::scope::Way;

/// The way to the one who keeps the doors. When the crawl is over nobody answers.
#[derive(Clone)]
pub(crate) struct Door {
    to: UnboundedSender<Event>,
}

/// Why a request is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    /// The crawl is over: there will be no answer.
    Over,
    /// The host's turn does not come before this moment: the page waits for it in the frontier, not in a visit.
    Later(Time),
}

/// A request to a host is under way, until this is dropped.
pub(crate) struct Inside {
    to: UnboundedSender<Event>,
    host: Option<String>,
    pub(crate) response: Option<Span>,
}

impl Door {
    pub(crate) fn new(to: UnboundedSender<Event>) -> Self {
        Self { to }
    }

    /// Where events go.
    pub(crate) fn events(&self) -> UnboundedSender<Event> {
        self.to.clone()
    }

    /// Waits until a request to a host may be made. `again`: in the place of one that was allowed before.
    pub(crate) async fn enter(&self, host: &str, again: bool) -> Result<Inside, Shut> {
        let (enter, entered) = oneshot::channel();
        let knock = Event::Knock { host: host.to_owned(), again, enter };
        self.to.send(knock).map_err(|_| Shut::Over)?;
        entered.await.map_err(|_| Shut::Over)?.map_err(Shut::Later)?;
        let host = (!again).then(|| host.to_owned());
        Ok(Inside { to: self.to.clone(), host, response: None })
    }

    /// Tells that a host has answered, or will not any more.
    pub(crate) fn answered(&self, host: &str) {
        // If nobody listens the crawl is over.
        let _ = self.to.send(Event::Answered { host: host.to_owned() });
    }

    /// Whether a redirect is followed to another host, on the way of a page of the host `from`.
    pub(crate) async fn leads(&self, way: Way, from: &str, to: &PageUrl) -> Result<bool, Shut> {
        let (reply, answer) = oneshot::channel();
        let leads = Event::Leads { way, from: from.to_owned(), to: to.clone(), reply };
        self.to.send(leads).map_err(|_| Shut::Over)?;
        answer.await.map_err(|_| Shut::Over)
    }

    /// What a host asks of crawlers, if that is known and recent.
    pub(crate) async fn rules(&self, host: &str) -> Result<Option<Arc<HostRules>>, Shut> {
        let (known, answer) = oneshot::channel();
        self.to.send(Event::Rules { host: host.to_owned(), known }).map_err(|_| Shut::Over)?;
        answer.await.map_err(|_| Shut::Over)
    }

    /// Tells that something is not as it should be, though work goes on.
    pub(crate) fn warn(&self, sentence: String) {
        let _ = self.to.send(Event::Warning(sentence));
    }

    /// Tells everybody what a host asks.
    pub(crate) fn tell(&self, host: &str, rules: Arc<HostRules>, text: Bytes) {
        // If the crawl is over nobody needs to know.
        let _ = self.to.send(Event::Ruled { host: host.to_owned(), rules, text });
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(host) = self.host.take() {
            let _ = self.to.send(Event::Left { host, response: self.response });
        }
    }
}
