//! A server to connect to, and how to get at it.

use std::time::Duration;

use crate::mcp::observed::Observed;
use crate::model::scenario::HttpStyle;
use crate::process::ChildCommand;

/// A server to connect to.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: String,
    pub launch: Launch,
    /// A connection that it refuses is tried again within the connect timeout: it may be starting just now.
    pub may_be_starting: bool,
    /// From the start of the server to its complete list of tools.
    pub connect_timeout: Duration,
    /// For the answer to one tool call.
    pub tool_timeout: Duration,
    /// What its sessions find out about it.
    pub observed: Observed,
}

impl Target {
    /// Where it is over HTTP, without a path: `http://127.0.0.1:49153`; `None` for one that is a child process.
    pub fn origin(&self) -> Option<String> {
        let Launch::Http { url, .. } = &self.launch else {
            return None;
        };
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        Some(format!("{scheme}://{authority}"))
    }
}

/// How to get at it.
#[derive(Debug, Clone)]
pub enum Launch {
    /// Start it as a child process and speak over its standard streams.
    Child(ChildCommand),
    /// Speak with it over HTTP.
    Http {
        style: HttpStyle,
        url: String,
        headers: Vec<(String, String)>,
        bearer_token: Option<String>,
    },
}

/// Called with a description of each step under way.
pub type OnProgress<'a> = &'a (dyn Fn(&str) + Send + Sync);

impl Launch {
    /// What is started or asked, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Child(command) => format!("`{}`", command.program.to_string_lossy()),
            // Without its parameters, which may hold a key.
            Self::Http { url, .. } => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }
}
