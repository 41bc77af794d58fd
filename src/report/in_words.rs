//! Whose doing it is, in one sentence: the agent's, the server's, or the tool catalogue's.

use crate::report::document::{
    ComparisonV1, EndingV1, OutcomeV1, RowKindV1, RowV1, ScenarioV1, ServersV1, SideV1,
};

/// What separates a real difference from the noise of floating-point arithmetic.
const TOLERANCE: f64 = 1e-9;

/// Who answers where the servers are held still.
const RECORDING: &str = "the recording";

/// How one row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Changes {
    /// The agent asked differently, or one side did not ask at all.
    request: bool,
    /// The server answered differently.
    response: bool,
}

/// What changed between the two sides of a scenario; `None` where nothing was compared.
///
/// `command` is the command of the result: for `run` the left side is what the scenario expects.
pub fn comparison(scenario: &ScenarioV1, command: &str) -> Option<String> {
    let comparison = scenario.comparison.as_ref()?;
    let agent = asker(scenario.current.as_ref());
    // What would have come after the end of the run nobody has decided not to ask.
    let cut_short = was_cut_short(scenario.current.as_ref());
    let asked = |it: &RowV1| !(cut_short && it.kind == RowKindV1::Missing);
    let rows = || comparison.rows.iter().filter(|it| asked(it));
    let asked_differently = rows().any(|it| changes(it).request);
    // An answer to a different question is no news, so only equal questions speak about the server.
    let answered_differently = comparison.rows.iter().any(|it| {
        let changes = changes(it);
        changes.response && !changes.request
    });
    let recorded = scenario.has_recorded_servers();
    let servers = if recorded {
        RECORDING
    } else {
        servers(comparison)
    };

    let mut sentence = if command == "run" {
        if asked_differently {
            format!("{agent} made other calls than expected.")
        } else {
            format!("{agent} made the calls that were expected.")
        }
    } else {
        match (asked_differently, answered_differently) {
            (false, false) => format!("{agent} asked the same, and {servers} answered the same."),
            (false, true) => format!("{agent} asked the same; {servers} answered differently."),
            (true, false) if same_answers(comparison) => {
                format!("{agent} asked differently, and got the same answers.")
            }
            (true, false) if rows().all(|it| changes(it).request) => {
                format!("{agent} asked differently.")
            }
            (true, false) => format!(
                "{agent} asked differently; where the question was the same, so was the answer."
            ),
            (true, true) => format!(
                "{agent} asked differently, and {servers} answered some of the same questions differently."
            ),
        }
    };
    if recorded && (asked_differently || answered_differently) {
        // Nobody else has moved.
        sentence.push_str(" The servers were held still: the change is the agent's doing.");
    }
    if cut_short && comparison.rows.len() > rows().count() {
        sentence =
            format!("A critical call failed, and the run ended there. Up to then: {sentence}");
    }
    let drifted = comparison.drift.iter().filter(|it| it.breaking && it.used);
    match drifted.count() {
        0 if comparison.drift.is_empty() => {}
        0 => sentence.push_str(" The tool catalogue changed, but not in what the baseline uses."),
        _ => sentence.insert_str(
            0,
            "The tool catalogue changed in a way that breaks what the baseline uses. ",
        ),
    }
    Some(sentence)
}

/// What changed in one row.
pub fn row(row: &RowV1, side: Option<&SideV1>, command: &str) -> String {
    let agent = asker(side);
    let recorded = side.is_some_and(|it| it.stamp.servers == ServersV1::Recorded);
    let server = if recorded { RECORDING } else { "the server" };
    let expected = command == "run";
    match row.kind {
        RowKindV1::Missing if was_cut_short(side) => {
            "Not made, because the run had ended: a critical call failed.".to_owned()
        }
        RowKindV1::Missing if expected => format!("{agent} did not make this expected call."),
        RowKindV1::Missing => format!("{agent} did not make this call any more."),
        RowKindV1::Extra if expected => format!("{agent} made this call, which was not expected."),
        RowKindV1::Extra => format!("{agent} made this call, which the baseline does not have."),
        RowKindV1::Pair => {
            let changes = changes(row);
            match (changes.request, changes.response) {
                (false, false) if expected => "As expected.".to_owned(),
                (true, _) if expected => {
                    format!("{agent} asked otherwise than expected.")
                }
                (false, false) => "Same question, same answer.".to_owned(),
                (true, false) => format!("{agent} asked differently; the answer is the same."),
                (false, true) => format!(
                    "{agent} asked the same; {server} {}.",
                    answered(row).unwrap_or("answered differently")
                ),
                (true, true) => format!(
                    "{agent} asked differently, and {server} {}.",
                    answered(row).unwrap_or("gave another answer")
                ),
            }
        }
    }
}

/// What became of the answer, where success turned into failure or back.
fn answered(row: &RowV1) -> Option<&'static str> {
    let before = row.baseline.as_ref()?.outcome?;
    let now = row.current.as_ref()?.outcome?;
    match (before.is_failure(), now.is_failure()) {
        (false, true) if now == OutcomeV1::ToolError || now == OutcomeV1::RpcError => {
            Some("answered with an error")
        }
        (false, true) => Some("gave no usable answer"),
        (true, false) => Some("no longer fails"),
        _ => None,
    }
}

/// Whether the two requests, and the two answers, of a row differ.
fn changes(row: &RowV1) -> Changes {
    let differs = |similarity: f64| similarity < 1.0 - TOLERANCE;
    Changes {
        request: row.request.as_ref().is_none_or(|it| differs(it.similarity)),
        response: row
            .response
            .as_ref()
            .is_some_and(|it| differs(it.similarity)),
    }
}

/// Whether a critical call failed and ended the run.
fn was_cut_short(side: Option<&SideV1>) -> bool {
    side.is_some_and(|it| it.ending == EndingV1::Blocked)
}

/// Who made the calls, as a sentence begins.
fn asker(side: Option<&SideV1>) -> &'static str {
    match side.map(|it| it.stamp.agent.as_str()) {
        Some("scripted") => "The script",
        Some("replay") => "The replay",
        _ => "The agent",
    }
}

/// Every call has its partner, and every partner the same answer.
fn same_answers(comparison: &ComparisonV1) -> bool {
    let mut rows = comparison.rows.iter();
    rows.all(|it| it.kind == RowKindV1::Pair && !changes(it).response)
}

/// Who answered: one server or several.
fn servers(comparison: &ComparisonV1) -> &'static str {
    let mut names = comparison.rows.iter().map(|it| &it.server);
    match names.next() {
        Some(first) if names.any(|it| it != first) => "the servers",
        _ => "the server",
    }
}
