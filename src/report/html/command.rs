//! What to type about a scenario: to run it again, to accept what it did, to have a call explained.

use crate::published::result::{ResultDocument, Scenario, Status};

/// A command, and what it does.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) what: &'static str,
    pub(super) text: String,
}

/// The commands for a scenario.
pub(super) fn commands(result: &ResultDocument, scenario: &Scenario) -> Vec<Command> {
    let command = match result.command.as_str() {
        known @ ("run" | "record") => known,
        _ => "compare",
    };
    let mut again = format!("mcp-eval {command} {}", quoted(&scenario.path));
    let agent = scenario.current.as_ref().map(|it| it.stamp.agent.as_str());
    if agent == Some("replay") {
        again.push_str(" --agent replay");
    }
    if scenario.has_recorded_servers() {
        again.push_str(" --servers recorded");
    }
    if scenario.not_the_same_experiment().is_some() && scenario.status != Status::Error {
        again.push_str(" --allow-changed");
    }
    if let Some(repeated) = &scenario.repeated {
        again.push_str(" --repeat ");
        again.push_str(&repeated.runs.to_string());
    }
    let mut commands = vec![Command {
        what: "Run it again",
        text: again,
    }];
    let differs = scenario.status == Status::Failed || scenario.is_changed();
    if result.command == "compare" && differs && scenario.repeated.is_none() {
        commands.push(Command {
            what: "Accept what it did as the new baseline",
            text: format!("mcp-eval review --accept {}", quoted(&scenario.id)),
        });
    }
    let comparison = scenario.comparison.as_ref();
    if let Some(comparison) = comparison.filter(|it| !it.rows.is_empty()) {
        let changed = comparison.changes.iter();
        let changed = changed.filter_map(|it| it.current.or(it.baseline));
        let call = changed.min().unwrap_or(1);
        commands.push(Command {
            what: "Explain the score of a call",
            text: format!(
                "mcp-eval explain {} {call} --scenario {}",
                quoted(&result.run_id),
                quoted(&scenario.id)
            ),
        });
    }
    commands
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,".contains(it);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_takes_words_as_they_are() {
        for (word, shown) in [
            ("flows/ticket-1", "flows/ticket-1"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("-rf", "'-rf'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
