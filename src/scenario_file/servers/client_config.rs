//! The configuration of MCP clients: `{"mcpServers": {…}}`, `{"servers": {…}}` or, of Codex, `[mcp_servers.NAME]`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fmt};

use regex::Regex;

use super::server::{HttpStyle, Server, Start, Transport, command_from};
use crate::scenario_file::decode::{template, wrong_kind};
use crate::scenario_file::yaml::{
    Content, Entry, Finding, Findings, Node, parse, parse_toml, quoted, without_comments,
};
use crate::text::dotenv;
use crate::text::nearest::did_you_mean;

/// Why a file gives no client servers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientConfigError {
    /// The file cannot be read, or is neither JSON nor YAML.
    #[error("{}", Lines(.0))]
    Unreadable(Vec<Finding>),
    /// The file is sound but is no configuration of an MCP client.
    #[error("{path} holds no client servers: {reason}", path = .path.display())]
    NoClientServers { path: PathBuf, reason: &'static str },
    /// The file is one, but servers in it are wrong.
    #[error("{}", Lines(.0))]
    Invalid(Vec<Finding>),
}

/// Findings, one below the other.
struct Lines<'a>(&'a [Finding]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.0.iter().map(Finding::to_string).collect();
        f.write_str(&texts.join("\n"))
    }
}

/// What a client's configuration says of servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientServers {
    /// Those that can be used, in the order written.
    pub servers: Vec<Server>,
    /// Those that are wrong, or of a kind that is not known.
    pub unread: Vec<UnreadServer>,
}

/// A server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadServer {
    pub name: String,
    /// Why not.
    pub findings: Vec<Finding>,
}

/// The largest file that is read, in bytes: some clients keep much besides in theirs.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The folders in which clients keep what they know of a project.
const OF_CLIENTS: [&str; 3] = [".vscode", ".cursor", ".gemini"];

/// The servers of a client's configuration file, all of which must be right. See [`client_servers`].
///
/// # Errors
///
/// All that is wrong, at once; [`ClientConfigError::NoClientServers`] when the file is about something else.
pub fn client_config(path: &Path) -> Result<Vec<Server>, ClientConfigError> {
    let ClientServers { servers, unread } = client_servers(path)?;
    if unread.is_empty() {
        return Ok(servers);
    }
    let findings = unread.into_iter().flat_map(|it| it.findings);
    Err(ClientConfigError::Invalid(findings.collect()))
}

/// The servers of a client's configuration file, JSON with or without comments, YAML or TOML, and those of its entries that cannot be used.
///
/// Where it keeps servers for single projects, as Claude Code does, those of the folder somebody works in come first.
///
/// Keys that only other clients know are passed over, and so are entries switched off with `disabled: true` or
/// `enabled: false`. Without `type`, an address means HTTP and `command` a child process. Relative folders, and commands
/// starting with `./` or `../`, are resolved against the file's folder, or, where that is a client's own such as `.vscode`, against the
/// project's around it. What stands for a variable is as the client writes it.
///
/// # Errors
///
/// All that is wrong with the file; [`ClientConfigError::NoClientServers`] when it is about something else.
pub fn client_servers(path: &Path) -> Result<ClientServers, ClientConfigError> {
    let mut findings = Findings::default();
    let source = findings.read_up_to(path, MAX_FILE);
    let form = Form::of(path);
    let document = source.and_then(|source| {
        if form == Form::Codex {
            return parse_toml(source, &mut findings);
        }
        let plain = without_comments(&findings.text(source));
        let source = plain.map_or(source, |plain| findings.add_text(path, &plain));
        parse(source, &mut findings)
    });
    if findings.errors() > 0 {
        return Err(ClientConfigError::Unreadable(findings.into_list()));
    }
    let no_servers = |reason| ClientConfigError::NoClientServers {
        path: path.to_owned(),
        reason,
    };
    let entries = document
        .as_ref()
        .ok_or("it is empty")
        .and_then(entries)
        .map_err(no_servers)?;
    let mut read = ClientServers::default();
    // Warnings about the file as a whole say nothing about a server.
    findings.take();
    for Given { entry, project } in entries {
        let errors = findings.errors();
        let mut reader = Reader {
            findings: &mut findings,
            project,
            form,
        };
        let server = reader.server(entry);
        if findings.errors() > errors {
            read.unread.push(UnreadServer {
                name: entry.key.clone(),
                findings: findings.take(),
            });
        } else {
            read.servers.extend(server);
        }
    }
    Ok(read)
}

