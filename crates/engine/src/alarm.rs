//! Work on tasks and threads of its own must not end unnoticed: a crawl would wait for it for ever, or go on without it.

use tokio::sync::mpsc::UnboundedSender;

use crate::event::Event;

/// Held by work while it runs. If the work ends without saying that it is done, because it panicked, the crawl hears of it.
pub(crate) struct Alarm {
    events: UnboundedSender<Event>,
    /// What is done, for people; and the visit, if it is one. `None`: it is done.
    work: Option<(String, Option<u64>)>,
}

impl Alarm {
    pub(crate) fn new(events: UnboundedSender<Event>, what: String, visit: Option<u64>) -> Self {
        Self { events, work: Some((what, visit)) }
    }

    /// The work has ended as it should.
    pub(crate) fn done(mut self) {
        self.work = None;
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some((what, visit)) = self.work.take() {
            // If nobody listens the crawl is over.
            let _ = self.events.send(Event::Panicked { what, visit });
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_heard_of_and_an_end_is_not() {
        let (to, mut events) = unbounded_channel();
        let alarm = |what: &str| Alarm::new(to.clone(), what.to_owned(), Some(7));
        let (fails, ends) = (alarm("it"), alarm("something else"));
        let failed = tokio::spawn(async move {
            let _alarm = fails;
            panic!("on purpose");
        });
        assert!(failed.await.is_err());
        ends.done();
        let heard = events.try_recv();
        assert!(matches!(heard, Ok(Event::Panicked { what, visit: Some(7) }) if what == "it"));
        assert!(events.try_recv().is_err());
    }
}
