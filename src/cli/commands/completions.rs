//! `mcp-eval completions`: what a shell completes.

use clap::CommandFactory;

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::console::Console;

pub(in crate::cli) fn run(args: &CompletionsArgs) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcp-eval", &mut script);
    Console::document(&String::from_utf8_lossy(&script));
}
