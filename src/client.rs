//! A client of the test server.
//!
//! # Example
//!
//! ```no_run
//! use mcp_eval::client::TestClient;
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // The server that was started in this folder, or one on a usual port; with the token that it has left for us.
//! let client = TestClient::find(None).await?;
//! let reply = client
//!     .run(&json!({
//!         "name": "price of tea",
//!         "prompt": "What does tea cost?",
//!         "expectedTools": ["get_price"],
//!         "serverConfigs": [{ "type": "http", "url": "http://127.0.0.1:8080/mcp" }],
//!     }))
//!     .await?;
//! assert!(reply.success, "{}", reply.verdict.reasoning);
//! # Ok(())
//! # }
//! ```

use std::fmt::Write as _;
use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::http_client::{self, Answered, Asked};
use crate::serve::announced;
use crate::serve::wire::{
    BatchReply, ErrorReply, Health, ResultList, RunReply, Statistics, Status,
};

/// How long a request may take, unless it is said: longer than any run takes by the defaults of a server.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long one that is no test server may take to say where there is one.
const REDIRECTING: Duration = Duration::from_secs(2);

/// Why a test server gives no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("Provided URL {url} is not a test server")]
    NotATestServer { url: String },
    #[error("No test server found. Please start a test server: `mcp-eval serve`")]
    NotFound,
    /// The server has answered, and not with what was asked for.
    #[error("Test execution failed: {status}{}", said(.reply))]
    Status { status: u16, reply: ErrorReply },
    /// It sends its clients to another address, which would be shown the token.
    #[error(
        "the server redirects to {target} (HTTP {status}), which is not followed: use that address if you trust it"
    )]
    Redirect { status: u16, target: String },
    /// There was no answer, or none that can be read.
    #[error("Test execution failed: {0}")]
    Exchange(String),
}

/// What a server says of it.
fn said(reply: &ErrorReply) -> String {
    // What is about one place alone is said there.
    let alone = reply.findings.iter().find(|it| it.message == reply.error);
    let place = alone.filter(|it| !it.path.is_empty());
    let mut said = match (reply.error.as_str(), place) {
        ("", _) => String::new(),
        (error, None) => format!(": {error}"),
        (error, Some(at)) => format!(": {}: {error}", at.path),
    };
    for it in &reply.findings {
        if it.message == reply.error {
            continue;
        }
        let path = if it.path.is_empty() { "/" } else { &it.path };
        let _ = write!(said, "\n  {path}: {}", it.message);
    }
    said
}

/// A client of one test server.
#[derive(Clone)]
pub struct TestClient {
    url: String,
    token: Option<String>,
    patience: Duration,
}

impl std::fmt::Debug for TestClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestClient")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl TestClient {
    /// A client of the server at this address, which wants this token.
    pub fn new(url: impl Into<String>, token: Option<String>) -> Self {
        let url: String = url.into();
        Self {
            url: url.trim_end_matches('/').to_owned(),
            token,
            patience: PATIENCE,
        }
    }

    /// A client of the server at this address, or of the first that is found; with the token of `MCP_EVAL_TOKEN`, or
    /// the one that it has left in this folder.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn find(url: Option<&str>) -> Result<Self, ClientError> {
        let found = match url {
            Some(url) => match probe(url, Kind::Given).await {
                Some(found) => found,
                None => return Err(no_server(url).await),
            },
            None => find().await.ok_or(ClientError::NotFound)?,
        };
        let token = token_of(&found.url);
        Ok(Self::new(found.url, token))
    }

    /// The same that waits so long for each answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// How the server is.
    ///
    /// # Errors
    ///
    /// When there is no such answer, as for all that follow.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.get("health").await
    }

    /// What it is doing.
    pub async fn status(&self) -> Result<Status, ClientError> {
        self.get("status").await
    }

    /// Runs a test case or a scenario: a [`RunRequest`](crate::serve::wire::RunRequest), or the same as JSON.
    pub async fn run(&self, request: &impl Serialize) -> Result<RunReply, ClientError> {
        self.post("run", request).await
    }

    /// Runs several: a [`BatchRequest`](crate::serve::wire::BatchRequest), or the same as JSON.
    pub async fn run_batch(&self, request: &impl Serialize) -> Result<BatchReply, ClientError> {
        self.post("run-batch", request).await
    }

    /// The latest results.
    pub async fn results(&self) -> Result<ResultList, ClientError> {
        self.get("results").await
    }

    /// One result.
    pub async fn result(&self, id: &str) -> Result<RunReply, ClientError> {
        self.get(&format!("results/{}", escaped(id))).await
    }

    /// All results in numbers.
    pub async fn stats(&self) -> Result<Statistics, ClientError> {
        self.get("stats").await
    }

    /// Asks a path below `/api/test` for anything.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.ask("GET", path, None).await
    }

    /// Sends anything to a path below `/api/test`.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_string(body);
        let body = body.map_err(|error| ClientError::Exchange(error.to_string()))?;
        self.ask("POST", path, Some(body)).await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: Option<String>,
    ) -> Result<T, ClientError> {
        let mut headers = vec![("Accept".to_owned(), "application/json".to_owned())];
        if let Some(token) = &self.token {
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        if body.is_some() {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        let asked = Asked {
            method,
            url: &format!("{}/api/test/{path}", self.url),
            headers: &headers,
            body,
        };
        let Answered {
            status,
            body: text,
            location,
        } = http_client::exchange(asked, self.patience)
            .await
            .map_err(ClientError::Exchange)?;
        if let (300..=399, Some(target)) = (status, location) {
            return Err(ClientError::Redirect { status, target });
        }
        if !(200..300).contains(&status) {
            let reply = serde_json::from_slice(&text).unwrap_or_default();
            return Err(ClientError::Status { status, reply });
        }
        // What has nothing to say is `null`.
        let text = if text.is_empty() { b"null" } else { &text[..] };
        crate::json::read::<Value>(text)
            .map_err(|error| error.to_string())
            .and_then(|it| serde_json::from_value(it).map_err(|error| error.to_string()))
            .map_err(|why| ClientError::Exchange(format!("the answer cannot be read: {why}")))
    }
}

/// Why what was named is no test server.
async fn no_server(url: &str) -> ClientError {
    let asked = TestClient::new(url, None).with_patience(REDIRECTING);
    match asked.health().await {
        Err(redirect @ ClientError::Redirect { .. }) => redirect,
        _ => ClientError::NotATestServer {
            url: url.to_owned(),
        },
    }
}

/// A part of an address in which nothing has a meaning of its own.
fn escaped(part: &str) -> String {
    let mut escaped = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(byte.into());
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// The ports that are looked at, the best first: those of test servers, then those of applications that may have one inside.
pub const PORTS: [u16; 5] = [3002, 3003, 3004, 3001, 3000];

/// How many of them are of test servers alone.
const DEDICATED: usize = 3;

/// How long a server may take to say that it is one.
const LOOKING: Duration = Duration::from_secs(2);

/// The environment variable that holds the token of a server, whatever one has left here.
const TOKEN: &str = "MCP_EVAL_TOKEN";

/// A test server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub url: String,
    pub kind: Kind,
}

/// How it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It does nothing else.
    Dedicated,
    /// An application that can be tested.
    Ui,
    /// Somebody has named it.
    Given,
}

