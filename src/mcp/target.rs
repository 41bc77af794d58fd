//! A server to connect to, how to get at it, and what its sessions find out about it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use serde_json::Value;

use crate::mcp::wire::Wire;
use crate::model::{Client, ClientAnswer, FailureKind, Object, Outcome, Trouble};
use crate::process::ChildCommand;
use crate::run::SetupError;
use crate::scenario_file::agent::Input;
use crate::scenario_file::servers::{HttpStyle, Protocol};

/// A server to connect to.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: String,
    pub launch: Launch,
    /// In which revisions it is spoken to; `None` where nobody has chosen.
    pub protocol: Option<Protocol>,
    /// A connection that it refuses is tried again within the connect timeout: it may be starting just now.
    pub may_be_starting: bool,
    /// From the start of the server to its complete list of tools.
    pub connect_timeout: Duration,
    /// What to do where that is too short, in brackets behind the sentence that says so.
    pub if_late: &'static str,
    /// What is answered when it wants to know something; empty where nobody has said.
    pub inputs: Vec<Input>,
    /// For the answer to one tool call.
    pub tool_timeout: Duration,
    /// What its sessions find out about it.
    pub observed: Observed,
}

impl Target {
    /// What to do where a scenario gives too little time.
    pub const GIVE_MORE: &str = "`connect_timeout` changes that";

    /// What its client answers to what it wants to know, under this key where it has one; an error where nobody knows. `None` without
    /// anybody who answers.
    pub(super) fn answer(
        &self,
        method: &str,
        key: Option<&str>,
        params: &Value,
    ) -> Option<Result<ClientAnswer, ()>> {
        if self.inputs.is_empty() {
            return self.observed.answer(method, params);
        }
        let result = Input::answer(&self.inputs, method, key, params)?;
        Some(Ok(ClientAnswer {
            method: method.to_owned(),
            params: params.clone(),
            result: Some(result),
            error: None,
        }))
    }

    /// What its client says that it can do, where somebody answers for it.
    pub(super) fn capabilities(&self) -> Option<Object> {
        if self.inputs.is_empty() {
            return self.observed.client().map(|it| it.capabilities);
        }
        Some(Input::capabilities(&self.inputs))
    }

    /// Where it is over HTTP, without a path: `http://127.0.0.1:49153`; `None` for one that is a child process.
    pub fn origin(&self) -> Option<String> {
        let Launch::Http { url, .. } = &self.launch else {
            return None;
        };
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        Some(format!("{scheme}://{authority}"))
    }
}

/// How to get at it.
#[derive(Debug, Clone)]
pub enum Launch {
    /// Start it as a child process and speak over its standard streams.
    Child(ChildCommand),
    /// Speak with it over HTTP.
    Http {
        style: HttpStyle,
        url: String,
        headers: Vec<(String, String)>,
        bearer_token: Option<String>,
    },
}

/// Called with a description of each step under way.
pub type OnProgress<'a> = &'a (dyn Fn(&str) + Send + Sync);

impl Launch {
    /// What is started or asked, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Child(command) => format!("`{}`", command.program.to_string_lossy()),
            // Without its parameters, which may hold a key.
            Self::Http { url, .. } => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }
}

/// Headers as the HTTP client takes them.
pub(super) fn header_map(
    headers: &[(String, String)],
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    headers
        .iter()
        .map(|(name, value)| {
            let parsed = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            parsed.ok_or_else(|| format!("cannot be asked with the header `{name}`: its name or value has a character HTTP does not allow"))
        })
        .collect()
}

