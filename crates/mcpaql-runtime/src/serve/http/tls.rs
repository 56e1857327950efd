//! TLS: a certificate and its key from files, read again when the files change.
//!
//! What always holds: a certificate that cannot be used never replaces one that can.

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often the files are read again.
const RELOAD_INTERVAL: Duration = Duration::from_secs(2);

/// The files of a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and the ones that signed it, in PEM format, the server's own first.
    pub cert: PathBuf,
    /// The private key, in PEM format.
    pub key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file of the certificate contains none.
    #[error("'{}' contains no certificate in PEM format", .0.display())]
    NoCertificate(PathBuf),
    /// The file of the key contains none.
    #[error("'{}' contains no private key in PEM format without a password", .0.display())]
    NoKey(PathBuf),
    /// The key is that of another certificate.
    #[error("the key in '{}' does not belong to the certificate in '{}'", .0.key.display(), .0.cert.display())]
    OtherKey(TlsFiles),
    /// The certificate or the key is not supported.
    #[error("cannot use the certificate in '{}' with the key in '{}': {source}", files.cert.display(), files.key.display())]
    Unusable {
        /// The files.
        files: TlsFiles,
        /// The error of the TLS library.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The contents of both files, and a hash that detects changes.
struct TlsContents {
    cert: Vec<u8>,
    key: Vec<u8>,
    hash: [u8; 32],
}

impl TlsFiles {
    async fn read(&self) -> Result<TlsContents, TlsError> {
        let read = async |path: &Path| {
            tokio::fs::read(path).await.map_err(|source| TlsError::Read { path: path.to_owned(), source })
        };
        let (cert, key) = (read(&self.cert).await?, read(&self.key).await?);
        let mut hash = Sha256::new();
        hash.update(cert.len().to_be_bytes());
        hash.update(&cert);
        hash.update(&key);
        Ok(TlsContents { hash: hash.finalize().into(), cert, key })
    }

    fn config(&self, contents: &TlsContents) -> Result<Arc<ServerConfig>, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&contents.cert)
            .collect::<Result<_, _>>()
            .map_err(|_| TlsError::NoCertificate(self.cert.clone()))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(self.cert.clone()));
        }
        let key =
            PrivateKeyDer::from_pem_slice(&contents.key).map_err(|_| TlsError::NoKey(self.key.clone()))?;
        let unusable = |error: rustls::Error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::OtherKey(self.clone()),
            error => TlsError::Unusable { files: self.clone(), source: Box::new(error) },
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Reads the certificate, and reads it again whenever its files change, as long as a receiver exists.
    ///
    /// # Errors
    /// When the certificate cannot be used now.
    pub(super) async fn watch(self) -> Result<watch::Receiver<Arc<ServerConfig>>, TlsError> {
        let contents = self.read().await?;
        let (sender, receiver) = watch::channel(self.config(&contents)?);
        let mut hash = contents.hash;
        drop(contents.key);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sender.closed() => return,
                    () = tokio::time::sleep(RELOAD_INTERVAL) => {}
                }
                self.reload(&sender, &mut hash).await;
            }
        });
        Ok(receiver)
    }

    async fn reload(&self, sender: &watch::Sender<Arc<ServerConfig>>, known: &mut [u8; 32]) {
        // While files are being replaced, one may be missing.
        let Ok(contents) = self.read().await else { return };
        if contents.hash == *known {
            return;
        }
        *known = contents.hash;
        match self.config(&contents) {
            Ok(config) => {
                sender.send_replace(config);
                tracing::info!("the TLS certificate has changed and is used for new connections");
            }
            Err(error) => tracing::warn!("the TLS certificate has changed, but the old one is used: {error}"),
        }
    }
}
