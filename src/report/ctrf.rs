//! The Common Test Report Format (CTRF): test results as one JSON document, for tools that read no other.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::attention;
use model::Status;
use model::json;
use model::published::result::{ResultDocument, Scenario};
use model::text::line;

/// The version of the format that is written.
const SPEC_VERSION: &str = "0.0.0";

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    name: String,
    status: Outcome,
    duration: i64,
    raw_status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suite: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    flaky: bool,
    #[serde(skip_serializing_if = "Value::is_null")]
    extra: Value,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Passed,
    Failed,
    Skipped,
    /// Neither passed nor failed.
    #[default]
    Other,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Environment {
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_name: Option<String>,
}

/// The document, ending with a line break.
pub fn ctrf(result: &ResultDocument) -> String {
    let mut tests: Vec<Test> = result
        .scenarios
        .iter()
        .map(|it| test(it, &result.command))
        .collect();
    tests.extend(attention::command_failure(result).map(|why| Test {
        name: attention::command(result),
        status: Outcome::Failed,
        raw_status: "error",
        message: Some(why),
        ..Test::default()
    }));
    let count = |outcome| tests.iter().filter(|it| it.status == outcome).count();
    let start = result.started_at.parse::<Timestamp>();
    let start = start.map_or(0, Timestamp::as_millisecond);
    let causes = result.causes.iter();
    let causes = causes.map(|it| json!({ "cause": it.text, "scenarios": it.scenarios }));
    let commit = result.git.commit();
    let environment = Environment {
        commit: commit.map(|it| it.commit.clone()),
        branch_name: commit.and_then(|it| it.branch.clone()),
    };
    let mut text = json::pretty(&json!({
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": format!("mcp-eval {}", result.mcp_eval),
        "results": {
            "tool": { "name": "mcp-eval", "version": result.mcp_eval },
            "summary": {
                "tests": tests.len(),
                "passed": count(Outcome::Passed),
                "failed": count(Outcome::Failed),
                "pending": 0,
                "skipped": count(Outcome::Skipped),
                "other": count(Outcome::Other),
                "start": start,
                "stop": start.saturating_add(whole(result.duration_ms)),
                "extra": {
                    "command": result.command,
                    "runId": result.run_id,
                    "exitCode": result.gate.as_ref().map(|it| it.exit_code),
                    "verdict": result.gate.as_ref().map(|it| &it.sentence),
                    "causes": causes.collect::<Vec<_>>(),
                },
            },
            "tests": tests,
            "environment": environment,
        },
    }));
    text.push('\n');
    text
}

fn test(scenario: &Scenario, command: &str) -> Test {
    let remarks = attention::remarks(scenario, command);
    let folders = scenario.id.rsplit_once('/').map_or("", |(above, _)| above);
    let folders = folders.split('/').filter(|it| !it.is_empty());
    Test {
        name: match line(&scenario.name) {
            name if name.is_empty() => line(&scenario.id).into_owned(),
            name => name.into_owned(),
        },
        status: match scenario.status {
            _ if scenario.is_let_pass() => Outcome::Skipped,
            Status::Passed | Status::Recorded => Outcome::Passed,
            Status::Failed | Status::Error | Status::Timeout | Status::Interrupted => {
                Outcome::Failed
            }
            Status::Skipped => Outcome::Skipped,
            Status::Inconclusive if scenario.is_undecided() => Outcome::Failed,
            Status::Inconclusive => Outcome::Other,
        },
        duration: whole(scenario.duration_ms),
        raw_status: scenario.status.name(),
        suite: folders.map(|it| line(it).into_owned()).collect(),
        message: Some(attention::in_a_line(&remarks)).filter(|it| !it.is_empty()),
        trace: (!remarks.is_empty()).then(|| attention::in_lines(&remarks).join("\n")),
        line: scenario.line,
        file_path: Some(line(&scenario.path).into_owned()),
        tags: scenario
            .tags
            .iter()
            .map(|it| line(it).into_owned())
            .collect(),
        flaky: scenario.flaky || scenario.repeated.as_ref().is_some_and(|it| it.flaky),
        extra: extra(scenario, command),
    }
}

/// What the format has no place for.
fn extra(scenario: &Scenario, command: &str) -> Value {
    let mut extra = json!({
        "id": scenario.id,
        "statusWords": scenario.status_words(command),
        "score": scenario.score(),
        "changes": scenario.changes().len(),
    });
    if !scenario.evaluators.is_empty() {
        extra["evaluators"] = json!(scenario.evaluators);
        extra["evaluation"] = json!(scenario.evaluation);
    }
    extra
}

/// Milliseconds without their fraction; 0 for what is not known, because the format demands a number.
fn whole(milliseconds: Option<f64>) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number of milliseconds that is out of range is cut to the largest"
    )]
    let whole = milliseconds.unwrap_or(0.0).round() as i64;
    whole.max(0)
}
