//! Headers of the agent's side that arrive at servers behind the one that the agent asks.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;

use crate::mcp::target::{Launch, Target, with_token};
use crate::model::Header;

/// A shorter value may be the same by chance under another name.
const TELLING: usize = 8;

/// What of a value would be recognised elsewhere: all of it, or what follows a scheme such as `Bearer`.
fn telling(value: &HeaderValue) -> &[u8] {
    let bytes = value.as_bytes();
    match memchr::memchr(b' ', bytes) {
        Some(at) if bytes[..at].iter().all(u8::is_ascii_alphabetic) => &bytes[at + 1..],
        _ => bytes,
    }
}

/// The headers that the agent's side sends. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct SentHeaders(Arc<Mutex<Vec<(HeaderName, HeaderValue)>>>);

impl SentHeaders {
    /// From now on, those that these servers are asked with.
    pub fn are_those_of(&self, targets: &[Target]) {
        let headers = targets.iter().filter_map(|it| match &it.launch {
            Launch::Http {
                headers,
                bearer_token,
                ..
            } => with_token(headers, bearer_token.as_deref()).ok(),
            Launch::Child(_) => None,
        });
        let mut sent: Vec<_> = headers
            .flatten()
            .filter_map(|(name, value)| Some((name?, value)))
            .collect();
        sent.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        sent.dedup();
        *self.0.lock() = sent;
    }

    /// Those that have arrived with a request, by the names they were sent with: sorted, each once.
    pub(super) fn among(&self, arrived: &HeaderMap) -> Vec<Header> {
        let sent = self.0.lock();
        let has_arrived = |(name, value): &&(HeaderName, HeaderValue)| {
            let needle = telling(value);
            let holds = |it: &HeaderValue| memchr::memmem::find(it.as_bytes(), needle).is_some();
            arrived.get_all(name).iter().any(|it| it == value)
                || needle.len() >= TELLING && arrived.values().any(holds)
        };
        let passed_on = sent.iter().filter(has_arrived);
        passed_on
            .map(|(name, value)| Header {
                name: name.as_str().to_owned(),
                value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
            })
            .collect()
    }
}
