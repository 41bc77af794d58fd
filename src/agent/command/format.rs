//! Command lines, configuration and environment of known agents.
//!
//! What is said of the vendors' programs was seen in Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::names::{Names, aliases, plain_server};
use super::stream::{claude, codex, gemini};
use crate::model::Catalogue;
use crate::run::Endpoint;
use crate::scenario_file::agent::CommandFormat;

/// The agent's names for the servers and tools of a run.
pub(super) fn names(format: CommandFormat, catalogue: &Catalogue) -> Names {
    let servers = catalogue.servers.iter().map(|it| it.server.as_str());
    let name = match format {
        CommandFormat::Generic | CommandFormat::Claude => claude::name,
        CommandFormat::Codex => codex::name,
        CommandFormat::Gemini => gemini::name,
    };
    Names::new(catalogue, &known_servers(format, servers), name)
}

/// The alias of each server: a name with the characters that the agent accepts.
fn known_servers<'s>(
    format: CommandFormat,
    servers: impl Iterator<Item = &'s str>,
) -> BTreeMap<String, String> {
    aliases(
        servers,
        match format {
            CommandFormat::Generic => str::to_owned,
            CommandFormat::Claude | CommandFormat::Codex => plain_server,
            // To this agent, the first `_` of a tool's name ends the server's.
            CommandFormat::Gemini => |name| plain_server(name).replace('_', "-"),
        },
    )
}

/// The addresses of the servers in the configuration format of most MCP clients.
pub fn mcp_config(endpoints: &[Endpoint]) -> String {
    config(CommandFormat::Generic, endpoints)
}

/// The addresses of the servers in the agent's own configuration format.
pub(super) fn config(format: CommandFormat, endpoints: &[Endpoint]) -> String {
    let known = known_servers(format, endpoints.iter().map(|it| it.server.as_str()));
    let servers = endpoints.iter().map(|it| (&known[&it.server], &it.url));
    let file = |address: fn(&str) -> Value| {
        let servers: Map<_, _> = servers
            .clone()
            .map(|(server, url)| (server.clone(), address(url)))
            .collect();
        format!("{:#}\n", json!({ "mcpServers": servers }))
    };
    match format {
        CommandFormat::Generic | CommandFormat::Claude => {
            file(|url| json!({ "type": "http", "url": url }))
        }
        CommandFormat::Gemini => file(|url| json!({ "httpUrl": url, "trust": true })),
        CommandFormat::Codex => {
            // Of these characters, a JSON string is a TOML string.
            let servers = servers.map(|(server, url)| {
                let (server, url) = (json!(server), json!(url));
                format!(
                    "{server} = {{ url = {url}, required = true, default_tools_approval_mode = \"approve\" }}"
                )
            });
            let servers: Vec<String> = servers.collect();
            format!("{{ {} }}\n", servers.join(", "))
        }
    }
}

/// The usual command line: with the servers of the run alone, all their tools allowed, and the prompt on stdin.
pub(super) fn command(
    format: CommandFormat,
    config: &str,
    model: Option<&str>,
    names: &Names,
) -> Vec<String> {
    let codex_servers = format!("mcp_servers={config}");
    let allowed: Vec<String> = names.aliases().map(|it| format!("mcp__{it}")).collect();
    let allowed = allowed.join(",");
    let (words, model_option): (&[&str], &str) = match format {
        CommandFormat::Generic => (&[], ""),
        CommandFormat::Claude => (
            &[
                "claude",
                "--print",
                "--mcp-config",
                config,
                "--strict-mcp-config",
                "--allowedTools",
                &allowed,
                "--output-format",
                "stream-json",
                "--verbose",
                "--include-partial-messages",
                "--no-session-persistence",
            ],
            "--model",
        ),
        CommandFormat::Codex => (
            &[
                "codex",
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--ephemeral",
                "--ignore-user-config",
                "--config",
                &codex_servers,
            ],
            "--model",
        ),
        CommandFormat::Gemini => (&["gemini", "--output-format", "stream-json"], "--model"),
    };
    let model = model.into_iter().flat_map(|it| [model_option, it]);
    words
        .iter()
        .copied()
        .chain(model)
        .map(str::to_owned)
        .collect()
}

/// Whether the agent reads its MCP configuration from a file. One that does not is given what the file says wherever its path is meant.
pub(super) fn takes_file(format: CommandFormat) -> bool {
    format != CommandFormat::Codex
}

/// What the agent needs in its environment to work unattended.
pub(super) fn env(format: CommandFormat) -> Vec<(String, String)> {
    match format {
        // It ignores the configuration of folders that are not marked as trusted.
        CommandFormat::Gemini => vec![("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "true".to_owned())],
        CommandFormat::Generic | CommandFormat::Claude | CommandFormat::Codex => Vec::new(),
    }
}

/// The tools that an agent has besides those of servers, by the names that its output has for them; none where it lists them itself, or
/// says nothing of them.
pub(super) fn own_tools(format: CommandFormat) -> &'static [&'static str] {
    match format {
        CommandFormat::Generic | CommandFormat::Claude => &[],
        CommandFormat::Codex => &["command_execution", "file_change", "web_search"],
        // <https://geminicli.com/docs/tools/>
        CommandFormat::Gemini => &[
            "activate_skill",
            "ask_user",
            "get_internal_docs",
            "glob",
            "google_web_search",
            "grep_search",
            "list_directory",
            "read_file",
            "read_many_files",
            "replace",
            "run_shell_command",
            "save_memory",
            "search_file_content",
            "web_fetch",
            "write_file",
            "write_todos",
        ],
    }
}

/// Whether a variable of our environment is the agent's business, by its name: its vendor's own are.
pub fn passes(format: CommandFormat, variable: &str) -> bool {
    let prefixes: &[&str] = match format {
        CommandFormat::Generic => &[],
        CommandFormat::Claude => &["ANTHROPIC_", "CLAUDE_"],
        CommandFormat::Codex => &["OPENAI_", "CODEX_"],
        CommandFormat::Gemini => &["GEMINI_", "GOOGLE_"],
    };
    prefixes.iter().any(|it| variable.starts_with(it))
}

/// A temporary folder with the agent's configuration and an empty folder to work in.
#[derive(Debug)]
pub struct Workplace {
    folder: TempDir,
    /// Where in it the configuration is.
    config: &'static str,
}

impl Workplace {
    /// A place for an agent of this format.
    ///
    /// # Errors
    ///
    /// When there can be no such folder.
    pub fn new(format: CommandFormat) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("mcp-eval-").tempdir()?;
        fs::create_dir(folder.path().join("work"))?;
        let config = if format.is_configured_by_folder() {
            fs::create_dir(folder.path().join("work/.gemini"))?;
            "work/.gemini/settings.json"
        } else {
            "mcp.json"
        };
        Ok(Self { folder, config })
    }

    /// The configuration of the agent's MCP client, with the addresses of the servers. It is written when they are ready.
    pub fn mcp_config(&self) -> PathBuf {
        self.folder.path().join(self.config)
    }

    /// A folder to work in, with nothing in it but what the agent looks for there.
    pub(super) fn empty(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes the configuration, readable by this user alone.
    pub(super) fn write_config(&self, text: &str) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.mcp_config())?.write_all(text.as_bytes())
    }
}
