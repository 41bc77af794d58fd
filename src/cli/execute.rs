//! Runs one scenario for real: its servers, its agent, its stamp.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::cli::{agents, replay};
use crate::git;
use crate::mcp::{self, ChildCommand, Launch, Target};
use crate::model::scenario::{Scenario, Server, Transport};
use crate::model::stamp::{GitStamp, Stamp};
use crate::model::trajectory::Trajectory;
use crate::redact::Redactor;
use crate::run::{self, Budget, Job, Observer, SetupError};
use crate::scenario_file;

/// Names the repository of the system under test for scenarios without `source.repo`.
const SOURCE_PATH: &str = "MCPPROXY_SOURCE_PATH";

/// What all runs of one command share.
pub(super) struct Executor {
    /// Servers given on the command line; they win over a scenario's own.
    servers: Vec<Server>,
    /// Our own program, which is also the mock server.
    program: OsString,
    interrupt: CancellationToken,
    /// Folders we write to: changes there do not make a repository dirty.
    ours: Vec<PathBuf>,
    budget: Option<Arc<Budget>>,
    stamps: Mutex<HashMap<PathBuf, GitStamp>>,
}

/// What one run came to.
pub(super) struct Ran {
    pub(super) trajectory: Trajectory,
    /// Has taken secrets out of it.
    pub(super) redactor: Redactor,
    /// What the agent has to tell of it.
    pub(super) notes: Vec<String>,
}

impl Executor {
    pub(super) fn new(
        servers: Vec<Server>,
        ours: Vec<PathBuf>,
        budget: Option<Arc<Budget>>,
        interrupt: CancellationToken,
    ) -> Self {
        let program =
            std::env::current_exe().map_or_else(|_| "mcp-eval".into(), PathBuf::into_os_string);
        Self {
            servers,
            program,
            interrupt,
            ours,
            budget,
            stamps: Mutex::default(),
        }
    }

    /// Runs a scenario once, with the baseline to play where it replays one.
    pub(super) async fn execute(
        &self,
        scenario: &Scenario,
        baseline: Option<&Arc<Trajectory>>,
        observer: &dyn Observer,
    ) -> Ran {
        let mut secrets = Vec::new();
        let targets = self.targets(scenario, &mut secrets).and_then(|targets| {
            let names: Vec<&str> = targets.iter().map(|it| it.name.as_str()).collect();
            let baseline = baseline.map(AsRef::as_ref);
            baseline.map_or(Ok(()), |it| replay::check_servers(it, &names))?;
            Ok(targets)
        });
        let reached = agents::reach(scenario, &mut secrets);
        let redactor = Redactor::new(secrets.iter().cloned());
        let agent =
            reached.and_then(|it| agents::agent(scenario, it, baseline, Redactor::new(secrets)));
        let (mut agent, targets) = match (agent, targets) {
            (Ok(agent), targets) => (agent, targets),
            // The run ends before anybody asks.
            (Err(problem), _) => (agents::nobody(), Err(problem)),
        };
        let job = Job {
            scenario,
            stamp: self.stamp(scenario),
            connect: async move {
                match targets {
                    Ok(targets) => mcp::connect(&targets).await,
                    Err(problem) => Err(problem),
                }
            }
            .boxed(),
            agent: agent.as_mut(),
            observer,
            interrupt: self.interrupt.clone(),
            budget: self.budget.as_deref(),
            redactor: &redactor,
        };
        let trajectory = run::run(job).await;
        Ran {
            trajectory,
            redactor,
            notes: agent.notes().to_vec(),
        }
    }

    /// The scenario as it may be told: without secrets.
    pub(super) fn told(&self, scenario: &Scenario) -> Scenario {
        let mut secrets = Vec::new();
        // What cannot be resolved holds no secret.
        let _ = self.targets(scenario, &mut secrets);
        let _ = agents::reach(scenario, &mut secrets);
        let mut told = scenario.clone();
        Redactor::new(secrets).scenario(&mut told);
        told
    }

    /// The servers of a scenario that are not started anew for every run: what one run leaves behind, the next one meets.
    pub(super) fn outliving_servers(&self, scenario: &Scenario) -> Vec<String> {
        let servers = self.servers(scenario).into_iter();
        servers
            .filter(|it| matches!(it.transport, Transport::Http { .. }))
            .map(|it| it.name)
            .collect()
    }

    /// The scenario's own servers, and those of the command line in place of or besides them.
    fn servers(&self, scenario: &Scenario) -> Vec<Server> {
        let mut servers = scenario.servers.clone();
        for server in &self.servers {
            match servers.iter_mut().find(|it| it.name == server.name) {
                Some(own) => *own = server.clone(),
                None => servers.push(server.clone()),
            }
        }
        servers
    }

