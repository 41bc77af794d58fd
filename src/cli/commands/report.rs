//! `mcp-eval report`: render a stored result again, without running anything.

use std::path::{Path, PathBuf};

use crate::cli::args::{Format, OutputArgs, ReportArgs, ReportChoice};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, REPORTS};
use crate::cli::links;
use crate::cli::open;
use crate::cli::reports::{INDEX, Reports, Source};
use crate::cli::runs;
use crate::cli::stored::Stored;
use crate::published::result::ResultDocument;
use crate::store;
use crate::text;

pub(in crate::cli) fn run(
    args: &ReportArgs,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    if args.list {
        return list(console);
    }
    if let Some(file) = &args.single_file {
        return single_file(args, file, console);
    }
    let pages = args.reporting.format == Format::Html || args.open;
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
    let mut stored = Stored::open(args.run.as_deref())?;
    links::add(&mut stored.result.links, &reports.links);
    let folder = Path::new(REPORTS).join(&stored.result.run_id);
    let mut again = Again { stored, console };
    reports.write(Some(&folder), &mut again, console)?;
    if pages && args.output.is_none() {
        // Without the mark, the folder stays when its time has come.
        let _ = store::mark(&folder, &again.stored.result.run_id);
    }
    if pages {
        let folder: &PathBuf = args.output.as_ref().unwrap_or(&folder);
        let index = folder.join(INDEX);
        console.result(&index.display().to_string());
        if args.open {
            open::open(&index).map_err(Failure::incomplete)?;
        }
    } else {
        finish::print(&again.stored.result, asked.format, output, console);
    }
    Ok(Exit::Passed)
}

/// All pages in one file.
fn single_file(args: &ReportArgs, file: &Path, console: Console) -> Result<Exit, Failure> {
    if args.run.is_none() && file.extension().is_none() && runs::is_stored(file) {
        let run = file.display();
        return Err(
            Failure::usage(format!("`{run}` is a run, and no name of a file"))
                .hint(format!("mcp-eval report {run} --single-file")),
        );
    }
    let mut stored = Stored::open(args.run.as_deref())?;
    links::add(&mut stored.result.links, &args.reporting.links);
    let file = if file.as_os_str().is_empty() {
        let name = format!("{}.html", stored.result.run_id);
        Path::new(REPORTS).join(name)
    } else {
        file.to_owned()
    };
    let (gone, left_out) = stored.write_single_file(&file)?;
    for gone in gone {
        console.note(&format!("note: a conversation is not shown: {gone}"));
    }
    if left_out > 0 {
        console.note(&format!(
            "note: {left_out} pages are left out, because the file would be too large; `--format html` writes all of them"
        ));
    }
    console.result(&file.display().to_string());
    if args.open {
        open::open(&file).map_err(Failure::incomplete)?;
    }
    Ok(Exit::Passed)
}

/// The stored runs, a line each.
fn list(console: Console) -> Result<Exit, Failure> {
    let stored = runs::stored();
    if stored.is_empty() {
        return Err(
            Failure::incomplete("no run is stored here").hint("`mcp-eval compare` stores one")
        );
    }
    for (id, result) in stored {
        let summary = result.summary;
        let verb = if result.command == "record" {
            "recorded"
        } else {
            "passed"
        };
        let changed = match summary.changed {
            0 => String::new(),
            count => format!(", {count} with changes"),
        };
        console.result(&text::line(&format!(
            "{id}  {:<7}  {} of {} {verb}{changed}",
            result.command,
            summary.succeeded(),
            summary.selected
        )));
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
