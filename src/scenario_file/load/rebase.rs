//! Relative paths of a document in another folder.

use std::path::{Component, Path, PathBuf};

use super::find::absolute;
use crate::scenario_file::servers::docker::source_of;
use crate::scenario_file::yaml::{Content, Findings, Node};

/// Paths that start at the file that names them, as [`Node::visit_path`] reads them.
const PATHS: [&str; 9] = [
    "source.repo",
    "source.cwd",
    "source.inputs.#",
    "servers.*.cwd",
    "servers.*.start.cwd",
    "upstreams.*.cwd",
    "upstreams.*.start.cwd",
    "before.#.cwd",
    "after.#.cwd",
];
/// Programs that belong to the file where they begin with `./` or `../`: each a text, or the first of a list.
const PROGRAMS: [&str; 7] = [
    "source.prepare.#",
    "servers.*.command",
    "servers.*.start.command",
    "servers.*.headers_command",
    "upstreams.*.command",
    "upstreams.*.start.command",
    "upstreams.*.headers_command",
];
/// Commands whose program belongs to the file where it holds a `/`.
const HOOKS: [&str; 4] = ["before.#", "before.#.command", "after.#", "after.#.command"];
/// Where containers are described, and the paths and programs in each.
const CONTAINERS: [&str; 2] = ["docker", "containers.*"];
const PATHS_IN_CONTAINER: [&str; 5] = [
    "build",
    "build.context",
    "build.cwd",
    "build.inputs.#",
    "mounts.#.source",
];
const PROGRAMS_IN_CONTAINER: &str = "build.prepare.#";

/// Lets relative paths of a document lead to the same places from another folder. `config_file`, which is looked for in several places, is
/// left to whoever has found it.
pub(super) fn rebase(document: &mut Node, findings: &Findings, folder: &Path) {
    let rebased = |node: &Node, text: &str| -> String {
        let full = absolute(&findings.folder(node.at).join(text));
        relative(folder, &full)
    };
    let path = |node: &mut Node| {
        if let Content::Text(text) = &node.content
            && is_relative(text)
        {
            node.content = Content::Text(rebased(node, text));
        }
    };
    let named_program = |node: &mut Node, is_path: fn(&str) -> bool| {
        let named = match &mut node.content {
            Content::List(words) => words.first_mut(),
            _ => Some(node),
        };
        if let Some(named) = named
            && let Content::Text(text) = &named.content
            && is_path(text)
        {
            let text = rebased(named, text);
            let here = if text.starts_with("../") { "" } else { "./" };
            named.content = Content::Text(format!("{here}{text}"));
        }
    };
    let program = |node: &mut Node| {
        named_program(node, |it| it.starts_with("./") || it.starts_with("../"));
    };
    let hook = |node: &mut Node| {
        named_program(node, |it| it.contains('/') && is_relative(it));
    };
    let mount = |node: &mut Node| {
        if let Content::Text(text) = &node.content
            && let Some(source) = source_of(text)
            && is_relative(source)
        {
            let rest = &text[source.len()..];
            let source = rebased(node, source);
            node.content = Content::Text(format!("./{source}{rest}"));
        }
    };
    let mut each = |at: &str, visit: &dyn Fn(&mut Node)| {
        document.visit_path(at, &mut |node| visit(node));
    };
    for at in PATHS {
        each(at, &path);
    }
    for at in PROGRAMS {
        each(at, &program);
    }
    for at in HOOKS {
        each(at, &hook);
    }
    for container in CONTAINERS {
        for at in PATHS_IN_CONTAINER {
            each(&format!("{container}.{at}"), &path);
        }
        each(&format!("{container}.{PROGRAMS_IN_CONTAINER}"), &program);
        each(&format!("{container}.mounts.#"), &mount);
    }
    each("mcp_interactions", &|mocks| data_files(mocks, &path));
}

/// Files that mock servers answer with, wherever they are named.
fn data_files(node: &mut Node, path: &impl Fn(&mut Node)) {
    match &mut node.content {
        Content::List(items) => items.iter_mut().for_each(|it| data_files(it, path)),
        Content::Map(entries) => {
            for entry in entries {
                if ["data_file", "blob_file"].contains(&entry.key.as_str()) {
                    path(&mut entry.value);
                } else {
                    data_files(&mut entry.value, path);
                }
            }
        }
        _ => {}
    }
}

/// Whether a path starts at the file that names it.
fn is_relative(path: &str) -> bool {
    !path.starts_with('/') && !path.starts_with("${")
}

/// The way from a folder to a path, both absolute and plain.
pub(in crate::scenario_file) fn relative(folder: &Path, path: &Path) -> String {
    let common = folder.components().zip(path.components());
    let common = common.take_while(|(a, b)| a == b).count();
    let up = folder
        .components()
        .skip(common)
        .map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(common)).collect();
    if way.as_os_str().is_empty() {
        return ".".to_owned();
    }
    way.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::relative;

    #[test]
    fn ways_lead_from_folder_to_folder() {
        for (folder, path, way) in [
            ("/a/b", "/a/b/c", "c"),
            ("/a/b", "/a/c", "../c"),
            ("/a/b/c", "/a", "../.."),
            ("/a", "/a", "."),
        ] {
            assert_eq!(relative(Path::new(folder), Path::new(path)), way);
        }
    }
}
