//! What commands that serve something have in common: a listener, a log of what clients ask, a runtime.

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use tokio::net::TcpListener;

use crate::cli::args::MockArgs;
use crate::cli::failure::Failure;

/// A listener where the options want it, and its address.
pub(super) async fn listen(args: &MockArgs) -> Result<(TcpListener, SocketAddr), Failure> {
    listen_at(args.http.host, args.http.port).await
}

/// A listener at this address, and the address with the port that it has got.
pub(super) async fn listen_at(
    host: IpAddr,
    port: u16,
) -> Result<(TcpListener, SocketAddr), Failure> {
    let failed = |error: io::Error| {
        let message = format!("cannot listen on {host} port {port}: {error}");
        Failure::incomplete(message)
    };
    let listener = TcpListener::bind((host, port)).await;
    let listener = listener.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// A log of what clients ask.
pub(super) fn call_log(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        Failure::usage(format!(
            "the call log {} cannot be written: {error}",
            path.display()
        ))
    })
}
