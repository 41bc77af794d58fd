//! The section `servers`, and the servers that a scenario names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;

use super::ready::{Ready, ReadySection};
use crate::model::has_no_sessions;
use crate::scenario_file::decode::template;
use crate::scenario_file::decode::{
    At, Decode, Given, Named, Nothing, PORT, Place, Plain, Template, Timeout, Unnamed, Variant,
    Word, choice, kinds, section,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

/// A server the scenario uses.
pub(in crate::scenario_file) type ServerSection = Variant<ServerKeys, ServerKind>;

kinds! {
    /// A server the scenario uses. `${NAME}` and `${NAME:-default}` are environment variables.
    ServerKind, by "type" of "server", named "ServerSection", unnamed Unnamed::Keys(
        &[("url", "http"), ("command", "stdio")],
        (
            "does not say how the server is reached",
            "give `type: http` or `type: sse` with `url`, `type: stdio` with `command`, or `type: mock`",
        ),
    ); {
        /// A server that is reached over Streamable HTTP; `type` may be left out. One that only speaks the older HTTP with SSE is spoken to so.
        "http" => Http(HttpKeys),
        /// A server that is reached over HTTP with SSE, as MCP had it before Streamable HTTP.
        "sse" => Sse(HttpKeys),
        /// A child process; `type` may be left out.
        "stdio" => Stdio(StdioKeys),
        /// A mock server, declared under `mcp_interactions`.
        "mock" => Mock(Nothing),
    }
}

choice! {
    /// Which revisions of MCP the server is spoken to in: `legacy` for those that begin with `initialize`, `2026-07-28` for that one, in which each request stands by itself, `auto` for the newer one where the server speaks it. Without it, that of the baseline, else `legacy`; a server that refuses `initialize` for it is spoken to in the newer one.
    ProtocolWord for Protocol {
        "legacy" => Protocol::Legacy,
        "auto" => Protocol::Auto,
        "2026-07-28" => Protocol::Stateless,
    }
}

section! {
    /// What is said of every server.
    ServerKeys {
        /// How long the server may take from its start to its list of tools; overrides that of the scenario.
        connect_timeout: Option<Timeout>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout>,
        /// What proves that the server can be asked, before a run begins.
        ready: Option<ReadySection>,
        /// Which revisions of MCP it is spoken to in; `--protocol` overrides it.
        protocol: Option<ProtocolWord>,
    }
}

section! {
    /// What is said of a server over HTTP.
    HttpKeys, checked by check_http {
        /// The endpoint: of a server with `type: sse`, that of the event stream.
        url: Template<Word>,
        /// Headers sent with every request.
        headers: Option<Named<Given>>,
        /// The environment variable that holds the bearer token.
        bearer_token_env: Option<Word>,
        /// What serves the address: started for each run, and ended after it. `${port}` is a free port, here, in `url`, `headers` and the pages of `ready`.
        start: Option<At<StdioKeys>>,
        /// A program with its arguments that prints more headers before each run, as a JSON object or in lines `Name: value`: for tokens that expire. What it prints is secret.
        headers_command: Option<At<Vec<Template>>>,
    }
}

section! {
    /// How a program is started.
    StdioKeys => Start(Default) {
        /// The program.
        command: Program as String,
        /// The arguments of the program.
        args: Option<Vec<Template>> as Vec<String> = Vec::new(),
        /// Environment variables for the program.
        env: Option<Named<Given>> as Vec<(String, String)> = Vec::new(),
        /// The folder the program runs in, relative to this file.
        cwd: Option<Template<Word>> as Option<PathBuf>,
    }
}

/// A program. One named by a path that begins with `./` or `../` belongs to the folder of the file that names it; a bare name is looked up in
/// `PATH`.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub(in crate::scenario_file) struct Program(Template<Word>);

impl Decode for Program {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if let Content::List(_) = node.content {
            let hint = "name the program alone, and list what it is given under `args`";
            return findings.refuse(node.at, "expected text, found a list", Some(hint));
        }
        Decode::decode(node, findings).map(Self)
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.0.templates(visit);
    }
}

impl Plain<String> for Program {
    fn plain(&self, findings: &Findings) -> String {
        let Self(program) = self;
        command_from(program.value.as_ref(), &findings.folder(program.at))
    }

