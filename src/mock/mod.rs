//! The mock MCP server: answers requests as declared, over standard streams or HTTP.
//!
//! It works on plain JSON rather than on a typed server, so that it can answer exactly what is declared, also what breaks the protocol.
//!
//! | file | what happens there |
//! |---|---|
//! | `wire` | JSON-RPC: what a message is, how replies are written |
//! | `core`, `requests`, `exchange` | pure: a declaration, a state and a request make events and an answer |
//! | `tools`, `calls`, `answers`, `recorded` | which response answers a call |
//! | `resources`, `uri_pattern`, `prompts`, `lists` | the rest of what a server offers |
//! | `template`, `state`, `render` | `{{references}}`, what the server remembers, and replies with references filled in |
//! | `faults` | what goes wrong with a reply |
//! | `client`, `session`, `running`, `service`, `receive`, `news` | clients, their requests under way, notifications to them |
//! | `call_log` | which tools were called |
//! | `stdio`, `http` | the fronts |
//! | `llm` | a stand-in for the API of a model |
//! | `server` | a server inside this process |
//! | `ended` | how serving ended |
//! | `lock` | locks that outlast a panic |

mod answers;
mod call_log;
mod calls;
mod client;
mod core;
mod echo;
mod ended;
mod exchange;
mod faults;
mod http;
mod lists;
mod llm;
mod news;
mod prompts;
mod receive;
mod recorded;
mod render;
mod requests;
mod resources;
mod running;
mod server;
mod service;
mod session;
mod state;
mod stdio;
mod template;
mod tools;
mod uri_pattern;
mod wire;

use std::fs::File;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::model::interactions::DeclaredServer;
use crate::redact::Redactor;

pub use self::core::Options;
pub use self::http::{Admin, HttpOptions, MAX_BODY, ReadTool, RemoteAdmin, url};
pub use self::llm::{LeftOver, MockLlm};
pub use call_log::Call;
pub use echo::{ECHO_NAME, echo};
pub use ended::Ended;
pub use recorded::{is_unrecorded, recorded};
pub use server::MockServer;
pub use tools::MAX_TOOLS;

/// A mock server, not yet served.
#[derive(Debug)]
pub struct Mock {
    service: Arc<service::Service>,
}

impl Mock {
    /// A server as declared; `name` is its name in the scenario.
    ///
    /// # Errors
    ///
    /// A sentence when the declaration cannot be served.
    pub fn new(name: &str, declared: DeclaredServer, options: Options) -> Result<Self, String> {
        let core = core::Core::new(name, declared, options)?;
        Ok(Self {
            service: service::Service::new(core),
        })
    }

    /// From now on, tool calls are also written to a file, a line of JSON each: time, server, tool, arguments without secrets, and
    /// the number of the response that answers.
    pub fn log_calls(&self, file: File) {
        self.service.calls().write_to(file);
    }

    /// Sets what takes secrets out of logs of calls from now on, and out of arguments before they are compared with recorded ones.
    pub fn redact_with(&self, redactor: Redactor) {
        let redactor = Arc::new(redactor);
        self.service.calls().redact_with(Arc::clone(&redactor));
        self.service.core().redactor = redactor;
    }

    /// Answers messages from `input` on `output`, a line each, until the input ends. Lines longer than `longest_line` bytes are
    /// refused.
    ///
    /// # Errors
    ///
    /// When the streams fail for another reason than that the client has disconnected, or the log of calls is not complete.
    pub async fn serve_stdio(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
        longest_line: usize,
    ) -> io::Result<Ended> {
        let ended = stdio::serve(Arc::clone(&self.service), input, output, longest_line).await?;
        self.complete(ended)
    }

    /// Answers HTTP requests until `stop` is cancelled or a fault ends the server, which cancels it.
    ///
    /// # Errors
    ///
    /// When no connection can be taken any more, or the log of calls is not complete.
    pub async fn serve_http(
        self,
        listener: TcpListener,
        options: HttpOptions,
        stop: CancellationToken,
    ) -> io::Result<Ended> {
        let ended = http::serve(Arc::clone(&self.service), listener, options, stop).await?;
        self.complete(ended)
    }

    fn complete(&self, ended: Ended) -> io::Result<Ended> {
        let failure = self.service.calls().take_failure();
        match failure {
            None => Ok(ended),
            Some(failure) => Err(io::Error::other(format!(
                "the call log is not complete: {failure}"
            ))),
        }
    }
}
