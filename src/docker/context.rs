//! The files of a build as a tar archive for the engine: all of a folder except what its `.dockerignore` names.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use walkdir::WalkDir;

use crate::input;
use crate::model::container::Build;

/// The most that is sent, in bytes. A larger folder is refused, because it most likely lacks a `.dockerignore`.
const MOST: u64 = 2 * 1024 * 1024 * 1024;

/// As a shell matches: `*` stays within a folder.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The folder as a tar archive.
///
/// # Errors
///
/// A sentence: there is no such folder or Dockerfile, or a file cannot be read.
pub(super) fn pack(build: &Build) -> Result<Vec<u8>, String> {
    let root = &build.context;
    if !root.is_dir() {
        return Err(format!("there is no folder {}", root.display()));
    }
    if !root.join(&build.dockerfile).is_file() {
        return Err(format!(
            "there is no file {}: `build: {{ context, dockerfile }}` names another",
            root.join(&build.dockerfile).display()
        ));
    }
    let ignored = Ignored::read(root)?;
    let mut archive = tar::Builder::new(Vec::new());
    archive.follow_symlinks(false);
    let mut size = 0;
    let cannot = |path: &Path, error: &dyn std::fmt::Display| {
        format!("{} cannot be read: {error}", path.display())
    };
    for entry in WalkDir::new(root).min_depth(1).sort_by_file_name() {
        let entry = entry.map_err(|error| error.to_string())?;
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap_or(path);
        // The engine needs these two whatever the patterns say.
        let needed = name == Path::new(&build.dockerfile) || name == Path::new(".dockerignore");
        if ignored.has(name) && !needed {
            continue;
        }
        let about = entry.metadata().map_err(|error| cannot(path, &error))?;
        let kind = about.file_type();
        if kind.is_file() {
            size += about.len();
        } else if !kind.is_dir() && !kind.is_symlink() {
            // Sockets and devices have no content to send.
            continue;
        }
        if size > MOST {
            return Err(format!(
                "{} holds more than 2 GiB: name what is not needed in its .dockerignore",
                root.display()
            ));
        }
        archive
            .append_path_with_name(path, name)
            .map_err(|error| cannot(path, &error))?;
    }
    archive.into_inner().map_err(|error| error.to_string())
}

/// The patterns of a `.dockerignore`, and for each whether it takes back what an earlier one named.
struct Ignored(Vec<(Pattern, bool)>);

impl Ignored {
    fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(".dockerignore");
        let text = match input::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
        let patterns = lines.map(|line| {
            let (line, back) = line
                .strip_prefix('!')
                .map_or((line, false), |it| (it, true));
            let plain: PathBuf = Path::new(line.trim_start_matches('/'))
                .components()
                .filter(|it| !matches!(it, std::path::Component::CurDir))
                .collect();
            let pattern = Pattern::new(&plain.to_string_lossy());
            pattern
                .map(|it| (it, back))
                .map_err(|error| format!("{}: `{line}` is not a pattern: {error}", path.display()))
        });
        Ok(Self(patterns.collect::<Result<_, _>>()?))
    }

    /// Whether a path is left out: the last pattern that matches it, or a folder it lies in, decides.
    fn has(&self, path: &Path) -> bool {
        let named = |pattern: &Pattern| {
            path.ancestors()
                .filter(|it| !it.as_os_str().is_empty())
                .any(|it| pattern.matches_path_with(it, MATCHING))
        };
        let deciding = self.0.iter().rev().find(|(pattern, _)| named(pattern));
        deciding.is_some_and(|(_, back)| !back)
    }
}
