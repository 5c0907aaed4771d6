//! The certificate that a server shows.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::failure::Failure;

/// What secures connections, from two PEM files.
pub(crate) fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let wrong = |file: &Path, why: &dyn std::fmt::Display| {
        Failure::input(format!("{}: {why}; expected a PEM file", file.display()))
    };
    let chain = CertificateDer::pem_file_iter(cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|why| wrong(cert, &why))?;
    if chain.is_empty() {
        return Err(wrong(cert, &"there is no certificate in it"));
    }
    let own = PrivateKeyDer::from_pem_file(key).map_err(|why| wrong(key, &why))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|why| Failure::OnTheWay(format!("connections cannot be secured ({why})")))?;
    let mut config = config
        .with_no_client_auth()
        .with_single_cert(chain, own)
        .map_err(|why| wrong(key, &format!("it does not fit the certificate ({why})")))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
