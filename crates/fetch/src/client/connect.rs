//! From a URL to a connection: resolve, refuse what is not public, connect, secure.
//!
//! The address that is checked is the address that is connected to. No redirect and no second answer of a name server gets
//! around that.

use std::error::Error;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use super::settings::{SMALLEST_HEAD, Settings};
use super::tls::H2;
use crate::address::is_public;
use crate::dns::{Resolve, Resolved, immediate};
use crate::error::{FetchError, Stage};

/// A connection is given up if more than so many times the largest head comes without one: interim answers (1xx) have no end otherwise.
const HEADS: u64 = 4;
/// HTTP/2: so much may come of all bodies of a connection, and of each, before some of it is read.
pub(super) const H2_WINDOW: u32 = 1 << 20;
pub(super) const H2_STREAM_WINDOW: u32 = 128 << 10;

/// So many addresses of a host are tried.
const MOST_ATTEMPTS: usize = 4;

/// Whom a connection is with, and what went over it; found in the extensions of every answer.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    pub(super) address: SocketAddr,
    pub(super) traffic: Arc<Traffic>,
}

/// What went over a connection.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// A request was answered.
    answered: AtomicBool,
    /// Nothing has come since something was sent.
    is_silent: AtomicBool,
    /// Bytes that came since the head of an answer, or a part of its body, was handed on.
    unused: AtomicU64,
}

impl Traffic {
    /// The head of an answer was handed on.
    pub(super) fn answer(&self) {
        self.answered.store(true, Ordering::Relaxed);
        self.progress();
    }

    /// A part of a body was handed on.
    pub(super) fn progress(&self) {
        self.unused.store(0, Ordering::Relaxed);
    }
}

#[derive(Clone)]
pub(super) struct Connector {
    resolver: Arc<dyn Resolve>,
    tls: TlsConnector,
    patience: Duration,
    allow_private: bool,
    max_head: usize,
}

impl Connector {
    pub(super) fn new(resolver: Arc<dyn Resolve>, tls: Arc<ClientConfig>, settings: &Settings) -> Self {
        Self {
            resolver,
            tls: TlsConnector::from(tls),
            patience: settings.connect_timeout,
            allow_private: settings.allow_private,
            max_head: settings.max_head.max(SMALLEST_HEAD),
        }
    }

    async fn connect(self, uri: Uri) -> Result<TokioIo<Stream>, FetchError> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let secure = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let addresses = self.resolve(host).await?.addresses;
        let (tcp, remote) = self.any(&addresses, port).await?;
        // Requests are small and whole: nothing is gained by waiting for more to send.
        let _ = tcp.set_nodelay(true);
        let wire = if secure { Wire::Tls(Box::new(self.secure(host, tcp).await?)) } else { Wire::Plain(tcp) };
        let remote = Remote { address: remote, traffic: Arc::default() };
        let mut stream = Stream { wire, remote, most_unused: HEADS * self.max_head as u64 };
        if stream.is_h2() {
            stream.most_unused += u64::from(H2_WINDOW);
        }
        Ok(TokioIo::new(stream))
    }

    /// The addresses that a connection to a host would try, in order, and for how long that holds.
    pub(super) async fn resolve(&self, host: &str) -> Result<Resolved, FetchError> {
        let found = if let Some(found) = immediate(host) {
            found
        } else {
            let resolved = self.within(Stage::Dns, self.resolver.resolve(host)).await?;
            resolved.map_err(|why| FetchError::Dns(why.to_string()))?
        };
        Ok(Resolved { addresses: self.admitted(found.addresses)?, ..found })
    }

    pub(super) fn admitted(&self, mut addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, FetchError> {
        let first =
            addresses.first().copied().ok_or_else(|| FetchError::Dns("the name has no address".into()))?;
        addresses.retain(|address| self.allow_private || is_public(*address));
        if addresses.is_empty() { Err(FetchError::Forbidden(first)) } else { Ok(alternating(&addresses)) }
    }

    /// The first address that answers; they share the time.
    async fn any(&self, addresses: &[IpAddr], port: u16) -> Result<(TcpStream, SocketAddr), FetchError> {
        let patience = self.patience / u32::try_from(addresses.len()).unwrap_or(1).max(1);
        let mut failed = FetchError::Timeout(Stage::Connect);
        for address in addresses {
            let remote = SocketAddr::new(*address, port);
            match tokio::time::timeout(patience, TcpStream::connect(remote)).await {
                Ok(Ok(tcp)) => return Ok((tcp, remote)),
                Ok(Err(why)) => failed = FetchError::Connect(why.to_string()),
                Err(_) => {}
            }
        }
        Err(failed)
    }

    async fn secure(&self, host: &str, tcp: TcpStream) -> Result<TlsStream<TcpStream>, FetchError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|why| FetchError::Tls(why.to_string()))?;
        let stream = self.within(Stage::Tls, self.tls.connect(name, tcp)).await?;
        stream.map_err(|why| FetchError::Tls(why.to_string()))
    }

    async fn within<T>(&self, stage: Stage, work: impl Future<Output = T>) -> Result<T, FetchError> {
        tokio::time::timeout(self.patience, work).await.map_err(|_| FetchError::Timeout(stage))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, FetchError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), FetchError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// The addresses to try: of both families in turn, so that a broken one costs one attempt.
