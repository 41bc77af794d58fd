//! Recordings of other tools as trajectories of ours.

mod blocks;
mod steps;
mod tools;

use jiff::Zoned;
use serde_json::Value;

use self::steps::{Clock, Source, kind, steps, time};
use self::tools::{catalogue, servers};
use crate::model::{Ending, Git, GitCommit, Servers, Stamp, Trajectory};

pub use self::steps::ImportError;

/// Reads a `detailed_log.json`; `id` becomes the scenario's id.
///
/// Tools named `mcp__<server>__<tool>` are split and scored, others are kept without a server and are not. Messages give the order; a call
/// the messages lack is taken from the summary of calls. Nothing is redacted yet, the texts of an error included.
///
/// # Errors
///
/// An [`ImportError`] when the text is cut off, is no JSON, holds neither messages nor calls, or has no time.
pub fn original(text: &str, id: &str) -> Result<Trajectory, ImportError> {
    let log: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            ImportError::CutOff
        } else {
            ImportError::NotJson(error.to_string())
        }
    })?;
    let array = |name| log.get(name).and_then(Value::as_array).map(Vec::as_slice);
    let (messages, summary) = match (array("messages"), array("tool_calls_summary")) {
        (None, None) => {
            return Err(ImportError::NotARecording(
                "it holds neither `messages` nor `tool_calls_summary`".to_owned(),
            ));
        }
        (messages, summary) => (messages.unwrap_or_default(), summary.unwrap_or_default()),
    };
    let mut times = messages
        .iter()
        .chain(summary)
        .filter_map(|it| time(it.get("timestamp")));
    let start = time(log.get("execution_time")).or_else(|| times.next());
    let clock = Clock {
        start: start.ok_or(ImportError::NoTime)?,
    };
    let servers = servers(messages);
    let field = |name: &str| log.get(name).and_then(Value::as_str);
    let last = messages
        .iter()
        .rev()
        .find_map(|it| time(it.get("timestamp")));
    let stamp = Stamp {
        recorded_at: clock.start,
        utc_offset: None,
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        agent: "imported".to_owned(),
        agent_hash: None,
        agent_parts: std::collections::BTreeMap::new(),
        servers: Servers::Live,
        model: None,
        scenarios: Git::Unknown {
            reason: "imported from a recording of the original tool".to_owned(),
        },
        source: log.get("mcpproxy_git_info").and_then(source),
        image: None,
    };
    let steps = steps(&Source {
        intent: field("user_intent"),
        messages,
        summary,
        servers: &servers,
        clock,
    })?;
    Ok(Trajectory {
        scenario: id.to_owned(),
        name: field("scenario").unwrap_or(id).to_owned(),
        catalogue: catalogue(&log, &servers),
        ending: ending(&log, messages),
        duration_ms: clock.offset(last),
        ..Trajectory::new(stamp, steps)
    })
}

/// How the run ended, by its status and by what the agent reported at its end.
fn ending(log: &Value, messages: &[Value]) -> Ending {
    let field = |name: &str| log.get(name).and_then(Value::as_str).unwrap_or_default();
    let status = field("execution_status");
    let is_true = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    let error = |message: String| Ending::Error {
        message,
        details: Vec::new(),
        trouble: None,
    };
    if is_true(log.get("early_stopped")) || status.eq_ignore_ascii_case("blocked") {
        return Ending::Blocked {
            message: "a critical call failed, and the recorded run ended early".to_owned(),
        };
    }
    if status.eq_ignore_ascii_case("error") {
        return error(format!("the recorded run failed: {}", field("error")));
    }
    let report = messages
        .iter()
        .rev()
        .find(|it| kind(it) == Some("ResultMessage"))
        .and_then(|it| it.get("content"));
    let result = report
        .and_then(|it| it.get("subtype"))
        .and_then(Value::as_str)
        .unwrap_or("success");
    if result != "success" || is_true(report.and_then(|it| it.get("is_error"))) {
        return error(format!("the agent's session ended with `{result}`"));
    }
    Ending::Completed
}

/// The commit of the system under test. The log does not say whether files differed from it.
fn source(info: &Value) -> Option<Git> {
    let field = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
    let commit = field("git_hash")?;
    let committed_at = field("commit_date").unwrap_or_default();
    Some(Git::Known(GitCommit {
        short: field("git_hash_short").unwrap_or_else(|| commit.chars().take(7).collect()),
        branch: field("branch"),
        describe: None,
        subject: field("commit_message").unwrap_or_default(),
        committed_at: rfc3339(&committed_at).unwrap_or(committed_at),
        dirty: None,
        remote: None,
        commit,
    }))
}

/// A date as `git log --format=%ci` prints it, in the form our stamps have.
fn rfc3339(date: &str) -> Option<String> {
    let date = Zoned::strptime("%Y-%m-%d %H:%M:%S %z", date).ok()?;
    Some(date.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
}
