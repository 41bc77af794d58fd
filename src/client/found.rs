//! Which test server there is.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

use crate::http_client;
use crate::serve::announced;

/// The ports that are looked at, the best first: those of test servers, then those of applications that may have one inside.
pub const PORTS: [u16; 5] = [3002, 3003, 3004, 3001, 3000];

/// How many of them are of test servers alone.
const DEDICATED: usize = 3;

/// How long a server may take to say that it is one.
const PATIENCE: Duration = Duration::from_secs(2);

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
    let (status, body) = http_client::page(&health, &[], PATIENCE).await.ok()?;
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
