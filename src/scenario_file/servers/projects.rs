//! What of a person's configuration is meant for the folder somebody works in.

use std::env;
use std::path::{Path, PathBuf};

use crate::scenario_file::yaml::node::{Content, Entry, Node};

/// The folder somebody works in, and those above it up to the root of its repository; without a repository, the folder alone.
pub fn project_folders() -> Vec<PathBuf> {
    let Ok(here) = env::current_dir() else {
        return Vec::new();
    };
    let root = here.ancestors().find(|it| it.join(".git").exists());
    let last = root.unwrap_or(&here).to_owned();
    here.ancestors()
        .take_while(|it| it.starts_with(&last))
        .map(Path::to_owned)
        .collect()
}

/// The servers that a document keeps for one of these folders, the nearest first, as Claude Code does: `{"projects": {"/a/b": {"mcpServers": …}}}`.
pub(super) fn servers_of<'a>(
    document: &'a Node,
    folders: &[PathBuf],
) -> Option<(PathBuf, &'a [Entry])> {
    folders.iter().find_map(|folder| {
        let mut projects = projects(document);
        let entries = projects.find_map(|(path, entries)| (path == folder).then_some(entries))?;
        Some((folder.clone(), entries))
    })
}

/// Whether a document keeps servers for any folder.
pub(super) fn has_some(document: &Node) -> bool {
    projects(document).next().is_some()
}

/// The folders that a document keeps servers for.
fn projects(document: &Node) -> impl Iterator<Item = (&Path, &[Entry])> {
    let projects = document.get("projects").map_or(&[][..], Node::entries);
    projects.iter().filter_map(|it| {
        let servers = it.value.get("mcpServers")?;
        match &servers.content {
            Content::Map(entries) if !entries.is_empty() => {
                Some((Path::new(&it.key), entries.as_slice()))
            }
            _ => None,
        }
    })
}
