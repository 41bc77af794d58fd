//! One line per scenario that did not pass unchanged, for `grep` and for editors, which jump to `file:line:column`.

use std::fmt::Write as _;

use crate::published::result::{ResultDocument, Scenario};
use crate::report::attention::{self, Attention};
use crate::text::line;

/// `scenarios/search.yaml:1:7: error: failed: Search tools: tool `search` is gone`, as compilers write it.
pub fn compact(result: &ResultDocument) -> String {
    let mut text = String::new();
    for scenario in &result.scenarios {
        let severity = match attention::attention(scenario) {
            Attention::Unneeded => continue,
            Attention::Notice => "note",
            Attention::Warning => "warning",
            Attention::Error => "error",
        };
        let status = scenario.status_words(&result.command);
        let name = line(&scenario.name);
        let _ = write!(text, "{}: {severity}: {status}: {name}", place(scenario));
        let remarks = attention::in_a_line(&attention::remarks(scenario, &result.command));
        if !remarks.is_empty() {
            let _ = write!(text, ": {remarks}");
        }
        text.push('\n');
    }
    let wrong = attention::all_placed(result);
    for it in &wrong {
        let (file, what) = (line(it.file), line(it.what));
        let _ = writeln!(text, "{file}:{}:{}: error: {what}", it.row, it.column);
    }
    if let Some(why) = attention::untold(result).filter(|_| wrong.is_empty()) {
        let _ = writeln!(text, "{}: error: {why}", attention::command(result));
    }
    text
}

/// Where the scenario is declared, as editors understand it. An older result does not know the line.
fn place(scenario: &Scenario) -> String {
    let (row, column) = (scenario.line.unwrap_or(1), scenario.column.unwrap_or(1));
    format!("{}:{row}:{column}", line(&scenario.path))
}
