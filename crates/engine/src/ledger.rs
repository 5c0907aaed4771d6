//! How far readers of the change feed have come.

use refrain_store::Seq;
use tokio::sync::mpsc::UnboundedSender;

use crate::event::Event;

/// Where those who pass on changes say how far they have come.
#[derive(Clone)]
pub struct Ledger {
    to: UnboundedSender<Event>,
}

impl Ledger {
    pub(crate) fn new(to: UnboundedSender<Event>) -> Self {
        Self { to }
    }

    /// This reader has all changes up to this one. Whether there is a crawl that writes it down.
    pub fn delivered(&self, reader: &str, seq: Seq) -> bool {
        self.to.send(Event::Delivered { reader: reader.to_owned(), seq }).is_ok()
    }
}
