//! The section `upstreams`.

use super::server::{HttpKeys, HttpStyle, Server, StdioKeys, Transport};
use crate::scenario_file::decode::{Nothing, Plain, Timeout, Unnamed, Variant, kinds, section};
use crate::scenario_file::yaml::{Findings, Mark};

/// A server behind the ones under test.
pub(in crate::scenario_file) type UpstreamSection = Variant<UpstreamKeys, UpstreamKind>;

kinds! {
    /// A server behind the ones under test: a proxy calls it, and the calls are recorded. `${NAME}` and `${NAME:-default}` are environment variables.
    UpstreamKind, by "type" of "server", named "UpstreamSection", unnamed Unnamed::Keys(
        &[("url", "http"), ("command", "stdio")],
        (
            "does not say how the server is reached",
            "give `type: mock`, or with `tap: true`, `type: http` with `url` or `type: stdio` with `command`",
        ),
    ); {
        /// A mock server, declared under `mcp_interactions`. Calls to it are recorded.
        "mock" => Mock(Nothing),
        /// A server that is reached over HTTP; `type` may be left out.
        "http" => Http((HttpKeys, TapKeys)),
        /// A child process; `type` may be left out.
        "stdio" => Stdio((StdioKeys, TapKeys)),
    }
}

section! {
    /// What is said of every server behind the ones under test.
    UpstreamKeys {
        /// How long the server may take from its start to its list of tools; overrides that of the scenario.
        connect_timeout: Option<Timeout>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout>,
    }
}

section! {
    /// What is said of a real server behind the ones under test.
    TapKeys, checked by check_tap {
        /// Always `true`: a gateway takes the place of the server, records the calls and passes them on.
        tap: Option<bool>,
    }
}

impl UpstreamSection {
    /// Whether it is declared under `mcp_interactions`.
    pub(in crate::scenario_file) fn is_mock(&self) -> bool {
        matches!(self.kind, UpstreamKind::Mock(_))
    }

    pub(in crate::scenario_file) fn server(&self, name: &str, findings: &Findings) -> Server {
        let transport = match &self.kind {
            UpstreamKind::Http((http, _)) => http.transport(HttpStyle::Streamable, findings),
            UpstreamKind::Stdio((stdio, _)) => Transport::Stdio(stdio.plain(findings)),
            UpstreamKind::Mock(_) => Transport::Mock,
        };
        Server {
            name: name.to_owned(),
            transport,
            connect_timeout: self.all.connect_timeout.plain(findings),
            tool_timeout: self.all.tool_timeout.plain(findings),
            ready: None,
            protocol: None,
        }
    }
}

/// A real server says nothing of what it hears.
fn check_tap(section: &TapKeys, at: Mark, findings: &mut Findings) {
    if section.tap != Some(true) {
        let message = "calls to this server are not recorded";
        let hint =
            "add `tap: true`: a gateway in its place then records the calls and passes them on";
        findings.error(at, message, Some(hint));
    }
}
