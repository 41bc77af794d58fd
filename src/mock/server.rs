//! A mock server inside this process, for tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::mock::Mock;
use crate::mock::call_log::Call;
use crate::mock::core::Options;
use crate::mock::http::{self, HttpOptions};
use crate::mock::service::Service;
use crate::model::interactions::{DeclaredServer, MockTool};

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
        let failed = |error: std::io::Error| format!("the mock server cannot start: {error}");
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
        http::url(self.address)
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
