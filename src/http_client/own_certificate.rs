//! A server whose certificate is its own authority: one certificate, signed by itself and marked as that of a certificate authority.
//!
//! Many a server on a developer's machine has such a certificate, and `curl` takes it once `SSL_CERT_FILE` names it. The rules of webpki do
//! not let the certificate of an authority be that of a server; so whoever says "trust exactly this one" has to be believed here.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// The settings of a client for which the certificates in a file are also those of servers; `None` where the file holds none, and the usual
/// settings will do.
pub(super) fn client_config(
    file: &Path,
    roots: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Option<ClientConfig> {
    let trusted = CertificateDer::pem_file_iter(file).ok()?;
    let trusted: Vec<_> = trusted.filter_map(Result::ok).collect();
    if trusted.is_empty() {
        return None;
    }
    let provider = CryptoProvider::get_default()?.clone();
    let usual = Verifier::new_with_extra_roots(roots, Arc::clone(&provider)).ok()?;
    let config = ClientConfig::builder_with_provider(provider);
    let mut config = config
        .with_safe_default_protocol_versions()
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(OrExactlyThese { usual, trusted }))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Some(config)
}

/// Takes what the usual rules take, and besides only the certificates that somebody has named.
#[derive(Debug)]
struct OrExactlyThese<V> {
    usual: V,
    trusted: Vec<CertificateDer<'static>>,
}

impl<V: ServerCertVerifier> ServerCertVerifier for OrExactlyThese<V> {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual = self.usual.verify_server_cert(leaf, others, name, ocsp, now);
        match usual {
            Err(error) if is_ca_as_server(&error) && self.trusted.contains(leaf) => {
                // Its time is right: the usual rules look at that first.
                verify_server_name(&ParsedCertificate::try_from(leaf)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            usual => usual,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, leaf, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, leaf, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Whether the only thing wrong so far is that the certificate is that of an authority.
fn is_ca_as_server(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else {
        return false;
    };
    matches!(
        other.0.downcast_ref(),
        Some(webpki::Error::CaUsedAsEndEntity)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::RootCertStore;
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::ServerCertVerifier;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};

    use super::OrExactlyThese;

    const OWN: &[u8] = include_bytes!("../../tests/fixtures/tls/self_signed.pem");
    const STRANGER: &[u8] = include_bytes!("../../tests/fixtures/tls/stranger.pem");

    fn own_or(trusted: &[u8]) -> OrExactlyThese<WebPkiServerVerifier> {
        let trusted = CertificateDer::from_pem_slice(trusted).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        OrExactlyThese {
            usual: Arc::into_inner(usual.build().unwrap()).unwrap(),
            trusted: vec![trusted],
        }
    }

    #[test]
    fn only_the_very_certificate_is_taken_for_its_name_and_in_its_time() {
        let takes = |trusted: &[u8], name: &str, years: u64| {
            let leaf = CertificateDer::from_pem_slice(OWN).unwrap();
            let name = ServerName::try_from(name).unwrap();
            // 2030, and so many years later.
            let now = Duration::from_secs((60 + years) * 365 * 24 * 3600);
            let now = UnixTime::since_unix_epoch(now);
            own_or(trusted)
                .verify_server_cert(&leaf, &[], &name, &[], now)
                .is_ok()
        };
        assert!(takes(OWN, "localhost", 0));
        assert!(takes(OWN, "127.0.0.1", 0));
        assert!(!takes(OWN, "other.example", 0));
        assert!(!takes(OWN, "localhost", 200));
        assert!(!takes(STRANGER, "localhost", 0));
    }
}
