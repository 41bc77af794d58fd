//! The files that are scenario files, and those beside them that are none.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

use crate::scenario_file::suites::FOLDER as SUITES;
use crate::scenario_file::yaml::{Finding, Severity};

/// The folder that scenario ids start from, when a file lies beneath one of this name.
pub(super) const ROOT: &str = "scenarios";
/// Files that give defaults to the scenarios of their folder and those beneath.
pub(in crate::scenario_file) const DEFAULTS: [&str; 2] = ["_defaults.yaml", "_defaults.yml"];

/// A scenario file, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// As reached from what the user named.
    pub path: PathBuf,
    /// The path below its scenarios folder, without extension, with `/` between folders.
    pub id: String,
    /// The topmost folder whose defaults reach the file.
    pub(in crate::scenario_file) root: PathBuf,
    /// What it holds, where that does not lie there.
    pub(in crate::scenario_file) text: Option<Arc<str>>,
}

impl Found {
    /// A file of which the caller knows where its defaults begin (see [`crate::scenario_file::Scenario::defaults_root`]).
    pub fn below(root: PathBuf, path: PathBuf) -> Self {
        let id = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Self {
            path,
            id,
            root,
            text: None,
        }
    }

    /// The same that holds this text, whatever lies there.
    #[must_use]
    pub fn holding(self, text: &str) -> Self {
        Self {
            text: Some(text.into()),
            ..self
        }
    }
}

/// The scenario files that files, folders (with all beneath them) and glob patterns name, each once.
///
/// In folders, files ending in `.yaml` or `.yml`, in capitals or not, count, sorted by name; defaults and all that is hidden do not.
pub fn find(paths: &[PathBuf]) -> (Vec<Found>, Vec<Finding>) {
    let mut search = Search::default();
    for path in paths {
        let before = (search.found.len(), search.repeated, search.findings.len());
        if path.is_dir() && !is_scenario_file(path) {
            search.folder(path);
        } else if path.symlink_metadata().is_ok() {
            search.file(path, None);
        } else {
            search.pattern(path);
        }
        if before == (search.found.len(), search.repeated, search.findings.len()) {
            let finding =
                Finding::about(path.display(), Severity::Error, "no scenario files match")
                    .with_hint(Some(way_out(path)));
            search.findings.push(finding);
        }
    }
    search.refuse_equal_ids();
    crate::scenario_file::yaml::sort(&mut search.findings);
    (search.found, search.findings)
}

/// What to do about a path that leads to no scenario file.
fn way_out(path: &Path) -> String {
    let shown = path.display();
    let why = if path.is_dir() {
        format!("the folder `{shown}` has no file that ends in .yaml or .yml")
    } else if path.symlink_metadata().is_ok() {
        let is_suite = absolute(path)
            .parent()
            .is_some_and(|it| it.ends_with(SUITES));
        let name = path.file_stem().unwrap_or_default().display();
        if is_suite {
            return format!("`{shown}` is a suite, which `mcp-eval run --suite {name}` follows");
        }
        let gives_defaults = path
            .file_name()
            .is_some_and(|it| DEFAULTS.iter().any(|name| it == *name));
        if !gives_defaults {
            return format!("`{shown}` begins with `_`, so it is not a scenario");
        }
        format!("`{shown}` has defaults for scenarios, and is not a scenario")
    } else if is_literal(path) {
        format!("there is no `{shown}` here")
    } else {
        "nothing that ends in .yaml or .yml matches this pattern".to_owned()
    };
    format!(
        "{why}; `mcp-eval init --server \"COMMAND\"` makes one of a server of yours, and `mcp-eval record --listen` of a session with it"
    )
}

#[derive(Default)]
struct Search {
    found: Vec<Found>,
    findings: Vec<Finding>,
    /// Absolute paths of what was found.
    known: HashSet<PathBuf>,
    /// How many files were named once more.
    repeated: usize,
}

impl Search {
    fn folder(&mut self, folder: &Path) {
        for entry in walk(folder) {
            match entry {
                Ok(entry) => self.entry(&entry, folder),
                Err(error) => self.unreadable(folder, &error),
            }
        }
    }

