//! `mcp-eval import`: recordings of other tools become baselines.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use walkdir::WalkDir;

use crate::cli::args::{ImportArgs, ImportedTool, ResultFormat};
use crate::cli::ci;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::select::plural;
use crate::cli::suite::BASELINES;
use crate::import;
use crate::model::trajectory::{Step, Trajectory};
use crate::redact::Redactor;
use crate::store::Baselines;
use crate::text;

/// The file the original tool keeps a recording in.
const LOG: &str = "detailed_log.json";

/// What `--format json` prints, version 1.
#[derive(Serialize)]
struct ImportedV1 {
    format_version: u32,
    imported: usize,
    failed: usize,
    recordings: Vec<RecordingV1>,
}

#[derive(Serialize)]
struct RecordingV1 {
    /// The recording, as found.
    path: String,
    /// The name of the baseline.
    id: String,
    /// Scored calls.
    calls: usize,
    /// Calls of tools that are no MCP tools: kept, not scored.
    other_calls: usize,
    /// Where it went; `null` when it was not imported.
    baseline: Option<String>,
    /// Why it was not imported.
    problem: Option<String>,
}

pub(in crate::cli) fn run(args: &ImportArgs, console: Console) -> Result<Exit, Failure> {
    // The only tool there is so far; another is another arm.
    let ImportedTool::Original = args.tool;
    ci::refuse(args.force)?;
    let baselines = Baselines::new(
        args.output
            .clone()
            .unwrap_or_else(|| PathBuf::from(BASELINES)),
    );
    let found = find(&args.path)?;
    let recordings: Vec<RecordingV1> = found
        .iter()
        .map(|(id, path)| import(id, path, &baselines, args.force))
        .collect();
    let failed = recordings.iter().filter(|it| it.problem.is_some()).count();
    let document = ImportedV1 {
        format_version: 1,
        imported: recordings.len() - failed,
        failed,
        recordings,
    };
    match args.format {
        ResultFormat::Json => {
            Console::document(&serde_json::to_string_pretty(&document).unwrap_or_default());
        }
        ResultFormat::Terminal => {
            for recording in &document.recordings {
                console.result(&line(recording));
            }
            console.result(&format!(
                "Imported {} of {} recordings",
                document.imported,
                found.len()
            ));
        }
    }
    Ok(if failed == 0 {
        Exit::Passed
    } else {
        Exit::Usage
    })
}

fn line(recording: &RecordingV1) -> String {
    let id = text::line(&recording.id);
    match (&recording.baseline, &recording.problem) {
        (Some(baseline), _) => format!(
            "● {id}: {}, {} of tools that are not scored, kept as {}",
            plural(recording.calls, "call"),
            recording.other_calls,
            text::line(baseline)
        ),
        (None, problem) => format!(
            "✗ {id}: {}",
            text::line(problem.as_deref().unwrap_or("not imported"))
        ),
    }
}

/// The recordings below a folder with the names of their baselines.
fn find(path: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let name = |folder: &Path| {
        folder.file_name().map_or_else(
            || "imported".to_owned(),
            |it| it.to_string_lossy().into_owned(),
        )
    };
    if path.is_file() {
        let folder = path
            .parent()
            .filter(|it| *it != Path::new(""))
            .unwrap_or(Path::new("."));
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        return Ok(vec![(name(&folder), path.to_owned())]);
    }
    let mut found = Vec::new();
    for entry in WalkDir::new(path).sort_by_file_name() {
        let entry = entry
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        if entry.file_type().is_file() && entry.file_name() == LOG {
            let folder = entry.path().parent().unwrap_or(path);
            let below = folder.strip_prefix(path).unwrap_or(folder);
            let id = if below == Path::new("") {
                name(&path.canonicalize().unwrap_or_else(|_| path.to_owned()))
            } else {
                below.to_string_lossy().replace('\\', "/")
            };
            found.push((id, entry.into_path()));
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(format!("{} holds no {LOG}", path.display()))
            .hint("give the folder of a recording, a folder of such folders, or the file itself"));
    }
    Ok(found)
}

fn import(id: &str, path: &Path, baselines: &Baselines, force: bool) -> RecordingV1 {
    let mut told = RecordingV1 {
        path: path.display().to_string(),
        id: id.to_owned(),
        calls: 0,
        other_calls: 0,
        baseline: None,
        problem: None,
    };
    match read(id, path, baselines, force) {
        Ok((trajectory, kept)) => {
            let all = trajectory
                .steps
                .iter()
                .filter(|it| matches!(it, Step::ToolCall(_)))
                .count();
            told.calls = trajectory.calls().count();
            told.other_calls = all - told.calls;
            told.baseline = Some(kept.display().to_string());
        }
        Err(problem) => told.problem = Some(format!("{}: {problem}", path.display())),
    }
    told
}

fn read(
    id: &str,
    path: &Path,
    baselines: &Baselines,
    force: bool,
) -> Result<(Trajectory, PathBuf), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut trajectory = import::original(&text, id).map_err(|error| error.to_string())?;
    Redactor::default().trajectory(&mut trajectory);
    let place = baselines.path(id);
    if place.exists() && !force {
        return Err(format!(
            "{} is there already (--force replaces it)",
            place.display()
        ));
    }
    let kept = baselines
        .save(id, &trajectory)
        .map_err(|error| error.to_string())?;
    Ok((trajectory, kept))
}
