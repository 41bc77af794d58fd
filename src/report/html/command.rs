//! What to type about a scenario: to run it again, to accept what it did, to have a call explained.

use crate::command::{AcceptFrom, accept, acceptable, again, explain, is_of_request};
use model::published::result::{ResultDocument, Scenario};

/// A command, and what it does.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) what: &'static str,
    pub(super) text: String,
}

/// The commands for a scenario.
pub(super) fn commands(result: &ResultDocument, scenario: &Scenario) -> Vec<Command> {
    let mut commands = Vec::new();
    if !is_of_request(result, scenario) {
        commands.push(Command {
            what: "Run it again",
            text: again(result, &[scenario], 1),
        });
    }
    for (at, from) in acceptable(result, scenario).into_iter().enumerate() {
        commands.push(Command {
            what: match (at, from) {
                (0, AcceptFrom::Elsewhere) => {
                    "Accept what it did as the new baseline; REPORT_FOLDER is the folder of this report"
                }
                (0, _) => "Accept what it did as the new baseline",
                _ => "The same, from a report that was copied here; REPORT_FOLDER is its folder",
            },
            text: accept(result, &[scenario], from),
        });
    }
    let comparison = scenario.comparison.as_ref();
    if let Some(comparison) = comparison.filter(|it| !it.rows.is_empty()) {
        let changed = comparison.changes.iter();
        let changed = changed.filter_map(|it| it.current.or(it.baseline));
        let call = changed.min().unwrap_or(1);
        commands.push(Command {
            what: "Explain the score of a call",
            text: explain(result, &scenario.id, Some(call)),
        });
    }
    commands
}
