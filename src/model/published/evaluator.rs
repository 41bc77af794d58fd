//! The input and output of a program that judges a run.
//!
//! Within a version members may be added to what it is given; a member never changes its meaning and never goes away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json;
use crate::published::trajectory;
use crate::{Redacted, Trajectory};

/// The version of what a program is given.
pub const FORMAT_VERSION: u32 = 1;

/// What an evaluator of `type: command` gets on its stdin.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "mcp-eval evaluator input")]
struct EvaluatorInput {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    format_version: u32,
    scenario: EvaluatedScenario,
    /// The run, as `mcp-eval schema trajectory` describes it. Secrets are replaced by placeholders.
    trajectory: Value,
}

/// The scenario that was run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EvaluatedScenario {
    /// Path below the scenarios folder, without extension.
    pub id: String,
    pub name: String,
    /// The scenario file, as the user named it.
    pub path: String,
    pub tags: Vec<String>,
    /// What the user said, message by message.
    pub messages: Vec<String>,
}

/// What such a program writes to its stdout.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval evaluator verdict")]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Whether the run is right.
    pub passed: bool,
    /// How right it is; 1 where it passed and 0 where it did not unless given.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: Option<f64>,
    /// What was found, in a sentence.
    #[serde(default)]
    pub message: Option<String>,
    /// More of that, a line each.
    #[serde(default)]
    pub details: Vec<String>,
}

/// What a program is given of a run, as JSON text.
pub fn input(scenario: EvaluatedScenario, run: &Redacted<Trajectory>) -> String {
    let text = trajectory::to_json(run);
    json::pretty(&EvaluatorInput {
        format_version: FORMAT_VERSION,
        scenario,
        // What was just written can be read.
        trajectory: json::read(text.as_bytes()).unwrap_or_default(),
    })
}

/// Reads what a program answers.
///
/// # Errors
///
/// Why it is no verdict, in a sentence.
pub fn verdict(text: &[u8]) -> Result<Verdict, String> {
    if text.trim_ascii().is_empty() {
        return Err("it wrote no verdict to its stdout".to_owned());
    }
    let text = text.trim_ascii();
    if !text.starts_with(b"{") {
        // A list of its members in their order is none.
        return Err(
            "what it wrote to its stdout is not a verdict: it is not a JSON object".to_owned(),
        );
    }
    let read = json::read::<Verdict>(text);
    let verdict =
        read.map_err(|error| format!("what it wrote to its stdout is not a verdict: {error}"))?;
    match verdict.score {
        Some(score) if !(0.0..=1.0).contains(&score) => {
            Err(format!("its `score` is {score}, and not from 0 to 1"))
        }
        _ => Ok(verdict),
    }
}

/// The JSON Schema (draft 2020-12) of what a program is given.
pub fn input_schema() -> Value {
    schemars::schema_for!(EvaluatorInput).to_value()
}

/// The JSON Schema (draft 2020-12) of what it answers.
pub fn verdict_schema() -> Value {
    schemars::schema_for!(Verdict).to_value()
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn verdicts_are_read_strictly() {
        let read = |text: &str| verdict(text.as_bytes());
        let full = r#" {"passed": true, "score": 1, "message": "fine", "details": ["a"]}
"#;
        assert!(read(full).is_ok_and(|it| it.passed && it.score == Some(1.0)));
        assert!(read(r#"{"passed": false}"#).is_ok_and(|it| !it.passed));
        for (text, says) in [
            ("", "no verdict"),
            ("fine", "not a verdict"),
            ("{}", "passed"),
            ("[true]", "not a JSON object"),
            (r#"{"passed": "yes"}"#, "not a verdict"),
            (r#"{"passed": true, "scores": 1}"#, "scores"),
            (r#"{"passed": true, "score": 1.5}"#, "from 0 to 1"),
            (r#"{"passed": true, "score": -0.1}"#, "from 0 to 1"),
            (r#"{"passed": true} {}"#, "not a verdict"),
        ] {
            let problem = read(text).expect_err(text);
            assert!(problem.contains(says), "{text}: {problem}");
        }
    }
}
