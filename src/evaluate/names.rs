//! A check that the tools exist that an evaluator names: of one that is misspelt it would find nothing, whatever happened.

use super::subject::Subject;
use super::tools::{Offer, calls_of, is_called};
use crate::model::agent::CommandFormat;
use crate::model::evaluator::EvaluatorKind;
use crate::model::scenario::Scenario;

/// Why an evaluator can judge nothing: it names a tool that nobody knows. What is said by evaluators within is left to them.
///
/// A tool is known that a server of the run or of the accepted one offers, that is one of the agent's own, that was called, or that the
/// scenario expects to be called: what was there and is not any more is for the evaluator to judge. One that is not there is held against a
/// run where calls of it are required, unless another evaluator makes something else of that, `is_within`. To ask for it is no call of it, but is held against a run where such calls are prohibited.
pub(super) fn unknown(
    kind: &EvaluatorKind,
    subject: Subject<'_>,
    is_within: bool,
) -> Option<String> {
    // Whoever sends a test case wants to know that the tool was not called.
    if subject.scenario.is_test_case {
        return None;
    }
    kind.tools().into_iter().find_map(|tool| {
        let more = match offer(tool, subject) {
            Offer::Never(Some(meant)) => format!("; nearest: `{meant}`"),
            Offer::Never(None) if tells_of_no_own(subject.scenario) => {
                "; what tools of its own the agent has and calls, this one does not tell".to_owned()
            }
            Offer::Never(None) => String::new(),
            Offer::Now | Offer::Before(_) => return None,
        };
        let is_own = tells_of_no_own(subject.scenario);
        let is_held_against = (requires(kind, tool) && !is_within && !is_own)
            || prohibits(kind, tool) && subject.trajectory.calls().any(|it| is_called(it, tool));
        (!is_held_against).then(|| format!("no server offers `{tool}`{more}"))
    })
}

/// Whether calls of this tool must be made: without the tool, they are not.
fn requires(kind: &EvaluatorKind, tool: &str) -> bool {
    let EvaluatorKind::ToolCalls(it) = kind else {
        return false;
    };
    let mut required = it.required.iter();
    required.any(|it| it.call.tool == tool && it.min > 0)
}

/// Whether calls of this tool are prohibited.
fn prohibits(kind: &EvaluatorKind, tool: &str) -> bool {
    let EvaluatorKind::ToolCalls(it) = kind else {
        return false;
    };
    it.prohibited.iter().any(|it| it.tool == tool)
}

/// Whether the agent may have tools of its own that nobody hears of.
fn tells_of_no_own(scenario: &Scenario) -> bool {
    let command = scenario.agent.command();
    command.is_some_and(|it| it.format == CommandFormat::Generic)
}

/// Where a tool of this name is on offer. One that was called, or is to be, counts as one that was there.
fn offer(tool: &str, subject: Subject<'_>) -> Offer {
    let run = subject.trajectory;
    // What was accepted is only read where the run does not tell.
    let offer = Offer::of(tool, &run.catalogue, None);
    let Offer::Never(_) = &offer else {
        return offer;
    };
    let mut expected = subject.scenario.expected_trajectory.iter();
    let has = |server: &str| {
        let mut servers = subject.scenario.servers.iter();
        servers.any(|it| it.name == server)
    };
    if calls_of(run, tool).next().is_some() || expected.any(|it| is_same(&it.tool, tool, has)) {
        return Offer::Before(None);
    }
    Offer::of(tool, &run.catalogue, subject.offered_before())
}

/// Whether an expected call may be one of the tool that an evaluator names: by the same name, or one by the full name of a server's and the
/// other by the bare one. A bare name says nothing of a server that the scenario does not have.
fn is_same(expected: &str, named: &str, has: impl Fn(&str) -> bool) -> bool {
    let server_of = |full: &str, bare: &str| -> Option<String> {
        let server = full.strip_prefix("mcp__")?.strip_suffix(bare)?;
        let server = server.strip_suffix("__").filter(|it| !it.is_empty());
        server.map(str::to_owned)
    };
    expected == named
        || server_of(expected, named).is_some()
        || server_of(named, expected).is_some_and(|it| has(&it))
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_full_name_stands_for_the_bare_one() {
        for (expected, named, same) in [
            ("pay", "pay", true),
            ("mcp__shop__pay", "pay", true),
            ("pay", "mcp__shop__pay", true),
            ("pay", "mcp__shopp__pay", false),
            ("mcp__shop__pay", "mcp__bank__pay", false),
            ("mcp__shop__repay", "pay", false),
            ("mcp__pay", "pay", false),
            ("shop__pay", "pay", false),
        ] {
            let has = |server: &str| server == "shop" || server == "bank";
            assert_eq!(is_same(expected, named, has), same, "{expected} {named}");
        }
    }
}
