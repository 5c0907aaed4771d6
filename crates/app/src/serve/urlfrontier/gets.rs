//! What may be fetched now: GetURLs.

use refrain_core::queues::Wanted;
use refrain_core::time::Span;
use refrain_engine::queues::Given;
use refrain_store::ItemRow;
use tonic::Status;

use super::address;
use super::chunks::Chunks;
use super::proto::GetParams;
use super::proto::get_params::Item;
use super::refused;
use super::rows::Rows;
use super::service::Frontier;
use super::wire::Info;
use crate::stopwatch::Stopwatch;

/// A lease, if none is asked for.
const LEASE: u32 = 30;

/// What is wanted, in our words.
fn wanted(params: GetParams) -> Wanted {
    let all_if_none = |number: u32| if number == 0 { usize::MAX } else { number as usize };
    let lease = if params.delay_requestable == 0 { LEASE } else { params.delay_requestable };
    Wanted {
        crawl: match params.item {
            Some(Item::CrawlId(name)) => Some(address::crawl(name)),
            Some(Item::AnyCrawlId(_)) | None => None,
        },
        key: address::key(params.key),
        queues: all_if_none(params.max_queues),
        each: all_if_none(params.max_urls_per_queue),
        most: usize::MAX,
        lease: Span::from_whole_secs(lease.into()),
    }
}

/// Serves what is due.
pub(super) async fn get(frontier: &Frontier, params: GetParams) -> Result<Chunks<Info>, Status> {
    let watch = Stopwatch::start();
    let given = frontier.queues.take(wanted(params)).await.map_err(refused::over)?;
    let (ids, names) = apart(given);
    let served = ids.len() as u64;
    let mut rows = Rows::new(frontier.readers.clone(), ids);
    let first = names.told(rows.more().await.map_err(refused::by)?);
    frontier.counts.served(served, watch.elapsed());
    if rows.is_over() {
        return Ok(Chunks::whole(first));
    }
    let (to, chunks) = Chunks::open(first);
    tokio::spawn(async move {
        // Whoever has gone gets no more; the leases end by themselves.
        while !rows.is_over() {
            let more = rows.more().await.map_err(refused::by);
            let is_wrong = more.is_err();
            if to.send(more.map(|rows| names.told(rows))).await.is_err() || is_wrong {
                return;
            }
        }
    });
    Ok(chunks)
}

/// The numbers of all URLs in their order, and which queue each is of.
fn apart(given: Given) -> (Vec<u32>, Names) {
    let (mut all, mut names) = (Vec::new(), Vec::with_capacity(given.queues.len()));
    for (crawl, key, ids) in given.queues {
        all.extend(ids);
        names.push((all.len(), crawl, key));
    }
    (all, Names(names))
}

/// The queues of URLs, by their places: each with the place after its last.
struct Names(Vec<(usize, String, String)>);

impl Names {
    /// URLs as they are told.
    fn told(&self, rows: Vec<(usize, ItemRow)>) -> Vec<Info> {
        rows.into_iter().filter_map(|(place, row)| self.info(place, row)).collect()
    }

    fn info(&self, place: usize, row: ItemRow) -> Option<Info> {
        let (_, crawl, key) = self.0.get(self.0.partition_point(|(end, ..)| *end <= place))?;
        Some(Info { url: row.url, key: key.clone(), crawl: crawl.clone(), metadata: row.metadata })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: u32) -> ItemRow {
        let url = format!("http://a.example/{id}");
        ItemRow { id, queue: 1, created: 1, due: 1, since: 0, page: None, url, metadata: Vec::new() }
    }

    #[test]
    fn every_url_is_told_with_its_queue() {
        let queues = vec![
            ("c".to_owned(), "one".to_owned(), vec![3, 1]),
            ("c".to_owned(), "none".to_owned(), vec![]),
            ("d".to_owned(), "two".to_owned(), vec![7, 2, 9]),
        ];
        let (ids, names) = apart(Given { queues });
        assert_eq!(ids, [3, 1, 7, 2, 9]);
        // Some were deleted meanwhile, one was left for later.
        let mut told = names.told(vec![(0, row(3)), (4, row(9))]);
        told.extend(names.told(vec![(2, row(7))]));
        let told: Vec<_> = told.iter().map(|info| (&*info.url, &*info.crawl, &*info.key)).collect();
        let expected = [
            ("http://a.example/3", "c", "one"),
            ("http://a.example/9", "d", "two"),
            ("http://a.example/7", "d", "two"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn nothing_said_is_everything() {
        let found = wanted(GetParams::default());
        assert_eq!((found.crawl, found.key, found.queues, found.each), (None, None, usize::MAX, usize::MAX));
        assert_eq!(found.lease, Span::from_whole_secs(30));
        let named = GetParams {
            item: Some(Item::CrawlId(String::new())),
            max_queues: 3,
            delay_requestable: 7,
            ..GetParams::default()
        };
        let found = wanted(named);
        assert_eq!(
            (found.crawl.as_deref(), found.queues, found.lease),
            (Some("DEFAULT"), 3, Span::from_whole_secs(7))
        );
    }
}