/// The entry of a server.
struct Given<'a> {
    entry: &'a Entry,
    /// The folder that it is for, where it is not for all.
    project: Option<PathBuf>,
}

/// The entries of all servers that are for the folder somebody works in, or why there is none.
fn entries(document: &Node) -> Result<Vec<Given<'_>>, &'static str> {
    let mut given = Vec::new();
    if let Some((folder, entries)) = servers_of(document, &project_folders()) {
        given.extend(entries.iter().map(|entry| Given {
            entry,
            project: Some(folder.clone()),
        }));
    }
    let for_all = match entries_for_all(document) {
        Ok(entries) => entries,
        Err(_) if !given.is_empty() => &[],
        Err(_) if has_some(document) => {
            return Err("its `projects` name servers, but none for this folder");
        }
        Err(reason) => return Err(reason),
    };
    let is_new = |it: &&Entry| !given.iter().any(|known| known.entry.key == it.key);
    let more: Vec<&Entry> = for_all.iter().filter(is_new).collect();
    given.extend(more.into_iter().map(|entry| Given {
        entry,
        project: None,
    }));
    Ok(given)
}

/// The entries of the map of servers that are for no folder alone, or why there is none.
fn entries_for_all(document: &Node) -> Result<&[Entry], &'static str> {
    let of_codex = document.get("mcp_servers");
    match document
        .get("mcpServers")
        .or(of_codex)
        .map(|it| &it.content)
    {
        Some(Content::Map(entries)) => return Ok(entries),
        Some(Content::List(_)) => {
            return Err("its `mcpServers` is a list, as in the configuration of a proxy");
        }
        Some(_) => return Err("its `mcpServers` is not a map"),
        None => {}
    }
    let of_settings = document.get("mcp").and_then(|it| it.get("servers"));
    let entries = match document
        .get("servers")
        .or(of_settings)
        .map(|it| &it.content)
    {
        Some(Content::Map(entries)) => entries,
        Some(_) => return Err("its `servers` is not a map"),
        None => return Err(of_another(document)),
    };
    // Many kinds of files have something they call servers.
    let is_mcp = |it: &Entry| {
        let keys = ADDRESSES.iter().chain(&["command"]);
        keys.into_iter().any(|key| it.value.get(key).is_some())
    };
    if entries.is_empty() || entries.iter().any(is_mcp) {
        Ok(entries)
    } else {
        Err("nothing under its `servers` has a `url` or a `command`")
    }
}

/// Why a file has no servers that could be read: it may be that of a client which writes them in a way of its own.
fn of_another(document: &Node) -> &'static str {
    let holds = |map: &str, keys: [&str; 2]| {
        let entries = document.get(map).map_or(&[][..], Node::entries);
        let has = |it: &Entry| keys.iter().any(|key| it.value.get(key).is_some());
        entries.iter().any(has)
    };
    if document.get("context_servers").is_some() {
        "it is a configuration of Zed: write its `context_servers` under `mcpServers`, each with `command`, `args` and `env`, or with a `url`"
    } else if holds("mcp", ["command", "url"]) {
        "it is a configuration of opencode: write its `mcp` under `mcpServers`, each with `command`, `args` and `env`, or with a `url`"
    } else if holds("extensions", ["cmd", "uri"]) {
        "it is a configuration of Goose: write its `extensions` under `mcpServers`, each with `command`, `args` and `env`, or with a `url`"
    } else {
        "it has none of `mcpServers`, `servers` and, as Codex writes it, `mcp_servers`"
    }
}

