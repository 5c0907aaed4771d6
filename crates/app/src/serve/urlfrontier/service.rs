//! The calls, each in a few lines: what is said is put into our words, and the answer into theirs.

use std::collections::HashMap;
use std::sync::Arc;

use refrain_engine::Clock;
use refrain_engine::queues::Queues;
use tokio::sync::watch;
use tonic::{Request, Response, Status, Streaming};

use super::address;
use super::chunks::Chunks;
use super::counts::Counts;
use super::gets;
use super::lists;
use super::proto::log_level_params::Level;
use super::proto::url_frontier_server::UrlFrontier;
use super::proto::{
    Active, BlockQueueParams, Boolean, CountUrlParams, CrawlLimitParams, DeleteCrawlMessage, DiscoveredBatch,
    Empty, GetParams, ListUrlParams, Local, LogLevelParams, Long, Pagination, PurgeUrlParams,
    QueueDelayParams, QueueList, QueueWithinCrawlParams, Stats, StringList, UrlItem, UrlStatusRequest,
};
use super::puts::Puts;
use super::refused;
use super::wire::Info;
use crate::serve::log::Levels;
use crate::serve::readers::Readers;

type Reply<T> = Result<Response<T>, Status>;

/// All that it takes to answer.
pub(crate) struct Frontier {
    pub(super) queues: Queues,
    pub(super) readers: Readers,
    pub(super) counts: Arc<Counts>,
    pub(super) clock: Clock,
    pub(super) levels: Levels,
    /// Under which name others know this node.
    pub(super) name: String,
    pub(super) closing: watch::Receiver<bool>,
}

fn empty<T>(_: T) -> Response<Empty> {
    Response::new(Empty {})
}

fn long(value: u64) -> Response<Long> {
    Response::new(Long { value })
}

#[tonic::async_trait]
impl UrlFrontier for Frontier {
    type GetURLsStream = Chunks<Info>;
    type PutURLsStream = Puts<UrlItem>;
    type PutDiscoveredStream = Puts<DiscoveredBatch>;
    type ListURLsStream = Chunks<UrlItem>;

    async fn list_nodes(&self, _: Request<Empty>) -> Reply<StringList> {
        Ok(Response::new(StringList { values: vec![self.name.clone()] }))
    }

    async fn list_crawls(&self, _: Request<Local>) -> Reply<StringList> {
        let values = self.queues.crawls().await.map_err(refused::over)?;
        Ok(Response::new(StringList { values }))
    }

    async fn delete_crawl(&self, asked: Request<DeleteCrawlMessage>) -> Reply<Long> {
        let crawl = address::crawl(asked.into_inner().value);
        self.queues.delete(crawl, None).await.map(long).map_err(refused::over)
    }

    async fn list_queues(&self, asked: Request<Pagination>) -> Reply<QueueList> {
        let Pagination { start, size, include_inactive, crawl_id, .. } = asked.into_inner();
        let size = if size == 0 { lists::USUAL_SIZE } else { size };
        let crawl_id = address::crawl(crawl_id);
        let listed = self.queues.queues(crawl_id.clone(), start as usize, size as usize, include_inactive);
        let (values, total) = listed.await.map_err(refused::over)?;
        // The size of the page that is returned, as in the reference.
        let size = values.len() as u32;
        Ok(Response::new(QueueList { values, total, start, size, crawl_id }))
    }

    async fn get_ur_ls(&self, asked: Request<GetParams>) -> Reply<Self::GetURLsStream> {
        gets::get(self, asked.into_inner()).await.map(Response::new)
    }

    async fn put_ur_ls(&self, said: Request<Streaming<UrlItem>>) -> Reply<Self::PutURLsStream> {
        Ok(Response::new(Puts::new(said.into_inner(), self, self.closing.clone())))
    }

    async fn put_discovered(
        &self,
        said: Request<Streaming<DiscoveredBatch>>,
    ) -> Reply<Self::PutDiscoveredStream> {
        Ok(Response::new(Puts::new(said.into_inner(), self, self.closing.clone())))
    }

    async fn get_stats(&self, asked: Request<QueueWithinCrawlParams>) -> Reply<Stats> {
        let QueueWithinCrawlParams { key, crawl_id, .. } = asked.into_inner();
        let crawl_id = address::crawl(crawl_id);
        let tally =
            self.queues.tally(Some(crawl_id.clone()), address::key(key)).await.map_err(refused::over)?;
        let counts = [("completed", tally.completed), ("active_queues", tally.active)];
        Ok(Response::new(Stats {
            size: tally.waiting,
            in_process: u32::try_from(tally.leased).unwrap_or(u32::MAX),
            counts: counts
                .map(|(name, count)| (name.to_owned(), count))
                .into_iter()
                .collect::<HashMap<_, _>>(),
            number_of_queues: tally.queues,
            crawl_id,
        }))
    }

