//! The `mcp-eval` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_eval::cli::main()
}
