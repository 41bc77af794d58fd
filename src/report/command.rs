//! Commands for the reader of a report to type or copy.

use std::path::{Path, PathBuf};

use model::published::result::{ResultDocument, Scenario};
use model::text::line;
use model::{CalledOption, Status};

/// The folder that scenarios lie in, unless the user says otherwise; ids begin below it.
pub const SCENARIOS: &str = "scenarios";

/// What the file of a test case is called that a request has brought, and that of a scenario: neither lies anywhere.
pub const TEST_CASE: &str = "test case";
pub const REQUEST: &str = "request.yaml";

/// The options that give variables of scenarios their values.
const VARIABLES: [&str; 2] = ["--var", "--environment"];

/// The most bytes that names of files and scenarios take in a command.
const NAMES: usize = 8_000;

/// Whether a scenario came with a request, so that no command finds it.
pub fn is_of_request(result: &ResultDocument, scenario: &Scenario) -> bool {
    let path = Path::new(&scenario.path);
    result.called.is_none() && (path == Path::new(TEST_CASE) || path.ends_with(REQUEST))
}

/// Runs these scenarios again in the same way; all there are where their files are more than `most`, or have very long names.
pub fn again(result: &ResultDocument, scenarios: &[&Scenario], most: usize) -> String {
    let command = command(result);
    let mut paths: Vec<&str> = scenarios.iter().map(|it| it.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let picked: Vec<String> = scenarios.iter().map(|it| word(it)).collect();
    let are_parts = scenarios.iter().any(|it| is_part_of_file(it));
    let names: Vec<&str> = if are_parts {
        picked.iter().map(String::as_str).collect()
    } else {
        paths.clone()
    };
    let mut words = vec!["mcp-eval".to_owned(), command.to_owned()];
    let given = result.called.iter().flat_map(|it| &it.paths);
    if let Some(stored) = stored_in(&paths) {
        words.extend(["--run".to_owned(), quoted(&stored.to_string_lossy())]);
    } else if fitting(&names, most) < names.len() {
        words.extend(given.map(|it| quoted(it)));
    } else if is_named_by_files(result, scenarios) {
        words.extend(paths.into_iter().map(quoted));
    } else {
        words.extend(given.map(|it| quoted(it)));
        words.extend(["-k".to_owned(), quoted(&picked.join(" or "))]);
    }
    match &result.called {
        Some(called) => words.extend(called.options.iter().map(option)),
        None => words.extend(shared_options(command, scenarios)),
    }
    here(result, &words.join(" "))
}

/// The command that makes such a result, as it is typed.
fn command(result: &ResultDocument) -> &'static str {
    match result.command.as_str() {
        // What servers do to answers is judged as `run` does.
        "run" if result.scenarios.iter().any(|it| it.direct.is_some()) => "compare --direct",
        "run" => "run",
        "record" => "record",
        _ => "compare",
    }
}

/// Runs another part of the suite that a result is a part of, such as `2/7`, as this one was run. What picked the scenarios is not known.
pub fn part(result: &ResultDocument, shard: &str) -> String {
    let mut words = vec![format!("mcp-eval {}", command(result))];
    let called = result.called.iter();
    words.extend(called.clone().flat_map(|it| &it.paths).map(|it| quoted(it)));
    words.push(format!("--shard {}", quoted(shard)));
    words.extend(called.flat_map(|it| &it.options).map(option));
    here(result, &words.join(" "))
}

/// Whether the files of scenarios are enough to find them: then they have the same ids as when a folder above was named, and no variable was
/// set that another scenario may declare.
fn is_named_by_files(result: &ResultDocument, scenarios: &[&Scenario]) -> bool {
    let Some(called) = &result.called else {
        return !scenarios.iter().any(|it| is_part_of_file(it));
    };
    let is_found_alone = |it: &&Scenario| {
        let mut folders = Path::new(&it.path).components();
        !it.id.contains('/') || folders.any(|it| it.as_os_str() == SCENARIOS)
    };
    !called.options.iter().any(gives_variables)
        && scenarios
            .iter()
            .all(|it| is_found_alone(it) && !is_part_of_file(it))
}

/// Whether the file of a scenario is that of others, too: of all rows of a data set, or of all cells of a matrix.
fn is_part_of_file(scenario: &Scenario) -> bool {
    scenario.row_of.is_some() || scenario.cell.is_some()
}

fn gives_variables(option: &CalledOption) -> bool {
    VARIABLES.contains(&option.name.as_str())
}

/// What `-k` takes for a scenario: its path below the folder of scenarios.
fn word(scenario: &Scenario) -> String {
    if is_part_of_file(scenario) {
        return expression_word(&scenario.id);
    }
    let extension = Path::new(&scenario.path).extension().unwrap_or_default();
    expression_word(&format!("{}.{}", scenario.id, extension.display()))
}

/// A text as one word of what `-k` takes.
pub fn expression_word(text: &str) -> String {
    let is_bare = |it: char| it.is_alphanumeric() || "/._-=%,:@+".contains(it);
    let is_operator = ["and", "or", "not"].contains(&text.to_lowercase().as_str());
    if !is_operator && text.chars().all(is_bare) {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('"', "\\\""))
    }
}

fn option(option: &CalledOption) -> String {
    match &option.value {
        None => quoted(&option.name),
        Some(value) => format!("{} {}", quoted(&option.name), quoted(value)),
    }
}