/// The keys under which the address of a server may be: Gemini CLI has one of its own for Streamable HTTP, and so has Windsurf.
const ADDRESSES: [&str; 3] = ["httpUrl", "serverUrl", "url"];

/// The key under which it is.
fn url(node: &Node) -> &'static str {
    let mut keys = ADDRESSES.into_iter();
    keys.find(|key| node.get(key).is_some()).unwrap_or("url")
}

/// How a server is reached.
enum Way {
    Http(HttpStyle),
    /// As a child process.
    Child,
}

/// The folder of whoever works here; empty where nobody knows.
fn home() -> String {
    env::var("HOME").unwrap_or_default()
}

struct Reader<'a> {
    findings: &'a mut Findings,
    /// The folder that the server is for, where it is not for all.
    project: Option<PathBuf>,
    form: Form,
}

impl Reader<'_> {
    /// One entry; `None` when it is switched off or after saying what is wrong with it.
    fn server(&mut self, entry: &Entry) -> Option<Server> {
        let node = &entry.value;
        if !matches!(node.content, Content::Map(_)) {
            return wrong_kind(node, "a map", self.findings);
        }
        let is = |key: &str, wanted: bool| matches!(node.get(key).map(|it| &it.content), Some(Content::Bool(it)) if *it == wanted);
        if is("disabled", true) || is("enabled", false) {
            return None;
        }
        let transport = if let Way::Http(style) = self.way(entry)? {
            let url = self.required(entry, url(node))?;
            let mut headers = self.pairs(node.get("headers"))?;
            headers.extend(self.pairs(node.get("http_headers"))?);
            for (name, variable) in self.pairs(node.get("env_http_headers"))? {
                headers.push((name, format!("${{{variable}}}")));
            }
            let mut transport = Transport::http(style, url, headers);
            if let Transport::Http {
                bearer_token_env, ..
            } = &mut transport
            {
                *bearer_token_env = self.optional(node.get("bearer_token_env_var"))?;
            }
            transport
        } else {
            let folder = self.project(node);
            let cwd = self.optional(node.get("cwd"))?;
            let own = self.pairs(node.get("env"))?;
            let mut env = self.env_file(node)?;
            // Codex hands on what its own environment has.
            let handed_on = self.list(node.get("env_vars"))?;
            env.extend(handed_on.into_iter().map(|it| {
                let value = format!("${{{it}:-}}");
                (it, value)
            }));
            env.retain(|(name, _)| !own.iter().any(|it| it.0 == *name));
            env.extend(own);
            Transport::Stdio(Start {
                command: command_from(&self.required(entry, "command")?, &folder),
                args: self.list(node.get("args"))?,
                env,
                cwd: cwd.map(|it| folder.join(it)),
            })
        };
        Some(Server {
            connect_timeout: self.seconds(node.get("startup_timeout_sec"))?,
            tool_timeout: self.seconds(node.get("tool_timeout_sec"))?,
            ..Server::new(entry.key.clone(), transport)
        })
    }

    /// A text that need not be there.
    #[expect(
        clippy::option_option,
        reason = "whether it is right, and whether it is there"
    )]
    fn optional(&mut self, node: Option<&Node>) -> Option<Option<String>> {
        let node = node.filter(|it| !matches!(it.content, Content::Null));
        match node {
            Some(node) => self.text(node).map(Some),
            None => Some(None),
        }
    }

    /// A number of seconds that need not be there.
    #[expect(
        clippy::option_option,
        reason = "whether it is right, and whether it is there"
    )]
    fn seconds(&mut self, node: Option<&Node>) -> Option<Option<Duration>> {
        let Some(node) = node else {
            return Some(None);
        };
        let given = match &node.content {
            Content::Number(it) => it.as_f64(),
            _ => None,
        };
        let time = given.and_then(|it| Duration::try_from_secs_f64(it).ok());
        let wrong = || wrong_kind(node, "a number of seconds", self.findings);
        time.map(Some).or_else(wrong)
    }

    /// The variables of the file that `envFile` names, as editors have it.
    fn env_file(&mut self, node: &Node) -> Option<Vec<(String, String)>> {
        let Some(named) = node.get("envFile") else {
            return Some(Vec::new());
        };
        let text = self.text(named)?.replace("${HOME}", &home());
        if text.replace("$${", "").contains("${") {
            let message = "names a file by a variable that is not known yet";
            let hint = "write its path, with `${workspaceFolder}` and `${userHome}` where you like";
            return self.findings.refuse(named.at, message, Some(hint));
        }
        let path = self.project(node).join(text.replace("$${", "${"));
        let source = self.findings.read(&path)?;
        let text = self.findings.text(source);
        let variables = dotenv::variables(&text);
        Some(
            variables
                .map(|(name, value)| (name.to_owned(), value.replace("${", "$${")))
                .collect(),
        )
    }

    /// How the server is reached.
    fn way(&mut self, entry: &Entry) -> Option<Way> {
        let node = &entry.value;
        let Some(kind) = node.get("type").or_else(|| node.get("transport")) else {
            let url = node.get(url(node));
            if url.is_none() && node.get("command").is_none() {
                let message = format!(
                    "the server {} has neither `url` nor `command`",
                    quoted(&entry.key)
                );
                return self.findings.refuse(entry.key_at, message, None::<&str>);
            }
            return Some(match url {
                Some(_) => Way::Http(HttpStyle::Streamable),
                None => Way::Child,
            });
        };
        match self.text(kind)?.as_str() {
            "http" | "streamable-http" | "streamableHttp" => Some(Way::Http(HttpStyle::Streamable)),
            "sse" => Some(Way::Http(HttpStyle::Sse)),
            "stdio" | "local" => Some(Way::Child),
            other => {
                let message = format!("unknown type of server {}", quoted(other));
                let known = ["http", "streamable-http", "sse", "stdio", "local"];
                let hint = did_you_mean(other, known)
                    .unwrap_or_else(|| format!("known are {}", known.join(", ")));
                self.findings.refuse(kind.at, message, Some(hint))
            }
        }
    }

    fn required(&mut self, entry: &Entry, key: &str) -> Option<String> {
        let Some(value) = entry.value.get(key) else {
            let message = format!("the server {} has no `{key}`", quoted(&entry.key));
            return self.findings.refuse(entry.key_at, message, None::<&str>);
        };
        let text = self.text(value)?;
        if text.trim().is_empty() {
            return self
                .findings
                .refuse(value.at, format!("`{key}` is empty"), None::<&str>);
        }
        Some(text)
    }

    /// Text; numbers and truth values count as they are written in JSON, as many clients have it.
    fn text(&mut self, node: &Node) -> Option<String> {
        let text = match &node.content {
            Content::Text(_) | Content::Number(_) | Content::Bool(_) => node.as_written(),
            _ => return wrong_kind(node, "text", self.findings),
        };
        let project = self.project(node);
        let text = match self.form.as_ours(&text, &project) {
            Ok(text) => text,
            Err(message) => {
                let hint = "write `${NAME}`, and set `NAME` in the environment";
                return self.findings.refuse(node.at, message, Some(hint));
            }
        };
        if let Err(problem) = template::check(&text) {
            return self.findings.refuse(node.at, problem.message, problem.hint);
        }
        Some(text)
    }

    /// The folder that relative paths belong to: the one that the server is for, that of the file, or the one around it where that is a client's own.
    fn project(&self, node: &Node) -> PathBuf {
        if let Some(project) = &self.project {
            return project.clone();
        }
        let folder = self.findings.folder(node.at);
        let of_client = OF_CLIENTS.iter().any(|it| folder.ends_with(it));
        match folder.parent() {
            Some(project) if of_client => project.to_owned(),
            _ => folder,
        }
    }

    fn list(&mut self, node: Option<&Node>) -> Option<Vec<String>> {
        match node.map(|it| (it, &it.content)) {
            None | Some((_, Content::Null)) => Some(Vec::new()),
            Some((_, Content::List(items))) => items.iter().map(|it| self.text(it)).collect(),
            Some((node, _)) => wrong_kind(node, "a list", self.findings),
        }
    }

    fn pairs(&mut self, node: Option<&Node>) -> Option<Vec<(String, String)>> {
        match node.map(|it| (it, &it.content)) {
            None | Some((_, Content::Null)) => Some(Vec::new()),
            Some((_, Content::Map(entries))) => entries
                .iter()
                .map(|it| Some((it.key.clone(), self.text(&it.value)?)))
                .collect(),
            Some((node, _)) => wrong_kind(node, "a map", self.findings),
        }
    }
}

