//! Says in one sentence who caused a change: the agent, the server, or the tool catalogue.
//!
//! "The same" means exactly equal; for what only counts as equal, other words are used.

use std::collections::{HashMap, HashSet};

use model::published::ending::EndingKind;
use model::published::result::{Call, Comparison, Row, Scenario, Side};
use model::{CallStatus, Change, ChangeKind, RowKind, Status};

/// Scores that differ by less than this count as equal, because floating-point arithmetic is inexact.
const TOLERANCE: f64 = 1e-9;

/// The subject of sentences about answers of recorded servers.
const RECORDING: &str = "the recording";

/// How the sentence begins on a run in which nothing changed.
const UNCHANGED: &str = "Unchanged: ";

const ENDED_EARLY: &str = " The run ended early with a call that failed.";

const ALIKE: &str = "the answers differ only in what varies or is not compared";

/// How a request differs between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Same,
    /// With other values where they do not count: each side's own ids, what the scenario leaves out.
    Alike,
    Otherwise,
    /// Only one side made the request.
    Alone,
    /// The run had ended before it could make the request.
    TooLate,
}

/// How an answer differs between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Same,
    /// What differs is known to vary, or is not compared.
    Alike,
    /// `Same` or `Alike`; results of earlier versions do not say which.
    AsGood,
    /// All of the baseline's answer, with additions.
    More,
    Otherwise,
    /// One side has no answer.
    NotAsked,
}

/// How the requests and answers of all rows differ.
struct Seen {
    rows: Vec<(Asked, Answered)>,
    asked_differently: bool,
    to_equal_questions: Vec<Answered>,
    otherwise: bool,
    more: bool,
}

/// The calls that a row or a change is about: number in the baseline, number in the run.
type Calls = (Option<usize>, Option<usize>);

/// Describes the result of a comparison in sentences.
pub struct Description<'a> {
    scenario: &'a Scenario,
    comparison: &'a Comparison,
    /// For `run` the left side is what the scenario expects.
    expected: bool,
    agent: &'static str,
    recorded: bool,
    /// The kinds of changes by the calls they are about.
    kinds: HashMap<Calls, HashSet<ChangeKind>>,
    /// The last call of the baseline that is paired with a call of the run.
    last_pair: usize,
}

impl<'a> Description<'a> {
    /// `None` where nothing was compared. `command` is the command of the result.
    pub fn new(scenario: &'a Scenario, command: &str) -> Option<Self> {
        let comparison = scenario.comparison.as_ref()?;
        let mut kinds: HashMap<Calls, HashSet<ChangeKind>> = HashMap::new();
        for change in &comparison.changes {
            let calls = (change.baseline, change.current);
            kinds.entry(calls).or_default().insert(change.kind);
        }
        let pairs = (comparison.rows.iter()).filter(|it| it.kind == RowKind::Pair);
        Some(Self {
            scenario,
            comparison,
            expected: command == "run",
            agent: asker(scenario.current.as_ref()),
            recorded: scenario.has_recorded_servers(),
            kinds,
            last_pair: pairs.filter_map(|it| it.calls().0).max().unwrap_or(0),
        })
    }

    fn seen(&self) -> Seen {
        let seen: Vec<(Asked, Answered)> = (self.comparison.rows.iter())
            .map(|it| (self.asked(it), self.answered(it)))
            .collect();
        // Only answers to equal requests say something about the server.
        let to_equal_questions: Vec<Answered> = (seen.iter())
            .filter(|(it, _)| matches!(it, Asked::Same | Asked::Alike))
            .map(|(_, it)| *it)
            .collect();
        Seen {
            asked_differently: (seen.iter())
                .any(|(it, _)| matches!(it, Asked::Otherwise | Asked::Alone)),
            otherwise: to_equal_questions.contains(&Answered::Otherwise),
            more: to_equal_questions.contains(&Answered::More),
            to_equal_questions,
            rows: seen,
        }
    }

    /// Whether it failed, and nothing of the comparison says so.
    fn fails_alone(&self) -> bool {
        self.scenario.status == Status::Failed && self.comparison.passed
    }

    /// Whether nothing changed between the two sides. What failed all the same, nobody should read as unchanged.
    pub fn is_unchanged(&self) -> bool {
        let Seen {
            asked_differently,
            otherwise,
            more,
            ..
        } = self.seen();
        let is_same = nothing_changed(self.comparison) && !asked_differently && !otherwise && !more;
        is_same && !self.fails_alone() && !self.expected
    }

