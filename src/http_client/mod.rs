//! HTTP clients: TLS without OpenSSL, no redirections to other servers, no proxies for servers on this machine.

mod caller;
mod own_certificate;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Certificate, Client, ClientBuilder, StatusCode, Url};
use tokio::net::TcpStream;
use tokio::time::Instant;

use self::own_certificate::client_config;

pub use self::caller::{Call, Caller, NoReply, Reply, Silence};

/// A builder of a client for one server. A redirection is not followed, because another place is another server and headers with keys
/// must not go there; servers on this machine are never asked for through a proxy.
pub fn builder(url: &str, connect_timeout: Duration) -> ClientBuilder {
    // Fails when a provider is installed already, which will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .redirect(Policy::none())
        .user_agent(concat!("mcp-eval/", env!("CARGO_PKG_VERSION")));
    let local = Url::parse(url).ok().filter(is_of_this_machine);
    if local.as_ref().is_some_and(|it| it.scheme() == "http") {
        // Nothing of it is encrypted, and reading the certificates of the system would take longer than most runs.
        return builder.no_proxy().tls_certs_only([]);
    }
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|it| Certificate::from_der(it).ok());
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let own = named.and_then(|it| {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned();
        client_config(&it, roots)
    });
    let builder = match own {
        Some(config) => builder.tls_backend_preconfigured(config),
        None => builder.tls_certs_merge(roots),
    };
    if local.is_some() {
        builder.no_proxy()
    } else {
        builder
    }
}

