//! A small web, opened and crawled as the demo does it.

use std::path::PathBuf;
use std::sync::Arc;

use refrain_core::time::Span;
use refrain_engine::{Clock, Crawl, add_seeds};
use refrain_store::{Options, Store};

use crate::demo::serve::Site;
use crate::demo::settings;
use crate::demo::world::World;
use crate::failure::Failure;

/// Crawls a web for some time; what it wrote down says how that went.
pub(super) async fn crawl(
    world: World,
    data: PathBuf,
    rate: f64,
    duration: Span,
) -> Result<Arc<Site>, Failure> {
    let clock = Clock::start();
    let site = Site::open(world, clock).await?;
    let mut store = Store::open(&data, Options::default())?;
    add_seeds(&mut store, &site.world.seeds(site.port), clock.now())?;
    let crawl = Crawl::new(store, &data, settings(&site, rate, duration), clock, None)?;
    let (_keep, stop) = tokio::sync::watch::channel(false);
    crawl.run(stop).await?;
    Ok(site)
}
