//! The `servers` section.

use std::path::Path;

use crate::model::scenario::{Server, Transport};

use super::decode::{At, Named, Use, check_use, choice, section};
use super::expand;
use super::ready::ReadySection;
use super::source::{Findings, Mark};
use super::values::{Timeout, Word};

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Http,
    Stdio,
    Mock,
}

choice! {
    /// How the server is reached: `http` (Streamable HTTP), `stdio` (a child process) or `mock` (declared under `mcp_interactions`).
    KindWord for Kind {
        "http" => Kind::Http,
        "stdio" => Kind::Stdio,
        "mock" => Kind::Mock,
    }
}

section! {
    /// A server the scenario uses. `${NAME}` and `${NAME:-default}` stand for environment variables.
    ServerSection, checked by check {
        /// How the server is reached; left out, `url` means `http` and `command` means `stdio`.
        r#type: Option<KindWord>,
        /// The Streamable HTTP endpoint of an `http` server.
        url: Option<At<Word>>,
        /// Headers sent with every request to an `http` server.
        headers: Option<At<Named<At<String>>>>,
        /// The environment variable that holds the bearer token of an `http` server.
        bearer_token_env: Option<At<Word>>,
        /// The program of a `stdio` server.
        command: Option<At<Word>>,
        /// The arguments of a `stdio` server's program.
        args: Option<At<Vec<At<String>>>>,
        /// Environment variables for a `stdio` server's program.
        env: Option<At<Named<At<String>>>>,
        /// The folder a `stdio` server's program runs in, relative to this file.
        cwd: Option<At<Word>>,
        /// How long the server may take from its start to its list of tools; overrides that of the scenario.
        connect_timeout: Option<Timeout>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout>,
        /// What proves that the server can be asked, before a run begins.
        ready: Option<ReadySection>,
    }
}

impl ServerSection {
    /// How the server is reached; `None` when neither `type` nor the other keys say so.
    pub(super) fn kind(&self) -> Option<Kind> {
        match (self.r#type, &self.url, &self.command) {
            (Some(KindWord(kind)), _, _) => Some(kind),
            (None, Some(_), _) => Some(Kind::Http),
            (None, None, Some(_)) => Some(Kind::Stdio),
            (None, None, None) => None,
        }
    }

    /// Every text that may hold `${…}`.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Mark, &str)> {
        let words = [&self.url, &self.command, &self.cwd].into_iter().flatten();
        let words = words.map(|it| (it.at, it.0.as_str()));
        let named = [&self.headers, &self.env].into_iter().flatten();
        let named = named
            .flat_map(|it| &it.0)
            .map(|(_, it)| (it.at, it.as_str()));
        let args = self.args.iter().flat_map(|it| &it.value);
        words
            .chain(named)
            .chain(args.map(|it| (it.at, it.as_str())))
    }

    /// The server; `None` where a check has found it incomplete.
    pub(super) fn server(&self, name: &str, findings: &Findings) -> Option<Server> {
        let transport = match self.kind()? {
            Kind::Http => Transport::Http {
                url: self.url.as_ref()?.0.clone(),
                headers: pairs(self.headers.as_ref()),
                bearer_token_env: self.bearer_token_env.as_ref().map(|it| it.0.clone()),
            },
            Kind::Stdio => {
                let command = self.command.as_ref()?;
                let args = self.args.iter().flat_map(|it| &it.value);
                Transport::Stdio {
                    command: command_from(&command.0, &findings.folder(command.at)),
                    args: args.map(|it| it.value.clone()).collect(),
                    env: pairs(self.env.as_ref()),
                    cwd: self
                        .cwd
                        .as_ref()
                        .map(|it| findings.folder(it.at).join(&it.0)),
                }
            }
            Kind::Mock => Transport::Mock,
        };
        Some(Server {
            name: name.to_owned(),
            transport,
            connect_timeout: self.connect_timeout.map(|it| it.0),
            tool_timeout: self.tool_timeout.map(|it| it.0),
            ready: self.ready.as_ref().map(ReadySection::ready),
        })
    }
}

/// A program named by a relative path belongs to the file that names it; a bare name is looked up in `PATH`.
pub(super) fn command_from(command: &str, folder: &Path) -> String {
    if command.starts_with("./") || command.starts_with("../") {
        folder.join(command).to_string_lossy().into_owned()
    } else {
        command.to_owned()
    }
}

fn pairs(named: Option<&At<Named<At<String>>>>) -> Vec<(String, String)> {
    let named = named.iter().flat_map(|it| &it.0);
    named
        .map(|(name, value)| (name.value.clone(), value.value.clone()))
        .collect()
}

/// Keys that do not go with the kind of server, keys that it needs, and references that cannot be read.
fn check(server: &ServerSection, at: Mark, findings: &mut Findings) {
    let Some(kind) = server.kind() else {
        let hint = "give `type: http` with `url`, `type: stdio` with `command`, or `type: mock`";
        findings.error(at, "does not say how the server is reached", Some(hint));
        return;
    };
    let http = |wanted| {
        if kind == Kind::Http {
            wanted
        } else {
            Use::Never
        }
    };
    let stdio = |wanted| {
        if kind == Kind::Stdio {
            wanted
        } else {
            Use::Never
        }
    };
    let given = [
        ("url", server.url.as_ref().map(At::mark), http(Use::Must)),
        (
            "headers",
            server.headers.as_ref().map(At::mark),
            http(Use::May),
        ),
        (
            "bearer_token_env",
            server.bearer_token_env.as_ref().map(At::mark),
            http(Use::May),
        ),
        (
            "command",
            server.command.as_ref().map(At::mark),
            stdio(Use::Must),
        ),
        ("args", server.args.as_ref().map(At::mark), stdio(Use::May)),
        ("env", server.env.as_ref().map(At::mark), stdio(Use::May)),
        ("cwd", server.cwd.as_ref().map(At::mark), stdio(Use::May)),
    ];
    for (key, given, usage) in given {
        check_use(key, given, (usage, "server"), at, findings);
    }
    for (at, text) in server.texts() {
        if let Err(problem) = expand::check(text) {
            findings.error(at, problem.message, problem.hint);
        }
    }
}
