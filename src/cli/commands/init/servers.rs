//! Servers for a first scenario: those that are named, those that MCP clients know, and names for their scenarios.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::InitArgs;
use crate::cli::{Console, Failure};
use crate::scenario_file;
use crate::scenario_file::servers::{ClientServers, HttpStyle, Server, Start, Transport};

/// What a server is called while nobody knows better.
const UNNAMED: &str = "server";

/// How long a server by its URL is tried: nobody starts it meanwhile, and somebody waits.
const REACHABLE: Duration = Duration::from_secs(5);

/// The longest name that is made up, in characters.
const LONGEST: usize = 40;

/// Programs that start others: the name of what they start says more.
const STARTERS: [&str; 24] = [
    "bash", "bun", "bunx", "cargo", "deno", "docker", "env", "go", "java", "node", "npm", "npx",
    "php", "pipx", "pnpm", "podman", "python", "python3", "ruby", "sh", "tsx", "uv", "uvx", "yarn",
];

/// Words behind such a program that are no name of anything.
const WORDS: [&str; 8] = ["dlx", "exec", "run", "start", "tool", "x", "-m", "mcp"];

/// Names that say nothing.
const EMPTY_NAMES: [&str; 16] = [
    "",
    "api",
    "app",
    "cli",
    "com",
    "dev",
    "dist",
    "index",
    "localhost",
    "main",
    "mcp",
    "mod",
    "org",
    "server",
    "src",
    "www",
];

/// A server that is to be asked.
pub(super) struct Asked {
    pub(super) server: Server,
    /// Whether the name says something; if not, the server may know a better one.
    pub(super) is_named: bool,
}

/// The servers that the command line names.
pub(super) fn asked(args: &InitArgs, console: Console) -> Result<Vec<Asked>, Failure> {
    match &args.mcp_config {
        Some(path) => of_client(path, &args.servers, console),
        None => args.servers.iter().map(|it| given(it, args)).collect(),
    }
}

/// Servers of a client's configuration: all of them, or those of these names.
fn of_client(path: &Path, names: &[String], console: Console) -> Result<Vec<Asked>, Failure> {
    let read = scenario_file::servers::client_servers(path);
    let ClientServers { servers, unread } =
        read.map_err(|problem| Failure::usage(problem.to_string()))?;
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|it| it == name);
    let known = servers.iter().map(|it| &it.name);
    let known: Vec<&String> = known.chain(unread.iter().map(|it| &it.name)).collect();
    if let Some(unknown) = names.iter().find(|it| !known.contains(it)) {
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        let failure = format!("{} has no server `{unknown}`", path.display());
        return Err(Failure::usage(failure).hint(format!("it has {}", known.join(", "))));
    }
    for it in unread.into_iter().filter(|it| is_wanted(&it.name)) {
        let why: Vec<_> = it.findings.iter().map(ToString::to_string).collect();
        // One that was asked for by name must be right.
        if !names.is_empty() {
            return Err(Failure::usage(why.join("\n")));
        }
        console.note(&format!("`{}` is left out: {}", it.name, why.join("; ")));
    }
    let servers: Vec<Asked> = servers
        .into_iter()
        .filter(|it| is_wanted(&it.name))
        .map(|server| Asked {
            server,
            is_named: true,
        })
        .collect();
    if servers.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no server that can be used",
            path.display()
        )));
    }
    Ok(servers)
}

/// A server by its command line or its URL.
fn given(text: &str, args: &InitArgs) -> Result<Asked, Failure> {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let (name, transport) = if is_url {
        let url = text.trim();
        let transport = Transport::http(HttpStyle::Streamable, url, args.headers.clone());
        (name_of_address(text), transport)
    } else {
        program(text)?
    };
    let name = args.name.as_deref().map(short_name).or(name);
    Ok(Asked {
        is_named: name.is_some(),
        server: Server {
            connect_timeout: is_url.then_some(REACHABLE),
            ..Server::new(name.unwrap_or_else(|| UNNAMED.to_owned()), transport)
        },
    })
}

