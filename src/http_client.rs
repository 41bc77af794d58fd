//! HTTP clients: TLS without OpenSSL, no surprises on the way.

use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Url};

/// A builder of a client for one server. A redirection is not followed, because another place is another server and headers with keys
/// must not go there; servers on this machine are never asked for through a proxy.
pub fn builder(url: &str, connect_timeout: Duration) -> ClientBuilder {
    // Whoever installed a provider before us has chosen well enough.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|it| Certificate::from_der(it).ok());
    let builder = Client::builder()
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("mcp-eval/", env!("CARGO_PKG_VERSION")))
        .tls_certs_merge(roots);
    let host = Url::parse(url).ok();
    let host = host.as_ref().and_then(Url::host_str);
    if matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
        builder.no_proxy()
    } else {
        builder
    }
}
