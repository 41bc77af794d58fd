//! `mcp-eval man`: manual pages, one for each command.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::args::{Cli, ManArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::store;

pub(in crate::cli) fn run(args: &ManArgs, console: Console) -> Result<Exit, Failure> {
    let failed = |error: io::Error| Failure::incomplete(format!("no manual page: {error}"));
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).map_err(failed)?;
        Console::document(&String::from_utf8_lossy(&page));
        return Ok(Exit::Passed);
    };
    let made = tempfile::tempdir().map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), made.path()).map_err(failed)?;
    let mut names = Vec::new();
    for page in fs::read_dir(made.path()).map_err(failed)? {
        let page = page.map_err(failed)?;
        let content = fs::read(page.path()).map_err(failed)?;
        let path = folder.join(page.file_name());
        store::write(&path, &content)?;
        names.push(path);
    }
    names.sort();
    console.result(&listed(&names));
    Ok(Exit::Passed)
}

fn listed(paths: &[impl AsRef<Path>]) -> String {
    let lines = paths.iter();
    let lines = lines.map(|it| format!("{}\n", it.as_ref().display()));
    lines.collect()
}