    /// What changed between the two sides.
    pub fn comparison(&self) -> String {
        if self.expected {
            return self.expectation();
        }
        let (comparison, agent) = (self.comparison, self.agent);
        let servers = if self.recorded {
            RECORDING
        } else {
            servers(comparison)
        };
        let Seen {
            rows,
            asked_differently,
            to_equal_questions,
            otherwise,
            more,
        } = self.seen();
        let answers_are = |them: &[Answered]| rows.iter().all(|(_, it)| them.contains(it));

        let mut sentence = match (asked_differently, otherwise, more) {
            (false, false, false) if comparison.rows.is_empty() => {
                format!("{agent} called no tool, as in the baseline.")
            }
            (false, false, false) if answers_are(&[Answered::Same]) => {
                format!("{agent} asked the same, and {servers} answered the same.")
            }
            (false, false, false) => format!(
                "{agent} asked the same, and {servers} answered the same, but for what varies or is not compared."
            ),
            (false, false, true) => {
                format!("{agent} asked the same; {servers} answered as before, and more.")
            }
            (false, true, _) => format!("{agent} asked the same; {servers} answered differently."),
            (true, false, _) if answers_are(&[Answered::Same]) => {
                format!("{agent} asked differently, and got the same answers.")
            }
            (true, false, _)
                if answers_are(&[Answered::Same, Answered::Alike, Answered::AsGood]) =>
            {
                format!(
                    "{agent} asked differently; the answers differ only in what varies or is not compared."
                )
            }
            (true, false, false) if to_equal_questions.is_empty() => {
                format!("{agent} asked differently.")
            }
            (true, false, false) => format!(
                "{agent} asked differently; where the question was the same, the answer has not changed."
            ),
            (true, false, true) => format!(
                "{agent} asked differently; where the question was the same, {servers} answered as before, and more."
            ),
            (true, true, _) => format!(
                "{agent} asked differently, and {servers} answered some of the same questions differently."
            ),
        };
        if self.is_unchanged() {
            sentence.insert_str(0, UNCHANGED);
        }
        if self.ended_early() {
            sentence.push_str(ENDED_EARLY);
        } else {
            sentence.push_str(&turned(comparison));
        }
        if self.recorded && (asked_differently || otherwise || more) {
            // The servers' answers were recorded ones, so only the agent can have changed.
            sentence.push_str(" The servers were held still: the change is the agent's doing.");
        }
        let add = |words: &str, sentence: &mut String| sentence.push_str(words);
        match comparison.slower.len() {
            0 => {}
            1 => add(" One call became much slower.", &mut sentence),
            calls => add(
                &format!(" {calls} calls became much slower."),
                &mut sentence,
            ),
        }
        if let Some(words) = behind(comparison) {
            add(words, &mut sentence);
        }
        if (comparison.changes.iter()).any(|it| it.kind == ChangeKind::Tokens) {
            add(" The model used many more tokens.", &mut sentence);
        }
        catalogue(comparison, &mut sentence);
        if self.fails_alone() && !self.ended_early() {
            sentence.push_str(&self.failed());
        }
        sentence
    }