/// Whether a server is on this machine, by its name.
fn is_of_this_machine(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// The same for a server that may send its clients to another path of its own: 307 and 308 are followed on the same origin, and any other
/// redirection is an error that names its status and where it leads.
pub fn within_origin(url: &str, connect_timeout: Duration) -> ClientBuilder {
    builder(url, connect_timeout)
        .redirect(policy())
        .referer(false)
}

/// Environment variables that name a proxy.
const PROXIES: [&str; 6] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

/// How long to wait before an address is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Whether nobody listens at an address: every connection is refused, and goes on being refused for so long. Nothing is said of an address
/// that cannot be read, that may be asked through a proxy, or at which there is no answer at all.
pub async fn is_deserted(url: &str, patience: Duration) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    if !is_of_this_machine(&url) && PROXIES.iter().any(is_set) {
        return false;
    }
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return false;
    };
    let host = host.trim_matches(['[', ']']);
    let until = Instant::now() + patience;
    loop {
        let connecting = TcpStream::connect((host, port));
        match tokio::time::timeout_at(until, connecting).await {
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {}
            _ => return false,
        }
        if Instant::now() + BETWEEN_TRIES >= until {
            return true;
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
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
    let asked = Asked {
        method: "GET",
        url,
        headers,
        body: None,
    };
    let mut response = send(asked, limit).await?;
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

/// What a server is asked.
#[derive(Debug)]
pub struct Asked<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: Option<String>,
}

/// The most of an answer that is read.
const LONGEST_ANSWER: usize = 256 * 1024 * 1024;

/// What a server answers.
#[derive(Debug)]
pub struct Answered {
    /// The HTTP status.
    pub status: u16,
    pub body: Vec<u8>,
    /// Where it sends its clients instead, without what may be secret; nobody goes there.
    pub location: Option<String>,
}

/// Sends what is asked, and waits for the head of the answer.
async fn send(asked: Asked<'_>, limit: Duration) -> Result<reqwest::Response, String> {
    let client = builder(asked.url, limit).timeout(limit).build();
    let client = client.map_err(|error| root(&error))?;
    let method = asked.method.parse::<reqwest::Method>();
    let method = method.map_err(|error| error.to_string())?;
    let mut request = client.request(method, asked.url);
    for (name, value) in asked.headers {
        request = request.header(name, value);
    }
    if let Some(body) = asked.body {
        request = request.body(body);
    }
    request.send().await.map_err(|error| root(&error))
}

/// Asks a server, and reads its answer within `limit`.
///
/// # Errors
///
/// Why there is no answer, in a fragment.
pub async fn exchange(asked: Asked<'_>, limit: Duration) -> Result<Answered, String> {
    let mut response = send(asked, limit).await?;
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION);
    let location = location.and_then(|it| response.url().join(it.to_str().ok()?).ok());
    let location = location.as_ref().map(shown);
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| root(&error))? {
        if body.len() + piece.len() > LONGEST_ANSWER {
            return Err(format!("the answer is longer than {LONGEST_ANSWER} bytes"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Answered {
        status,
        body,
        location,
    })
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

/// How long a server wants to be left alone: milliseconds, seconds, or until a date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let number = |text: &str| text.trim().parse::<f64>().ok();
    // No clock goes so far.
    let pause = |seconds: f64| Duration::try_from_secs_f64(seconds.min(1e9)).ok();
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return pause(milliseconds / 1000.0);
    }
    let wanted = text("retry-after")?;
    if let Some(seconds) = number(wanted) {
        return pause(seconds);
    }
    let date = jiff::fmt::rfc2822::parse(wanted).ok()?.timestamp();
    let left = date.duration_since(Timestamp::now());
    Some(left.try_into().unwrap_or_default())
}

/// How often a request follows.
const MOST: usize = 5;

/// A redirection that is not followed.
#[derive(Debug, thiserror::Error)]
#[error("HTTP {status} leads to {target}, and is not followed: {why}")]
struct NotFollowed {
    status: StatusCode,
    target: String,
    why: &'static str,
}

/// Follows 307 and 308 on the same origin, and refuses the rest.
fn policy() -> Policy {
    Policy::custom(decide)
}

fn decide(attempt: Attempt<'_>) -> Action {
    let (status, target, before) = (attempt.status(), attempt.url(), attempt.previous());
    let keeps_request = matches!(
        status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let is_same = before
        .first()
        .is_none_or(|it| it.origin() == target.origin());
    let why = if !is_same {
        "that is another server"
    } else if !keeps_request {
        "only 307 and 308 keep what is asked"
    } else if before.len() > MOST {
        "it is one of too many"
    } else {
        return attempt.follow();
    };
    let target = shown(target);
    attempt.error(NotFollowed {
        status,
        target,
        why,
    })
}

/// An address without what may be secret in it: its parameters, and whom it asks as.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fail for addresses that hold no such thing.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use reqwest::header::HeaderMap;

    use super::{is_deserted, retry_after};

    const PATIENCE: Duration = Duration::from_millis(700);

    /// A free port of this machine.
    fn listener() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        (listener, url)
    }

    #[tokio::test]
    async fn only_an_address_that_refuses_all_the_time_is_deserted() {
        let (listener, url) = listener();
        // It listens, and never answers.
        assert!(!is_deserted(&url, PATIENCE).await);
        drop(listener);
        let began = Instant::now();
        assert!(is_deserted(&url, PATIENCE).await);
        assert!(began.elapsed() < 3 * PATIENCE);
        for unreadable in ["${URL}", "http://${HOST}/mcp", "nowhere"] {
            assert!(!is_deserted(unreadable, PATIENCE).await);
        }
    }

    #[tokio::test]
    async fn a_server_that_comes_up_meanwhile_is_waited_for() {
        let (listener, url) = listener();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let up = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE / 3).await;
            TcpListener::bind(address).unwrap()
        });
        assert!(!is_deserted(&url, 10 * PATIENCE).await);
        drop(up.await.unwrap());
    }

    #[test]
    fn pauses_are_read_in_every_form() {
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(
            read("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "-1"), None);
        let longest = read("retry-after", "99999999999999999999");
        assert_eq!(longest, Some(Duration::from_secs(1_000_000_000)));
        let past = read("retry-after", "Fri, 20 Nov 2020 10:00:00 GMT");
        assert_eq!(past, Some(Duration::ZERO));
        let future = read("retry-after", "Fri, 20 Nov 2099 10:00:00 GMT");
        assert!(future > Some(Duration::from_secs(1_000_000)));
    }
}