/// The same, with the bearer token.
pub(super) fn with_token(
    headers: &[(String, String)],
    bearer_token: Option<&str>,
) -> Result<HeaderMap, String> {
    let mut headers: HeaderMap = header_map(headers)?.into_iter().collect();
    if let Some(token) = bearer_token {
        let value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "has a bearer token HTTP does not allow".to_owned())?;
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// What is known of a server by having spoken to it. Clones share it, so that what one session of a run has found the next ones know.
#[derive(Debug, Clone, Default)]
pub struct Observed(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    notes: Mutex<Vec<String>>,
    is_legacy: AtomicBool,
    /// The revisions that it has turned out to speak.
    protocol: Mutex<Option<Protocol>>,
    /// The client whose answers are given again, and how often each was.
    played: Mutex<Option<(Client, Vec<usize>)>>,
    /// What that client was never asked, and this one was.
    unanswered: Mutex<Option<String>>,
}

impl Observed {
    /// What a reader of the run should know, in the order in which it turned out.
    pub fn notes(&self) -> Vec<String> {
        self.0.notes.lock().clone()
    }

    /// Tells the reader of the run something, once.
    pub(super) fn note(&self, note: String) {
        let mut notes = self.0.notes.lock();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Tells the reader that what the server asked its client was declined.
    pub(super) fn declined(&self, server: &str, method: &str) {
        self.note(format!(
            "server `{server}` asked its client `{method}`: declined"
        ));
    }

    /// What it asks its client is answered as this client did, which is nothing that turns out.
    pub fn answers_are_of(&self, client: &Client) {
        let given = vec![0; client.answers.len()];
        *self.0.played.lock() = Some((client.clone(), given));
    }

    /// The client whose answers are given again.
    pub(super) fn client(&self) -> Option<Client> {
        self.0.played.lock().as_ref().map(|it| it.0.clone())
    }

    /// What that client answers to such a request, an error where nobody knows; `None` without such a client.
    pub(super) fn answer(&self, method: &str, params: &Value) -> Option<Result<ClientAnswer, ()>> {
        let mut played = self.0.played.lock();
        let (client, given) = played.as_mut()?;
        let is_other = |it: &ClientAnswer| it.params != *params;
        // The one to the same question first, and one that was not given yet.
        let best = (client.answers.iter().enumerate())
            .filter(|(index, it)| it.method == method && (!is_other(it) || given[*index] == 0))
            .min_by_key(|(index, it)| (is_other(it), given[*index]));
        let Some((index, answer)) = best else {
            // Other questions, such as that for roots, come when a server likes, and are part of no call.
            if matches!(method, "elicitation/create" | "sampling/createMessage") {
                self.0.unanswered.lock().get_or_insert(method.to_owned());
            }
            return Some(Err(()));
        };
        given[index] += 1;
        Some(Ok(answer.clone()))
    }

    /// What it has asked that nobody can answer, reported once.
    pub(super) fn take_unanswered(&self) -> Option<String> {
        self.0.unanswered.lock().take()
    }

    /// The revisions that it has turned out to speak, where that was not said.
    pub(super) fn protocol(&self) -> Option<Protocol> {
        *self.0.protocol.lock()
    }

    pub(super) fn found_protocol(&self, protocol: Protocol) {
        *self.0.protocol.lock() = Some(protocol);
    }

    /// Whether it speaks the older transport, although nobody says so.
    pub(super) fn is_legacy(&self) -> bool {
        self.0.is_legacy.load(Ordering::Relaxed)
    }

    pub(super) fn found_legacy(&self) {
        self.0.is_legacy.store(true, Ordering::Relaxed);
    }
}

/// A call that was not answered in time.
pub(super) fn no_answer(tool_timeout: Duration, wire: &Wire) -> Outcome {
    let noise = wire.noise_lines().pop();
    let noise = noise.map(|it| no_message(&format!("`{it}`")));
    let said = wire.instead().or(noise).map(|it| format!("; {it}"));
    let message = format!(
        "no answer within {tool_timeout:?}{}",
        said.unwrap_or_default()
    );
    Outcome::failed(FailureKind::Timeout, message)
}

fn no_message(line: &str) -> String {
    format!("it sent something that is not an MCP message: {line}")
}

pub(super) fn setup_error(
    server: &str,
    problem: &str,
    wire: &Wire,
    stderr: Vec<String>,
) -> SetupError {
    let noise = wire.noise_lines();
    let mut details: Vec<String> = noise.iter().map(|it| no_message(it)).collect();
    details.extend(stderr.into_iter().map(|it| format!("stderr: {it}")));
    SetupError {
        message: format!("server `{server}` {problem}"),
        details,
        trouble: Some(Trouble::Transport),
    }
}
