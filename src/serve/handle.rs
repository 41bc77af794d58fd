//! The file by which clients on this machine find a server, and the token that it wants.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::LazyLock;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use tempfile::Builder;

use crate::input;
use crate::store::own;

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
pub(super) struct Handle(Announced);

impl Handle {
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(super) fn write(address: SocketAddr, token: Option<&str>) -> io::Result<Self> {
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
