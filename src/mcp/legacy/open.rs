//! Opens a session: the event stream, and the endpoint that it names.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderMap};
use tokio::sync::mpsc;

use super::error::LegacyError;
use super::inbox::Inbox;
use super::outbox::Outbox;
use crate::http_client::{self, shown};
use crate::mcp::http::{EVENT_STREAM, Head, excerpt_of};

/// Opens a session with the server at this address. Never returns when the server names no endpoint: bound it. A message must be taken
/// within `post_timeout`.
pub(in crate::mcp) async fn open(
    url: &str,
    headers: &HeaderMap,
    connect_timeout: Duration,
    post_timeout: Duration,
) -> Result<(Outbox, Inbox), LegacyError> {
    let client = http_client::within_origin(url, connect_timeout).build()?;
    let asked = client.get(url).headers(headers.clone());
    let response = asked.header(ACCEPT, EVENT_STREAM).send().await?;
    let head = Head::of(&response);
    if !(head.status.is_success() && head.kind.starts_with(EVENT_STREAM)) {
        let body = excerpt_of(response).await;
        return Err(LegacyError::Answer(head.describe(&body)));
    }
    // After redirections, which stay on the same origin.
    let base = response.url().clone();
    let (aside, answers) = mpsc::unbounded_channel();
    let mut inbox = Inbox::new(response, answers);
    let named = inbox.endpoint().await.map_err(LegacyError::NoEndpoint)?;
    let endpoint = endpoint(&base, &named)?;
    let outbox = Outbox::new(client, endpoint, headers.clone(), post_timeout, aside);
    Ok((outbox, inbox))
}

/// The address that an event names. Messages, which carry the keys of the server, are sent to its own origin alone.
fn endpoint(base: &Url, named: &[u8]) -> Result<Url, LegacyError> {
    let named = std::str::from_utf8(named);
    let named = named.map_err(|_| LegacyError::NoEndpoint("the event is not text".to_owned()))?;
    let endpoint = base.join(named.trim());
    let endpoint = endpoint.map_err(|_| {
        let what = named.split(['?', '#']).next().unwrap_or_default();
        let what = crate::text::beginning(what.trim(), 100);
        LegacyError::NoEndpoint(format!("`{what}` is not an address"))
    })?;
    if endpoint.origin() == base.origin() {
        Ok(endpoint)
    } else {
        Err(LegacyError::Elsewhere(shown(&endpoint)))
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::endpoint;

    #[test]
    fn messages_go_to_the_same_origin_alone() {
        let base = Url::parse("https://mcp.example:8443/a/sse?key=1").unwrap();
        let leads = |named: &str| match endpoint(&base, named.as_bytes()) {
            Ok(url) => url.to_string(),
            Err(error) => error.to_string(),
        };
        let origin = "https://mcp.example:8443";
        assert_eq!(leads("/messages?s=1"), format!("{origin}/messages?s=1"));
        assert_eq!(leads("messages"), format!("{origin}/a/messages"));
        assert_eq!(leads("?s=1"), format!("{origin}/a/sse?s=1"));
        assert_eq!(
            leads(&format!(" {origin}/x\n")),
            "https://mcp.example:8443/x"
        );
        for (named, shown) in [
            ("https://evil.example/m?s=1", "https://evil.example/m"),
            ("//u:p@evil.example/m", "https://evil.example/m"),
            ("http://mcp.example:8443/m", "http://mcp.example:8443/m"),
            ("https://mcp.example/m", "https://mcp.example/m"),
            ("data:text/plain,x", "data:text/plain,x"),
        ] {
            let expected = format!("it wants messages at {shown}, which is another server");
            assert_eq!(leads(named), expected);
        }
        assert_eq!(
            leads("http://[?s=1"),
            "its event stream names no endpoint: `http://[` is not an address"
        );
    }
}
