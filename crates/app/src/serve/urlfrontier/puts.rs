//! New URLs, and what became of others: PutURLs and PutDiscovered.
//!
//! A stream is one state machine, driven by whoever sends its answers: what has come is gathered, handed to the queues, and acknowledged in
//! order once it is on the disk. Several batches are under way at a time, so that neither the network nor the disk waits for the other. If
//! acknowledgements are not read, nobody drives it, and soon nothing more is taken from the client.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use refrain_engine::Over;
use refrain_engine::queues::{Put, Queues, Took};
use tokio::sync::watch;
use tonic::codegen::tokio_stream::Stream;
use tonic::{Status, Streaming};

use super::counts::Counts;
use super::judge::{Judge, Spoken};
use super::refused;
use super::service::Frontier;

/// So many items are handed in together.
const TOGETHER: usize = 1024;
/// While a batch is under way, so many items are gathered before they are handed in: a commit for each of them would cost several times as much as all
/// else that is done for them.
const ENOUGH: usize = 256;
/// And so many bytes.
const BYTES: usize = 512 << 10;
/// So many batches are under way.
const UNDER_WAY: usize = 4;

type Answer = Pin<Box<dyn Future<Output = Result<Vec<Took>, Over>> + Send>>;

/// A stream of what is said, and of the acknowledgements.
pub(crate) struct Puts<S: Spoken> {
    said: Streaming<S>,
    queues: Queues,
    counts: Arc<Counts>,
    judge: Judge,
    gathered: Gathered<S::Ack>,
    /// Acknowledgements that may be sent.
    ready: std::vec::IntoIter<S::Ack>,
    under_way: VecDeque<Batch<S::Ack>>,
    /// No more is taken; what is to be said of that in the end.
    end: Option<Result<(), Status>>,
    /// When the server ends, so does this.
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Items that came and were not handed in yet.
struct Gathered<A> {
    acks: Vec<A>,
    puts: Vec<Put>,
    bytes: usize,
    /// Whether they came before what had been handed in was acknowledged: their client does not wait for each acknowledgement.
    is_patient: bool,
}

impl<A> Default for Gathered<A> {
    fn default() -> Self {
        Self { acks: Vec::new(), puts: Vec::new(), bytes: 0, is_patient: false }
    }
}

/// Items that were handed in together.
struct Batch<A> {
    acks: Vec<A>,
    answer: Result<Vec<Took>, Over>,
    awaits: Option<Answer>,
    /// The next one is handed in when this one is done.
    settles: bool,
}

impl<S: Spoken> Puts<S> {
    pub(super) fn new(said: Streaming<S>, frontier: &Frontier, mut closing: watch::Receiver<bool>) -> Self {
        let (queues, counts) = (frontier.queues.clone(), Arc::clone(&frontier.counts));
        counts.opened();
        Self {
            said,
            judge: Judge::new(queues.clone()),
            gathered: Gathered::default(),
            queues,
            counts,
            ready: Vec::new().into_iter(),
            under_way: VecDeque::with_capacity(UNDER_WAY),
            end: None,
            closing: Box::pin(async move {
                // Whoever could say so no more has ended as well.
                let _ = closing.wait_for(|closing| *closing).await;
            }),
        }
    }

    /// Takes what has come, as far as it fits, and hands it in. `Pending` if nothing has, if it was the last, or if more may come before what is
    /// under way is done.
    fn take(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let waits = self.under_way.back().is_some_and(|last| last.settles);
        if waits || self.under_way.len() >= UNDER_WAY {
            return Poll::Pending;
        }
        if self.end.is_none() && self.closing.as_mut().poll(context).is_ready() {
            self.end = Some(Err(Status::unavailable("the server is ending")));
        }
        self.gather(context);
        let has_enough = self.gathered.acks.len() >= ENOUGH || self.gathered.bytes >= BYTES;
        if self.gathered.acks.is_empty() || !(has_enough || self.end.is_some() || self.under_way.is_empty()) {
            return Poll::Pending;
        }
        let Gathered { acks, puts, is_patient, .. } = std::mem::take(&mut self.gathered);
        let settles = self.judge.settles();
        let mut batch = Batch { acks, answer: Ok(Vec::new()), awaits: None, settles };
        if !puts.is_empty() {
            let (queues, is_patient) = (self.queues.clone(), is_patient && !has_enough);
            batch.awaits = Some(Box::pin(async move { queues.put(puts, is_patient).await }));
            // It is handed in by this, and with it its place among the others.
            let _ = batch.poll(context);
        }
        self.under_way.push_back(batch);
        Poll::Ready(())
    }

    /// Reads what has come, as far as it fits into a batch.
    fn gather(&mut self, context: &mut Context<'_>) {
        let gathered = &mut self.gathered;
        if gathered.acks.is_empty() {
            self.judge.refresh();
        }
        while self.end.is_none() && gathered.acks.len() < TOGETHER && gathered.bytes < BYTES {
            if gathered.puts.len() >= TOGETHER {
                break;
            }
            match Pin::new(&mut self.said).poll_next(context) {
                Poll::Ready(Some(Ok(said))) => {
                    gathered.is_patient |= !self.under_way.is_empty();
                    gathered.bytes += said.weight();
                    gathered.acks.push(said.judged(&mut self.judge, &mut gathered.puts));
                }
                Poll::Ready(Some(Err(why))) => self.end = Some(Err(why)),
                Poll::Ready(None) => self.end = Some(Ok(())),
                Poll::Pending => break,
            }
        }
    }

    /// The acknowledgements of a batch.
    fn settle(&mut self, batch: Batch<S::Ack>) {
        let Batch { mut acks, answer, .. } = batch;
        match answer {
            Ok(took) => {
                let judge = &mut self.judge;
                let mut answers = took.into_iter().map(|took| judge.answered(took));
                for ack in &mut acks {
                    S::settle(ack, &mut answers);
                }
                self.judge.count(&self.counts);
                self.ready = acks.into_iter();
            }
            Err(over) => {
                self.under_way.clear();
                self.end = Some(Err(refused::over(over)));
            }
        }
    }
}

impl<A> Batch<A> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(awaits) = &mut self.awaits {
            self.answer = std::task::ready!(awaits.as_mut().poll(context));
            self.awaits = None;
        }
        Poll::Ready(())
    }
}

impl<S: Spoken> Stream for Puts<S> {
    type Item = Result<S::Ack, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(ack) = this.ready.next() {
                return Poll::Ready(Some(Ok(ack)));
            }
            while this.take(context).is_ready() {}
            match this.under_way.front_mut() {
                Some(batch) => {
                    std::task::ready!(batch.poll(context));
                    if let Some(batch) = this.under_way.pop_front() {
                        this.settle(batch);
                    }
                }
                None => match &mut this.end {
                    None => return Poll::Pending,
                    Some(end) => {
                        let end = std::mem::replace(end, Ok(()));
                        return Poll::Ready(end.err().map(Err));
                    }
                },
            }
        }
    }
}
