//! Which file of rows is read how.

use crate::model::Object;
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, Decode, NO_HINT};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::parse::parse;
use crate::scenario_file::yaml::rounded;
use crate::scenario_file::yaml::source::Findings;

use super::{csv, json_lines};

/// The largest file of rows, in bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// The rows of a file; `None` after saying why there are none.
pub(super) fn rows(file: &At<Word>, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    // Named as the file that names it, so that people know it again.
    let path = findings.path(file.at.source).with_file_name(&file.0);
    if !findings.may_name(file.at, &path) {
        return None;
    }
    let extension = path
        .extension()
        .map(|it| it.to_string_lossy().to_lowercase());
    let read = match extension.as_deref() {
        Some("csv") => csv::rows,
        Some("jsonl" | "ndjson") => json_lines::rows,
        Some("yaml" | "yml") => of_yaml,
        _ => {
            let message = format!("{} does not have the name of a data set", quoted(&file.0));
            let hint = "the name ends in `.csv`, `.jsonl` or `.yaml`";
            return findings.refuse(file.at, message, Some(hint));
        }
    };
    if !path.is_file() {
        findings.depends_on(&path);
        let message = format!("the data set {} is not there", quoted(&file.0));
        return findings.refuse(file.at, message, Some("it is looked for beside this file"));
    }
    let source = findings.read_up_to(&path, MAX_FILE)?;
    let rows = read(source, findings)?;
    if rows.is_empty() {
        return findings.refuse(file.at, "the data set has no rows", NO_HINT);
    }
    Some(rows)
}

fn of_yaml(source: usize, findings: &mut Findings) -> Option<Vec<At<Object>>> {
    let errors = findings.errors();
    let document = parse(source, findings)?;
    rounded::refuse(&document, findings);
    let rows = Vec::decode(&document, findings)?;
    (findings.errors() == errors).then_some(rows)
}
