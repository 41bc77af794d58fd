//! Problems with a server that cannot be used, or does not answer.

use std::time::Duration;

use crate::mcp::wire::Wire;
use crate::model::trajectory::{FailureKind, Outcome};
use crate::model::trouble::Trouble;
use crate::run::SetupError;

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
