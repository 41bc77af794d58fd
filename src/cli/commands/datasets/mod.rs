//! `mcp-eval datasets`: corpora and labelled queries, made and looked after.

mod gen_queries;
mod pool;
mod snapshot;
mod validate;

use crate::cli::args::{DatasetsCommand, OutputArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

pub(in crate::cli) fn run(
    command: &DatasetsCommand,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    match command {
        DatasetsCommand::Snapshot(args) => snapshot::run(args, console),
        DatasetsCommand::Validate(args) => validate::run(args, console),
        DatasetsCommand::Pool(args) => pool::run(args, console),
        DatasetsCommand::GenQueries(args) => gen_queries::run(args, output, console),
    }
}