    /// Why a run failed that nothing else is said against.
    fn failed(&self) -> String {
        let unmet = || self.scenario.checks.iter().filter(|it| it.fails());
        let of_calls = unmet().filter_map(|it| Some((it.call?, it.failed_tool().is_some())));
        let (failed, succeeded): (Vec<_>, Vec<_>) = of_calls.partition(|it| it.1);
        let evaluators = self.scenario.evaluators.iter().filter(|it| it.fails());
        let evaluators = evaluators.count();
        // Where nothing else tells, no call should have failed.
        let is_explained = unmet().next().is_some() || evaluators > 0;
        let rows = self.comparison.rows.iter().filter(|_| !is_explained);
        let made = rows.filter_map(|it| it.current.as_ref());
        let unexplained = made.filter(|it| it.outcome.is_some_and(CallStatus::is_failure));
        let failed = failed
            .into_iter()
            .chain(unexplained.map(|it| (it.number, true)));
        let numbers = |of: Vec<(usize, bool)>| {
            let mut numbers: Vec<usize> = of.into_iter().map(|it| it.0).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let why = match (
            numbers(failed.collect()).as_slice(),
            numbers(succeeded).as_slice(),
            unmet().count(),
            evaluators,
        ) {
            ([call], ..) => format!("call {call} failed"),
            (calls @ [_, ..], ..) => format!("{} calls failed", calls.len()),
            (_, [call], ..) => format!("call {call} succeeded, and was expected to fail"),
            (_, calls @ [_, ..], ..) => {
                format!("{} calls succeeded, and were expected to fail", calls.len())
            }
            (_, _, 1, _) => "an expectation is not met".to_owned(),
            (_, _, 2.., _) => "expectations are not met".to_owned(),
            (_, _, 0, 1) => "an evaluator fails".to_owned(),
            (_, _, 0, 2..) => "evaluators fail".to_owned(),
            (_, _, 0, 0) => return String::new(),
        };
        format!(" The run failed, because {why}.")
    }

    /// How the calls of a run met what its scenario expects.
    fn expectation(&self) -> String {
        let agent = self.agent;
        let rows = self.comparison.rows.iter();
        let all: Vec<Asked> = rows.map(|it| self.asked(it)).collect();
        let mut sentence = if all.contains(&Asked::Alone) {
            format!("{agent} made other calls than expected.")
        } else if all.contains(&Asked::Otherwise) {
            format!("{agent} made the calls that were expected, with other arguments.")
        } else if all.contains(&Asked::TooLate) {
            format!("{agent} made the calls that were expected, as far as it came.")
        } else {
            format!("{agent} made the calls that were expected.")
        };
        if self.ended_early() {
            sentence.push_str(ENDED_EARLY);
        } else if self.scenario.status == Status::Failed && self.comparison.passed {
            sentence.push_str(&self.failed());
        }
        sentence
    }

    /// What changed in one row.
    pub fn row(&self, row: &Row) -> String {
        let agent = self.agent;
        let asked = self.asked(row);
        let mut sentence = match (asked, row.kind, self.expected) {
            (Asked::TooLate, _, _) => "Not made, because the run had ended.".to_owned(),
            (_, RowKind::Missing, true) => format!("{agent} did not make this expected call."),
            (_, RowKind::Missing, false) => format!("{agent} did not make this call any more."),
            (_, RowKind::Extra, true) => {
                format!("{agent} made this call, which was not expected.")
            }
            (_, RowKind::Extra, false) => {
                format!("{agent} made this call, which the baseline does not have.")
            }
            (Asked::Otherwise, RowKind::Pair, true) => {
                format!("{agent} asked otherwise than expected.")
            }
            (_, RowKind::Pair, true) => "As expected.".to_owned(),
            (_, RowKind::Pair, false) => self.pair(row, asked),
        };
        if self.has(row, &[ChangeKind::Upstream]) {
            sentence.push_str(" What happened behind it differs.");
        }
        let last = self.scenario.current.as_ref().map(|it| it.calls);
        let is_last = row.calls().1.is_some() && row.calls().1 == last;
        if is_last && self.ended_early() {
            sentence.push_str(" The run ended here, because the call is critical.");
        }
        sentence
    }

    fn pair(&self, row: &Row, asked: Asked) -> String {
        let agent = self.agent;
        let server = if self.recorded {
            RECORDING
        } else {
            "the server"
        };
        let turned = turned_words(row);
        let answered = self.answered(row);
        if asked == Asked::Otherwise {
            return match answered {
                Answered::Same => format!("{agent} asked differently; the answer is the same."),
                Answered::Alike => format!("{agent} asked differently; {ALIKE}."),
                Answered::AsGood => {
                    format!("{agent} asked differently; the answer counts as the same.")
                }
                Answered::More => {
                    format!("{agent} asked differently, and {server} answered as before, and more.")
                }
                Answered::Otherwise | Answered::NotAsked => format!(
                    "{agent} asked differently, and {server} {}.",
                    turned.unwrap_or("gave another answer")
                ),
            };
        }
        let with = if asked == Asked::Alike {
            " (server-generated values differ)"
        } else {
            ""
        };
        match answered {
            Answered::Same => format!("Same request{with}, same answer."),
            Answered::Alike => format!("Same request{with}; {ALIKE}."),
            Answered::AsGood => format!("Same request{with}; the answer counts as the same."),
            Answered::More => {
                format!("{agent} asked the same{with}; {server} answered as before, and more.")
            }
            Answered::Otherwise | Answered::NotAsked => format!(
                "{agent} asked the same{with}; {server} {}.",
                turned.unwrap_or("answered differently")
            ),
        }
    }

    /// Whether the run was not carried on after a call that failed.
    fn ended_early(&self) -> bool {
        let current = self.scenario.current.as_ref();
        current.is_some_and(|it| it.ending == EndingKind::Blocked)
    }

    fn asked(&self, row: &Row) -> Asked {
        let Some(request) = &row.request else {
            // A call that is missing between two calls that were made was left out by the agent.
            let is_too_late = row.kind == RowKind::Missing
                && self.ended_early()
                && row.calls().0 > Some(self.last_pair);
            return if is_too_late {
                Asked::TooLate
            } else {
                Asked::Alone
            };
        };
        let changed = self.has(
            row,
            &[ChangeKind::Request, ChangeKind::Effect, ChangeKind::Call],
        );
        if changed || differs(request.similarity) {
            Asked::Otherwise
        } else if request.parameters.iter().any(|it| it.expected != it.got) {
            Asked::Alike
        } else {
            Asked::Same
        }
    }

    fn answered(&self, row: &Row) -> Answered {
        let Some(response) = &row.response else {
            return Answered::NotAsked;
        };
        let other = self.has(row, &[ChangeKind::Answer, ChangeKind::Error]);
        if other || !response.contract_changes.is_empty() {
            Answered::Otherwise
        } else if self.has(row, &[ChangeKind::Addition]) {
            Answered::More
        } else if differs(response.similarity) {
            Answered::Otherwise
        } else {
            match response.identical {
                Some(true) => Answered::Same,
                Some(false) => Answered::Alike,
                None => Answered::AsGood,
            }
        }
    }

    /// Whether a change of one of these kinds is about the row's calls.
    fn has(&self, row: &Row, kinds: &[ChangeKind]) -> bool {
        let known = self.kinds.get(&row.calls());
        known.is_some_and(|known| kinds.iter().any(|it| known.contains(it)))
    }
}

/// Whether nothing is known to differ. Drift and slower calls are checked as well, because results of earlier versions have no
/// list of changes.
fn nothing_changed(comparison: &Comparison) -> bool {
    comparison.changes.is_empty() && comparison.drift.is_empty() && comparison.slower.is_empty()
}

/// A sentence on calls that failed before or fail now.
fn turned(comparison: &Comparison) -> String {
    let calls = |from: bool, to: bool| {
        let turned = comparison.rows.iter().filter(|it| {
            let failed = |call: &Option<Call>| call.as_ref()?.outcome.map(CallStatus::is_failure);
            failed(&it.baseline) == Some(from) && failed(&it.current) == Some(to)
        });
        turned
            .filter_map(|it| Some(it.current.as_ref()?.number))
            .collect::<Vec<_>>()
    };
    let phrase = |calls: &[usize], one: &str, many: &str| match calls {
        [] => String::new(),
        [call] => format!(" Call {call} {one}."),
        calls => format!(" {} calls {many}.", calls.len()),
    };
    let failing = phrase(&calls(false, true), "fails now", "fail now");
    let mended = phrase(&calls(true, false), "no longer fails", "no longer fail");
    failing + &mended
}

/// A sentence on what differs behind the server under test.
fn behind(comparison: &Comparison) -> Option<&'static str> {
    let of_upstream = |it: &&Change| it.kind == ChangeKind::Upstream;
    let changes: Vec<_> = comparison.changes.iter().filter(of_upstream).collect();
    let lane = comparison.upstream.as_ref()?;
    let answered = lane.rows.iter().filter(|it| it.answered_otherwise).count();
    match changes.len() {
        0 => None,
        only if only <= answered => Some(" A server behind it answered otherwise."),
        _ => Some(" The servers behind it received different calls."),
    }
}

