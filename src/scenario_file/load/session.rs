//! A scenario file made from a session that somebody had with servers.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::find::{Found, absolute};
use super::loader::{Loader, Options};
use super::rebase::{rebase, relative};
use crate::model::Object;
use crate::model::texts;
use crate::scenario_file::yaml::{Finding, Node, Severity};

/// What was done in a session.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The name of the scenario.
    pub name: String,
    pub description: String,
    pub user_intent: Option<String>,
    /// A client's configuration file that gives servers, and their names; they win over those of the same name in a scenario.
    pub client_config: Option<(PathBuf, Vec<String>)>,
    /// The configuration file of the scenario, resolved.
    pub config_file: Option<PathBuf>,
    pub calls: Vec<SessionCall>,
}

/// A call that was made.
#[derive(Debug, Clone)]
pub struct SessionCall {
    /// `mcp__<server>__<tool>`
    pub tool: String,
    pub arguments: Object,
    /// The tool said that it failed.
    pub is_error: bool,
}

/// The sections of a scenario that say what servers there are and how they are treated, whatever they are asked.
const KEPT: [&str; 17] = [
    "variables",
    "redact",
    "servers",
    "upstreams",
    "config_file",
    "docker",
    "containers",
    "ready",
    "before",
    "after",
    "mcp_interactions",
    "source",
    "timeout",
    "connect_timeout",
    "tool_timeout",
    "label",
    "scoring",
];

/// The text of a scenario file in `folder` that replays a session. Its servers are those of another scenario's file, as written there, with
/// relative paths that lead to the same places; or those of a client's configuration, which it refers to. `clean` takes secrets out of a
/// text.
///
/// # Errors
///
/// What is wrong with the other scenario's file by now.
pub fn session_scenario(
    base: Option<&Found>,
    session: &Session,
    folder: &Path,
    clean: &dyn Fn(&str) -> String,
) -> Result<String, Vec<Finding>> {
    let folder = absolute(folder);
    let options = Options::default();
    let mut loader = Loader::new(&options);
    let mut document = match base {
        None => None,
        Some(base) => {
            // Beside it, the same defaults apply.
            let is_beside = absolute(&base.path).parent() == Some(&folder);
            let read = if is_beside {
                loader.document(base)
            } else {
                loader.merged(base)
            };
            if read.is_none() {
                return Err(loader.into_findings().into_list());
            }
            read
        }
    };
    let findings = loader.into_findings();
    if let Some(document) = &mut document {
        rebase(document, &findings, &folder);
    }

    let mut written = Object::new();
    written.insert("name".to_owned(), json!(session.name));
    written.insert("description".to_owned(), json!(session.description));
    if let Some(intent) = &session.user_intent {
        written.insert("user_intent".to_owned(), json!(clean(intent)));
    }
    let configured = session.client_config.iter().flat_map(|(_, names)| names);
    let configured: Vec<&str> = configured.map(String::as_str).collect();
    let asked = document.as_ref().map(asked_when_ready).unwrap_or_default();
    for entry in document.iter().flat_map(Node::entries) {
        if !KEPT.contains(&entry.key.as_str()) {
            continue;
        }
        let mut value = entry.value.to_json();
        if ["servers", "mcp_interactions"].contains(&entry.key.as_str())
            && let Value::Object(servers) = &mut value
        {
            servers.retain(|name, _| !configured.contains(&name.as_str()));
        }
        // These say what is taken out, or what is asked to see whether servers are ready; nothing refers to the others here.
        if entry.key == "variables"
            && let Value::Object(variables) = &mut value
        {
            variables.retain(|name, it| {
                it.get("secret") == Some(&json!(true)) || asked.contains(&format!("{{{{{name}}}}}"))
            });
            if variables.is_empty() {
                continue;
            }
        }
        texts::each_mut(&mut value, &mut |text| *text = clean(text));
        written.insert(entry.key.clone(), value);
    }
    let given = session.client_config.as_ref().map(|(path, _)| path);
    if let Some(config) = given.or(session.config_file.as_ref()) {
        let config = relative(&folder, &absolute(config));
        written.insert("config_file".to_owned(), json!(config));
    }
    written.insert("agent".to_owned(), json!({ "kind": "replay" }));
    let calls = Value::Array(session.calls.iter().map(expected).collect());
    // What looks like a variable is not one here, and cannot be written otherwise.
    let has_variables = calls.to_string().replace("{{calls.", "").contains("{{");
    if !session.calls.is_empty() && !has_variables {
        written.insert("expected_trajectory".to_owned(), calls);
    }
    serde_yaml::to_string(&written).map_err(|error| {
        let path = folder.display();
        let message = format!("the scenario cannot be written: {error}");
        vec![Finding::about(path, Severity::Error, message)]
    })
}

/// All that is written in the document's `ready` sections, without the spaces in it.
fn asked_when_ready(document: &Node) -> String {
    let named = ["servers", "containers"].into_iter();
    let named = named.filter_map(|it| document.get(it));
    let sections = named.flat_map(Node::entries).map(|it| &it.value);
    let sections = sections.chain(document.get("docker"));
    let sections = sections.filter_map(|it| it.get("ready"));
    let sections = sections.chain(document.get("ready"));
    let written = sections.map(|it| it.to_json().to_string());
    written.collect::<String>().replace(' ', "")
}

fn expected(call: &SessionCall) -> Value {
    let mut expected = json!({ "tool": call.tool });
    if !call.arguments.is_empty() {
        expected["args"] = json!(call.arguments);
    }
    if call.is_error {
        expected["is_error"] = json!(true);
    }
    expected
}
