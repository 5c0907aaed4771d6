//! Connections: who gets one, how long it may take, and how it ends.
//!
//! What is said on them is decided elsewhere: by the guard (`guard`), then by the doors (`api`).

pub(crate) mod slots;
pub(crate) mod tls;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::Service;

use slots::Slots;

/// Who does not say within this time what they want is sent away; also who is silent for so long on a connection that is kept.
const HEAD: Duration = Duration::from_secs(10);
/// So long a connection may take to be secured.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Requests under way when it ends get so long.
const GRACE: Duration = Duration::from_secs(10);
/// The head of a request is no longer than this.
const LONGEST_HEAD: usize = 64 << 10;
/// After a failure to accept (too many files are open, as a rule) it is tried again after this.
const AGAIN: Duration = Duration::from_millis(100);

/// Of a stream of messages so much may be under way that is not read yet, and of all of a connection. The library ends a connection with many small
/// frames that are not read (ENHANCE_YOUR_CALM): each counts as 256 bytes less its own, and half of the connection's window is allowed. With this
/// window a client that is held back has sent less than that, however small its messages.
const STREAM_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// What was said and is not sent yet.
const SEND_BUFFER: usize = 256 << 10;
/// There are clients that open a stream for every page.
const STREAMS: u32 = 10_000;
/// Streams may be silent for hours. So often it is asked whether anybody is there at all, and so long is waited for the answer.
const STILL_THERE: Duration = Duration::from_secs(60);
const NOT_THERE: Duration = Duration::from_secs(30);

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Requests, one after the other.
    Http1,
    /// Streams of messages, many at a time.
    Http2,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) per_address: usize,
}

/// Serves until `closing` becomes true, and then a little longer for those who are being answered.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    protocol: Protocol,
    limits: Limits,
    mut closing: watch::Receiver<bool>,
) {
    let (graceful, slots) = (GracefulShutdown::new(), Arc::new(Slots::new(limits)));
    loop {
        let accepted = tokio::select! {
            accepted = slots.accept(&listener) => accepted,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let (stream, peer, slot) = match accepted {
            Ok(Some(accepted)) => accepted,
            // One address has too many.
            Ok(None) => continue,
            Err(why) => {
                tracing::warn!(%why, "a connection could not be accepted");
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        let (router, tls, watcher) = (router.clone(), tls.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _slot = slot;
            match tls {
                None => talk(stream, peer, router, protocol, watcher).await,
                Some(tls) => match tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                    Ok(Ok(stream)) => talk(stream, peer, router, protocol, watcher).await,
                    Ok(Err(why)) => tracing::debug!(%peer, %why, "a connection could not be secured"),
                    Err(_) => tracing::debug!(%peer, "a connection was not secured in time"),
                },
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time, and are cut off");
    }
}

/// Everything that is said on a connection.
async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    protocol: Protocol,
    watcher: Watcher,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut router = router.clone();
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer));
            Ok::<_, Infallible>(match router.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            })
        }
    });
    let stream = TokioIo::new(stream);
    let ended = match protocol {
        Protocol::Http1 => {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD.max(8192));
            watcher.watch(http.serve_connection(stream, service)).await
        }
        Protocol::Http2 => {
            let mut http = http2::Builder::new(TokioExecutor::new());
            http.timer(TokioTimer::new())
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .max_send_buf_size(SEND_BUFFER)
                .max_concurrent_streams(STREAMS)
                .keep_alive_interval(STILL_THERE)
                .keep_alive_timeout(NOT_THERE);
            watcher.watch(http.serve_connection(stream, service)).await
        }
    };
    if let Err(why) = ended {
        tracing::debug!(%peer, %why, "a connection broke off");
    }
}

/// A socket without delays: answers are short, and somebody waits for them.
pub(super) fn at_once(stream: &TcpStream) {
    // Then they take a little longer.
    let _ = stream.set_nodelay(true);
}
