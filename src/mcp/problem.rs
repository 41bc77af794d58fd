//! What is told of a server that cannot be used, or does not answer.

use std::time::Duration;

use crate::mcp::wire::Wire;
use crate::model::trajectory::{FailureKind, Outcome};
use crate::model::trouble::Trouble;
use crate::run::SetupError;

/// A call that was not answered in time.
pub(super) fn no_answer(tool_timeout: Duration, wire: &Wire) -> Outcome {
    let said = wire.instead().map(|it| format!("; {it}"));
    let message = format!(
        "no answer within {tool_timeout:?}{}",
        said.unwrap_or_default()
    );
    Outcome::failed(FailureKind::Timeout, message)
}

pub(super) fn setup_error(
    server: &str,
    problem: &str,
    wire: &Wire,
    stderr: Vec<String>,
) -> SetupError {
    let noise = wire.noise_lines();
    let mut details: Vec<String> = noise
        .iter()
        .map(|it| format!("it sent something that is no MCP message: {it}"))
        .collect();
    details.extend(stderr.into_iter().map(|it| format!("stderr: {it}")));
    SetupError {
        message: format!("server `{server}` {problem}"),
        details,
        trouble: Some(Trouble::Transport),
    }
}
