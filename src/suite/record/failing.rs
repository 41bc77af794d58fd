//! Reasons against keeping a run: its deviations from what its scenario expects, and tools that break clients of others.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::evaluate::{self, Basis, Checked, check_criteria, lists_tools, no_call};
use crate::model::catalogue::{Catalogue, Tool};
use crate::model::evaluation::{Evaluation, Overall};
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::suite::{Check, Problem, ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
use crate::report::deviations::deviations;
use crate::score;
use crate::suite::evaluating;
use crate::suite::judge::{SAID_CHARS, failing_calls, impossible_criteria};
use crate::suite::outcome::result;
use crate::suite::patience::{Patience, Stopped};
use crate::text::shorten;

/// What a recorded run is checked for.
pub(crate) struct RunChecks {
    /// The success criteria, whether no call is made where none is expected, and whether there are tools where they are all there is.
    pub(crate) checks: Vec<Check>,
    /// What the evaluators come to together.
    pub(crate) evaluation: Option<Overall>,
    /// Why the run should not become a baseline unseen; empty where nothing speaks against it.
    pub(crate) failing: Vec<String>,
}

/// Looks at a run that is to become the baseline.
///
/// # Errors
///
/// A [`Problem`] where a criterion of the scenario cannot be judged at all, or an evaluator could not judge a run that nothing speaks
/// against.
pub(crate) fn check_run(
    scenario: &Scenario,
    trajectory: &Trajectory,
    replayed: Option<&Trajectory>,
    evaluations: &[Evaluation],
) -> Result<RunChecks, Problem> {
    let Checked {
        mut checks,
        impossible,
    } = check_criteria(scenario, trajectory, Basis::Recording);
    if let Some(problem) = impossible_criteria(&impossible) {
        return Err(problem);
    }
    checks.extend(no_call(scenario, trajectory));
    checks.extend(lists_tools(scenario, trajectory));
    let evaluation = evaluate::overall(evaluations, scenario.evaluation_threshold);
    let mut failing = failing_calls(scenario, trajectory, replayed);
    failing.extend(evaluating::reasons(evaluations, evaluation));
    failing.extend(unmet(&checks));
    if let Some(problem) = evaluating::unjudged(evaluations, evaluation)
        && failing.is_empty()
    {
        return Err(problem);
    }
    Ok(RunChecks {
        checks,
        evaluation,
        failing,
    })
}

/// The result of a run of which it cannot be determined whether it should be kept.
pub(crate) fn cannot_be_judged(
    scenario: &Scenario,
    trajectory: &Redacted<Trajectory>,
    problem: Problem,
) -> ScenarioResult {
    ScenarioResult {
        problem: Some(problem),
        duration_ms: trajectory.duration_ms,
        current: Some(Arc::new(trajectory.clone())),
        ..result(scenario, Status::Error)
    }
}

/// The reason that expectations are not met; `None` where all are.
pub(crate) fn unmet(checks: &[Check]) -> Option<String> {
    let unmet = checks.iter().filter(|it| it.fails()).count();
    let what = plural(unmet, "expectation is", "expectations are");
    (unmet > 0).then(|| format!("{what} not met"))
}

/// Answers that look like errors although the servers say that they are fine, in words; `None` where none does.
pub(crate) fn looks_like_errors(scenario: &Scenario, trajectory: &Trajectory) -> Option<String> {
    let calls = trajectory.calls().enumerate();
    let errors: Vec<String> = calls
        .filter_map(|(index, call)| {
            let said = score::in_band_error(&call.outcome, &scenario.scoring)?;
            let said = shorten(&said, SAID_CHARS);
            Some(format!(
                "call {} of `{}`: {said}",
                index + 1,
                call.full_name()
            ))
        })
        .collect();
    let first = errors.first()?;
    let answers = trajectory
        .calls()
        .filter(|it| !it.outcome.is_failure())
        .count();
    let looks = if errors.len() == 1 {
        "looks like an error"
    } else {
        "look like errors"
    };
    let more = match errors.len() {
        1 => String::new(),
        count => format!("; and {} more", count - 1),
    };
    Some(format!(
        "{} of {} {looks}, although the servers say that they are fine: {first}{more}",
        errors.len(),
        plural(answers, "answer", "answers"),
    ))
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How the calls of a run deviate from the scenario's expected trajectory.
///
/// # Errors
///
/// Why they were not compared to the end.
pub(crate) fn from_expectation(
    scenario: &Scenario,
    trajectory: &Trajectory,
    patience: &Patience,
) -> Result<Vec<String>, Stopped> {
    let compared = patience.spend_on(|is_unwanted| {
        score::compare_with_expectation(scenario, trajectory, &scenario.scoring, is_unwanted)
    })?;
    let Some((expectation, comparison)) = compared else {
        return Ok(Vec::new());
    };
    let deviations = deviations(&comparison, &expectation, trajectory).into_iter();
    Ok(deviations
        .map(|it| format!("deviates from the expected trajectory: {it}"))
        .collect())
}

/// The longest name of a tool that all clients take.
const LONGEST_NAME: usize = 64;
/// How deep schemas are looked into.
const DEPTH: usize = 100;
/// How many things are shown one by one.
const SHOWN: usize = 3;

/// One line about all that may break them; `None` where nothing does.
pub(super) fn breaks_clients(catalogue: &Catalogue) -> Option<String> {
    let mut found = Vec::new();
    for server in &catalogue.servers {
        let mut names = HashSet::new();
        for tool in &server.tools {
            let name = tool.name();
            if !names.insert(name) {
                found.push(format!("`{name}` is listed twice"));
            }
            of_tool(tool, &mut found);
        }
    }
    let shown: Vec<&str> = found.iter().take(SHOWN).map(String::as_str).collect();
    let more = match found.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!shown.is_empty()).then(|| {
        format!(
            "some clients drop such tools, or all of a server's: {}{more}",
            shown.join("; ")
        )
    })
}

fn of_tool(tool: &Tool, found: &mut Vec<String>) {
    let name = tool.name();
    if name.chars().count() > LONGEST_NAME {
        found.push(format!("`{name}` has more than {LONGEST_NAME} characters"));
    }
    let nulls = tool.served.iter().filter(|(_, it)| it.is_null());
    found.extend(nulls.map(|(member, _)| format!("`{member}` of `{name}` is null")));
    for (member, shown) in [("inputSchema", "input"), ("outputSchema", "output")] {
        let Some(schema) = tool.served.get(member) else {
            continue;
        };
        let mut lost = Vec::new();
        unresolved(schema, schema, DEPTH, &mut lost);
        found.extend(lost.first().map(|it| {
            format!("the {shown} schema of `{name}` refers to `{it}`, which is not there")
        }));
        let branch = ["anyOf", "oneOf", "allOf"].into_iter();
        let branch = branch.filter(|_| member == "inputSchema");
        let branch = branch.into_iter().find(|it| schema.get(it).is_some());
        found.extend(
            branch.map(|it| format!("the {shown} schema of `{name}` has `{it}` at its top")),
        );
    }
}

/// The references within a schema that lead nowhere in it.
fn unresolved<'s>(schema: &'s Value, whole: &Value, depth: usize, lost: &mut Vec<&'s str>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref")
                && let Some(pointer) = to.strip_prefix('#')
                && (pointer.is_empty() || pointer.starts_with('/'))
                && whole.pointer(pointer).is_none()
            {
                lost.push(to);
            }
            (members.values()).for_each(|it| unresolved(it, whole, depth, lost));
        }
        Value::Array(items) => (items.iter()).for_each(|it| unresolved(it, whole, depth, lost)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::breaks_clients;
    use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};

    #[test]
    fn what_breaks_clients_is_one_line() {
        let of = |tools: serde_json::Value| {
            let tools = tools.as_array().cloned().unwrap_or_default().into_iter();
            let tools = tools.map(|it| Tool {
                served: it.as_object().cloned().unwrap_or_default(),
            });
            let server = ServerCatalogue {
                tools: tools.collect(),
                ..ServerCatalogue::default()
            };
            breaks_clients(&Catalogue {
                servers: vec![server],
                ..Catalogue::default()
            })
        };
        let sound = json!([{
            "name": "a",
            "inputSchema": { "properties": { "x": { "$ref": "#/$defs/X", "anyOf": [{}] } }, "$defs": { "X": {} } },
            "outputSchema": { "anyOf": [{ "$ref": "https://example.org/x" }] },
        }]);
        assert_eq!(of(sound), None);
        let cases = [
            (
                json!([{ "name": "a" }, { "name": "a" }]),
                "`a` is listed twice",
            ),
            (
                json!([{ "name": "a", "title": null }]),
                "`title` of `a` is null",
            ),
            (
                json!([{ "name": "x".repeat(65) }]),
                "more than 64 characters",
            ),
            (
                json!([{ "name": "a", "outputSchema": { "items": [{ "$ref": "#/$defs/S" }] } }]),
                "the output schema of `a` refers to `#/$defs/S`, which is not there",
            ),
            (
                json!([{ "name": "a", "inputSchema": { "oneOf": [] } }]),
                "the input schema of `a` has `oneOf` at its top",
            ),
            (
                json!([{ "name": "a" }, { "name": "a" }, { "name": "a" }, { "name": "a" }, { "name": "a" }]),
                "; and 1 more",
            ),
        ];
        for (tools, said) in cases {
            let line = of(tools.clone()).unwrap_or_default();
            assert!(line.contains(said), "{tools}: {line}");
        }
    }
}
