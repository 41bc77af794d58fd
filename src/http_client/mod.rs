//! HTTP clients: TLS without OpenSSL, no redirections to other servers, no proxies for servers on this machine.

mod own_certificate;
mod redirects;

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Url};

pub use self::redirects::shown;

/// A builder of a client for one server. A redirection is not followed, because another place is another server and headers with keys
/// must not go there; servers on this machine are never asked for through a proxy.
pub fn builder(url: &str, connect_timeout: Duration) -> ClientBuilder {
    // Fails when a provider is installed already, which will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|it| Certificate::from_der(it).ok());
    let builder = Client::builder()
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("mcp-eval/", env!("CARGO_PKG_VERSION")));
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let own = named.and_then(|it| {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned();
        own_certificate::client_config(&it, roots)
    });
    let builder = match own {
        Some(config) => builder.tls_backend_preconfigured(config),
        None => builder.tls_certs_merge(roots),
    };
    let host = Url::parse(url).ok();
    let host = host.as_ref().and_then(Url::host_str);
    if matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
        builder.no_proxy()
    } else {
        builder
    }
}

/// The same for a server that may send its clients to another path of its own: 307 and 308 are followed on the same origin, and any other
/// redirection is an error that names its status and where it leads.
pub fn within_origin(url: &str, connect_timeout: Duration) -> ClientBuilder {
    builder(url, connect_timeout)
        .redirect(redirects::policy())
        .referer(false)
}

/// The most of a page that is read.
const LONGEST_PAGE: usize = 1024 * 1024;

/// Gets a page, within `limit`: its HTTP status, and the beginning of its body.
///
/// # Errors
///
/// Why there is no answer, in a fragment.
pub async fn page(
    url: &str,
    headers: &[(String, String)],
    limit: Duration,
) -> Result<(u16, String), String> {
    let client = builder(url, limit).timeout(limit).build();
    let client = client.map_err(|error| root(&error))?;
    let mut request = client.get(url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let mut response = request.send().await.map_err(|error| root(&error))?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while body.len() < LONGEST_PAGE {
        match response.chunk().await.map_err(|error| root(&error))? {
            Some(piece) => body.extend_from_slice(&piece),
            None => break,
        }
    }
    body.truncate(LONGEST_PAGE);
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// The address of a path on the server that another address leads to; `None` where that is no address.
pub fn on_same_server(address: &str, path: &str) -> Option<String> {
    let mut url = Url::parse(address).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    url.set_path(path);
    url.set_query((!query.is_empty()).then_some(query));
    Some(url.into())
}

/// The innermost cause of an error. The errors around it only say that there was one, and may show addresses with keys in them.
fn root(error: &reqwest::Error) -> String {
    let mut root: &dyn std::error::Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    if std::ptr::addr_eq(root, std::ptr::from_ref(error)) && error.is_builder() {
        return "the address or a header has a character that HTTP does not allow".to_owned();
    }
    root.to_string()
}
