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
//! | `asked` | what a request asks to be run; `case`: a test case becomes a scenario, with its agent and its judge; `folder`: the scenarios that are served; `programs`: what a scenario starts, and what it would see |
//! | `queue` | how many runs at once, how many wait, and who waits for what another uses |
//! | `execute` | runs scenarios and hands back replies; `watching`: tells of them as they go on; `reply`: what a result becomes |
//! | `events`, `health` | what happens, and the stream of it, resumable |
//! | `board` | what is under way, for those who look |
//! | `dashboard`, `sessions` | pages for people, and who may see them |
//! | the others | one file per group of routes |

mod access;
mod asked;
mod board;
mod body;
mod case;
mod cases;
mod commands;
mod dashboard;
mod events;
mod execute;
mod folder;
mod health;
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

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use axum::middleware;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::Builder;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::folder::Folder;
use self::sessions::Sessions;
use crate::http_server;
use crate::input;
use crate::store::own;
use crate::suite;

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

/// The file, in the folder that a server was started in. Its owner alone may read it.
pub static FILE: LazyLock<PathBuf> = LazyLock::new(|| own("serve.json"));

/// Where a server is reached, and what it wants to be shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    pub url: String,
    pub port: u16,
    /// The process that serves.
    pub pid: u32,
    /// `None` where it wants none.
    pub token: Option<String>,
}

/// What the file says that a server in this folder has written; `None` where there is none, or the process that wrote it is gone.
pub fn announced() -> Option<Announced> {
    written().filter(|it| lives(it.pid))
}

fn written() -> Option<Announced> {
    input::check_links(&FILE, &FILE).ok()?;
    let text = input::read_to_string(&FILE).ok()?;
    serde_json::from_str(&text).ok()
}

/// Whether there is a process of this number on this machine.
fn lives(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw);
    // One of somebody else may not be asked, and is there.
    id.is_some_and(|it| test_kill_process(it) != Err(Errno::SRCH))
}

/// The file of a server that is running; dropping it removes the file, where that is still this server's.
struct Handle(Announced);

impl Handle {
    /// # Errors
    ///
    /// When the file cannot be written.
    fn write(address: SocketAddr, token: Option<&str>) -> io::Result<Self> {
        let announced = Announced {
            url: url(address),
            port: address.port(),
            pid: std::process::id(),
            token: token.map(str::to_owned),
        };
        let failed = |error: io::Error| {
            let why = format!("{} cannot be written: {error}", FILE.display());
            io::Error::new(error.kind(), why)
        };
        input::check_links(&FILE, &FILE).map_err(failed)?;
        fs::create_dir_all(own("")).map_err(failed)?;
        // Temporary files are for their owners alone, and stay so under their new names.
        let mut file = Builder::new()
            .prefix(".mcp-eval-")
            .tempfile_in(own(""))
            .map_err(failed)?;
        let text = serde_json::to_string(&announced).map_err(io::Error::other)?;
        writeln!(file, "{text}").map_err(failed)?;
        file.persist(&*FILE).map_err(|error| failed(error.error))?;
        Ok(Self(announced))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if written().as_ref() == Some(&self.0) {
            let _ = fs::remove_file(&*FILE);
        }
    }
}

/// Where a server that listens here is reached from this machine.
pub fn url(address: SocketAddr) -> String {
    let mut reached = address;
    if address.ip().is_unspecified() {
        let loopback = match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        reached.set_ip(loopback);
    }
    format!("http://{reached}")
}
