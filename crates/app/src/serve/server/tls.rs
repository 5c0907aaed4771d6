//! The certificate that a server shows: read when it starts, and again when its files are others.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;

use super::Protocol;
use crate::failure::Failure;

/// So often somebody looks whether the files are others.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// A file that is longer is no certificate.
const LONGEST: u64 = 1 << 20;

/// A certificate and its key, from two PEM files.
#[derive(Debug)]
pub(crate) struct Certificate {
    cert: PathBuf,
    key: PathBuf,
    shown: RwLock<Arc<CertifiedKey>>,
    /// What the files were when they were read last, whether they could be used or not.
    read: Mutex<[u8; 32]>,
}

impl Certificate {
    pub(crate) fn read(cert: &Path, key: &Path) -> Result<Arc<Self>, Failure> {
        let files = Files::read(cert, key)?;
        let shown = RwLock::new(Arc::new(files.certified(cert, key)?));
        let (cert, key) = (cert.to_owned(), key.to_owned());
        Ok(Arc::new(Self { cert, key, shown, read: Mutex::new(files.digest()) }))
    }

    /// What secures connections with it, as it is at the moment of each.
    pub(crate) fn acceptor(self: &Arc<Self>, protocol: Protocol) -> Result<TlsAcceptor, Failure> {
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| Failure::OnTheWay(format!("connections cannot be secured ({why})")))?;
        let mut config =
            config.with_no_client_auth().with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![match protocol {
            Protocol::Http1 => b"http/1.1".to_vec(),
            Protocol::Http2 => b"h2".to_vec(),
        }];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files if they are others than before. Whether the certificate is another one now; if they cannot be used it stays.
    fn refresh(&self) -> Result<bool, Failure> {
        let files = Files::read(&self.cert, &self.key)?;
        {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            if *read == files.digest() {
                return Ok(false);
            }
            *read = files.digest();
        }
        let certified = Arc::new(files.certified(&self.cert, &self.key)?);
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = certified;
        Ok(true)
    }

    /// Looks once a minute, and when it is told to (SIGHUP), for as long as connections are secured.
    pub(crate) async fn keep_fresh(self: Arc<Self>) {
        let mut asked = signal(SignalKind::hangup()).ok();
        let mut complaint = String::new();
        loop {
            let by_hand = async {
                match &mut asked {
                    Some(asked) => drop(asked.recv().await),
                    None => std::future::pending().await,
                }
            };
            let is_asked = tokio::select! {
                () = by_hand => true,
                () = tokio::time::sleep(LOOK_AGAIN) => false,
            };
            let this = Arc::clone(&self);
            let done = tokio::task::spawn_blocking(move || this.refresh()).await;
            match done {
                Ok(Ok(true)) => {
                    complaint.clear();
                    tracing::info!(file = %self.cert.display(), "there is a new certificate");
                }
                Ok(Ok(false)) if is_asked => {
                    tracing::info!(file = %self.cert.display(), "the certificate is the one that was there");
                }
                Ok(Err(why)) => {
                    // Once for each thing that is wrong, not every minute.
                    let why = why.to_string();
                    if is_asked || why != complaint {
                        tracing::warn!("{why}; the certificate from before is shown");
                    }
                    complaint = why;
                }
                Ok(Ok(false)) | Err(_) => {}
            }
        }
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The two files, as they are at a moment.
struct Files {
    cert: Vec<u8>,
    key: Vec<u8>,
}

impl Files {
    fn read(cert: &Path, key: &Path) -> Result<Self, Failure> {
        Ok(Self { cert: bytes(cert)?, key: bytes(key)? })
    }

    fn digest(&self) -> [u8; 32] {
        let length = (self.cert.len() as u64).to_le_bytes();
        Sha256::new().chain_update(length).chain_update(&self.cert).chain_update(&self.key).finalize().into()
    }

    fn certified(&self, cert: &Path, key: &Path) -> Result<CertifiedKey, Failure> {
        let chain = CertificateDer::pem_slice_iter(&self.cert).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|why| wrong(cert, &why))?;
        if chain.is_empty() {
            return Err(wrong(cert, &"there is no certificate in it"));
        }
        let own = PrivateKeyDer::from_pem_slice(&self.key).map_err(|why| wrong(key, &why))?;
        CertifiedKey::from_der(chain, own, &default_provider())
            .map_err(|why| wrong(key, &format!("it does not fit the certificate ({why})")))
    }
}

fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|opened| opened.take(LONGEST + 1).read_to_end(&mut bytes));
    match read {
        Err(why) => Err(wrong(file, &why)),
        Ok(_) if bytes.len() as u64 > LONGEST => Err(wrong(file, &"it is longer than a megabyte")),
        Ok(_) => Ok(bytes),
    }
}

fn wrong(file: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {why}; expected a PEM file", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate and its key, written there.
    fn make(folder: &Path) -> Vec<u8> {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        made.cert.der().to_vec()
    }

    fn shown(certificate: &Certificate) -> Vec<u8> {
        certificate.shown.read().unwrap().cert[0].to_vec()
    }

    #[test]
    fn new_files_are_used_if_they_can_be() {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        let first = make(folder.path());
        let certificate = Certificate::read(&cert, &key).unwrap();
        assert!(shown(&certificate) == first && !certificate.refresh().unwrap());
        let second = make(folder.path());
        assert!(certificate.refresh().unwrap() && shown(&certificate) == second);
        // Half of a renewal: the certificate is there, its key not yet.
        let old = std::fs::read(&key).unwrap();
        let third = make(folder.path());
        let new = std::fs::read(&key).unwrap();
        std::fs::write(&key, old).unwrap();
        let why = certificate.refresh().unwrap_err().to_string();
        assert!(why.contains("does not fit the certificate") && shown(&certificate) == second, "{why}");
        assert!(!certificate.refresh().unwrap(), "that was looked at");
        std::fs::write(&key, new).unwrap();
        assert!(certificate.refresh().unwrap() && shown(&certificate) == third);
        for broken in ["", "nothing"] {
            std::fs::write(&cert, broken).unwrap();
            assert!(certificate.refresh().is_err() && shown(&certificate) == third);
        }
        std::fs::remove_file(&cert).unwrap();
        assert!(certificate.refresh().is_err() && shown(&certificate) == third);
    }
}