    /// A file met in a folder.
    fn entry(&mut self, entry: &DirEntry, root: &Path) {
        if !is_scenario_file(entry.path()) {
            return;
        }
        if entry.file_type().is_dir() {
            let message = "is a folder, though named like a scenario file";
            let finding = Finding::about(entry.path().display(), Severity::Error, message);
            self.findings.push(finding);
        } else {
            self.file(entry.path(), Some(root));
        }
    }

    /// All that a glob pattern matches. Names are matched as shown, so that one which is no text is not lost.
    fn pattern(&mut self, path: &Path) {
        let text = path.to_string_lossy();
        let only_folders = text.ends_with('/');
        let pattern = match Pattern::new(text.trim_end_matches('/')) {
            Ok(pattern) => pattern,
            Err(error) => {
                let message = format!("is not a valid pattern: {}", error.msg);
                self.findings
                    .push(Finding::about(path.display(), Severity::Error, message));
                return;
            }
        };
        let options = MatchOptions {
            require_literal_separator: true,
            ..MatchOptions::new()
        };
        let parts = path.components();
        let base: PathBuf = parts.take_while(|it| is_literal(it.as_os_str())).collect();
        if base == path {
            return;
        }
        let start = if base.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &base
        };
        if !start.is_dir() {
            return;
        }
        let matches = |it: &Path| {
            let it = it.strip_prefix("./").unwrap_or(it);
            pattern.matches_with(&it.to_string_lossy(), options)
        };
        for entry in walk(start) {
            match entry {
                // What lies in a folder that matches is meant with it.
                Ok(entry) => {
                    let is_file = !entry.file_type().is_dir();
                    let itself = usize::from(is_file && only_folders);
                    if entry.path().ancestors().skip(itself).any(matches) {
                        self.entry(&entry, start);
                    }
                }
                Err(error) => self.unreadable(start, &error),
            }
        }
    }

    /// One file, met in this folder or named itself.
    fn file(&mut self, path: &Path, folder: Option<&Path>) {
        let full = absolute(path);
        let is_suite = full.parent().is_some_and(|it| it.ends_with(SUITES));
        if is_suite || path.file_name().is_some_and(is_left_out) {
            return;
        }
        if !self.known.insert(full.clone()) {
            self.repeated += 1;
            return;
        }
        let own = full.parent().unwrap_or(&full).to_owned();
        let home = full
            .ancestors()
            .skip(1)
            .find(|it| it.file_name() == Some(OsStr::new(ROOT)));
        let root = match home {
            Some(home) => home.to_owned(),
            None => folder.map_or(own, absolute),
        };
        self.found.push(Found {
            path: path.to_owned(),
            id: id(full.strip_prefix(&root).unwrap_or(&full)),
            root,
            text: None,
        });
    }

    fn unreadable(&mut self, folder: &Path, error: &walkdir::Error) {
        let path = error.path().unwrap_or(folder);
        if error.loop_ancestor().is_some() {
            let message = "is a link to a folder that contains it; not followed";
            let finding = Finding::about(path.display(), Severity::Warning, message);
            self.findings.push(finding);
        } else if !path.is_symlink() || is_scenario_file(path) {
            let message = match error.io_error() {
                Some(error) => format!("cannot be read: {error}"),
                None => format!("cannot be read: {error}"),
            };
            let finding = Finding::about(path.display(), Severity::Error, message);
            self.findings.push(finding);
        }
    }

    fn refuse_equal_ids(&mut self) {
        let mut first: HashMap<&str, &Path> = HashMap::new();
        for found in &self.found {
            if let Some(other) = first.get(found.id.as_str()) {
                let message = format!(
                    "has the id `{}`, as `{}` has; results and baselines are kept under the id",
                    found.id,
                    other.display()
                );
                let finding = Finding::about(found.path.display(), Severity::Error, message)
                    .with_hint(Some("rename one of the two, or name a folder above both"));
                self.findings.push(finding);
            } else {
                first.insert(&found.id, &found.path);
            }
        }
    }
}

/// Whether a path is a name, and no pattern.
fn is_literal(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref().to_string_lossy();
    !path.contains(['*', '?', '['])
}

