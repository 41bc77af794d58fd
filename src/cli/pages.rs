//! The folder of a report: its pages, its document, and the trajectories beside them; shown in the program that the system has for pages.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::cli::reports::{INDEX, write};
use crate::published::result::{self, ResultDocument, Scenario};
use crate::published::trajectory::{is_of_earlier_version, to_json};
use crate::report::html;
use crate::store::{self, RESULT, Runs, StoreError};
use crate::suite::{Sides, at_once};

/// Writes the index, one page per scenario, their style and script, and the document. The trajectories that a page shows are asked for when it is written.
///
/// # Errors
///
/// When one of them cannot be written.
pub(super) fn write_pages(
    folder: &Path,
    result: &ResultDocument,
    sides: &(dyn Fn(usize) -> Sides + Sync),
) -> Result<(), StoreError> {
    let written = at_once(result.scenarios.len(), |number| {
        let (scenario, sides) = (&result.scenarios[number], sides(number));
        let [baseline, current] = sides.each_ref().map(Option::as_deref);
        let page = html::scenario(result, scenario, baseline, current);
        write_page(folder, &scenario.id, &page)?;
        let mut responses = html::Responses::new();
        html::keep_response(&mut responses, scenario, current.map(|it| &**it));
        Ok(responses)
    });
    let responses: Result<Vec<html::Responses>, StoreError> = written.into_iter().collect();
    let responses = responses?.into_iter().flatten().collect();
    write(
        &folder.join(RESULT),
        result::compact_json(result).as_bytes(),
    )?;
    for (name, content) in [html::STYLE, html::SCRIPT] {
        write(&folder.join(name), content.as_bytes())?;
    }
    write(
        &folder.join(INDEX),
        html::index_of_report(result, &responses).as_bytes(),
    )
}

/// Writes the page of a scenario, and the files that lie beside it.
///
/// # Errors
///
/// When one of them cannot be written.
fn write_page(folder: &Path, id: &str, page: &html::Page) -> Result<(), StoreError> {
    for file in &page.files {
        write(&folder.join(&file.path), &file.content)?;
    }
    write(&folder.join(html::page_name(id)), page.html.as_bytes())
}

/// Puts both sides of a comparison beside the pages, the run's first, so that what a report shows can be accepted wherever the report goes.
///
/// Of a scenario in which nothing changed there is nothing to accept, and its page shows the conversation: most scenarios of most reports
/// need no copies. What is to be merged has them all, because the pages of the whole are made from them.
///
/// # Errors
///
/// When one of them cannot be written.
pub(super) fn copy_sides(
    folder: &Path,
    result: &ResultDocument,
    scenario: &Scenario,
    [current, baseline]: [Option<&Path>; 2],
) -> Result<(), StoreError> {
    if scenario.is_unchanged() && result.shard.is_none() {
        return Ok(());
    }
    let id = &scenario.id;
    let beside = Runs::at(&folder.join("trajectories"));
    for (from, to) in [
        (current, beside.path(id)),
        (baseline, beside.baseline_path(id)),
    ] {
        // What is gone by now is not shown either.
        let Some((from, content)) = from.and_then(|it| Some((it, fs::read(it).ok()?))) else {
            continue;
        };
        // The catalogues that a baseline names stay where they are.
        let alone = if is_of_earlier_version(&content) {
            None
        } else {
            store::load(from).ok()
        };
        write(&to, &alone.map_or(content, |it| to_json(&it).into_bytes()))?;
    }
    Ok(())
}

/// Makes `reports/latest` lead to this report. A convenience: where links cannot be made, there is none.
pub(super) fn point_latest(folder: &Path) {
    let Some((name, parent)) = folder.file_name().zip(folder.parent()) else {
        return;
    };
    let (latest, beside) = (parent.join("latest"), parent.join(".latest"));
    let _ = fs::remove_file(&beside);
    if std::os::unix::fs::symlink(name, &beside).is_ok() && fs::rename(&beside, &latest).is_err() {
        let _ = fs::remove_file(&beside);
    }
}

/// How long the program is listened to: one that cannot show a page ends at once, and one that shows it may stay for as long as that lasts.
const AT_ONCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// Opens a page in the user's browser, without waiting for its end.
///
/// # Errors
///
/// Why it could not be opened, with where it lies.
pub(super) fn open(page: &Path) -> Result<(), String> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let page = page.canonicalize().unwrap_or_else(|_| page.to_owned());
    let failed = |why: &str| format!("`{program}` {why}: open {} yourself", page.display());
    let started = Command::new(program)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| failed(&format!("cannot be started ({error})")))?;
    let begun = Instant::now();
    while begun.elapsed() < AT_ONCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(&format!("has failed ({status})"))),
            Ok(None) => thread::sleep(LOOK),
            Err(_) => break,
        }
    }
    // Somebody has to take note of its end.
    thread::spawn(move || child.wait());
    Ok(())
}