/// How a client writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Codex: there are none, texts are taken as they are.
    Codex,
    /// Gemini CLI: `$NAME` and `${NAME}`.
    Gemini,
    /// Editors and all others: `${NAME}`, `${env:NAME}`, `${workspaceFolder}` and the like.
    Editor,
}

static DOLLAR_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$([A-Za-z_][A-Za-z0-9_]*)").ok());

/// What stands for something that only a running editor knows.
const OF_EDITORS: [&str; 14] = [
    "file",
    "fileBasename",
    "fileBasenameNoExtension",
    "fileExtname",
    "fileDirname",
    "fileDirnameBasename",
    "fileWorkspaceFolder",
    "relativeFile",
    "relativeFileDirname",
    "selectedText",
    "lineNumber",
    "columnNumber",
    "execPath",
    "defaultBuildTask",
];

impl Form {
    /// That of the client whose file this is.
    pub(super) fn of(path: &Path) -> Self {
        let folder = path.parent().and_then(Path::file_name);
        if path.extension().is_some_and(|it| it == "toml") {
            Self::Codex
        } else if folder.is_some_and(|it| it == ".gemini") {
            Self::Gemini
        } else {
            Self::Editor
        }
    }

    /// A text with what stands for variables written as ours.
    ///
    /// # Errors
    ///
    /// That something in it is known to the client alone.
    pub(super) fn as_ours(self, text: &str, project: &Path) -> Result<String, String> {
        match self {
            Self::Codex => Ok(text.replace("${", "$${")),
            Self::Gemini => Ok(DOLLAR_NAME.as_ref().map_or_else(
                || text.to_owned(),
                |it| it.replace_all(text, "$${${1}}").into_owned(),
            )),
            Self::Editor => of_editor(text, project),
        }
    }
}

