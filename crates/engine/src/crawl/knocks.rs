//! Requests beside those that were ordered wait here for their turn.

use refrain_core::frontier::{Frontier, FrontierError, HostId, Knock};
use refrain_core::time::{Span, Time};
use tokio::sync::oneshot;

use crate::restore::Learner;

/// Who waits, the longest first.
#[derive(Default)]
pub(super) struct Knocks {
    waiting: Vec<Waiting>,
    closed: bool,
}

struct Waiting {
    host: HostId,
    again: bool,
    enter: oneshot::Sender<Result<(), Time>>,
}

/// Where as many requests as a host allows are under way, that may be over at any moment.
const SOON: Span = Span::from_millis(20);

/// Nobody waits here for longer. Hosts may ask for gaps of hours: whoever waited for those would keep others from being visited.
const PATIENCE: Span = Span::from_whole_secs(30);

impl Knocks {
    pub(super) fn wait(&mut self, host: HostId, again: bool, enter: oneshot::Sender<Result<(), Time>>) {
        // Who is not let wait is told so by the end of the channel.
        if !self.closed {
            self.waiting.push(Waiting { host, again, enter });
        }
    }

    /// Nobody enters any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
    }

    /// Lets in who may enter now, and counts them. A moment at which the next one may.
    pub(super) fn serve(
        &mut self,
        frontier: &mut Frontier<Learner>,
        requests: &mut u64,
        now: Time,
    ) -> Result<Time, FrontierError> {
        let mut next = Time::MAX;
        let mut left = Vec::with_capacity(self.waiting.len());
        for waiting in self.waiting.drain(..) {
            if waiting.enter.is_closed() {
                continue;
            }
            let answer = if waiting.again {
                frontier.knock_again(now, waiting.host)?
            } else {
                frontier.knock(now, waiting.host)?
            };
            match answer {
                // If it went away just now, a request is paid for that is not made.
                Knock::Enter => {
                    *requests += 1;
                    let _ = waiting.enter.send(Ok(()));
                }
                Knock::Later(when) if when < Time::MAX && when.since(now) > PATIENCE => {
                    let _ = waiting.enter.send(Err(when));
                }
                Knock::Later(when) => {
                    next = next.min(if when == Time::MAX { now + SOON } else { when });
                    left.push(waiting);
                }
            }
        }
        self.waiting = left;
        Ok(next)
    }
}
