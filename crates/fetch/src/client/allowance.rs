//! The memory that bodies under way may take, all requests of a client together.
//!
//! A body of up to [`SMALL`] bytes needs no room. A larger one needs a place among the medium ones, and one beyond [`MEDIUM`] bytes room for all that
//! it may become; while it waits for that it is not read. A fetch that has large room waits for nothing, and one that has a medium place only for
//! large room: so no two wait for each other.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::FetchError;

/// Bodies up to this size, as sent and as decoded, need no room.
pub(super) const SMALL: usize = 128 << 10;
/// Bodies up to this size need a medium place.
pub(super) const MEDIUM: usize = 1 << 20;
/// So many medium bodies are under way at the same time,
const PLACES: usize = 16;
/// and beside them so many that are left as they came: sitemaps, which wait for each other until they are read, keep no page waiting.
const PLACES_FOR_CODED: usize = 8;
/// The room for large bodies, in all.
const ROOM: usize = 96 << 20;
/// So many bodies are decoded at the same time: decoders take up to 16 MB each, whatever comes of the body.
const DECODERS: usize = 3;
/// Room is counted in pieces of this size.
const PIECE: usize = 1 << 10;
/// A fetch that gets no room for so long is given up, and made again later: it keeps its host waiting.
const PATIENCE: Duration = Duration::from_secs(30);

/// The memory for bodies. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    medium: Arc<Semaphore>,
    medium_coded: Arc<Semaphore>,
    large: Arc<Semaphore>,
    decoders: Arc<Semaphore>,
}

/// Room that is taken until this and all its clones are dropped.
#[derive(Clone, Debug, Default)]
pub struct Hold {
    _room: Option<Arc<OwnedSemaphorePermit>>,
}

/// The room of a fetch under way.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    allowance: &'a Allowance,
    /// Where its medium place is.
    places: &'a Arc<Semaphore>,
    medium: Option<OwnedSemaphorePermit>,
    large: Option<OwnedSemaphorePermit>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            medium: Arc::new(Semaphore::new(PLACES)),
            medium_coded: Arc::new(Semaphore::new(PLACES_FOR_CODED)),
            large: Arc::new(Semaphore::new(ROOM / PIECE)),
            decoders: Arc::new(Semaphore::new(DECODERS)),
        }
    }
}

impl Allowance {
    /// The room of a fetch that begins. `keep_coded`: its body is left as it comes.
    pub(super) fn claim(&self, keep_coded: bool) -> Claim<'_> {
        let places = if keep_coded { &self.medium_coded } else { &self.medium };
        Claim { allowance: self, places, medium: None, large: None }
    }
}

impl Claim<'_> {
    /// Makes sure of room for a body of `size` bytes; one that does not fit a medium place may come to need `most` bytes, and then waits for as
    /// much as that, or for all there is.
    pub(super) async fn reserve(&mut self, size: usize, most: usize) -> Result<(), FetchError> {
        if size <= SMALL || self.large.is_some() || (size <= MEDIUM && self.medium.is_some()) {
            return Ok(());
        }
        let (from, pieces) = if size <= MEDIUM {
            (self.places, 1)
        } else {
            (&self.allowance.large, most.min(ROOM).div_ceil(PIECE).max(1) as u32)
        };
        let acquired = tokio::time::timeout(PATIENCE, Arc::clone(from).acquire_many_owned(pieces)).await;
        let permit = acquired.ok().and_then(Result::ok).ok_or(FetchError::NoRoom)?;
        if size <= MEDIUM {
            self.medium = Some(permit);
        } else {
            (self.medium, self.large) = (None, Some(permit));
        }
        Ok(())
    }

    /// Does the work of a decoder on a thread of its own, when there is one.
    pub(super) async fn decode<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let turn = Arc::clone(&self.allowance.decoders).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.unwrap_or_else(|why| Err(FetchError::Body(why.to_string())))
    }

    /// Gives back what is more than `bytes` of large room, and keeps the rest for as long as the answer is there.
    pub(super) fn settle(mut self, bytes: usize) -> Hold {
        if let Some(large) = &mut self.large {
            let spare = large.num_permits().saturating_sub(bytes.div_ceil(PIECE).max(1));
            drop(large.split(spare));
        }
        Hold { _room: self.large.or(self.medium).map(Arc::new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bodies_wait_for_room_and_not_for_each_other() {
        let allowance = Allowance::default();
        let mut held = Vec::new();
        for _ in 0..PLACES {
            let mut claim = allowance.claim(false);
            claim.reserve(SMALL, ROOM).await.unwrap();
            claim.reserve(MEDIUM, ROOM).await.unwrap();
            held.push(claim);
        }
        assert_eq!(allowance.claim(false).reserve(MEDIUM, ROOM).await, Err(FetchError::NoRoom));
        allowance.claim(true).reserve(MEDIUM, ROOM).await.unwrap();
        // More than there is: all of it.
        let mut large = allowance.claim(false);
        large.reserve(MEDIUM + 1, 10 * ROOM).await.unwrap();
        assert_eq!(held[0].reserve(MEDIUM + 1, PIECE).await, Err(FetchError::NoRoom));
        let hold = large.settle(ROOM / 2);
        held[0].reserve(MEDIUM + 1, ROOM / 2).await.unwrap();
        assert_eq!((allowance.large.available_permits(), allowance.medium.available_permits()), (0, 1));
        drop(hold);
        assert_eq!(allowance.large.available_permits(), ROOM / 2 / PIECE);
    }
}
