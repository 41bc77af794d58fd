//! Annotations of GitHub: what a workflow prints to have something shown at a line of a file.

use std::fmt::Write as _;

use crate::attention::{self, Attention};
use model::published::result::{ResultDocument, Scenario};
use model::text::line;

/// How many places in files that could not be read are named: GitHub shows ten.
const FINDINGS: usize = 9;

/// How many remarks stand in an annotation.
const REMARKS: usize = 10;

/// A workflow command for each scenario that did not pass unchanged, errors first, because GitHub shows the first ten of a kind. Paths are
/// as the document has them: they must be seen from the repository's root.
pub fn github(result: &ResultDocument) -> String {
    let mut text = String::new();
    let title = property(&attention::command(result));
    let wrong = attention::all_placed(result);
    for it in wrong.iter().take(FINDINGS) {
        let (file, what) = (property(&line(it.file)), data(&line(it.what)));
        let (row, column) = (it.row, it.column);
        let _ = writeln!(
            text,
            "::error file={file},line={row},col={column},title={title}::{what}"
        );
    }
    if wrong.len() > FINDINGS {
        let more = wrong.len() - FINDINGS;
        let _ = writeln!(text, "::error title={title}::and {more} more");
    }
    if let Some(why) = attention::untold(result).filter(|_| wrong.is_empty()) {
        let _ = writeln!(text, "::error title={title}::{}", data(&why));
    }
    for (wanted, kind) in [
        (Attention::Error, "error"),
        (Attention::Warning, "warning"),
        (Attention::Notice, "notice"),
    ] {
        let scenarios = result.scenarios.iter();
        for scenario in scenarios.filter(|it| attention::attention(it) == wanted) {
            annotate(&mut text, kind, scenario, &result.command);
        }
    }
    text
}

fn annotate(text: &mut String, kind: &str, scenario: &Scenario, command: &str) {
    let _ = write!(text, "::{kind} file={}", property(&line(&scenario.path)));
    let remarks = attention::remarks(scenario, command);
    let (row, column) = attention::place(scenario, &remarks);
    for (name, number) in [("line", row), ("col", column)] {
        if let Some(number) = number {
            let _ = write!(text, ",{name}={number}");
        }
    }
    let title = format!(
        "{}: {}",
        line(&scenario.name),
        scenario.status_words(command)
    );
    let left = remarks.len().saturating_sub(REMARKS);
    let shown = remarks.into_iter().take(REMARKS);
    let mut message: Vec<String> = shown.map(|it| it.text).collect();
    if left > 0 {
        message.push(format!("and {left} more"));
    }
    if message.is_empty() {
        message.push(scenario.status_words(command));
    }
    let message = data(&message.join("\n"));
    let _ = writeln!(text, ",title={}::{message}", property(&title));
}

/// A message as a workflow command takes it.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
