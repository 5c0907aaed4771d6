//! Reads of copies, counted a little later: nobody who reads waits for that.

use std::collections::HashMap;
use std::time::Duration;

use refrain_engine::Handle;
use refrain_store::PageId;
use tokio::sync::mpsc;

/// Reads wait so long to be counted with others.
const GATHER: Duration = Duration::from_millis(250);
/// So many may wait; more are not counted, which is better than a reader that waits.
const MOST: usize = 100_000;

/// Where reads are counted. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Reads(mpsc::Sender<PageId>);

impl Reads {
    /// Counts for as long as anybody may read.
    pub(crate) fn counted_by(handle: Handle) -> Self {
        let (to, from) = mpsc::channel(MOST);
        tokio::spawn(count(handle, from));
        Self(to)
    }

    /// Somebody read a page.
    pub(crate) fn read(&self, page: PageId) {
        // There are too many, or it is over.
        let _ = self.0.try_send(page);
    }
}

async fn count(handle: Handle, mut from: mpsc::Receiver<PageId>) {
    while let Some(first) = from.recv().await {
        tokio::time::sleep(GATHER).await;
        let mut reads: HashMap<PageId, f64> = HashMap::from([(first, 1.0)]);
        while let Ok(page) = from.try_recv() {
            *reads.entry(page).or_default() += 1.0;
        }
        if handle.reads(reads.into_iter().collect()).await.is_err() {
            return;
        }
    }
}
