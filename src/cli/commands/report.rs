//! `mcp-eval report`: render a stored result again, without running anything.

use std::path::{Path, PathBuf};

use crate::cli::args::{Format, OutputArgs, ReportArgs, ReportChoice};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, REPORTS};
use crate::cli::reports::{INDEX, Reports, Source};
use crate::cli::stored::Stored;
use crate::published::result::ResultDocument;
use crate::store;

pub(in crate::cli) fn run(
    args: &ReportArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let pages = args.reporting.format == Format::Html;
    if args.output.is_some() && !pages {
        return Err(Failure::usage(
            "--output is where the pages go: it needs --format html",
        ));
    }
    let mut asked = args.reporting.clone();
    if pages {
        asked.format = Format::Terminal;
        asked.reports.push(ReportChoice {
            format: Format::Html,
            file: args.output.clone(),
        });
    }
    let reports = Reports::new(&asked, false, None)?;
    let stored = Stored::open(args.run.as_deref())?;
    let folder = Path::new(REPORTS).join(&stored.result.run_id);
    let mut again = Again { stored, console };
    reports.write(Some(&folder), &mut again, console)?;
    if pages && args.output.is_none() {
        // Without the mark, the folder stays when its time has come.
        let _ = store::mark(&folder, &again.stored.result.run_id);
    }
    if pages {
        let folder: &PathBuf = args.output.as_ref().unwrap_or(&folder);
        console.result(&folder.join(INDEX).display().to_string());
    } else {
        finish::print(&again.stored.result, asked.format, output, console);
    }
    Ok(Exit::Passed)
}

/// A stored result that is rendered again.
struct Again {
    stored: Stored,
    console: Console,
}

impl Source for Again {
    fn document(&mut self, folder: &Path) -> ResultDocument {
        self.stored.seen_from(folder)
    }

    fn write_pages(&mut self, folder: &Path) -> Result<(), Failure> {
        for gone in self.stored.write_pages(folder)? {
            let note = format!("note: a conversation is not shown: {gone}");
            self.console.note(&note);
        }
        Ok(())
    }

    fn is_in(&self, _: &Path) -> bool {
        false
    }
}
