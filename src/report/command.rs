//! Commands for the reader of a report to type or copy.

use crate::published::result::{ResultDocument, Scenario, Status};
use crate::text::line;

/// Runs these scenarios again in the same way; all there are where their files are more than `most`.
pub fn again(result: &ResultDocument, scenarios: &[&Scenario], most: usize) -> String {
    let mut paths: Vec<&str> = scenarios.iter().map(|it| it.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.len() > most {
        paths.clear();
    }
    let command = format!("mcp-eval {}", result.command);
    with_words(command, paths)
}

/// Whether what a scenario did can be accepted as its baseline: it was compared with that, once, and something differs.
pub fn is_acceptable(result: &ResultDocument, scenario: &Scenario) -> bool {
    let differs = match scenario.status {
        Status::Failed => true,
        Status::Passed | Status::Inconclusive => !scenario.changes().is_empty(),
        _ => false,
    };
    result.command == "compare"
        && differs
        && scenario.comparison.is_some()
        && scenario.compared_with.is_none()
        && scenario.repeated.is_none()
}

/// Makes what these scenarios did their baselines, without running anything: from what is pending, or from the report of another machine.
/// Only the first are named where they are more than `most`.
pub fn accept(scenarios: &[&Scenario], most: usize, from: Option<&str>) -> String {
    let ids = scenarios.iter().take(most).map(|it| it.id.as_str());
    let mut command = with_words("mcp-eval review --accept".to_owned(), ids);
    if let Some(folder) = from {
        command.push_str(" --from ");
        command.push_str(folder);
    }
    command
}

/// Shows every number behind the score of a scenario of a run, or of one call of it.
pub fn explain(run: &str, scenario: &str, call: Option<usize>) -> String {
    let call = call.map_or_else(String::new, |it| format!(" {it}"));
    format!(
        "mcp-eval explain {}{call} --scenario {}",
        quoted(run),
        quoted(scenario)
    )
}

fn with_words<'a>(command: String, words: impl IntoIterator<Item = &'a str>) -> String {
    let words = words.into_iter().map(quoted);
    let all: Vec<String> = std::iter::once(command).chain(words).collect();
    all.join(" ")
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let word = line(word);
    let is_plain = |it: char| it.is_alphanumeric() || "/._-:=@%+,".contains(it);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
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