/// A command as it is typed anywhere in the repository: what it names is seen from the folder that the result was made in.
fn here(result: &ResultDocument, command: &str) -> String {
    let folder = result.called.iter().find_map(|it| it.folder.as_deref());
    match folder.filter(|it| !it.is_empty()) {
        Some(folder) => {
            let folder = quoted(folder);
            format!("cd \"$(git rev-parse --show-toplevel)\"/{folder} && {command}")
        }
        None => command.to_owned(),
    }
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

/// From where what a scenario did can be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptFrom<'a> {
    /// It waits beside its baseline.
    Pending,
    /// The folder of a report that was brought here, whose name nobody knows.
    Elsewhere,
    /// This folder of a report, or of a run.
    Folder(&'a str),
}

/// From where what a scenario did can be accepted as its baseline: it was compared with that, once, and something differs that the servers
/// themselves have said. Empty where it cannot.
pub fn acceptable<'a>(result: &'a ResultDocument, scenario: &'a Scenario) -> Vec<AcceptFrom<'a>> {
    let differs = match scenario.status {
        Status::Failed => true,
        Status::Passed | Status::Inconclusive => !scenario.changes().is_empty(),
        _ => false,
    };
    let is_acceptable = result.command == "compare"
        && differs
        && scenario.comparison.is_some()
        && scenario.compared_with.is_none()
        && scenario.repeated.is_none()
        && !scenario.has_recorded_servers();
    if !is_acceptable {
        return Vec::new();
    }
    if is_stored(&scenario.path) {
        let report = result.called.iter().find_map(|it| it.report.as_deref());
        let folder = report.or_else(|| run_folder(&scenario.path));
        return folder.map(AcceptFrom::Folder).into_iter().collect();
    }
    match &result.called {
        Some(called) if !called.keeps_pending => vec![AcceptFrom::Elsewhere],
        _ => vec![AcceptFrom::Pending, AcceptFrom::Elsewhere],
    }
}

/// The folder of the stored run that a trajectory lies in.
fn run_folder(trajectory: &str) -> Option<&str> {
    let (folder, _) = trajectory.rsplit_once("/current/")?;
    Some(folder)
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

/// Makes what these scenarios did their baselines, without running anything.
pub fn accept(result: &ResultDocument, scenarios: &[&Scenario], from: AcceptFrom<'_>) -> String {
    let mut words = vec!["mcp-eval review".to_owned()];
    words.extend(reviewed(result, scenarios));
    let is_option = |it: &&Scenario| it.id.starts_with('-');
    let mut ids = scenarios.iter().copied().filter(|it| !is_option(it));
    let options = scenarios.iter().copied().filter(is_option);
    words.extend(options.map(|it| format!("--accept={}", quoted(&it.id))));
    if let Some(first) = ids.next() {
        words.push(format!("--accept {}", quoted(&first.id)));
        words.extend(ids.map(|it| quoted(&it.id)));
    }
    let fails = scenarios.iter().any(|it| it.fails_by_itself());
    words.extend(fails.then(|| "--allow-failing".to_owned()));
    match from {
        AcceptFrom::Pending => {}
        AcceptFrom::Elsewhere => words.push("--from REPORT_FOLDER".to_owned()),
        AcceptFrom::Folder(folder) => words.push(format!("--from {}", quoted(folder))),
    }
    here(result, &words.join(" "))
}

/// Walks through all that waits for review since this result was made, in the folder that it was made in.
pub fn review(result: &ResultDocument) -> String {
    let scenarios: Vec<&Scenario> = result.scenarios.iter().collect();
    let mut words = vec!["mcp-eval review".to_owned()];
    words.extend(reviewed(result, &scenarios));
    words.join(" ")
}

/// The arguments by which `review` finds these scenarios, and what waits beside their baselines.
fn reviewed(result: &ResultDocument, scenarios: &[&Scenario]) -> Vec<String> {
    let Some(called) = &result.called else {
        return Vec::new();
    };
    let usual = format!("{SCENARIOS}/");
    // Of a stored run, only the ids of its scenarios are known.
    let are_usual = scenarios
        .iter()
        .all(|it| is_stored(&it.path) || it.path.starts_with(&usual));
    let baselines = called.baselines.as_ref();
    let mut words: Vec<String> = Vec::new();
    match scenarios {
        // The folder may be the one of this baseline alone.
        [only] if baselines.is_some() && result.summary.selected == 1 && !is_stored(&only.path) => {
            words.push(quoted(&only.path));
        }
        _ if !are_usual => words.extend(called.paths.iter().map(|it| quoted(it))),
        _ => {}
    }
    let variables = called.options.iter().filter(|it| gives_variables(it));
    words.extend(variables.map(option));
    words.extend(baselines.map(|it| format!("--baseline {}", quoted(it))));
    words
}

/// Shows every number behind the score of a scenario of a run, or of one call of it.
pub fn explain(result: &ResultDocument, scenario: &str, call: Option<usize>) -> String {
    let call = call.map_or_else(String::new, |it| format!(" {it}"));
    let command = format!(
        "mcp-eval explain {}{call} --scenario {}",
        quoted(&result.run_id),
        quoted(scenario)
    );
    here(result, &command)
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
