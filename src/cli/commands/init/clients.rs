//! Where MCP clients keep what they know of servers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::scenario_file;

/// The configuration files of clients in a project, and whose they are.
const OF_PROJECT: [(&str, &str); 6] = [
    (".mcp.json", "Claude Code"),
    (".cursor/mcp.json", "Cursor"),
    (".vscode/mcp.json", "VS Code"),
    (".gemini/settings.json", "Gemini CLI"),
    ("mcp_servers.json", "a client"),
    ("mcp.json", "a client"),
];

/// Those of a person, below the home folder.
const OF_PERSON: [(&str, &str); 9] = [
    (".claude.json", "Claude Code"),
    (
        "Library/Application Support/Claude/claude_desktop_config.json",
        "Claude Desktop",
    ),
    (
        ".config/Claude/claude_desktop_config.json",
        "Claude Desktop",
    ),
    (".cursor/mcp.json", "Cursor"),
    ("Library/Application Support/Code/User/mcp.json", "VS Code"),
    (".config/Code/User/mcp.json", "VS Code"),
    (".gemini/settings.json", "Gemini CLI"),
    (".codeium/windsurf/mcp_config.json", "Windsurf"),
    (".lmstudio/mcp.json", "LM Studio"),
];

/// The configuration of a client that is on this machine.
pub(super) struct Configured {
    /// As a command line may have it.
    pub(super) path: PathBuf,
    pub(super) client: &'static str,
    /// The names of its servers.
    pub(super) servers: Vec<String>,
}

/// The configurations of clients that name servers: those of this folder first, then those of the folders above it in its repository, then
/// those of the person.
pub(super) fn configured(home: Option<&Path>) -> Vec<Configured> {
    let mut above = PathBuf::new();
    let mut of_project = Vec::new();
    for _ in scenario_file::project_folders() {
        of_project.extend(OF_PROJECT.iter().map(|it| (above.join(it.0), it.1)));
        above.push("..");
    }
    let home = home.filter(|it| it.is_absolute());
    let own = home
        .into_iter()
        .flat_map(|home| OF_PERSON.iter().map(|it| (home.join(it.0), it.1)));
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for (path, client) in of_project.into_iter().chain(own) {
        // Whoever works at home has some of them twice.
        let Ok(file) = path.canonicalize() else {
            continue;
        };
        if !file.is_file() || !seen.insert(file) {
            continue;
        }
        // A file that cannot be read, or says nothing of servers, is no business of ours.
        let Ok(read) = scenario_file::client_servers(&path) else {
            continue;
        };
        let servers: Vec<String> = read.servers.into_iter().map(|it| it.name).collect();
        if !servers.is_empty() {
            found.push(Configured {
                path,
                client,
                servers,
            });
        }
    }
    found
}
