//! The mock MCP server: answers requests as declared, over standard streams or HTTP.
//!
//! It works on plain JSON rather than on a typed server, so that it can answer exactly what is declared, also what breaks the protocol.
//!
//! | file | what happens there |
//! |---|---|
//! | `wire` | JSON-RPC: what a message is, how replies are written |
//! | `core` | a server as declared, and how it introduces itself |
//! | `stateless` | what requests of the revision 2026-07-28 say of themselves, and what their results say |
//! | `requests` | pure: a declaration, a state and a request make an exchange |
//! | `exchange` | one request as a series of events, and what goes wrong with its reply |
//! | `playing` | a prepared response on its way, and requests whose clients are asked something first |
//! | `asking` | what a client is asked on the way |
//! | `answers` | which response answers a call |
//! | `recorded` | a server made from a recorded trajectory |
//! | `resources` | the rest of what a server offers |
//! | `uri_pattern` | which resource a template means |
//! | `subscription` | news for those that listen for them by a request |
//! | `template` | `{{references}}`, and replies with them filled in |
//! | `state` | what the server remembers, and what is known of a client |
//! | `service` | clients, changes from outside, notifications to all |
//! | `receive` | the messages of a client, and requests under way |
//! | `call_log` | which tools were called |
//! | `stdio`, `http` | the fronts |
//! | `llm` | a stand-in for the API of a model |

mod answers;
mod asking;
mod call_log;
mod core;
mod exchange;
mod http;
mod llm;
mod playing;
mod receive;
mod recorded;
mod requests;
mod resources;
mod service;
mod state;
mod stateless;
mod stdio;
mod subscription;
mod template;
mod uri_pattern;
mod wire;

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::service::Service;
use crate::redact::Redactor;
use crate::scenario_file::mock::{DeclaredServer, MockTool};

pub use self::answers::MAX_TOOLS;
pub use self::call_log::Call;
pub use self::core::{ECHO_NAME, Options, echo};
pub use self::http::{Admin, HttpOptions, MAX_BODY, ReadTool, RemoteAdmin, url};
pub use self::llm::{LeftOver, MockLlm};
pub use self::recorded::{is_unrecorded, recorded};
pub use self::service::Ended;

/// A mock server, not yet served.
#[derive(Debug)]
pub struct Mock {
    service: Arc<Service>,
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
            service: Service::new(core),
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

/// A mock server over Streamable HTTP on a free port of this machine. It stops when it is dropped.
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    service: Arc<Service>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl MockServer {
    /// Starts a server as declared, on a thread of its own.
    ///
    /// # Errors
    ///
    /// A sentence when the declaration cannot be served, or no port can be listened on.
    pub fn start(declared: DeclaredServer, options: Options) -> Result<Self, String> {
        // Declared to clients, because tools can be added and removed here.
        let options = Options {
            changes: true,
            ..options
        };
        let mock = Mock::new("mock", declared, options)?;
        let service = Arc::clone(&mock.service);
        let failed = |error: io::Error| format!("the mock server cannot start: {error}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = CancellationToken::new();
        let ours = stop.clone();
        let thread = std::thread::Builder::new()
            .name("mock server".to_owned())
            .spawn(move || {
                // An error is ignored, because clients notice it when they cannot connect.
                let _ = runtime.block_on(async {
                    let listener = TcpListener::from_std(listener)?;
                    mock.serve_http(listener, HttpOptions::default(), ours)
                        .await
                });
                runtime.shutdown_background();
            })
            .map_err(failed)?;
        Ok(Self {
            address,
            service,
            stop,
            thread: Some(thread),
        })
    }

    /// The endpoint clients connect to.
    pub fn url(&self) -> String {
        url(self.address)
    }

    /// Adds a tool, or replaces the one of the same name, and notifies clients.
    ///
    /// # Errors
    ///
    /// A sentence when there are too many tools, or the tool holds an invalid regular expression.
    pub fn add_tool(&self, tool: MockTool) -> Result<(), String> {
        self.service.put_tool(tool)
    }

    /// Removes a tool and notifies clients; false when there is none of the name.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.service.remove_tool(name)
    }

    /// Removes all tools and notifies clients.
    pub fn clear_tools(&self) {
        self.service.clear_tools();
    }

    /// The latest tool calls, in the order they came.
    pub fn calls(&self) -> Vec<Call> {
        self.service.calls().latest().cloned().collect()
    }

    /// Stops the server; its port is free and its connections are closed afterwards.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked, which was printed then.
            let _ = thread.join();
        }
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.end();
    }
}
