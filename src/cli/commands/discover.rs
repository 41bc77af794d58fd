//! `mcp-eval discover`: find a running test server.

use crate::cli::args::DiscoverArgs;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::runtime;
use crate::client::{self, ClientError, Kind, PORTS};

pub(in crate::cli) fn run(args: &DiscoverArgs, console: Console) -> Result<Exit, Failure> {
    let runtime = runtime::here()?;
    let found = runtime.block_on(async {
        match &args.url {
            Some(url) => client::probe(url, Kind::Given).await,
            None => client::find().await,
        }
    });
    let Some(found) = found else {
        if let Some(url) = &args.url {
            let error = ClientError::NotATestServer { url: url.clone() };
            return Err(Failure::incomplete(error.to_string()));
        }
        let ports = PORTS.map(|it| it.to_string()).join(", ");
        let failure = Failure::incomplete("No test server found. Please start a test server:");
        return Err(failure.hint("mcp-eval serve").hint(format!(
            "looked at .mcp-eval/serve.json and the ports {ports} of this machine"
        )));
    };
    let what = match found.kind {
        Kind::Dedicated | Kind::Given => "Found dedicated test server at",
        Kind::Ui => "Found UI server with testing enabled at",
    };
    console.result(&format!("{what} {}\n", found.url));
    Ok(Exit::Passed)
}
