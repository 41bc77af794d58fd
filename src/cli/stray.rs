//! Finds stray files among the baselines: a baseline whose scenario is gone, a folder in the place of a dialogue.

use std::collections::HashSet;

use crate::cli::args::SelectArgs;
use crate::cli::console::Console;
use crate::cli::exit::Failure;
use crate::model::Cell;
use crate::scenario_file;
use crate::store::{self, Baselines};
use crate::suite::ci::is_ci;
use crate::text::plural;

/// The most baselines that one line names.
const NAMED: usize = 8;

/// Warns of stray files of the scenarios with these ids and of whole folders of them.
pub(super) fn warn(args: &SelectArgs, baselines: &Baselines, ids: &[String], console: Console) {
    for folder in ids
        .iter()
        .filter_map(|it| baselines.folder_for_dialogue(it))
    {
        console.note(&format!(
            "{} is a folder, where the dialogue of the baseline belongs: move it away, and the next `mcp-eval compare` writes the dialogue",
            folder.display()
        ));
    }
    for id in ids {
        if let Some(folder) = baselines.elsewhere(id) {
            console.note(&format!(
                "note: the baseline of `{id}` is read from {}; move it to {}, which is its place",
                folder.display(),
                baselines.folder(id).display()
            ));
        }
    }
    if let Some(forsaken) = forsaken(args, baselines, ids) {
        console.note(&forsaken);
    }
}

/// Looks whether what people read beside the baselines of these scenarios, each with the folder it lies in, is what is compared. Outside CI,
/// where it is written again, that is said.
///
/// # Errors
///
/// In CI, a usage [`Failure`] where a dialogue is of another recording.
pub(super) fn check_dialogues(
    folders: &[Baselines],
    ids: &[String],
    console: Console,
) -> Result<(), Failure> {
    let mut others = folders.iter().zip(ids).filter_map(|(folder, id)| {
        let accepted = store::load(&folder.path(id)).ok()?;
        folder.check_dialogue(id, &accepted).err()
    });
    if !is_ci() {
        for other in others {
            console.note(&format!("note: {other}; a plain file is written again now"));
        }
        return Ok(());
    }
    let Some(first) = others.next() else {
        return Ok(());
    };
    let more = others.count();
    let failure = Failure::from(first);
    Err(if more > 0 {
        failure.hint(format!(
            "so it is with {}",
            plural(more, "further baseline")
        ))
    } else {
        failure
    })
}

/// Whether a baseline is read for a scenario although it lies under an old name.
fn is_of_old_name(baselines: &Baselines, known: &HashSet<&str>, id: &str) -> bool {
    let above = id.rsplit_once('/').map(|(above, _)| above);
    let names = [id.strip_suffix("_baseline"), above];
    let mut names = names.into_iter().flatten().filter(|it| known.contains(it));
    names.any(|it| baselines.elsewhere(it) == Some(baselines.folder(id)))
}

/// Which baselines have no scenario any more, neither a file nor one of these ids, as far as whole folders are asked for; `None` where all have one.
fn forsaken(args: &SelectArgs, baselines: &Baselines, ids: &[String]) -> Option<String> {
    let folders = args.all_paths();
    if args.picks() || !folders.iter().all(|it| it.is_dir()) {
        return None;
    }
    // What the usual folder has is not gone, whichever folder is asked for.
    let mut searched = folders.clone();
    searched.extend(SelectArgs::default().all_paths());
    let (found, _) = scenario_file::find(&searched);
    let files = found.iter().map(|it| it.id.as_str());
    // Rows of data sets have no files of their own.
    let cells: Vec<_> = ids.iter().filter_map(|it| Cell::of_id(it)).collect();
    // What a matrix of the command line makes cells of is there without them, too.
    let of_cells = cells.iter().map(|it| it.scenario.as_str());
    let ids = ids.iter().map(String::as_str);
    let known: HashSet<&str> = files.chain(ids).chain(of_cells).collect();
    let below: Vec<String> = folders
        .iter()
        .map(|it| scenario_file::id_of_folder(it))
        .collect();
    let is_asked_for = |id: &str| {
        let mut below = below.iter();
        below.any(|it| {
            it.is_empty()
                || id
                    .strip_prefix(it.as_str())
                    .is_some_and(|it| it.starts_with('/'))
        })
    };
    let gone = baselines.scenarios().into_iter().filter(|id| {
        let cell = Cell::of_id(id);
        let of_cell = cell.is_some_and(|it| known.contains(it.scenario.as_str()));
        let is_known =
            known.contains(id.as_str()) || of_cell || is_of_old_name(baselines, &known, id);
        is_asked_for(id) && !is_known && !is_imported(baselines, id)
    });
    let mut gone: Vec<String> = gone
        .map(|it| baselines.folder(&it).display().to_string())
        .collect();
    let (have, remove) = match gone.len() {
        0 => return None,
        1 => (
            "1 baseline has".to_owned(),
            "remove it, or look where its scenario has gone",
        ),
        count => (
            format!("{count} baselines have"),
            "remove them, or find out where their scenarios have gone",
        ),
    };
    if gone.len() > NAMED {
        let more = gone.len() - NAMED;
        gone.truncate(NAMED);
        gone.push(format!("and {more} more"));
    }
    let folders: Vec<String> = folders
        .iter()
        .map(|it| format!("`{}`", it.display()))
        .collect();
    Some(format!(
        "{have} no scenario any more in {}: {}; {remove}",
        folders.join(", "),
        gone.join(", ")
    ))
}

/// Whether a baseline was made of another tool's recording, which never had a scenario.
fn is_imported(baselines: &Baselines, id: &str) -> bool {
    store::load(&baselines.path(id)).is_ok_and(|it| it.scenario_hash.is_none())
}
