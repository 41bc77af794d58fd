//! Commands for the reader of a report to type or copy.

use crate::published::result::{ResultDocument, Scenario};
use crate::text::line;

/// Runs these scenarios again in the same way; all there are where their files are more than `most`.
pub fn again(result: &ResultDocument, scenarios: &[&Scenario], most: usize) -> String {
    with_files(&format!("mcp-eval {}", result.command), scenarios, most)
}

/// Makes what these scenarios do now their baselines.
pub fn accept(scenarios: &[&Scenario], most: usize) -> String {
    with_files("mcp-eval record", scenarios, most)
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

fn with_files(command: &str, scenarios: &[&Scenario], most: usize) -> String {
    let mut paths: Vec<&str> = scenarios.iter().map(|it| it.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.len() > most {
        return command.to_owned();
    }
    let paths = paths.into_iter().map(quoted);
    let words: Vec<String> = std::iter::once(command.to_owned()).chain(paths).collect();
    words.join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let word = line(word);
    let is_plain = |it: char| it.is_alphanumeric() || "/._-:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
