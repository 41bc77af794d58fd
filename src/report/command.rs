//! Commands for the reader of a report to type or copy.

use std::path::{Path, PathBuf};

use crate::published::result::{ResultDocument, Scenario, Status};
use crate::text::line;

/// The most bytes that names of files and scenarios take in a command.
const NAMES: usize = 8_000;

/// Runs these scenarios again in the same way; all there are where their files are more than `most`, or have very long names.
pub fn again(result: &ResultDocument, scenarios: &[&Scenario], most: usize) -> String {
    let command = match result.command.as_str() {
        // What servers do to answers is judged as `run` does.
        "run" if result.scenarios.iter().any(|it| it.direct.is_some()) => "compare --direct",
        known @ ("run" | "record") => known,
        _ => "compare",
    };
    let mut paths: Vec<&str> = scenarios.iter().map(|it| it.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut words = vec!["mcp-eval".to_owned(), command.to_owned()];
    if let Some(stored) = stored_in(&paths) {
        words.extend(["--run".to_owned(), quoted(&stored.to_string_lossy())]);
    } else if fitting(&paths, most) == paths.len() {
        words.extend(paths.into_iter().map(quoted));
    }
    words.extend(shared_options(command, scenarios));
    words.join(" ")
}

/// The options that all these scenarios were run with; those that were not run do not tell.
fn shared_options(command: &str, scenarios: &[&Scenario]) -> Vec<String> {
    let ran = scenarios.iter().filter(|it| it.current.is_some());
    let mut each = ran.map(|it| options(command, it));
    let mut shared = each.next().unwrap_or_default();
    for others in each {
        shared.retain(|it| others.contains(it));
    }
    shared
}

/// The options that a scenario was run with, as far as its result tells.
fn options(command: &str, scenario: &Scenario) -> Vec<String> {
    let mut options = Vec::new();
    let is_stored = is_stored(&scenario.path);
    if command == "compare" {
        if let Some(other) = &scenario.compared_with {
            options.push(format!("--against {}", quoted(version(other))));
        }
        if scenario.has_recorded_servers() && !is_stored {
            options.push("--servers recorded".to_owned());
        }
        if scenario.not_the_same_experiment().is_some() && scenario.status != Status::Error {
            options.push("--allow-changed".to_owned());
        }
    }
    if is_stored {
        return options;
    }
    let agent = scenario.current.as_ref().map(|it| &it.stamp.agent);
    if agent.is_some_and(|it| it == "replay") {
        options.push("--agent replay".to_owned());
    }
    if let Some(repeated) = &scenario.repeated {
        options.push(format!("--repeat {}", repeated.runs));
    }
    options
}

/// What `--against` takes: the name of a version without what is known of its commit, as in `git:HEAD~1 (3f2c1ab Say seven)`.
fn version(name: &str) -> &str {
    match name.split_once(" (") {
        Some((reference, _)) if reference.starts_with("git:") => reference,
        _ => name,
    }
}

/// Whether it was not run, but read from a file that holds an earlier run.
fn is_stored(path: &str) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|it| it.eq_ignore_ascii_case("json"))
}

/// The file, or else the innermost folder, that holds all of these earlier runs; `None` where any is a scenario.
fn stored_in(paths: &[&str]) -> Option<PathBuf> {
    let mut paths = paths.iter().map(|it| is_stored(it).then(|| Path::new(it)));
    let mut common = paths.next()??.to_owned();
    for path in paths {
        let path = path?;
        while !path.starts_with(&common) && common.pop() {}
    }
    Some(common)
}

/// Whether what a scenario did can be accepted as its baseline: it was run, and compared with that, once, and something differs that
/// the servers themselves have said.
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
        && !scenario.has_recorded_servers()
        && !is_stored(&scenario.path)
}

/// The first of these scenarios, as many as can be named in a command, and at most so many.
pub fn first<'s, 'a>(scenarios: &'s [&'a Scenario], most: usize) -> &'s [&'a Scenario] {
    let ids: Vec<&str> = scenarios.iter().map(|it| it.id.as_str()).collect();
    &scenarios[..fitting(&ids, most)]
}

/// How many of these names find room in a command.
fn fitting(names: &[&str], most: usize) -> usize {
    let mut left = NAMES;
    let fits = names.iter().take(most).take_while(|it| {
        let room = left.checked_sub(quoted(it).len() + 1);
        left = room.unwrap_or_default();
        room.is_some()
    });
    fits.count()
}

/// Makes what these scenarios did their baselines, without running anything: from what is pending, or from the report of another machine.
pub fn accept(scenarios: &[&Scenario], from: Option<&str>) -> String {
    let ids = scenarios.iter().map(|it| it.id.as_str());
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
    if !word.is_empty() && word.chars().all(is_plain) {
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
            ("--tag=a,b", "--tag=a,b"),
            ("*.yaml", "'*.yaml'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
