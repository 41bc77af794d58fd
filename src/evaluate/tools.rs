//! Finding the tool that a criterion or an evaluator names, by its bare or full name, and its calls.

use super::subject::Subject;
use crate::model::{
    Catalogue, FailureKind, Outcome, ServerCatalogue, Step, Tool, ToolCall, Trajectory,
};
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::CommandFormat;
use crate::scenario_file::evaluators::EvaluatorKind;
use crate::score::{nearest_name, nearest_tool};

/// Whether a call asks for this tool of a server, whether the server has it or not.
pub(super) fn is_called(call: &ToolCall, name: &str) -> bool {
    call.server.is_some() && is_named(call, name)
}

/// The same of any tool, be it one of the agent's own.
pub(super) fn is_named(call: &ToolCall, name: &str) -> bool {
    call.tool == name || (call.server.is_some() && call.full_name() == name)
}

/// Whether a call is one of the tool that it asks for. One that was never sent is none, nor is one that failed of a tool that its server
/// does not list: such a tool is not there. Where a server lists nothing at all, nobody knows what it has, and what was sent counts.
pub(super) fn counts(call: &ToolCall, catalogue: &Catalogue) -> bool {
    if matches!(&call.outcome, Outcome::Failure(it) if it.kind == FailureKind::NotSent) {
        return false;
    }
    let Some(server) = &call.server else {
        return true;
    };
    let listed = catalogue.servers.iter().find(|it| it.server == *server);
    !call.outcome.is_failure()
        || listed.is_some_and(|it| it.lists_nothing() || it.lists(&call.tool))
}

/// The calls that are calls of this tool.
pub(super) fn calls_of<'t>(
    run: &'t Trajectory,
    name: &str,
) -> impl Iterator<Item = (Option<usize>, &'t ToolCall)> {
    let all = numbered(run);
    all.filter(move |(_, it)| is_named(it, name) && counts(it, &run.catalogue))
}

/// Why a call of this tool was not sent that an agent asked for with arguments which are none; `None` where there is no such call.
pub(super) fn unsendable<'t>(run: &'t Trajectory, name: &str) -> Option<&'t str> {
    let mut all = numbered(run).filter(|(_, it)| is_named(it, name));
    all.find_map(|(_, it)| match &it.outcome {
        Outcome::Failure(it) if it.kind == FailureKind::NotSent => {
            let said = it.data.as_ref()?.get("arguments");
            said.map(|_| it.message.as_str())
        }
        _ => None,
    })
}

/// All calls of a run. Those of servers have their numbers, counted from 1; those of the agent's own tools have none.
pub(super) fn numbered(run: &Trajectory) -> impl Iterator<Item = (Option<usize>, &ToolCall)> {
    let mut number = 0;
    run.steps.iter().filter_map(move |step| {
        let Step::ToolCall(call) = step else {
            return None;
        };
        let is_of_server = call.server.is_some();
        number += usize::from(is_of_server);
        Some((is_of_server.then_some(number), call.as_ref()))
    })
}

/// What a call is called in a message.
pub(super) fn call_name((number, call): (Option<usize>, &ToolCall)) -> String {
    match number {
        Some(number) => format!("call {number} (`{}`)", call.full_name()),
        None => format!("the call of the agent's own `{}`", call.tool),
    }
}

/// Where a tool of this name is on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Offer {
    /// By the run's servers or its agent; also where the servers list no tools at all, so that it is unknown.
    Now,
    /// Only by those of the baseline; with the most similar tool of the run, if there is one.
    Before(Option<String>),
    /// Neither by the run's servers nor by those of the baseline; with the name that may be meant.
    Never(Option<String>),
}

impl Offer {
    pub(super) fn of(name: &str, now: &Catalogue, before: Option<&Catalogue>) -> Self {
        let lists_nothing = now.servers.iter().all(ServerCatalogue::lists_nothing);
        if lists_nothing || now.offers(name) {
            return Self::Now;
        }
        if let Some(gone) = before.and_then(|it| offered(it, name)) {
            let listed = now.servers.iter().flat_map(|it| &it.tools);
            return Self::Before(nearest_tool(gone, listed).map(|it| it.name().to_owned()));
        }
        if before.is_some_and(|it| it.offers(name)) {
            return Self::Before(None);
        }
        let all = || before.into_iter().chain([now]);
        let mut names: Vec<(String, &str)> = all()
            .flat_map(|it| &it.servers)
            .flat_map(|it| {
                let listed = it.tools.iter().map(Tool::name);
                let later = it.later.iter().map(String::as_str);
                listed.chain(later).map(move |tool| (it, tool))
            })
            .map(|(it, tool)| (format!("mcp__{}__{tool}", it.server), tool))
            .collect();
        let own = all().flat_map(|it| &it.own);
        names.extend(own.map(|it| (it.clone(), it.as_str())));
        Self::Never(meant(name, &names))
    }
}

