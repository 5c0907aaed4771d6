//! Readers of the store, for whoever asks: each is used by one request at a time.
//!
//! A look at a few rows is made right where the request is, which is faster than handing it to somebody else; whatever reads much goes to
//! threads that may wait, and there are not many of those at a time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use refrain_store::{Reader, StoreError};
use tokio::sync::Semaphore;

use super::problem::{Answer, Problem};

/// So many readers are kept for the next request.
const KEPT: usize = 32;
/// So many requests that read much are answered at the same time.
const AT_A_TIME: usize = 8;

/// Readers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Readers(Arc<Inner>);

struct Inner {
    data: PathBuf,
    idle: Mutex<Vec<Reader>>,
    scans: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(data: &Path) -> Result<Self, StoreError> {
        let idle = Mutex::new(vec![Reader::open(data)?]);
        let scans = Arc::new(Semaphore::new(AT_A_TIME));
        Ok(Self(Arc::new(Inner { data: data.to_owned(), idle, scans })))
    }

    /// Reads a few rows, here and now.
    pub(crate) fn look<T, E>(&self, look: impl FnOnce(&Reader) -> Result<T, E>) -> Answer<T>
    where
        Problem: From<E>,
    {
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.0.data)?,
        };
        let found = look(&reader);
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(reader);
        }
        Ok(found?)
    }

    /// Reads much, or does something else that takes long, elsewhere.
    pub(crate) async fn scan<T, E>(
        &self,
        scan: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Answer<T>
    where
        T: Send + 'static,
        E: Send + 'static,
        Problem: From<E>,
    {
        let permit = Arc::clone(&self.0.scans).acquire_owned().await.map_err(|_| Problem::ours())?;
        let own = self.clone();
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            own.look(scan)
        })
        .await?
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
