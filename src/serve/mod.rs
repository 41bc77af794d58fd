//! The test server: the program's work over HTTP, for those who test from elsewhere. It runs scenarios through [`suite`], as the
//! command line does.
//!
//! | file | what is there |
//! |---|---|
//! | `options` | what whoever starts it allows and gives |
//! | `server` | what all requests share |
//! | `routes` | the table of routes, of which both the router and the `OpenAPI` document are made |
//! | `access` | who is let in: hosts, origins, the token |
//! | `body`, `wire` | what requests and replies hold, read strictly by their JSON Schemas |
//! | `problem` | replies that say why not |
//! | `case` | a test case becomes a scenario, with its agent and its judge; `folder`: the scenarios that are served; `programs`: what a scenario starts, and what it would see |
//! | `queue` | how many runs at once, how many wait, and who waits for what another uses |
//! | `execute` | runs the scenarios that a request asks for and hands back replies; `watching`: tells of them as they go on; `reply`: what a result becomes |
//! | `events` | what happens; `listen`: the stream of it, resumable |
//! | `handle` | the file by which clients find a server |
//! | `board` | what is under way, for those who look |
//! | `dashboard`, `sessions` | pages for people, and who may see them |
//! | the others | one file per group of routes |

mod access;
mod board;
mod body;
mod case;
mod cases;
mod commands;
mod dashboard;
mod events;
mod execute;
mod folder;
mod handle;
mod health;
mod listen;
mod openapi;
mod options;
mod problem;
mod programs;
mod queue;
mod reply;
mod results;
mod routes;
mod run;
mod server;
mod sessions;
mod watching;
pub mod wire;

use std::io;
use std::sync::Arc;

use axum::middleware;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::folder::Folder;
use self::handle::Handle;
use self::sessions::Sessions;
use crate::http_server;
use crate::suite;

pub use self::handle::{Announced, FILE, announced, url};
pub use self::options::{Allowed, Bounds, Finish, Options};

// What most of the handlers need.
pub(in crate::serve) use self::problem::Problem;
pub(in crate::serve) use self::server::Server;

/// What ends a server.
#[derive(Debug, Clone)]
pub struct Endings {
    /// No more is begun; what runs may end within [`Bounds::grace`].
    pub done: CancellationToken,
    /// What runs is stopped at once.
    pub abort: CancellationToken,
}

/// Answers until it is asked to end.
///
/// # Errors
///
/// When the listener has no address, or the file cannot be written by which clients find the server.
pub async fn serve(listener: TcpListener, options: Options, endings: Endings) -> io::Result<()> {
    let grace = options.bounds.grace;
    let address = listener.local_addr()?;
    let handle = options
        .announces
        .then(|| Handle::write(address, options.token.as_deref()));
    let _handle = handle.transpose()?;
    let done = endings.done.clone();
    if let Some(database) = &options.settings.database {
        // An earlier server may have been killed.
        database.settle();
    }
    let has_token = options.token.is_some();
    let sessions = Sessions::new(address.port(), has_token, options.code.clone())?;
    let own = (openapi::document(), sessions);
    let server = Arc::new(Server::new(options, own, done));
    let interrupt = server.interrupt.clone();
    let ending = async {
        endings.done.cancelled().await;
        tokio::select! {
            () = tokio::time::sleep(grace) => {}
            () = endings.abort.cancelled() => {}
            () = server.idle() => {}
        }
        interrupt.cancel();
        server.idle().await;
    };
    let guarded = middleware::from_fn_with_state(Arc::clone(&server), access::guard);
    let router = routes::router(&server).layer(guarded);
    http_server::serve_until(listener, router, &endings.done, ending).await;
    Ok(())
}

/// Whether test cases that name no agent have one where these options choose it.
///
/// # Errors
///
/// What the choice lacks. Of defaults that are broken, requests tell.
pub fn check_agent(options: &Options) -> Result<(), suite::Error> {
    let scenario = Folder::new(&options.root).of_defaults();
    scenario.map_or(Ok(()), |it| suite::choose(&mut [it], &options.agent))
}

/// The `OpenAPI` document.
pub fn open_api() -> Value {
    openapi::document()
}
