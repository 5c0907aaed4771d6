//! The door for crawlers that exist: URLFrontier, over gRPC (see docs/urlfrontier.md).
//!
//! - `admit`: who may call what; `service`: the calls; `refused`: why one is not answered; `ending`: streams that others never end
//! - `puts`: streams of what crawlers say, through `judge`: what is taken of it; `refusal`: why an item is not; `gets`, `lists`: streams of what they are told, made of
//!   `rows` in `chunks`
//! - `wire`: the message of which there are millions; `metadata`: what it carries; `seen`: what that says; `address`: which queue is meant
//! - `counts`: for those who monitor
//!
//! What the queues decide is decided behind it, by [`refrain_engine::queues`].

mod address;
mod admit;
mod chunks;
mod counts;
mod ending;
mod gets;
mod judge;
mod lists;
pub(crate) mod metadata;
mod puts;
mod refusal;
mod refused;
mod rows;
mod seen;
mod service;
pub(crate) mod wire;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use refrain_engine::queues::Queues;
use tokio::sync::watch;
use tonic::service::Routes;
use tonic_health::ServingStatus;

use super::guard::Guard;
use super::log::Levels;
use super::readers::Readers;
use crate::failure::Failure;
pub(crate) use counts::Counts;
use proto::url_frontier_server::UrlFrontierServer;
use service::Frontier;

/// What `proto/urlfrontier.proto` says, in Rust.
#[expect(clippy::all, clippy::pedantic, unreachable_pub, reason = "it is generated")]
#[allow(dead_code, reason = "a client has calls that nobody makes here")]
pub(crate) mod proto {
    include!(concat!(env!("OUT_DIR"), "/urlfrontier.rs"));
}

/// The same, for those who ask what there is.
const DESCRIPTION: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/urlfrontier.bin"));

/// The longest message that is read.
pub(crate) const LONGEST_MESSAGE: usize = 32 << 20;

/// Whether a client-scheduled crawl keeps this URL in the queue of a key.
pub(crate) fn is_kept(url: &str, key: &str) -> bool {
    !url.is_empty() && url.len() <= address::LONGEST_URL && !key.is_empty() && address::is_name(key)
}

/// All that it takes to open this door.
pub(crate) struct Opening {
    pub(crate) listen: SocketAddr,
    pub(crate) queues: Queues,
    pub(crate) levels: Levels,
    pub(crate) counts: Arc<Counts>,
}

/// The calls, health and reflection, behind the guard.
pub(super) async fn router(
    opening: Opening,
    listen: SocketAddr,
    readers: Readers,
    guard: &Guard,
    closing: watch::Receiver<bool>,
) -> Result<Router, Failure> {
    let Opening { queues, levels, counts, .. } = opening;
    let (name, clock) = (listen.to_string(), guard.clock());
    let frontier = Frontier { queues, readers, counts, clock, levels, name, closing: closing.clone() };
    // What was kept is given back, however much it is together with the rest of its message.
    let frontier = UrlFrontierServer::new(frontier).max_decoding_message_size(LONGEST_MESSAGE);
    let (health, service) = tonic_health::server::health_reporter();
    health.set_service_status("urlfrontier.URLFrontier", ServingStatus::Serving).await;
    let failed = |why: tonic_reflection::server::Error| {
        Failure::OnTheWay(format!("the description of URLFrontier cannot be read ({why})"))
    };
    let describe = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTION)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let open = Routes::new(service)
        .add_service(describe().build_v1().map_err(failed)?)
        .add_service(describe().build_v1alpha().map_err(failed)?)
        .into_axum_router()
        .reset_fallback()
        .layer(from_fn_with_state(closing, ending::end));
    let guard = Arc::new(guard.beside(listen));
    let all = Routes::new(frontier).into_axum_router().merge(open);
    Ok(all.layer(from_fn_with_state(guard, admit::admit)))
}