    fn places(value: &mut String, visit: &mut dyn FnMut(Place<'_>)) {
        visit(Place::Text(value));
    }
}

impl HttpKeys {
    pub(super) fn transport(&self, style: HttpStyle, findings: &Findings) -> Transport {
        let command = self.headers_command.iter().flat_map(|it| &it.value);
        let mut headers_command: Vec<String> = command.map(|it| it.value.clone()).collect();
        if let (Some(program), Some(at)) = (headers_command.first_mut(), &self.headers_command) {
            *program = command_from(program, &findings.folder(at.at));
        }
        Transport::Http {
            style,
            url: self.url.0.clone(),
            headers: self
                .headers
                .as_ref()
                .map_or_else(Vec::new, |it| it.plain(findings)),
            bearer_token_env: self.bearer_token_env.plain(findings),
            start: self.start.plain(findings),
            headers_command,
        }
    }
}

impl ServerSection {
    pub(in crate::scenario_file) fn server(&self, name: &str, findings: &Findings) -> Server {
        let transport = match &self.kind {
            ServerKind::Http(http) => http.transport(HttpStyle::Streamable, findings),
            ServerKind::Sse(http) => http.transport(HttpStyle::Sse, findings),
            ServerKind::Stdio(stdio) => Transport::Stdio(stdio.plain(findings)),
            ServerKind::Mock(_) => Transport::Mock,
        };
        Server {
            name: name.to_owned(),
            transport,
            connect_timeout: self.all.connect_timeout.plain(findings),
            tool_timeout: self.all.tool_timeout.plain(findings),
            ready: self.all.ready.plain(findings),
            protocol: self.all.protocol.plain(findings),
        }
    }
}

impl Start {
    /// A program that is started with these arguments, and nothing else.
    pub fn new(command: impl Into<String>, args: Vec<String>) -> Self {
        Self {
            command: command.into(),
            args,
            ..Self::default()
        }
    }
}

/// The program listens where the address leads.
fn check_http(section: &HttpKeys, _: Mark, findings: &mut Findings) {
    if let Some(command) = &section.headers_command
        && command.first().is_none_or(|it| it.value.trim().is_empty())
    {
        let hint = Some("list the program and its arguments");
        findings.error(command.at, "names no program", hint);
    }
    let Some(start) = &section.start else { return };
    let mut passes_port = false;
    start
        .value
        .templates(&mut |_, text| passes_port |= template::mentions(text, PORT));
    match (template::mentions(&section.url.0, PORT), passes_port) {
        (true, false) => {
            let message = "nothing tells the program which port `url` leads to";
            let hint = "give it `${port}`, in `args` or in `env`";
            findings.error(start.at, message, Some(hint));
        }
        (false, true) => {
            let message = "the program listens at a port that the address does not lead to";
            let hint = "write `${port}` in its place: `http://127.0.0.1:${port}/mcp`";
            findings.error(section.url.at, message, Some(hint));
        }
        _ => {}
    }
}

/// A program named by a relative path belongs to the file that names it; a bare name is looked up in `PATH`.
pub(in crate::scenario_file) fn command_from(command: &str, folder: &Path) -> String {
    if command.starts_with("./") || command.starts_with("../") {
        folder.join(command).to_string_lossy().into_owned()
    } else {
        command.to_owned()
    }
}

/// A server as the scenario names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub name: String,
    pub transport: Transport,
    /// Overrides that of the scenario.
    pub connect_timeout: Option<Duration>,
    /// Overrides that of the scenario.
    pub tool_timeout: Option<Duration>,
    /// What proves that it can be asked.
    pub ready: Option<Ready>,
    /// The revisions of MCP that it is spoken to in; `None` for those of the baseline.
    pub protocol: Option<Protocol>,
}

impl Server {
    /// One that nothing else is known of.
    pub fn new(name: String, transport: Transport) -> Self {
        Self {
            name,
            transport,
            connect_timeout: None,
            tool_timeout: None,
            ready: None,
            protocol: None,
        }
    }
}

/// Which revisions of MCP a server is spoken to in.
///
/// Source: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Those that begin with `initialize`, the latest of which is 2025-11-25.
    #[default]
    Legacy,
    /// The same of a server that must speak them.
    OnlyLegacy,
    /// The newer one where the server speaks it.
    Auto,
    /// 2026-07-28, in which each request stands by itself.
    Stateless,
}

impl Protocol {
    /// The other one of the two sides of a comparison.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Stateless => Self::OnlyLegacy,
            Self::Legacy | Self::OnlyLegacy | Self::Auto => Self::Stateless,
        }
    }

    /// The one that a revision belongs to.
    pub fn of_version(version: &str) -> Self {
        if has_no_sessions(version) {
            Self::Stateless
        } else {
            Self::Legacy
        }
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// A child process speaking MCP on its standard streams.
    Stdio(Start),
    /// An endpoint over HTTP.
    Http {
        style: HttpStyle,
        url: String,
        headers: Vec<(String, String)>,
        /// The environment variable that holds a bearer token.
        bearer_token_env: Option<String>,
        /// What serves it, where we start that for each run; `None` for a server that somebody else runs.
        start: Option<Start>,
        /// A program with its arguments that prints more headers before each run; empty where there is none.
        headers_command: Vec<String>,
    },
    /// Our own mock server, declared in the scenario under `mcp_interactions`.
    Mock,
    /// Our own mock server, made from what a baseline has recorded of the server. No file declares it: it stands in for the others.
    Recorded {
        /// The file of the baseline.
        baseline: PathBuf,
    },
}

impl Transport {
    /// An endpoint that somebody else serves.
    pub fn http(style: HttpStyle, url: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        Self::Http {
            style,
            url: url.into(),
            headers,
            bearer_token_env: None,
            start: None,
            headers_command: Vec::new(),
        }
    }
}

/// Which of the two transports of MCP over HTTP a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpStyle {
    /// Streamable HTTP; a server that turns out to speak only the older one is spoken to so.
    #[default]
    Streamable,
    /// The older one, with an event stream and a second endpoint for messages.
    Sse,
}