/// Everything beneath a folder, sorted by name, links followed, hidden names left out.
fn walk(folder: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    WalkDir::new(folder)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|it| it.depth() == 0 || !is_left_out(it.file_name()))
        .filter(|it| it.as_ref().map_or(true, |it| it.depth() > 0))
}

/// Whether a name is that of a scenario file, whatever lies under it.
fn is_scenario_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"))
        && !path.file_name().is_some_and(is_left_out)
}

/// Whether a name is none of a scenario: what begins with `_` is for all scenarios of its folder, and what begins with `.` is hidden.
fn is_left_out(name: &OsStr) -> bool {
    matches!(name.as_encoded_bytes().first(), Some(b'_' | b'.'))
}

/// The absolute path, `.` and `..` resolved by name alone: links keep the place they are seen at.
pub(in crate::scenario_file) fn absolute(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for component in full.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// What the ids of scenarios in a folder begin with; empty where they begin there.
pub fn id_of_folder(folder: &Path) -> String {
    let full = absolute(folder);
    let home = full
        .ancestors()
        .find(|it| it.file_name() == Some(OsStr::new(ROOT)));
    let below = home.and_then(|it| full.strip_prefix(it).ok());
    below.map_or_else(String::new, joined)
}

/// The id of a file, from its path below the root.
fn id(path: &Path) -> String {
    joined(&path.with_extension(""))
}

fn joined(path: &Path) -> String {
    path.components()
        .map(|it| text(it.as_os_str()))
        .collect::<Vec<_>>()
        .join("/")
}

/// A file name as text; bytes that are none are written `%FF`, so that two names never become one.
fn text(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 64 * 1024;
/// Keys at the beginning of a line that a scenario has not: of the parts of a rubric, and of how a search is asked.
const OF_OTHERS: [&str; 4] = ["dimensions:", "preset:", "http:", "tool:"];

/// Whether a file can be no scenario, so that another may name it: it begins as a list does, or has a key that a rubric or a search must have. That
/// is seen from its text alone, since files of rows may be large.
pub(super) fn may_be_of_others(path: &Path) -> bool {
    // Opening a named pipe could wait for ever.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|it| it.take(HEAD).read_to_end(&mut head));
    read.is_ok() && is_of_others(&String::from_utf8_lossy(&head))
}

fn is_of_others(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}');
    let says_nothing = |it: &&str| {
        let begins = ["#", "%", "---"];
        it.trim().is_empty()
            || begins
                .iter()
                .any(|begin| it.trim_start().starts_with(begin))
    };
    let first = head.lines().find(|it| !says_nothing(it));
    let is_list = first.is_some_and(|it| {
        let it = it.trim();
        it == "-" || it.starts_with("- ") || it.starts_with('[')
    });
    let has = |line: &str| OF_OTHERS.iter().any(|it| line.starts_with(it));
    is_list || head.lines().any(has)
}

/// The value that a file holds.
///
/// # Errors
///
/// Why it cannot be read, with the place where there is one.
#[expect(
    clippy::result_large_err,
    reason = "it is made once for a file that cannot be used"
)]
pub fn plain_file(path: &Path) -> Result<Value, Finding> {
    let about = |why: String| Finding::about(path.display(), Severity::Error, why);
    let text =
        std::fs::read_to_string(path).map_err(|error| about(format!("cannot be read: {error}")))?;
    serde_yaml::from_str(&text).map_err(|error| {
        let finding = about(error.to_string());
        match error.location() {
            Some(place) => {
                let line = text.lines().nth(place.line().saturating_sub(1));
                finding.at(place.line(), place.column(), line.unwrap_or_default())
            }
            None => finding,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_others;

    #[test]
    fn lists_rubrics_and_searches_are_no_scenarios() {
        for (head, is) in [
            ("- { id: a }", true),
            ("# Cities\n\n---\n-\n  id: a", true),
            ("\u{feff}[{ id: a }]", true),
            ("id: tone\ndimensions:\n- name: x", true),
            ("name: ours\ntool: { name: find }", true),
            ("list: tools\nhttp:\n  url: x", true),
            ("name: s\ntags:\n- a", false),
            ("--- {name: s}", false),
            ("-1: x", false),
            ("judge:\n  dimensions: 3", false),
            ("", false),
        ] {
            assert_eq!(is_of_others(head), is, "{head}");
        }
    }
}
