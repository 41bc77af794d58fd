//! Hashes that tell one experiment from another, and fingerprints by which two scenarios are the same on any machine.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::input;
use crate::model::Redaction;
use crate::model::texts;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::{
    Agent, CommandAgent, ModelAgent, ModelApi, ScriptedCall, Temperature, ToolChoice,
};
use crate::scenario_file::load::rebase::relative;

/// SHA-256 of the messages of the user, in hexadecimal.
///
/// Variables are filled in, but for the values of secret ones: what is asked does not change with a new token.
pub fn scenario_hash(messages: &[String], redaction: &Redaction) -> String {
    hash(json!({ "messages": messages }), redaction)
}

/// SHA-256 of the calls an agent plays, of all a model is given besides the messages and its name, or of how a program is started, in
/// hexadecimal. `None` for a replay, whose calls are those of its baseline.
///
/// The values of secret variables are left out, as from [`Scenario::hash`](crate::scenario_file::Scenario::hash).
pub fn agent_hash(agent: &Agent, redaction: &Redaction) -> Option<String> {
    Some(hash(given(agent)?, redaction))
}

/// How many digits of a hash tell one part from another, and one version of a scenario from another, in plans that name thousands.
const DIGITS: usize = 16;

/// The beginnings of the hashes of all that a model is given, or of how a program is started, each by its name. Empty for a script: the
/// calls that it makes are recorded.
pub fn agent_parts(agent: &Agent, redaction: &Redaction) -> BTreeMap<String, String> {
    let given = match agent {
        Agent::Model { .. } | Agent::Command { .. } => given(agent),
        Agent::Scripted { .. } | Agent::Replay { .. } => None,
    };
    let Some(Value::Object(parts)) = given else {
        return BTreeMap::new();
    };
    let parts = parts.into_iter().map(|(name, part)| {
        let mut digits = hash(part, redaction);
        digits.truncate(DIGITS);
        (name, digits)
    });
    parts.collect()
}

/// What an agent is given; `None` for a replay.
fn given(agent: &Agent) -> Option<Value> {
    Some(match agent {
        Agent::Scripted { calls } => json!({ "calls": calls.iter().map(call).collect::<Value>() }),
        Agent::Model { settings, .. } => model(settings),
        Agent::Command { settings, .. } => command(settings),
        Agent::Replay { .. } => return None,
    })
}

fn call(call: &ScriptedCall) -> Value {
    json!({ "tool": call.tool, "arguments": call.arguments, "critical": call.is_critical() })
}

fn model(settings: &ModelAgent) -> Value {
    json!({
        "api": match settings.api {
            ModelApi::Anthropic => "messages",
            ModelApi::OpenAiChat => "chat",
            ModelApi::OpenAiResponses => "responses",
            ModelApi::Ollama => "ollama",
        },
        "system": settings.system,
        "temperature": match settings.temperature {
            Temperature::Lowest => Some(0.0),
            Temperature::Unset => None,
            Temperature::Value(it) => Some(it),
        },
        "max_tokens": settings.max_tokens,
        "tool_choice": match &settings.tool_choice {
            None | Some(ToolChoice::Auto) => json!("auto"),
            Some(ToolChoice::None) => json!("none"),
            Some(ToolChoice::Required) => json!("required"),
            Some(ToolChoice::Tool(name)) => json!({ "tool": name }),
        },
        "max_result_chars": settings.max_result_chars,
        "extra_body": settings.extra_body,
    })
}

/// The program by its name alone: the same program may lie elsewhere.
fn command(settings: &CommandAgent) -> Value {
    let program = settings.command.first();
    json!({
        "program": program.and_then(|it| it.rsplit('/').next()),
        "args": settings.command.get(1..),
        "format": settings.format.name(),
        "env": settings.env,
    })
}

/// SHA-256 of a value as JSON with sorted keys, in hexadecimal.
fn hash(mut value: Value, redaction: &Redaction) -> String {
    hide(&mut value, redaction);
    value.sort_all_objects();
    hex::encode(Sha256::digest(value.to_string()))
}

/// Puts one and the same text in place of each secret.
fn hide(value: &mut Value, redaction: &Redaction) {
    texts::each_mut(value, &mut |text| {
        for secret in redaction.values().filter(|it| !it.is_empty()) {
            if text.contains(secret) {
                *text = text.replace(secret, "{{secret}}");
            }
        }
    });
}

/// What a scenario has become, with variables that were given beside the files, and servers of whoever runs it.
fn as_loaded(scenario: &Scenario) -> String {
    let without_paths = Scenario {
        path: PathBuf::new(),
        read_from: Vec::new(),
        defaults_root: PathBuf::new(),
        ..scenario.clone()
    };
    beside(&format!("{without_paths:?}"), &scenario.defaults_root)
}

/// What tells many scenarios from other versions of them, on whichever machine.
#[derive(Debug, Default)]
pub struct Fingerprints {
    /// The hashes of the files that were read so far: the rows of a data set all come from the same.
    files: HashMap<PathBuf, Option<Vec<u8>>>,
}

impl Fingerprints {
    /// The first digits of a hash of all that a scenario is made of: the texts of all files that it was read from, with their places as seen
    /// from its folder, and what it has become, with its row, its variables and its servers, wherever these come from. The values of secret
    /// variables are left out: each machine may have its own.
    pub fn of(&mut self, scenario: &Scenario) -> String {
        let root = &scenario.defaults_root;
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            // So that nothing can be a part of its neighbour.
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        };
        add(scenario.id.as_bytes());
        for path in &scenario.read_from {
            // Files that were looked for, and are not there, are none elsewhere either.
            let digest = self.files.entry(path.clone()).or_insert_with(|| {
                let text = input::read(path).ok()?;
                Some(Sha256::digest(text).to_vec())
            });
            if let Some(digest) = digest {
                add(relative(root, path).as_bytes());
                add(digest);
            }
        }
        let mut text = as_loaded(scenario);
        for secret in scenario.redaction.values().filter(|it| !it.is_empty()) {
            text = text.replace(secret, "");
        }
        add(text.as_bytes());
        let mut digits = hex::encode(hash.finalize());
        digits.truncate(DIGITS);
        digits
    }
}

/// A text in which paths begin at this folder, or the one that holds it.
fn beside(text: &str, root: &Path) -> String {
    let shown = |it: &Path| format!("{}/", it.display());
    let text = text.replace(&shown(root), "./");
    match root.parent() {
        Some(above) if above != Path::new("/") => text.replace(&shown(above), "../"),
        _ => text,
    }
}
