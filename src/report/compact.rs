//! One line per scenario that did not pass unchanged, for `grep` and for editors, which jump to `file:line:column`.

use std::fmt::Write as _;

use crate::published::result::{ResultDocument, Scenario};
use crate::report::attention::{self, Attention, Remark};
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
        let remarks = attention::remarks(scenario, &result.command);
        let place = place(scenario, &remarks);
        let _ = write!(text, "{place}: {severity}: {status}: {name}");
        let remarks = attention::in_a_line(&remarks);
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

/// Where to look, as editors understand it. An older result does not know the line.
fn place(scenario: &Scenario, remarks: &[Remark]) -> String {
    let (row, column) = attention::place(scenario, remarks);
    let (row, column) = (row.unwrap_or(1), column.unwrap_or(1));
    format!("{}:{row}:{column}", line(&scenario.path))
}
