//! `mcp-eval man`: manual pages, one for each command and each topic.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::args::{Cli, ManArgs};
use crate::cli::commands::help::{TOPICS, printed};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::store;

pub(in crate::cli) fn run(args: &ManArgs, console: Console) -> Result<Exit, Failure> {
    let failed = |error: io::Error| Failure::incomplete(format!("no manual page: {error}"));
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        Man::new(Cli::command()).render(&mut page).map_err(failed)?;
        Console::document(&as_written(&page));
        return Ok(Exit::Passed);
    };
    let made = tempfile::tempdir().map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), made.path()).map_err(failed)?;
    let mut names = Vec::new();
    for page in fs::read_dir(made.path()).map_err(failed)? {
        let page = page.map_err(failed)?;
        let content = as_written(&fs::read(page.path()).map_err(failed)?);
        let path = folder.join(page.file_name());
        store::write_following_links(&path, content.as_bytes())?;
        names.push(path);
    }
    for (topic, text) in TOPICS {
        let path = folder.join(format!("mcp-eval-{topic}.7"));
        store::write_following_links(&path, of_topic(topic, &printed(text)).as_bytes())?;
        names.push(path);
    }
    names.sort();
    console.result(&listed(&names));
    Ok(Exit::Passed)
}

/// A page that is shown without hyphens in the middle of words and without wide gaps, and whose examples stay on their lines: what stands
/// there is typed.
fn as_written(page: &[u8]) -> String {
    let mut written = String::new();
    let mut is_extra = false;
    for line in String::from_utf8_lossy(page).lines() {
        if line.starts_with(".SH") && is_extra {
            written.push_str(".fi\n");
            is_extra = false;
        }
        written.push_str(line);
        written.push('\n');
        if line.starts_with(".TH") {
            // No hyphenation, and the right edge as it comes.
            written.push_str(".nh\n.ad l\n");
        } else if line == ".SH EXTRA" {
            written.push_str(".nf\n");
            is_extra = true;
        }
    }
    if is_extra {
        written.push_str(".fi\n");
    }
    written
}

/// A topic of the manual, its lines as they are written.
fn of_topic(topic: &str, text: &str) -> String {
    let lines = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = lines.lines().map(|line| match line.as_bytes().first() {
        Some(b'.' | b'\'') => format!("\\&{line}\n"),
        _ => format!("{line}\n"),
    });
    let lines: String = lines.collect();
    format!(".TH mcp-eval-{topic} 7\n.nh\n.nf\n{lines}.fi\n")
}

fn listed(paths: &[impl AsRef<Path>]) -> String {
    let lines = paths.iter();
    let lines = lines.map(|it| format!("{}\n", it.as_ref().display()));
    lines.collect()
}