fn alternating(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let starts_with_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (mut first, mut second): (Vec<IpAddr>, Vec<IpAddr>) =
        addresses.iter().partition(|address| address.is_ipv6() == starts_with_v6);
    first.reverse();
    second.reverse();
    let mut order = Vec::with_capacity(MOST_ATTEMPTS);
    while order.len() < MOST_ATTEMPTS && !(first.is_empty() && second.is_empty()) {
        order.extend(first.pop());
        order.extend(second.pop());
    }
    order.truncate(MOST_ATTEMPTS);
    order
}

/// What went wrong before the head of an answer was there.
pub(super) fn reason(failed: &(dyn Error + 'static)) -> FetchError {
    let mut said = failed.to_string();
    let mut cause = Some(failed);
    while let Some(error) = cause {
        if let Some(ours) = error.downcast_ref::<FetchError>() {
            return ours.clone();
        }
        if let Some(ours) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref)
            && let Some(ours) = ours.downcast_ref::<FetchError>()
        {
            return ours.clone();
        }
        if let Some(hyper) = error.downcast_ref::<hyper::Error>()
            && hyper.is_parse_too_large()
        {
            return FetchError::Headers;
        }
        said = error.to_string();
        cause = error.source();
    }
    // The innermost cause is the one that says something.
    FetchError::Protocol(said)
}

/// Returns whether a request failed because the server closed a connection that it had answered an earlier request on, without a byte of an answer
/// to this one.
pub(super) fn was_closed(failed: &hyper_util::client::legacy::Error) -> bool {
    let mut extras = http::Extensions::new();
    let Some(connected) = failed.connect_info() else { return false };
    connected.get_extras(&mut extras);
    let Some(Remote { traffic, .. }) = extras.get() else { return false };
    // On HTTP/2 other answers may come meanwhile.
    let has_answer = !connected.is_negotiated_h2() && !traffic.is_silent.load(Ordering::Relaxed);
    traffic.answered.load(Ordering::Relaxed)
        && !has_answer
        && matches!(reason(failed), FetchError::Protocol(_))
}

/// A connection, plain or secure.
pub(super) struct Stream {
    wire: Wire,
    remote: Remote,
    most_unused: u64,
}

impl Stream {
    fn is_h2(&self) -> bool {
        matches!(&self.wire, Wire::Tls(tls) if tls.get_ref().1.alpn_protocol() == Some(H2))
    }

    /// So many bytes have come. Fails if they are too many for what came of them.
    fn received(&self, bytes: usize) -> io::Result<()> {
        let traffic = &self.remote.traffic;
        traffic.is_silent.store(false, Ordering::Relaxed);
        let unused = traffic.unused.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if unused > self.most_unused { Err(io::Error::other(FetchError::Headers)) } else { Ok(()) }
    }
}

enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.remote.clone());
        if self.is_h2() { connected.negotiated_h2() } else { connected }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = match &mut self.wire {
            Wire::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            // Many servers hang up without saying goodbye. Bodies that say how long they are cannot be cut short that way
            // without notice, and for the others browsers do the same.
            Wire::Tls(tls) => match Pin::new(tls).poll_read(cx, buf) {
                Poll::Ready(Err(why)) if why.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                other => other,
            },
        };
        match buf.filled().len() - before {
            0 => read,
            bytes => self.received(bytes).map_or_else(|why| Poll::Ready(Err(why)), |()| read),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.remote.traffic.is_silent.store(true, Ordering::Relaxed);
        match &mut self.wire {
            Wire::Plain(tcp) => Pin::new(tcp).poll_write(cx, buf),
            Wire::Tls(tls) => Pin::new(tls).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Wire::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.wire {
            Wire::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Wire::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_get_their_turn() {
        let given = ["2a00::1", "2a00::2", "2a00::3", "1.1.1.1", "1.1.1.2"];
        let given: Vec<IpAddr> = given.iter().map(|text| text.parse().expect("an address")).collect();
        let order: Vec<String> = alternating(&given).iter().map(ToString::to_string).collect();
        assert_eq!(order, ["2a00::1", "1.1.1.1", "2a00::2", "1.1.1.2"]);
        assert_eq!(alternating(&given[3..]), given[3..]);
        assert!(alternating(&[]).is_empty());
    }
}