/// Adds a sentence on changes of the tool catalogue.
fn catalogue(comparison: &Comparison, sentence: &mut String) {
    let drift = || comparison.drift.iter();
    let mut refused: Vec<usize> = drift().flat_map(|it| it.refused.clone()).collect();
    refused.sort_unstable();
    refused.dedup();
    match refused.len() {
        0 if comparison.drift.is_empty() => {}
        0 if drift().any(|it| it.breaking && it.used) => sentence.insert_str(
            0,
            "The tool catalogue changed in a way that breaks what the baseline uses. ",
        ),
        0 if drift().any(|it| it.used) => sentence.push_str(
            " The tool catalogue changed in what the baseline uses; its calls are still accepted.",
        ),
        0 => sentence.push_str(" The tool catalogue changed, but not in what the baseline uses."),
        1 => sentence.insert_str(
            0,
            "The tool catalogue changed so that one call of the baseline is refused now. ",
        ),
        calls => sentence.insert_str(
            0,
            &format!(
                "The tool catalogue changed so that {calls} calls of the baseline are refused now. "
            ),
        ),
    }
}

/// What happened to the answer, where success turned into failure or back.
fn turned_words(row: &Row) -> Option<&'static str> {
    let before = row.baseline.as_ref()?.outcome?;
    let now = row.current.as_ref()?.outcome?;
    match (before.is_failure(), now.is_failure()) {
        (false, true) if now == CallStatus::ToolError || now == CallStatus::RpcError => {
            Some("answered with an error")
        }
        (false, true) => Some("gave no usable answer"),
        (true, false) => Some("no longer fails"),
        _ => None,
    }
}

fn differs(similarity: f64) -> bool {
    similarity < 1.0 - TOLERANCE
}

/// Who made the calls, as a sentence begins.
fn asker(side: Option<&Side>) -> &'static str {
    match side.map(|it| it.stamp.agent.as_str()) {
        Some("scripted") => "The script",
        Some("replay") => "The replay",
        _ => "The agent",
    }
}

/// Who answered: one server or several.
fn servers(comparison: &Comparison) -> &'static str {
    let mut names = comparison.rows.iter().map(|it| &it.server);
    match names.next() {
        Some(first) if names.any(|it| it != first) => "the servers",
        _ => "the server",
    }
}