/// The name that an odd spelling stands for: a full one where the server is named, too.
fn meant(name: &str, names: &[(String, &str)]) -> Option<String> {
    let plain = |it: &str| {
        let it = it.to_lowercase();
        let it = it.strip_prefix("mcp").unwrap_or(&it);
        it.chars()
            .filter(|it| it.is_alphanumeric())
            .collect::<String>()
    };
    let wanted = plain(name);
    let spelled = names.iter().find_map(|(full, bare)| {
        let is_full = plain(full) == wanted;
        let is_bare = plain(bare) == wanted;
        match (is_full, is_bare) {
            (_, true) => Some((*bare).to_owned()),
            (true, false) => Some(full.clone()),
            (false, false) => None,
        }
    });
    let bare = || nearest_name(name, names.iter().map(|(_, bare)| *bare));
    let full = || nearest_name(name, names.iter().map(|(full, _)| full.as_str()));
    spelled.or_else(|| {
        let found = if name.starts_with("mcp__") {
            full()
        } else {
            bare()
        };
        found.map(str::to_owned)
    })
}

/// The tool of this name, where a server lists it.
fn offered<'c>(catalogue: &'c Catalogue, name: &str) -> Option<&'c Tool> {
    catalogue.servers.iter().find_map(|server| {
        let bare = server.bare(name);
        let mut tools = server.tools.iter();
        tools.find(|it| it.name() == name || bare == Some(it.name()))
    })
}

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
    use serde_json::json;

    use super::{counts, is_same};
    use crate::model::{
        Answer, Catalogue, FailureKind, Object, Outcome, ServerCatalogue, Tool, ToolCall,
    };

    fn call(server: Option<&str>, outcome: Outcome) -> ToolCall {
        let server = server.map(str::to_owned);
        ToolCall::new(server, "pay".to_owned(), Object::new(), outcome)
    }

    fn failure(kind: FailureKind) -> Outcome {
        Outcome::failed(kind, "")
    }

    #[test]
    fn a_call_that_fails_counts_where_its_tool_may_be_there() {
        let listing = |tools: &[&str], later: &[&str]| Catalogue {
            servers: vec![ServerCatalogue {
                server: "shop".to_owned(),
                tools: tools
                    .iter()
                    .map(|it| Tool {
                        served: json!({ "name": it }).as_object().cloned().unwrap(),
                    })
                    .collect(),
                later: later.iter().map(|it| (*it).to_owned()).collect(),
                ..ServerCatalogue::default()
            }],
            ..Catalogue::default()
        };
        let [with, later, without, nothing] = [
            listing(&["find", "pay"], &[]),
            listing(&["find"], &["pay"]),
            listing(&["find"], &[]),
            listing(&[], &[]),
        ];
        let said = |is_error| {
            Outcome::Answer(Answer {
                is_error,
                ..Answer::default()
            })
        };
        let rpc = || failure(FailureKind::Rpc);
        let cases = [
            (&with, Some("shop"), said(true), true),
            (&with, Some("shop"), rpc(), true),
            (&with, Some("shop"), failure(FailureKind::NotSent), false),
            (&later, Some("shop"), said(true), true),
            (&without, Some("shop"), said(true), false),
            (&without, Some("shop"), rpc(), false),
            // A server may have more than it lists.
            (&without, Some("shop"), said(false), true),
            (&nothing, Some("shop"), rpc(), true),
            (&with, Some("bank"), rpc(), false),
            // The agent's own.
            (&with, None, said(true), true),
            (&with, None, failure(FailureKind::NotSent), false),
        ];
        for (catalogue, server, outcome, expected) in cases {
            let call = call(server, outcome);
            assert_eq!(counts(&call, catalogue), expected, "{call:?}");
        }
    }

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