/// The best test server on this machine: one that was started in this folder, else one on a usual port. All are asked at once.
pub async fn find() -> Option<Found> {
    let own = announced().map(|it| (it.url, Kind::Dedicated));
    let usual = PORTS.iter().enumerate().map(|(place, port)| {
        let kind = if place < DEDICATED {
            Kind::Dedicated
        } else {
            Kind::Ui
        };
        (format!("http://127.0.0.1:{port}"), kind)
    });
    let asked = own.into_iter().chain(usual);
    let asked = asked.map(|(url, kind)| async move { probe(&url, kind).await });
    let answers = join_all(asked).await;
    answers.into_iter().flatten().next()
}

/// A server at this address, where one says that it is a test server; another one that answers is none.
pub async fn probe(url: &str, kind: Kind) -> Option<Found> {
    let url = url.trim_end_matches('/');
    let health = format!("{url}/api/test/health");
    let (status, body) = http_client::page(&health, &[], LOOKING).await.ok()?;
    let health: Value = serde_json::from_str(&body).ok()?;
    let is_test_server = status == 200 && health.get("testing") == Some(&Value::Bool(true));
    is_test_server.then(|| Found {
        url: url.to_owned(),
        kind,
    })
}

/// The token of a server: that of the environment, which somebody has given for it, else what it has left in this folder, where that is this
/// one and it still runs.
pub fn token_of(url: &str) -> Option<String> {
    let given = std::env::var(TOKEN).ok().filter(|it| !it.is_empty());
    given.or_else(|| {
        let left = announced().filter(|it| is_same(&it.url, url));
        left.and_then(|it| it.token)
    })
}

/// Whether two addresses are of the same server of this machine.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        let url = url.trim_end_matches('/');
        url.replace("//localhost:", "//127.0.0.1:")
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::{ClientError, escaped};
    use crate::serve::wire::{ErrorReply, Misfit};

    #[test]
    fn errors_are_worded_as_in_other_clients() {
        let not = ClientError::NotATestServer {
            url: "http://h".to_owned(),
        };
        assert_eq!(
            not.to_string(),
            "Provided URL http://h is not a test server"
        );
        let misfit = Misfit {
            path: "/name".to_owned(),
            message: "is empty".to_owned(),
        };
        let reply = ErrorReply {
            error: "malformed".to_owned(),
            findings: vec![misfit],
        };
        let status = ClientError::Status { status: 400, reply };
        assert_eq!(
            status.to_string(),
            "Test execution failed: 400: malformed\n  /name: is empty"
        );
    }

    #[test]
    fn ids_stay_within_their_part_of_an_address() {
        assert_eq!(escaped("a/b?c d.é"), "a%2Fb%3Fc%20d.%C3%A9");
    }
}
