//! What runs there are, in one small file beside them: a line of JSON for each, the oldest first. It holds nothing that the runs do not,
//! and is made anew from them where it is missing or broken.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::files::{Held, StoreError, write};
use super::runs::{RESULT, Runs};
use crate::model::stamp::Git;
use crate::published::result::{self, Gate, Summary};

/// The file, in the folder of the runs.
const INDEX: &str = "index.jsonl";

/// One run: what its result says of it as a whole. The rest may be large, and is not kept in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// The run's id, which is the name of its folder.
    #[serde(alias = "run_id")]
    pub run: String,
    pub command: String,
    pub started_at: String,
    /// Wall time in milliseconds; `null` where it is not known.
    pub duration_ms: Option<f64>,
    /// `null` where the result was written before it was known.
    pub gate: Option<Gate>,
    pub interrupted: bool,
    /// How many scenarios came out in which way.
    pub summary: Summary,
    /// The repository the command was started in.
    pub git: Git,
}

/// The runs that are there, the oldest first: from the index, and from the folders of those that it lacks. Writes nothing.
pub fn lines(runs: &Path) -> Vec<RunLine> {
    lines_but(runs, None)
}

/// Brings the index up to date with the runs that are there. What it says of the run `anew` is made again from its folder. Where another
/// process holds the folder of the runs for long, that one or the next does it.
///
/// # Errors
///
/// When the index cannot be written.
pub fn index(runs: &Path, anew: &str) -> Result<(), StoreError> {
    let Some(_held) = Held::make(runs, runs)? else {
        return Ok(());
    };
    let mut updated = String::new();
    for line in lines_but(runs, Some(anew)) {
        // Plain values can always be written.
        updated += &serde_json::to_string(&line).unwrap_or_default();
        updated.push('\n');
    }
    if updated != indexed(runs) {
        write(&runs.join(INDEX), updated.as_bytes())?;
    }
    Ok(())
}

/// The text of the index; empty where there is none.
fn indexed(runs: &Path) -> String {
    fs::read_to_string(runs.join(INDEX)).unwrap_or_default()
}

/// As [`lines`], whatever the index says of the run `anew`.
fn lines_but(runs: &Path, anew: Option<&str>) -> Vec<RunLine> {
    let text = indexed(runs);
    // A line that cannot be read is made anew, too.
    let known = text.lines().filter_map(|it| {
        let line: RunLine = serde_json::from_str(it).ok()?;
        Some((line.run.clone(), line))
    });
    let mut known: BTreeMap<String, RunLine> = known.collect();
    anew.and_then(|it| known.remove(it));
    let ids = Runs::ids(runs).into_iter().rev();
    let lines = ids.filter_map(|id| {
        known.remove(&id).or_else(|| {
            let text = fs::read_to_string(runs.join(&id).join(RESULT)).ok()?;
            let line = result::part::<RunLine>(&text).ok()?;
            (line.run == id).then_some(line)
        })
    });
    lines.collect()
}
