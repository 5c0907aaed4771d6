//! Secure connections, with an authority of our own.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use crate::fake::{Server, client, raw, settings, url};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use refrain_fetch::client::{Client, Request, Settings, Version};
use refrain_fetch::{FetchError, Stage};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, crypto};
use tempfile::NamedTempFile;
use tokio_rustls::TlsAcceptor;

/// A server for `secure.example` that speaks these protocols, and the file with its authority.
async fn secure(protocols: &[&[u8]]) -> (Server, NamedTempFile) {
    let certified = rcgen::generate_simple_self_signed(["secure.example".to_owned()]).expect("a certificate");
    let mut authority = NamedTempFile::new().expect("a file");
    authority.write_all(certified.cert.pem().as_bytes()).expect("room");
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).expect("a key");
    let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .expect("a pair");
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut server = raw(move |tcp| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(tls) = acceptor.accept(tcp).await else { return };
            let is_h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
            let io = TokioIo::new(tls);
            if is_h2 {
                let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .serve_connection(io, service_fn(answer))
                    .await;
            } else {
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service_fn(answer)).await;
            }
        }
    })
    .await;
    server.url = url(&format!("https://secure.example:{}/", server.url.port()));
    (server, authority)
}

async fn answer(request: hyper::Request<Incoming>) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    let response = hyper::Response::builder().header("ETag", "\"x\"");
    let response = match request.uri().path() {
        "/heavy" => response.header("X-Heavy", "y".repeat(100_000)),
        "/many" => (0..300).fold(response, |response, number| response.header(format!("x-{number}"), "y")),
        _ => response,
    };
    let body = if request.uri().path() == "/long" { vec![b'x'; 3_000_000] } else { b"secret".to_vec() };
    Ok(response.body(Full::new(body.into())).expect("an answer"))
}

fn trusting(authority: &NamedTempFile) -> Client {
    client(Settings { extra_authorities: vec![authority.path().to_owned()], ..settings() }).expect("settings")
}

#[tokio::test]
async fn both_versions_of_the_protocol_are_spoken() {
    for (protocols, version) in [
        (&[&b"h2"[..], b"http/1.1"][..], Version::Http2),
        (&[b"http/1.1"], Version::Http11),
        (&[], Version::Http11),
    ] {
        let (server, authority) = secure(protocols).await;
        let client = trusting(&authority);
        for _ in 0..3 {
            let response = client.get(&Request::new(server.url.clone())).await.expect("an answer");
            assert_eq!((response.version, &response.body[..]), (version, &b"secret"[..]));
            assert_eq!(response.etag(), Some(&b"\"x\""[..]));
            assert_eq!(response.remote.map(|remote| remote.port()), Some(server.url.port()));
            assert!(response.archive_head().starts_with(b"HTTP/1.1 200 OK\r\n"));
        }
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn bounds_hold_in_http2_as_well() {
    let (server, authority) = secure(&[b"h2"]).await;
    let client = trusting(&authority);
    let at = |path: &str| Request::new(server.url.join(path).expect("a URL"));
    let long = client.get(&Request { max_body: Some(100_000), ..at("/long") }).await.expect("a part");
    assert!(long.truncated);
    assert_eq!(long.body.len(), 100_000);
    assert_eq!(client.get(&at("/many")).await.expect_err("too many"), FetchError::Headers);
    assert!(client.get(&at("/heavy")).await.is_err());
    // The connection's other streams do not suffer.
    assert_eq!(client.get(&at("/")).await.expect("an answer").body, "secret");
}

#[tokio::test]
async fn strangers_are_not_trusted() {
    let (server, _authority) = secure(&[b"h2"]).await;
    let failed = client(settings()).expect("settings").get(&Request::new(server.url.clone())).await;
    assert!(matches!(failed, Err(FetchError::Tls(_))), "{failed:?}");
}

#[tokio::test]
async fn a_certificate_is_for_its_name_only() {
    let (server, authority) = secure(&[b"h2"]).await;
    let other = url(&format!("https://other.example:{}/", server.url.port()));
    let failed = trusting(&authority).get(&Request::new(other)).await;
    assert!(matches!(failed, Err(FetchError::Tls(_))), "{failed:?}");
}

#[tokio::test]
async fn what_is_not_tls_is_refused() {
    let plain = crate::fake::once("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let secure = url(&format!("https://127.0.0.1:{}/", plain.url.port()));
    let garbage = raw(|mut tcp| async move {
        let _ = tokio::io::AsyncWriteExt::write_all(&mut tcp, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    })
    .await;
    let garbled = url(&format!("https://127.0.0.1:{}/", garbage.url.port()));
    let failed =
        client(settings()).expect("settings").get(&Request::new(garbled)).await.expect_err("not TLS");
    assert!(matches!(failed, FetchError::Tls(_)), "{failed:?}");
    let hurried = Settings { connect_timeout: std::time::Duration::from_millis(200), ..settings() };
    let failed = client(hurried).expect("settings").get(&Request::new(secure)).await;
    assert_eq!(failed.expect_err("a server that waits for a request"), FetchError::Timeout(Stage::Tls));
}

#[test]
fn bad_settings_are_named() {
    let said = |settings| client(settings).expect_err("bad").to_string();
    let missing = Settings { extra_authorities: vec!["no/such.pem".into()], ..settings() };
    assert!(said(missing).starts_with("no/such.pem: "));
    let empty = NamedTempFile::new().expect("a file");
    let empty = Settings { extra_authorities: vec![empty.path().to_owned()], ..settings() };
    assert!(said(empty).ends_with("it holds no certificate; expected a PEM file with certificates"));
    let agent = Settings { user_agent: "Réfrain".into(), ..settings() };
    assert_eq!(
        said(agent),
        "user agent: `Réfrain` cannot be sent in a header; expected printable ASCII characters"
    );
}
