//! The servers of a scenario: whose they are, where they are reached, and the secrets they are given.

use std::sync::Arc;
use std::time::Duration;

use crate::mcp::{Launch, Observed, Target};
use crate::process::ChildCommand;
use crate::redact::Secrets;
use crate::run::SetupError;
use crate::scenario_file::servers::{Container, Reset, Server, Start, Transport};
use crate::scenario_file::{self, Scenario};
use crate::suite::addresses::{self, Addresses};
use crate::suite::header_commands::PrintedHeaders;
use crate::suite::mocks::MockServer;
use crate::suite::secrets::{options, pairs, query};
use crate::suite::started::{Port, Program};
use crate::suite::suite_context::SuiteContext;

/// Puts servers that somebody gives in place of a scenario's own of the same name, or besides them.
pub fn give_servers(own: &mut Vec<Server>, given: &[Server]) {
    for server in given {
        match own.iter_mut().find(|it| it.name == server.name) {
            // When it is ready, only the scenario knows.
            Some(own) => {
                *own = Server {
                    ready: own.ready.take(),
                    ..server.clone()
                }
            }
            None => own.push(server.clone()),
        }
    }
}

impl SuiteContext {
    /// The servers of a scenario that are not started anew for every run: what one run leaves behind, the next one meets.
    pub(crate) fn outliving_servers(&self, scenario: &Scenario) -> Vec<String> {
        let containers = self.containers.is_some();
        let behind = scenario.upstreams.iter().cloned();
        let servers = self.servers(scenario).into_iter().chain(behind);
        servers
            .filter(|it| matches!(it.transport, Transport::Http { start: None, .. }))
            .filter(|it| !addresses::is_fresh(scenario, it, containers))
            .map(|it| it.name)
            .collect()
    }

    /// Whether everything that a scenario uses is as it was before each run: servers are declared, or are in containers of their own, without
    /// anything mounted that could be written.
    pub(crate) fn is_all_reset(&self, scenario: &Scenario) -> bool {
        let containers = self.containers.is_some();
        let servers = self.servers(scenario);
        let mut all = servers.iter().chain(&scenario.upstreams);
        let keeps = scenario
            .containers
            .iter()
            .any(|it| !it.mounts.is_empty() || it.reset != Reset::Scenario);
        !keeps
            && all.all(|it| match it.transport {
                Transport::Mock | Transport::Recorded { .. } => true,
                Transport::Stdio(_) => false,
                Transport::Http { .. } => addresses::is_fresh(scenario, it, containers),
            })
    }

    /// How long after one take of a scenario the next one begins. Declared servers have no clock that would have to move on.
    pub(crate) fn takes_apart(&self, scenario: &Scenario) -> Duration {
        let servers = self.servers(scenario);
        let mut all = servers.iter().chain(&scenario.upstreams);
        if all.all(|it| matches!(it.transport, Transport::Mock | Transport::Recorded { .. })) {
            return Duration::ZERO;
        }
        self.takes_apart.unwrap_or(scenario.scoring.takes_apart)
    }

    /// The scenario's own servers, and those of the command line in place of or besides them.
    pub(crate) fn servers(&self, scenario: &Scenario) -> Vec<Server> {
        let mut servers = scenario.servers.clone();
        give_servers(&mut servers, &self.servers);
        servers
    }

    /// The scenario's servers, ready to connect to; the secrets they are given are added to `secrets`.
    pub(crate) fn targets(
        &self,
        scenario: &Scenario,
        addresses: &Addresses,
        printed: &PrintedHeaders,
        secrets: &mut Secrets,
    ) -> Result<Vec<Target>, SetupError> {
        let servers = self.servers(scenario);
        self.targets_of(scenario, &servers, (addresses, printed), secrets)
    }

    /// The same for some of its servers.
    pub(crate) fn targets_of(
        &self,
        scenario: &Scenario,
        servers: &[Server],
        (addresses, printed): (&Addresses, &PrintedHeaders),
        secrets: &mut Secrets,
    ) -> Result<Vec<Target>, SetupError> {
        // A container has proven that it is ready.
        let ready = servers.iter().filter(|it| addresses::holds(scenario, it));
        let ready: Vec<String> = ready.map(|it| it.name.clone()).collect();
        let servers = Self::filled(servers, addresses, secrets)?;
        servers
            .into_iter()
            .map(|server| {
                Ok(Target {
                    connect_timeout: server.connect_timeout.unwrap_or(scenario.timeouts.connect),
                    tool_timeout: server
                        .tool_timeout
                        .or(scenario.agent.tool_timeout())
                        .unwrap_or(scenario.timeouts.tool),
                    if_late: Target::GIVE_MORE,
                    may_be_starting: !ready.contains(&server.name),
                    launch: self.launch(scenario, &server, printed, secrets)?,
                    protocol: self.protocol.or(server.protocol),
                    observed: Observed::default(),
                    inputs: scenario.inputs.clone(),
                    name: server.name,
                })
            })
            .collect()
    }