fn of_editor(text: &str, project: &Path) -> Result<String, String> {
    let literal = |it: &str| it.replace("${", "$${");
    let mut ours = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((named, after)) = behind.split_once('}') else {
            break;
        };
        ours.push_str(before);
        let known = match named {
            _ if before.ends_with('$') => None,
            "workspaceFolder" | "cwd" => Some(literal(&project.to_string_lossy())),
            "workspaceFolderBasename" => {
                let name = project.file_name().unwrap_or_default();
                Some(literal(&name.to_string_lossy()))
            }
            "userHome" => Some("${HOME}".to_owned()),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR_STR.to_owned()),
            _ if named.starts_with("input:") => {
                return Err(format!(
                    "`${{{named}}}` is something that an editor asks its user"
                ));
            }
            _ => named.strip_prefix("env:").map(|it| format!("${{{it}}}")),
        };
        let of_editor = ["config:", "command:", "workspaceFolder:"];
        let is_of_editor =
            OF_EDITORS.contains(&named) || of_editor.iter().any(|it| named.starts_with(it));
        if is_of_editor && !before.ends_with('$') {
            return Err(format!(
                "`${{{named}}}` is something that only a running editor knows"
            ));
        }
        ours.push_str(&known.unwrap_or_else(|| format!("${{{named}}}")));
        rest = after;
    }
    ours.push_str(rest);
    Ok(ours)
}

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
