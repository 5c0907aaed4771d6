//! Whom to trust.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, crypto};

use super::settings::BadSettings;

pub(super) const H2: &[u8] = b"h2";

pub(super) fn config(extra: &[PathBuf]) -> Result<Arc<ClientConfig>, BadSettings> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for path in extra {
        let bad = |why: String| BadSettings::Authorities { path: path.display().to_string(), why };
        let certificates = CertificateDer::pem_file_iter(path).map_err(|why| bad(why.to_string()))?;
        let before = roots.len();
        for certificate in certificates {
            let certificate = certificate.map_err(|why| bad(why.to_string()))?;
            roots.add(certificate).map_err(|why| bad(why.to_string()))?;
        }
        if roots.len() == before {
            return Err(bad("it holds no certificate".into()));
        }
    }
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|why| BadSettings::Authorities { path: "TLS".into(), why: why.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
