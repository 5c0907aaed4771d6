//! `refrain crawl` over TLS, in both versions of HTTP, with content codings: through the binary.

use std::convert::Infallible;
use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use crate::support::desk::{Desk, line_of};
use crate::support::{Folder, text};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, crypto};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// What was asked for, in which version, and what the client said it had.
type Log = Arc<Mutex<Vec<(String, Version, Option<String>)>>>;

struct Server {
    _runtime: Runtime,
    port: u16,
    authority: String,
    log: Log,
}

impl Server {
    /// A server for `localhost` that speaks these protocols; its authority's certificate is in the folder.
    fn start(folder: &Folder, protocols: &[&[u8]]) -> Self {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let authority = text(&folder.file("authority.pem", certified.cert.pem())).to_owned();
        let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Log::default();
        let seen = Arc::clone(&log);
        runtime.spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (acceptor, log) = (acceptor.clone(), Arc::clone(&seen));
                tokio::spawn(async move {
                    let Ok(tls) = acceptor.accept(tcp).await else { return };
                    let is_h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
                    let answers = service_fn(move |request| {
                        std::future::ready(Ok::<_, Infallible>(answer(&request, &log)))
                    });
                    let io = TokioIo::new(tls);
                    // Whoever hangs up has had enough.
                    if is_h2 {
                        let http2 = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                        let _ = http2.serve_connection(io, answers).await;
                    } else {
                        let http1 = hyper::server::conn::http1::Builder::new();
                        let _ = http1.serve_connection(io, answers).await;
                    }
                });
            }
        });
        Self { _runtime: runtime, port, authority, log }
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}

fn body(coding: &str) -> Vec<u8> {
    let page = format!("<title>{coding}</title><p>{}</p>", "the same words again and again ".repeat(50));
    match coding {
        "gzip" => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(page.as_bytes()).unwrap();
            gzip.finish().unwrap()
        }
        "zstd" => zstd::encode_all(page.as_bytes(), 3).unwrap(),
        _ => page.into_bytes(),
    }
}

fn answer(request: &Request<Incoming>, log: &Log) -> Response<Full<Bytes>> {
    let coding = request.uri().path().trim_start_matches('/').to_owned();
    let has = request.headers().get("if-none-match").map(|tag| tag.to_str().unwrap().to_owned());
    let tag = format!("\"{coding}\"");
    log.lock().unwrap().push((format!("/{coding}"), request.version(), has.clone()));
    let answer = Response::builder().header("ETag", &tag).header("Content-Type", "text/html");
    let answer = match coding.as_str() {
        "robots.txt" => Response::builder().status(404).body(Full::default()),
        _ if has.as_ref() == Some(&tag) => answer.status(304).body(Full::default()),
        "gzip" | "zstd" => answer.header("Content-Encoding", &coding).body(Full::new(body(&coding).into())),
        _ => answer.body(Full::new(body(&coding).into())),
    };
    answer.unwrap()
}

#[test]
fn secure_pages_are_kept_in_both_versions_of_http() {
    for (protocols, version) in
        [(&[&b"h2"[..], b"http/1.1"][..], Version::HTTP_2), (&[&b"http/1.1"[..]][..], Version::HTTP_11)]
    {
        let folder = Folder::new();
        let server = Server::start(&folder, protocols);
        let desk = Desk::new("");
        let urls = ["/plain", "/gzip", "/zstd"].map(|path| server.url(path));
        let seeds = desk.seeds(&urls);
        let trusting = ["--authorities", &server.authority];
        let said = desk.crawl(&[&[seeds.as_str(), "--once"], &trusting[..]].concat());
        for (url, coding) in urls.iter().zip(["plain", "gzip", "zstd"]) {
            assert_eq!(line_of(&said, url).outcome, "first", "{said:#?}");
            let kept = String::from_utf8(desk.body(url)).unwrap();
            assert!(kept.starts_with(&format!("<title>{coding}</title>")), "{kept}");
        }
        let again = desk.crawl(&[&["--once"], &trusting[..]].concat());
        for url in &urls {
            assert_eq!(line_of(&again, url).outcome, "unchanged", "{again:#?}");
        }
        desk.assert_sound();
        let log = server.log.lock().unwrap();
        assert!(log.iter().all(|(_, spoken, _)| *spoken == version), "{log:?}");
        let validated = log.iter().filter(|(_, _, has)| has.is_some()).count();
        assert_eq!(validated, 3, "{log:?}");
    }
}

#[test]
fn strangers_are_not_trusted() {
    let folder = Folder::new();
    let server = Server::start(&folder, &[b"h2"]);
    let desk = Desk::new("");
    let url = server.url("/plain");
    let said = desk.crawl_until(&[&url], "it is tried", |said| said.contains(&url));
    assert!(
        said.iter().all(|line| line.outcome == "failed" && line.note.contains("certificate")),
        "{said:#?}"
    );
    assert!(!said.is_empty() && server.log.lock().unwrap().is_empty());
}
