//! A judge in a file of its own: `--judge FILE`.

use std::path::Path;

use super::section::JudgeSection;
use crate::model::judge::JudgeSettings;
use crate::scenario_file::decode::{Decode, NO_HINT};
use crate::scenario_file::yaml::finding::Finding;
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::parse::parse_some;
use crate::scenario_file::yaml::source::Findings;

/// The key under which the section may stand.
const SECTION: &str = "judge";

/// A judge, and what its file says of secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedJudge {
    pub settings: JudgeSettings,
    /// The names of values that are marked as secret.
    pub marked: Vec<String>,
}

/// Reads a judge from a file that holds its section, by itself or under `judge`.
///
/// # Errors
///
/// All that is wrong with the file.
pub fn judge_file(path: &Path) -> Result<LoadedJudge, Vec<Finding>> {
    let mut findings = Findings::default();
    let judge = read(path, &mut findings);
    match judge {
        Some(judge) if findings.errors() == 0 => Ok(judge),
        _ => Err(findings.into_list()),
    }
}

fn read(path: &Path, findings: &mut Findings) -> Option<LoadedJudge> {
    let source = findings.read(path)?;
    let hint = "a judge needs at least `provider` and `model`";
    let document = parse_some(source, findings, hint)?;
    let entries = document.entries();
    let section: &Node = match entries {
        [only] if only.key == SECTION => &only.value,
        _ => &document,
    };
    if let Some(entry) = entries.iter().find(|it| it.key == SECTION)
        && entries.len() > 1
    {
        let message = "must be the only key";
        return findings.refuse(entry.key_at, message, NO_HINT);
    }
    loaded(&JudgeSection::decode(section, findings)?)
}

/// The judge that a section describes.
pub(in crate::scenario_file) fn loaded(section: &JudgeSection) -> Option<LoadedJudge> {
    Some(LoadedJudge {
        settings: section.settings()?,
        marked: section.marked(),
    })
}
