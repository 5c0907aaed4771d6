//! What the doors need of the world behind them, so that they can be tried without one.

use std::ops::ControlFlow;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use refrain_core::time::Time;
use refrain_engine::{Handle, Heard, Kind, Once, Over, Said};
use refrain_fetch::FetchError;
use refrain_fetch::client::{Client, Post, Request, Response};
use refrain_fetch::url::PageUrl;
use refrain_store::{PageId, Reader, Role, StoreError};

/// Something that will be there soon.
pub(crate) type Soon<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who listens to what is pushed.
pub(crate) trait Ears: Send + Sync + 'static {
    /// The moment.
    fn now(&self) -> Time;
    /// Pages are said to have changed.
    fn signal(&self, kind: Kind, said: Vec<Said>, once: Option<Once>) -> Soon<'_, Result<Vec<Heard>, Over>>;
    /// A feed was pushed.
    fn distributed(
        &self,
        page: PageId,
        url: PageUrl,
        answer: Response,
        once: Once,
    ) -> Soon<'_, Result<u64, Over>>;
    /// A polite request of our own; `None`: not soon.
    fn get(&self, request: Request) -> Soon<'_, Result<Option<Result<Response, FetchError>>, Over>>;
    /// Something handed to a hub.
    fn post(&self, post: Post) -> Soon<'_, Result<Response, FetchError>>;
    /// Keeps something; it is on the disk when the answer is there. What is kept under one name is written in the order of the calls. What is empty is
    /// not kept any more.
    fn keep(&self, name: String, value: Vec<u8>) -> Soon<'_, Result<(), Over>>;
    /// What was kept under names that begin like this.
    fn kept(&self, start: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError>;
    /// Whether there are pages of a host: scheme, name and port.
    fn knows_host(&self, name: &str) -> bool;
    /// What is at an address.
    fn page(&self, url: &str) -> Option<(PageId, Role)>;
    /// The address of a page.
    fn address(&self, page: PageId) -> Option<PageUrl>;
}

/// A crawl that runs, its data directory, and a client for hubs.
pub(crate) struct Crawled {
    handle: Handle,
    /// Looking something up by its key takes less time than handing it to another thread.
    reader: Mutex<Reader>,
    client: Client,
}

impl Crawled {
    pub(crate) fn new(handle: Handle, data: &Path, client: Client) -> Result<Self, StoreError> {
        Ok(Self { handle, reader: Mutex::new(Reader::open(data)?), client })
    }

    fn read<T>(&self, ask: impl FnOnce(&Reader) -> T) -> T {
        ask(&self.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Ears for Crawled {
    fn now(&self) -> Time {
        self.handle.now()
    }

    // Names are made of all that is said: none is used for something else.
    fn signal(&self, kind: Kind, said: Vec<Said>, once: Option<Once>) -> Soon<'_, Result<Vec<Heard>, Over>> {
        Box::pin(async move { Ok(self.handle.signal(kind, said, once).await?.unwrap_or_default()) })
    }

    fn distributed(
        &self,
        page: PageId,
        url: PageUrl,
        answer: Response,
        once: Once,
    ) -> Soon<'_, Result<u64, Over>> {
        Box::pin(async move {
            Ok(self.handle.distributed(page, url, answer, Some(once)).await?.unwrap_or_default())
        })
    }

    fn get(&self, request: Request) -> Soon<'_, Result<Option<Result<Response, FetchError>>, Over>> {
        Box::pin(async move { self.handle.get(&request).await })
    }

    fn post(&self, post: Post) -> Soon<'_, Result<Response, FetchError>> {
        Box::pin(self.client.post(post))
    }

    fn keep(&self, name: String, value: Vec<u8>) -> Soon<'_, Result<(), Over>> {
        Box::pin(self.handle.keep(vec![(name, value)]))
    }

    fn kept(&self, start: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let mut found = Vec::new();
        self.read(|reader| {
            reader.metas(start, |name, value| {
                found.push((name.to_owned(), value.to_owned()));
                ControlFlow::Continue(())
            })
        })?;
        Ok(found)
    }

    // A store that cannot be read knows nothing; the crawl itself complains of it.
    fn knows_host(&self, name: &str) -> bool {
        self.read(|reader| reader.host(name)).is_ok_and(|host| host.is_some())
    }

    fn page(&self, url: &str) -> Option<(PageId, Role)> {
        self.read(|reader| reader.page(url)).ok()?.map(|page| (page.id, page.origin.role))
    }

    fn address(&self, page: PageId) -> Option<PageUrl> {
        PageUrl::parse(&self.read(|reader| reader.page_by_id(page)).ok()??.url).ok()
    }
}
