//! Questions to one server over HTTP, asked one after the other over the same connection.

use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};
use serde_json::Value;

use super::{root, within_origin};

/// The most of an answer that is read, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// Asks one server.
#[derive(Debug)]
pub struct Caller {
    client: Client,
    headers: HeaderMap,
    limit: Duration,
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Call {
    /// `GET`, `POST` …
    pub method: String,
    pub url: String,
    /// Added to the address, encoded.
    pub query: Vec<(String, String)>,
    /// Sent as JSON.
    pub body: Option<Value>,
}

/// What is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    /// The kind of the body, as the server names it.
    pub content_type: String,
    pub body: Vec<u8>,
    /// Until the last byte of the body.
    pub took: Duration,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoReply {
    /// In a fragment.
    pub why: String,
    pub silence: Silence,
}

/// How it came that nothing was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// What was to be asked cannot be sent at all, or what is answered cannot be read.
    Unasked,
    /// Nothing came in time.
    TooLong,
    /// The server could not be reached, or went away.
    Broken,
}

impl From<String> for NoReply {
    fn from(why: String) -> Self {
        Self {
            why,
            silence: Silence::Unasked,
        }
    }
}

impl Caller {
    /// A caller of the server at an address, which gives up each call after `limit`.
    ///
    /// # Errors
    ///
    /// Which header cannot be sent, or why there can be no client.
    pub fn new(url: &str, headers: &[(String, String)], limit: Duration) -> Result<Self, String> {
        let client = within_origin(url, limit).timeout(limit).build();
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let key = HeaderName::try_from(name.as_str());
            let mut text = HeaderValue::try_from(value.as_str());
            if let Ok(it) = &mut text {
                it.set_sensitive(true);
            }
            let (Ok(key), Ok(text)) = (key, text) else {
                return Err(format!(
                    "the header `{name}` has a character that HTTP does not allow"
                ));
            };
            all.insert(key, text);
        }
        Ok(Self {
            client: client.map_err(|error| root(&error))?,
            headers: all,
            limit,
        })
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub async fn ask(&self, call: &Call) -> Result<Reply, NoReply> {
        let mut url =
            Url::parse(&call.url).map_err(|error| format!("the address is none: {error}"))?;
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let method = Method::from_bytes(call.method.as_bytes())
            .map_err(|_| format!("`{}` is not an HTTP method", call.method))?;
        let began = Instant::now();
        let mut request = self
            .client
            .request(method, url)
            .headers(self.headers.clone());
        if let Some(body) = &call.body {
            request = request.json(body);
        }
        let no_reply = |error: reqwest::Error| {
            if error.is_timeout() {
                NoReply {
                    why: format!("no answer within {} s", self.limit.as_secs_f64()),
                    silence: Silence::TooLong,
                }
            } else {
                NoReply {
                    silence: if error.is_builder() {
                        Silence::Unasked
                    } else {
                        Silence::Broken
                    },
                    why: root(&error),
                }
            }
        };
        let mut response = request.send().await.map_err(no_reply)?;
        let status = response.status().as_u16();
        let content_type = response.headers().get(reqwest::header::CONTENT_TYPE);
        let content_type = content_type.and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(no_reply)? {
            body.extend_from_slice(&piece);
            if body.len() > LONGEST {
                return Err(format!("the answer is longer than {} MB", LONGEST >> 20).into());
            }
        }
        Ok(Reply {
            status,
            content_type,
            body,
            took: began.elapsed(),
        })
    }
}