    /// How those of these servers are started that are started for each run, each with one of these ports.
    pub(crate) fn programs(
        &self,
        servers: &[Server],
        addresses: &Addresses,
        ports: Vec<(String, Port)>,
    ) -> Result<Vec<Program>, SetupError> {
        let servers = Self::filled(servers, addresses, &mut Secrets::default())?;
        let mut programs = Vec::new();
        for (server, port) in ports {
            let named = servers.iter().find(|it| it.name == server);
            let Some(Transport::Http {
                url,
                start: Some(start),
                ..
            }) = named.map(|it| &it.transport)
            else {
                continue;
            };
            programs.push(Program {
                server,
                command: self.command(start),
                url: url.clone(),
                port,
            });
        }
        Ok(programs)
    }

    /// Servers of a scenario with every `${…}` filled in.
    fn filled(
        servers: &[Server],
        addresses: &Addresses,
        secrets: &mut Secrets,
    ) -> Result<Vec<Server>, SetupError> {
        if servers.is_empty() {
            return Err(SetupError::new(
                "the scenario has no servers: declare `servers:`, or give them with `--mcp-config FILE`",
            ));
        }
        let lookup = |server: &Server, name: &str| addresses.lookup(name, Some(&server.name));
        // Everything that is missing is reported at once.
        let filled = scenario_file::expand_servers(servers, lookup)?;
        for (server, variables) in &filled {
            secrets.environment(&server.name, variables);
        }
        Ok(filled.into_iter().map(|(server, _)| server).collect())
    }

    /// The servers that run in one of the scenario's containers, ready to connect to.
    pub(crate) fn targets_inside(
        &self,
        scenario: &Scenario,
        container: &Container,
        addresses: &Addresses,
        printed: &PrintedHeaders,
    ) -> Result<Vec<Target>, SetupError> {
        let mut inside = self.servers(scenario);
        inside.retain(|it| addresses::is_within(container, it));
        if inside.is_empty() {
            return Err(SetupError::new(
                "no server of the scenario is reached through its container: give one `url: \"${docker.url}/mcp\"`",
            ));
        }
        let with = (addresses, printed);
        self.targets_of(scenario, &inside, with, &mut Secrets::default())
    }

    fn launch(
        &self,
        scenario: &Scenario,
        server: &Server,
        printed: &PrintedHeaders,
        secrets: &mut Secrets,
    ) -> Result<Launch, SetupError> {
        Ok(match &server.transport {
            Transport::Stdio(start) => {
                secrets.named("env", &server.name, pairs(&start.env));
                secrets.named("args", &server.name, options(&start.args));
                Launch::Child(self.command(start))
            }
            Transport::Http {
                style,
                url,
                headers,
                bearer_token_env,
                start,
                headers_command,
            } => {
                if let Some(start) = start {
                    secrets.named("env", &server.name, pairs(&start.env));
                    secrets.named("args", &server.name, options(&start.args));
                }
                secrets.named("header", &server.name, pairs(headers));
                secrets.all_named("header", &server.name, pairs(printed.of(&server.name)));
                secrets.named("args", &server.name, options(headers_command));
                secrets.named("query", &server.name, query(url));
                let bearer_token = bearer_token_env
                    .as_ref()
                    .map(|name| bearer_token(&server.name, name))
                    .transpose()?;
                if let (Some(name), Some(token)) = (bearer_token_env, &bearer_token) {
                    secrets.declare(&format!("env.{name}"), &server.name, token);
                }
                Launch::Http {
                    style: *style,
                    url: url.clone(),
                    headers: printed.with(&server.name, headers),
                    // A header that was printed is newer than the environment.
                    bearer_token: bearer_token
                        .filter(|_| !printed.have(&server.name, "authorization")),
                }
            }
            Transport::Mock | Transport::Recorded { .. } => Launch::Child(self.mock(MockServer {
                server: server.clone(),
                scenario: scenario.clone(),
                secrets: secrets.clone(),
            })),
        })
    }

    fn command(&self, start: &Start) -> ChildCommand {
        ChildCommand {
            program: (&start.command).into(),
            args: start.args.iter().map(Into::into).collect(),
            env: start.env.clone(),
            cwd: start.cwd.clone(),
            supervisor: self.program.clone(),
            ..ChildCommand::default()
        }
    }

    /// Our own program, serving a mock server.
    fn mock(&self, server: MockServer) -> ChildCommand {
        ChildCommand {
            program: self
                .program
                .as_ref()
                .map_or_else(|| "mcp-eval".into(), Into::into),
            within: Some(Arc::new(server)),
            ..ChildCommand::default()
        }
    }
}

fn bearer_token(server: &str, name: &str) -> Result<String, SetupError> {
    std::env::var(name).map_err(|_| {
        SetupError::new(format!(
            "server `{server}` needs a bearer token: the environment variable `{name}` is not set"
        ))
    })
}
