//! A future that panics, and what comes in its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a future comes to, or `None` if it panicked. The panic has said so itself, on standard error.
pub(crate) struct Caught<F>(Pin<Box<F>>);

impl<F: Future> Caught<F> {
    pub(crate) fn new(future: F) -> Self {
        Self(Box::pin(future))
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // It is never polled again after a panic.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_stays_where_it_was() {
        assert_eq!(Caught::new(async { 7 }).await, Some(7));
        let fails: Option<()> = Caught::new(async { panic!("on purpose") }).await;
        assert_eq!(fails, None);
    }
}
