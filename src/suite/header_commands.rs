//! Headers that a command prints, for keys that are only valid for a while.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

use crate::process::{ChildCommand, printed};
use crate::redact::Secrets;
use crate::run::SetupError;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{Server, Transport};
use crate::suite::addresses::{Addresses, Places};
use crate::suite::secrets::options;
use crate::suite::suite_context::SuiteContext;

/// How long a command may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The headers that commands have printed for one run, by the names of the servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrintedHeaders(HashMap<String, Vec<(String, String)>>);

impl PrintedHeaders {
    /// The headers of a server: those its command has printed, in place of those of the same name that it is given.
    pub(crate) fn with(&self, server: &str, given: &[(String, String)]) -> Vec<(String, String)> {
        let printed = self.of(server);
        let is_printed = |name: &str| has(printed, name);
        let given = given.iter().filter(|(name, _)| !is_printed(name));
        given.chain(printed).cloned().collect()
    }

    /// Whether a server's command has printed this header.
    pub(crate) fn have(&self, server: &str, header: &str) -> bool {
        has(self.of(server), header)
    }

    pub(crate) fn of(&self, server: &str) -> &[(String, String)] {
        self.0.get(server).map_or(&[], Vec::as_slice)
    }
}

fn has(headers: &[(String, String)], wanted: &str) -> bool {
    headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
}

/// When the command of a server is run: once it is known where the scenario's containers are reached, if it asks for that, else before.
fn is_due(command: &[String], scenario: &Scenario, places: Option<&Places>) -> bool {
    let asks = |text: &str| {
        let mut containers = scenario.containers.iter();
        containers.any(|it| scenario_file::mentions_container(text, it.name.as_deref()))
    };
    command.iter().any(|it| asks(it)) == places.is_some()
}

impl SuiteContext {
    /// Runs the commands that print headers for a scenario's servers: before the containers stand those that do not ask where they
    /// are reached, then the others. What they print is added to `printed` and, because it is secret, to `secrets`. Interrupted, they are
    /// ended.
    ///
    /// # Errors
    ///
    /// What one of them failed with.
    pub(crate) async fn print_headers(
        &self,
        scenario: &Scenario,
        places: Option<&Places>,
        printed: &mut PrintedHeaders,
        secrets: &mut Secrets,
    ) -> Result<(), SetupError> {
        let servers = self.servers(scenario);
        let addresses = Addresses {
            containers: places.cloned().unwrap_or_default(),
            ..Addresses::default()
        };
        let mut due = Vec::new();
        for server in &servers {
            let Some(command) = command_of(server).filter(|it| is_due(it, scenario, places)) else {
                continue;
            };
            let lookup = |name: &str| addresses.lookup(name, None);
            let (command, variables) = scenario_file::expand(command, lookup)?;
            // Also what it says when it fails must be shown without them.
            secrets.environment(&server.name, &variables);
            secrets.named("args", &server.name, options(&command));
            due.push((server, command));
        }
        let running = due.into_iter().map(|(server, command)| async move {
            let headers = self.headers(server, &command).await;
            (server, headers)
        });
        // The run notices for itself that it is interrupted.
        let all = self.interrupt.run_until_cancelled(join_all(running)).await;
        let mut failed = Ok(());
        for (server, headers) in all.unwrap_or_default() {
            match headers {
                Ok(headers) => {
                    let pairs = headers
                        .iter()
                        .map(|(name, value)| (name.as_str(), value.as_str()));
                    secrets.all_named("header", &server.name, pairs);
                    printed.0.insert(server.name.clone(), headers);
                }
                Err(problem) => failed = failed.and(Err(problem)),
            }
        }
        failed
    }

    /// The headers that the command of one server prints.
    async fn headers(
        &self,
        server: &Server,
        command: &[String],
    ) -> Result<Vec<(String, String)>, SetupError> {
        let Some(program) = command.first() else {
            return Ok(Vec::new());
        };
        let command = ChildCommand::of(command, self.program.as_deref());
        let wrong = |why: &str| {
            SetupError::new(format!(
                "server `{}`: `headers_command` `{program}` {why}",
                server.name
            ))
        };
        let (printed, mut said) =
            printed(&command, "", (TIMEOUT, ""), self.interrupt.cancelled()).await;
        let output = printed.map_err(|why| match said.pop() {
            Some(last) => wrong(&format!("{why}: {last}")),
            None => wrong(&why),
        })?;
        headers_in(&output).map_err(wrong)
    }
}

/// The command that prints the headers of a server, where it has one.
fn command_of(server: &Server) -> Option<&Vec<String>> {
    match &server.transport {
        Transport::Http {
            headers_command, ..
        } => Some(headers_command).filter(|it| !it.is_empty()),
        _ => None,
    }
}

/// The headers in what a command has printed: a JSON object, or lines `Name: value`. What is wrong is reported without any of it.
fn headers_in(output: &[u8]) -> Result<Vec<(String, String)>, &'static str> {
    let text = std::str::from_utf8(output).map_err(|_| "printed something that is not UTF-8")?;
    let text = text.trim();
    if text.starts_with('{') {
        let read = serde_json::from_str::<serde_json::Map<String, Value>>(text);
        let object = read.map_err(|_| "printed something that begins like JSON but is invalid")?;
        let headers = object.into_iter().map(|(name, value)| match value {
            Value::String(value) => Ok((name, value)),
            _ => Err("printed a JSON object with a value that is not text"),
        });
        return headers.collect();
    }
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    });
    let headers: Option<Vec<_>> = headers.collect();
    match headers {
        Some(headers) if !headers.is_empty() => Ok(headers),
        Some(_) => Err("printed no headers"),
        None => Err("printed neither a JSON object of headers nor lines `Name: value`"),
    }
}

#[cfg(test)]
mod tests {
    use super::headers_in;

    #[test]
    fn headers_are_objects_or_lines() {
        let read = |text: &str| headers_in(text.as_bytes());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let both = vec![pair("Authorization", "Bearer a:b"), pair("X-Team", "")];
        assert_eq!(
            read("\n{\"Authorization\": \"Bearer a:b\", \"X-Team\": \"\"}\n"),
            Ok(both.clone())
        );
        assert_eq!(read("Authorization: Bearer a:b\r\n\r\nX-Team:\n"), Ok(both));
        for wrong in ["", "token", "{\"a\": 1}", "{\"a\"", "A: b\ntoken"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(headers_in(b"A: \xff").is_err());
    }
}
