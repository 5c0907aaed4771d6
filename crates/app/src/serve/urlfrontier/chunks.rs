//! Answers of many messages: made in chunks by somebody else, sent one by one. Nobody makes more than is about to be sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tonic::Status;
use tonic::codegen::tokio_stream::Stream;

/// So many chunks wait to be sent.
const AHEAD: usize = 1;

/// Messages, as they are sent.
pub(crate) struct Chunks<T> {
    chunk: std::vec::IntoIter<T>,
    more: Option<mpsc::Receiver<Result<Vec<T>, Status>>>,
}

/// Where the chunks come from. An error is the end.
pub(super) type To<T> = mpsc::Sender<Result<Vec<T>, Status>>;

impl<T> Chunks<T> {
    /// All of it, made already.
    pub(super) fn whole(all: Vec<T>) -> Self {
        Self { chunk: all.into_iter(), more: None }
    }

    /// The first of it, and whatever is to come.
    pub(super) fn open(first: Vec<T>) -> (To<T>, Self) {
        let (to, more) = mpsc::channel(AHEAD);
        (to, Self { chunk: first.into_iter(), more: Some(more) })
    }
}

impl<T: Unpin> Stream for Chunks<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(message) = self.chunk.next() {
                return Poll::Ready(Some(Ok(message)));
            }
            let Some(more) = &mut self.more else { return Poll::Ready(None) };
            match std::task::ready!(more.poll_recv(context)) {
                Some(Ok(chunk)) => self.chunk = chunk.into_iter(),
                Some(Err(why)) => {
                    self.more = None;
                    return Poll::Ready(Some(Err(why)));
                }
                None => self.more = None,
            }
        }
    }
}
