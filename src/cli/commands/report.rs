//! `mcp-eval report`: render a stored result again, without running anything.

use std::path::Path;

use crate::cli::args::{OutputArgs, ReportArgs, ReportFormat, ResultFormat};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish;
use crate::cli::stored::Stored;

pub(in crate::cli) fn run(
    args: &ReportArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if args.output.is_some() && args.format != ReportFormat::Html {
        return Err(Failure::usage(
            "--output is where the pages go: it needs --format html",
        ));
    }
    let stored = Stored::open(args.run.as_deref())?;
    match args.format {
        ReportFormat::Terminal => {
            finish::print(&stored.result, ResultFormat::Terminal, output, console);
        }
        ReportFormat::Json => finish::print(&stored.result, ResultFormat::Json, output, console),
        ReportFormat::Html => {
            let folder = args
                .output
                .clone()
                .unwrap_or_else(|| Path::new(finish::REPORTS).join(&stored.result.run_id));
            for gone in stored.write_pages(&folder)? {
                console.note(&format!("note: a conversation is not shown: {gone}"));
            }
            console.result(&folder.join("index.html").display().to_string());
        }
    }
    Ok(Exit::Passed)
}
