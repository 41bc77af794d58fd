//! What to type about a scenario: to run it again, to accept what it did, to have a call explained.

use crate::published::result::{ResultDocument, Scenario};
use crate::report::command::{accept, again, explain, is_acceptable};

/// A command, and what it does.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) what: &'static str,
    pub(super) text: String,
}

/// The commands for a scenario.
pub(super) fn commands(result: &ResultDocument, scenario: &Scenario) -> Vec<Command> {
    let mut commands = vec![Command {
        what: "Run it again",
        text: again(result, &[scenario], 1),
    }];
    if is_acceptable(result, scenario) {
        commands.push(Command {
            what: "Accept what it did as the new baseline",
            text: accept(&[scenario], None),
        });
        // A report with links to its job comes from there.
        if !result.links.is_empty() {
            commands.push(Command {
                what: "The same, from a downloaded report",
                text: accept(&[scenario], Some("REPORT_FOLDER")),
            });
        }
    }
    let comparison = scenario.comparison.as_ref();
    if let Some(comparison) = comparison.filter(|it| !it.rows.is_empty()) {
        let changed = comparison.changes.iter();
        let changed = changed.filter_map(|it| it.current.or(it.baseline));
        let call = changed.min().unwrap_or(1);
        commands.push(Command {
            what: "Explain the score of a call",
            text: explain(&result.run_id, &scenario.id, Some(call)),
        });
    }
    commands
}