    async fn delete_queue(&self, asked: Request<QueueWithinCrawlParams>) -> Reply<Long> {
        let QueueWithinCrawlParams { key, crawl_id, .. } = asked.into_inner();
        // No queue has an empty key: as in the reference, nothing is deleted.
        if key.is_empty() {
            return Ok(long(0));
        }
        self.queues.delete(address::crawl(crawl_id), Some(key)).await.map(long).map_err(refused::over)
    }

    async fn block_queue_until(&self, asked: Request<BlockQueueParams>) -> Reply<Empty> {
        let BlockQueueParams { key, time, crawl_id, .. } = asked.into_inner();
        if key.is_empty() {
            tracing::warn!("BlockQueueUntil without a key blocks nothing; expected the key of a queue");
            return Ok(empty(()));
        }
        self.queues.block(address::crawl(crawl_id), key, time).await.map(empty).map_err(refused::over)
    }

    async fn set_active(&self, asked: Request<Active>) -> Reply<Empty> {
        self.queues.set_active(asked.into_inner().state).await.map(empty).map_err(refused::over)
    }

    async fn get_active(&self, _: Request<Local>) -> Reply<Boolean> {
        let state = self.queues.is_active().await.map_err(refused::over)?;
        Ok(Response::new(Boolean { state }))
    }

    async fn set_delay(&self, asked: Request<QueueDelayParams>) -> Reply<Empty> {
        let QueueDelayParams { key, delay_requestable, crawl_id, .. } = asked.into_inner();
        let set = self.queues.set_delay(address::crawl(crawl_id), address::key(key), delay_requestable);
        set.await.map(empty).map_err(refused::over)
    }

    async fn set_log_level(&self, asked: Request<LogLevelParams>) -> Reply<Empty> {
        let asked = asked.into_inner();
        let level = match Level::try_from(asked.level) {
            Ok(Level::Trace) => tracing::Level::TRACE,
            Ok(Level::Debug) => tracing::Level::DEBUG,
            Ok(Level::Info) => tracing::Level::INFO,
            Ok(Level::Warn) => tracing::Level::WARN,
            Ok(Level::Error) => tracing::Level::ERROR,
            Err(_) => {
                return Err(Status::invalid_argument(
                    "level: there is no such level; expected TRACE to ERROR",
                ));
            }
        };
        let part = if asked.package.is_empty() { "refrain" } else { &asked.package };
        // Packages of another server mean nothing here, and whoever names them need not know.
        let is_ours = self.levels.change(part, level);
        tracing::debug!(part, %level, is_ours, "another level of the log is wanted");
        Ok(empty(()))
    }

    async fn set_crawl_limit(&self, asked: Request<CrawlLimitParams>) -> Reply<Empty> {
        let CrawlLimitParams { key, limit, crawl_id, .. } = asked.into_inner();
        let set = self.queues.set_limit(address::crawl(crawl_id), key, limit).await.map_err(refused::over)?;
        set.then(|| empty(())).ok_or_else(|| Status::not_found("key: there is no such queue in this crawl"))
    }

    async fn get_url_status(&self, asked: Request<UrlStatusRequest>) -> Reply<UrlItem> {
        lists::status(self, asked.into_inner()).await.map(Response::new)
    }

    async fn list_ur_ls(&self, asked: Request<ListUrlParams>) -> Reply<Self::ListURLsStream> {
        lists::list(self, asked.into_inner()).await.map(Response::new)
    }

    async fn count_ur_ls(&self, asked: Request<CountUrlParams>) -> Reply<Long> {
        lists::count(self, asked.into_inner()).await.map(long)
    }

    async fn purge_ur_ls(&self, asked: Request<PurgeUrlParams>) -> Reply<Long> {
        const DAY: u64 = 86_400;
        let PurgeUrlParams { key, crawl_id, days } = asked.into_inner();
        let now: u64 = refrain_core::queues::second(self.clock.now()).into();
        let before = u32::try_from(now.saturating_sub(DAY * u64::from(days))).unwrap_or(u32::MAX);
        let purged = self.queues.purge(address::crawl(crawl_id), address::key(key), before);
        purged.await.map(long).map_err(refused::over)
    }
}
