//! Runs and reports that stay: the last ones, and those that somebody still needs. Of the others, only folders that this program made are
//! removed, which a file in them says; never what a link leads to, and never the folder of a run that goes on.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;
use walkdir::WalkDir;

use super::files::Held;
use super::runs::{self, CURRENT, RESULT, Runs, is_folder, is_held, is_marked};

/// A folder that is being removed is called so first: a half-removed one is never taken for a run.
const GOING: &str = ".mcp-eval-gone-";

/// The largest file in which ids of runs are looked for: larger than any baseline.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Where runs and reports lie, and which of them stay.
#[derive(Debug, Clone)]
pub struct Retention {
    /// How many of the newest stay.
    pub keep: usize,
    pub runs: PathBuf,
    pub reports: PathBuf,
    /// Files, and folders with all below, that name runs which are needed by their ids: baselines, what is pending, a search that goes on.
    pub named_in: Vec<PathBuf>,
}

/// What is read of a stored result.
#[derive(Deserialize)]
struct Compared {
    called: Option<Called>,
}

#[derive(Deserialize)]
struct Called {
    baselines: Option<String>,
}

impl Retention {
    /// Removes what need not stay. What cannot be removed does no harm, and is tried again next time.
    pub fn tidy(&self) {
        if !is_folder(&self.runs) {
            return;
        }
        // One process at a time; the next one does what this one leaves.
        let Some(_held) = Held::try_hold(&self.runs) else {
            return;
        };
        let roots = [&self.runs, &self.reports];
        let roots: Vec<&PathBuf> = roots.into_iter().filter(|it| is_folder(it)).collect();
        let mut ours: BTreeMap<_, String> = BTreeMap::new();
        for root in &roots {
            remove_half_removed(root);
            for id in marked(root) {
                ours.insert(Runs::order(&id), id);
            }
        }
        // Runs that only judged others push out none that made anything.
        let is_made = |id: &String| self.runs.join(id).join(CURRENT).is_dir();
        let (made, others): (Vec<_>, Vec<_>) = ours.into_values().partition(is_made);
        let spare = [made, others].into_iter().flat_map(|ids| {
            let spare = ids.len().saturating_sub(self.keep.max(1));
            ids.into_iter().take(spare)
        });
        let spare: Vec<String> = spare.collect();
        if spare.is_empty() {
            return;
        }
        let mut needed = self.named(&spare, &self.baselines_of(&spare));
        needed.extend(latest(&self.reports));
        for id in spare.iter().filter(|it| !needed.contains(*it)) {
            if is_held(&self.runs.join(id)) {
                continue;
            }
            for root in &roots {
                remove(root, id);
            }
        }
    }

    /// The folders of baselines that these runs were compared with, as far as their results tell: what waits for review beside those names
    /// them.
    fn baselines_of(&self, ids: &[String]) -> Vec<PathBuf> {
        let results = ids.iter().map(|id| self.runs.join(id).join(RESULT));
        let folders = results.filter_map(|it| {
            let result: Compared = serde_json::from_slice(&fs::read(it).ok()?).ok()?;
            result.called?.baselines.map(PathBuf::from)
        });
        folders.collect()
    }

    /// Which of these ids are named in files, those of more folders included.
    fn named(&self, ids: &[String], more: &[PathBuf]) -> HashSet<String> {
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(ids);
        let Ok(finder) = finder else {
            // Too many to look for: none is removed this time.
            return ids.iter().cloned().collect();
        };
        // One and the same folder may be named in several ways.
        let roots = self.named_in.iter().chain(more);
        let roots: BTreeSet<PathBuf> = roots.filter_map(|it| it.canonicalize().ok()).collect();
        let files = roots.iter().flat_map(WalkDir::new).flatten();
        let files = files.filter(|it| {
            let size = it.metadata().map_or(0, |it| it.len());
            let is_json = it.path().extension() == Some("json".as_ref());
            it.file_type().is_file() && is_json && size <= LARGEST
        });
        let mut named = HashSet::new();
        for file in files {
            let Ok(content) = fs::read(file.path()) else {
                // It may name any of them.
                return ids.iter().cloned().collect();
            };
            let found = finder.find_iter(&content);
            named.extend(found.map(|it| ids[it.pattern().as_usize()].clone()));
        }
        named
    }
}

/// The ids of the folders in a folder that this program made.
fn marked(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let names = entries.filter_map(|it| it.file_name().into_string().ok());
    names.filter(|it| is_marked(root, it, it)).collect()
}

/// The run that `latest` leads to.
fn latest(reports: &Path) -> Option<String> {
    let target = fs::read_link(reports.join("latest")).ok()?;
    Some(target.file_name()?.to_str()?.to_owned())
}

/// Removes a folder that this program made: first its name, then what is in it. Links in it are removed, and not followed.
fn remove(root: &Path, id: &str) {
    if !is_marked(root, id, id) {
        return;
    }
    let going = root.join(format!("{GOING}{id}"));
    if fs::rename(root.join(id), &going).is_ok() {
        let _ = fs::remove_dir_all(&going);
    }
}

/// Removes what a process that was killed has begun to remove. Nobody else calls a folder so, and its marker may be gone already.
fn remove_half_removed(root: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for name in entries.filter_map(|it| it.file_name().into_string().ok()) {
        let is_ours = |id: &str| !runs::has_marker(&root.join(&name)) || is_marked(root, &name, id);
        let path = root.join(&name);
        if is_folder(&path) && name.strip_prefix(GOING).is_some_and(is_ours) {
            let _ = fs::remove_dir_all(path);
        }
    }
}
