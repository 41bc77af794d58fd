//! `mcp-eval report` and `mcp-eval explain`: render a stored result again, or show what led to its scores, without running anything.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use crate::cli::args::{ExplainArgs, Format, ReportArgs, ReportChoice};
use crate::cli::reports::{INDEX, Reports, Source, unfit_for_one_page};
use crate::cli::stored::Stored;
use crate::cli::{Console, Exit, Failure, finish, pages, runs};
use crate::published::result::{ResultDocument, Scenario};
use crate::report::explain::explain;
use crate::suite::{REPORTS, RUNS};
use crate::{store, text};

pub(in crate::cli) fn run(args: &ReportArgs, console: Console) -> Result<Exit, Failure> {
    if args.list {
        return list(console);
    }
    if let Some(file) = &args.single_file {
        return single_file(args, file.as_deref(), console);
    }
    let form = args.reporting.format;
    let has_folder = args.output.is_some();
    let pages = form == Format::Html || args.open || (has_folder && form == Format::Terminal);
    if has_folder && !pages {
        let form = form.name();
        return Err(Failure::usage(format!(
            "--output is where the pages go, and --format {form} makes none"
        ))
        .hint(format!("`--report {form}=FILE` writes that form to a file")));
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
    if args.run.is_none() {
        runs::look_at_runs(&RUNS, console);
    }
    let stored = Stored::open(args.run.as_deref())?;
    let folder = if reports.need_a_folder() {
        Some(usual_folder(&stored.result)?)
    } else {
        None
    };
    let mut again = Again { stored, console };
    reports.write(folder.as_deref(), &mut again, console)?;
    if let Some(folder) = folder.as_ref().filter(|_| pages) {
        // Without the mark, the folder stays when its time has come.
        let _ = store::mark(folder, &again.stored.result.run_id);
    }
    if let Some(folder) = args.output.as_ref().or(folder.as_ref()).filter(|_| pages) {
        let index = folder.join(INDEX);
        console.result(&index.display().to_string());
        if args.open {
            pages::open(&index).map_err(Failure::incomplete)?;
        }
    } else {
        finish::print(&again.stored.result, asked.format, console);
    }
    Ok(Exit::Passed)
}

/// Where the pages of a result go, where the user does not say it. What a result from elsewhere calls its run leads nowhere else.
///
/// # Errors
///
/// When what it says is not the name of a run.
fn usual_folder(result: &ResultDocument) -> Result<PathBuf, Failure> {
    let run = &result.run_id;
    let mut steps = Path::new(run).components();
    // A link of this name leads to the pages of another run.
    let is_name = run != "latest"
        && matches!((steps.next(), steps.next()), (Some(Component::Normal(it)), None) if it == run.as_str());
    if is_name {
        return Ok(Path::new(REPORTS).join(run));
    }
    let why = if run.is_empty() {
        "the result belongs to no run, so there is no usual place for its pages".to_owned()
    } else {
        format!("`{run}` is not the name of a run, so there is no usual place for its pages")
    };
    Err(Failure::usage(why)
        .hint("say where they go: `--output DIR`, `--single-file FILE` or `--report FORMAT=FILE`"))
}

/// All pages in one file.
fn single_file(args: &ReportArgs, file: Option<&Path>, console: Console) -> Result<Exit, Failure> {
    if let Some(run) = file.filter(|it| args.run.is_none() && runs::is_stored(it)) {
        let run = run.display();
        return Err(
            Failure::usage(format!("`{run}` is a run, and no name of a file"))
                .hint(format!("mcp-eval report {run} --single-file")),
        );
    }
    if let Some((file, why)) = file.and_then(|it| Some((it, unfit_for_one_page(it)?))) {
        let why = format!("`--single-file`: {} {why}", file.display());
        return Err(Failure::usage(why).hint("name another file"));
    }
    let stored = Stored::open(args.run.as_deref())?;
    let file = if let Some(file) = file {
        file.to_owned()
    } else {
        let mut name = usual_folder(&stored.result)?.into_os_string();
        name.push(".html");
        name.into()
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
        pages::open(&file).map_err(Failure::incomplete)?;
    }
    Ok(Exit::Passed)
}

/// The stored runs, a line each.
fn list(console: Console) -> Result<Exit, Failure> {
    let stored = store::lines(&RUNS);
    if stored.is_empty() {
        return Err(
            Failure::incomplete("no run is stored here").hint("`mcp-eval compare` stores one")
        );
    }
    for run in stored.iter().rev() {
        let summary = &run.summary;
        let verb = if run.command == "record" {
            "recorded"
        } else {
            "passed"
        };
        let changed = match summary.changed {
            0 => String::new(),
            count => format!(", {count} with changes"),
        };
        console.result(&text::line(&format!(
            "{}  {:<7}  {} of {} {verb}{changed}",
            run.run,
            run.command,
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
    fn document(&mut self, folder: &Path) -> Cow<'_, ResultDocument> {
        Cow::Owned(self.stored.seen_from(folder))
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

pub(in crate::cli) fn explain_stored(
    args: &ExplainArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let (result, wanted) = explained(args)?;
    let chosen: Vec<_> = result
        .scenarios
        .iter()
        .filter(|it| {
            wanted
                .as_ref()
                .is_none_or(|wanted| it.id == *wanted || it.name == *wanted)
        })
        .collect();
    let names = || {
        let ids: Vec<&str> = result.scenarios.iter().map(|it| it.id.as_str()).collect();
        match ids.as_slice() {
            [] => "none".to_owned(),
            ids => ids.join(", "),
        }
    };
    match (chosen.as_slice(), args.call) {
        ([], _) => {
            let failure = Failure::usage("the run has no such scenario");
            return Err(if result.scenarios.is_empty() {
                failure.hint("it has none: no scenario was run to its end")
            } else {
                failure.hint(format!("it has {}", names()))
            });
        }
        ([_, _, ..], Some(_)) => {
            return Err(Failure::usage("a call's number needs its scenario")
                .hint(format!("--scenario takes one of {}", names())));
        }
        _ => {}
    }
    if let ([scenario], Some(call)) = (chosen.as_slice(), args.call) {
        let sides = [&scenario.baseline, &scenario.current];
        let most = sides
            .into_iter()
            .flatten()
            .map(|it| it.calls)
            .max()
            .unwrap_or(0);
        if call == 0 || call > most {
            return Err(Failure::usage(format!("the scenario has no call {call}"))
                .hint(format!("its calls are numbered from 1 to {most}")));
        }
    }
    for scenario in chosen {
        console.result(&explain(scenario, args.call));
    }
    Ok(Exit::Passed)
}

/// The result that is asked for, and the scenario of it. What names no run is taken as a scenario of the latest one.
fn explained(args: &ExplainArgs) -> Result<(ResultDocument, Option<String>), Failure> {
    let by_name = || {
        let name = args.run.to_string_lossy().into_owned();
        let is_name = |it: &Scenario| it.id == name || it.name == name;
        let latest = Stored::open(None).ok().filter(|_| args.scenario.is_none());
        let latest = latest.filter(|it| it.result.scenarios.iter().any(is_name));
        latest.map(|it| (it.result, Some(name)))
    };
    // A name goes before the beginning of an id.
    let is_run = runs::is_stored(&args.run) || args.run.exists();
    if let Some(found) = by_name().filter(|_| !is_run) {
        return Ok(found);
    }
    match Stored::open(Some(&args.run)) {
        Ok(stored) => Ok((stored.result, args.scenario.clone())),
        Err(failure) => by_name().ok_or(failure),
    }
}