/// The last folder of a name with folders: the server needs none.
fn short_name(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

/// A command line as a shell has it, with variables before the program.
fn program(text: &str) -> Result<(Option<String>, Transport), Failure> {
    let words = shlex::split(text).ok_or_else(|| {
        Failure::usage(format!(
            "--server {text}: a quote is not closed, or a `\\` ends it"
        ))
    })?;
    if let Some(operator) = words.iter().find(|it| is_operator(it)) {
        let failure = Failure::usage(format!(
            "--server takes one program with its arguments, and `{operator}` is for a shell"
        ));
        return Err(failure.hint("write it into a script, or give `sh -c '…'`"));
    }
    let is_variable = |it: &&String| {
        let name = it.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty()
            && name
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    let env: Vec<(String, String)> = words
        .iter()
        .take_while(is_variable)
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let [command, args @ ..] = &words[env.len()..] else {
        let failure = Failure::usage("--server names no program");
        return Err(failure.hint("write a command line, or the URL of a server over HTTP"));
    };
    let start = Start {
        command: command.clone(),
        args: args.to_vec(),
        env,
        cwd: None,
    };
    Ok((name_of_program(command, args), Transport::Stdio(start)))
}

fn is_operator(word: &str) -> bool {
    ["&&", "||", "|", ";", "&", ">", ">>", "<"].contains(&word)
}

/// What a program is best called by, if its command line says so.
fn name_of_program(command: &str, args: &[String]) -> Option<String> {
    if !STARTERS.contains(&stem(command).as_str()) {
        return telling(&stem(command));
    }
    let mut words = args.iter().map(String::as_str);
    let named = words.find(|it| !it.starts_with('-') && !WORDS.contains(it))?;
    telling(&stem(named))
}

/// The last part of a path or of a package's name, without version and extension.
fn stem(word: &str) -> String {
    let last = word.trim_end_matches('/').rsplit(['/', '\\']).next();
    let last = last.unwrap_or_default();
    let name = last.split(['@', ':', '=', '[']).next().unwrap_or_default();
    let endings = [
        ".js", ".mjs", ".cjs", ".ts", ".py", ".jar", ".sh", ".exe", ".yaml", ".rb", ".php",
    ];
    let bare = endings.iter().find_map(|it| name.strip_suffix(it));
    bare.unwrap_or(name).to_owned()
}

/// The part of a host's name that says whose it is.
fn name_of_address(url: &str) -> Option<String> {
    let host = url.split("://").nth(1)?.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next()?.split(':').next()?;
    if host.starts_with('[') || host.chars().all(|it| it.is_ascii_digit() || it == '.') {
        return None;
    }
    let parts: Vec<&str> = host.split('.').collect();
    let owned = &parts[..parts.len().saturating_sub(1)];
    owned.iter().find_map(|it| telling(it))
}

/// The name that a server gives itself, if it says something.
pub(super) fn name_of_server(info: Option<&serde_json::Value>) -> Option<String> {
    let name = info?.get("name")?.as_str()?;
    telling(name.rsplit('/').next().unwrap_or(name))
}

/// A name as it stands in files, without the words that every such name has; `None` if nothing is left of it.
fn telling(name: &str) -> Option<String> {
    let plain = plain(name);
    let prefixes = ["mcp-server-", "server-", "mcp-"];
    let bare = prefixes.iter().find_map(|it| plain.strip_prefix(it));
    let bare = bare.unwrap_or(&plain);
    let suffixes = ["-mcp-server", "-mcp"];
    let bare = suffixes
        .iter()
        .find_map(|it| bare.strip_suffix(it))
        .unwrap_or(bare);
    (!EMPTY_NAMES.contains(&bare)).then(|| bare.to_owned())
}

/// Letters, digits and what joins them: what may be the name of a file anywhere.
pub(super) fn plain(name: &str) -> String {
    let mut plain = String::new();
    for it in name.chars().take(LONGEST) {
        if it.is_ascii_alphanumeric() {
            plain.push(it.to_ascii_lowercase());
        } else if it == '_' || it == '.' || it == '-' {
            plain.push(it);
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    plain.trim_matches(['-', '_', '.']).to_owned()
}

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
    for _ in scenario_file::servers::project_folders() {
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
        let Ok(read) = scenario_file::servers::client_servers(&path) else {
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

#[cfg(test)]
mod tests {
    use super::{name_of_address, name_of_program, plain, program};
    use crate::scenario_file::servers::Transport;

    #[test]
    fn names_come_from_command_lines_and_addresses() {
        let named = |text: &str| {
            let words = shlex::split(text).unwrap_or_default();
            name_of_program(&words[0], &words[1..])
        };
        for (command, expected) in [
            (
                "npx -y @modelcontextprotocol/server-everything@2026.8.31",
                Some("everything"),
            ),
            ("uvx mcp-server-time", Some("time")),
            ("uv run --with fastmcp weather.py", Some("fastmcp")),
            ("docker run -i --rm mcp/fetch:latest", Some("fetch")),
            ("node dist/index.js", None),
            ("python -m my_tools", Some("my_tools")),
            ("./target/debug/my-server", Some("my-server")),
            ("github-mcp-server stdio", Some("github")),
            ("server", None),
        ] {
            assert_eq!(named(command).as_deref(), expected, "{command}");
        }
        for (url, expected) in [
            ("https://mcp.deepwiki.com/mcp", Some("deepwiki")),
            ("https://example.org/mcp", Some("example")),
            ("http://localhost:8080/mcp", None),
            ("http://127.0.0.1:8080/mcp", None),
            ("http://[::1]:8080/mcp", None),
        ] {
            assert_eq!(name_of_address(url).as_deref(), expected, "{url}");
        }
        assert_eq!(plain("  Mein Server (é) / 🚀 "), "mein-server");
    }

    #[test]
    fn a_command_line_is_split_as_a_shell_does() {
        let split = program(r#"TOKEN=abc MODE="a b" my-server --name 'x y' -v"#);
        let Ok((_, Transport::Stdio(start))) = split else {
            unreachable!("a program");
        };
        assert_eq!(start.command, "my-server");
        assert_eq!(start.args, ["--name", "x y", "-v"]);
        assert_eq!(start.env[1], ("MODE".to_owned(), "a b".to_owned()));
        for wrong in ["", "A=b", "'open", "a && b", "a | b"] {
            assert!(program(wrong).is_err(), "{wrong}");
        }
    }
}