    /// The scenario's servers, ready to connect to; the secrets they are given are added to `secrets`.
    fn targets(
        &self,
        scenario: &Scenario,
        secrets: &mut Vec<String>,
    ) -> Result<Vec<Target>, SetupError> {
        let servers = self.servers(scenario);
        if servers.is_empty() {
            return Err(SetupError::new(
                "the scenario has no servers: declare `servers:`, or give them with `--mcp-config FILE`",
            ));
        }
        let expanded = scenario_file::expand(&servers, |name| std::env::var(name).ok())
            .map_err(|missing| SetupError::new(missing.to_string()))?;
        let named = expanded
            .variables
            .iter()
            .filter(|name| Redactor::is_secret_name(name));
        secrets.extend(named.filter_map(|name| std::env::var(name).ok()));
        expanded
            .servers
            .into_iter()
            .map(|server| {
                Ok(Target {
                    connect_timeout: server.connect_timeout.unwrap_or(scenario.timeouts.connect),
                    tool_timeout: server
                        .tool_timeout
                        .or(scenario.agent.model().and_then(|it| it.tool_timeout))
                        .unwrap_or(scenario.timeouts.tool),
                    launch: self.launch(scenario, &server, secrets)?,
                    name: server.name,
                })
            })
            .collect()
    }

    fn launch(
        &self,
        scenario: &Scenario,
        server: &Server,
        secrets: &mut Vec<String>,
    ) -> Result<Launch, SetupError> {
        Ok(match &server.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                secrets.extend(secret_values(env));
                Launch::Child(ChildCommand {
                    program: command.into(),
                    args: args.iter().map(Into::into).collect(),
                    env: env.clone(),
                    cwd: cwd.clone(),
                })
            }
            Transport::Http {
                url,
                headers,
                bearer_token_env,
            } => {
                secrets.extend(secret_values(headers));
                secrets.extend(secret_values(&query(url)));
                let bearer_token = bearer_token_env
                    .as_ref()
                    .map(|name| bearer_token(&server.name, name))
                    .transpose()?;
                secrets.extend(bearer_token.clone());
                Launch::Http {
                    url: url.clone(),
                    headers: headers.clone(),
                    bearer_token,
                }
            }
            Transport::Mock => Launch::Child(ChildCommand {
                program: self.program.clone(),
                args: Self::mock_arguments(scenario, &server.name),
                env: Vec::new(),
                cwd: None,
            }),
        })
    }

    /// Our own program's arguments for serving one mock of a scenario.
    fn mock_arguments(scenario: &Scenario, server: &str) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ["mock", "--server", server, "--defaults-from"]
            .map(Into::into)
            .to_vec();
        arguments.push(scenario.defaults_root.clone().into());
        arguments.extend(["--".into(), scenario.path.clone().into()]);
        arguments
    }

    fn stamp(&self, scenario: &Scenario) -> Stamp {
        let folder = scenario
            .path
            .parent()
            .filter(|it| *it != Path::new(""))
            .unwrap_or(Path::new("."));
        let source = scenario.source.clone().or_else(|| {
            std::env::var_os(SOURCE_PATH)
                .filter(|it| !it.is_empty())
                .map(PathBuf::from)
        });
        Stamp {
            recorded_at: Timestamp::now(),
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            agent: scenario.agent.kind().to_owned(),
            model: scenario.agent.model().map(|it| it.model.clone()),
            scenarios: self.git(folder),
            source: source.as_deref().map(|it| self.git(it)),
        }
    }

    /// The state of the repository around a folder; asked once per command, so that all runs of it carry the same.
    pub(super) fn git(&self, folder: &Path) -> GitStamp {
        let mut stamps = self
            .stamps
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let ours: Vec<&Path> = self.ours.iter().map(PathBuf::as_path).collect();
        stamps
            .entry(folder.to_owned())
            .or_insert_with(|| git::stamp(folder, &ours))
            .clone()
    }
}

/// The values whose names say that they are secret. Of one in two parts, such as `Bearer abc`, the second is secret by itself.
pub(super) fn secret_values(named: &[(String, String)]) -> Vec<String> {
    let values = named
        .iter()
        .filter(|(name, _)| Redactor::is_secret_name(name))
        .map(|(_, value)| value);
    values
        .flat_map(|value| {
            let second = value
                .split_once(' ')
                .map(|(_, second)| second.trim().to_owned());
            std::iter::once(value.clone()).chain(second)
        })
        .collect()
}

/// The parameters in an address.
pub(super) fn query(url: &str) -> Vec<(String, String)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let parameters = query.split('#').next().unwrap_or_default().split('&');
    parameters
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn bearer_token(server: &str, name: &str) -> Result<String, SetupError> {
    std::env::var(name).map_err(|_| {
        SetupError::new(format!(
            "server `{server}` needs a bearer token: the environment variable `{name}` is not set"
        ))
    })
}
