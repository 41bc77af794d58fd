//! Checks of what a run left behind in a file.

use super::pattern::Wanted;
use super::schema_validate::of_text;
use crate::evaluate::finding::{Finding, STORED, not_asked};
use crate::evaluate::subject::{LeftFile, Subject};
use crate::json_schema::JsonSchema;
use crate::model::EvaluationStatus;
use crate::scenario_file::evaluators::FileEvaluator;

/// Looks at the file by what is `written` of it, and tells of it by what is shown of both.
pub(in crate::evaluate) async fn look(
    it: &FileEvaluator,
    written: &FileEvaluator,
    subject: Subject<'_>,
) -> Finding {
    let Some(around) = subject.around else {
        return Finding::gone(STORED);
    };
    match around.file(&it.file).await {
        Err(unasked) => not_asked(unasked),
        Ok(left) => judged(written, &left.said).worded_as(judged(it, &left.shown)),
    }
}

fn judged(it: &FileEvaluator, left: &LeftFile) -> Finding {
    let name = &it.file.written;
    let mut problems = Vec::new();
    match (&left.text, it.exists) {
        (None, true) => return Finding::failed(format!("there is no file `{name}`")),
        (None, false) => return Finding::passed(format!("there is no file `{name}`")),
        (Some(_), false) => return Finding::failed(format!("there is a file `{name}`")),
        (Some(_), true) => {}
    }
    let text = left.text.as_deref().unwrap_or_default();
    if let Some(matching) = &it.text {
        match Wanted::new(matching, false) {
            Err(why) => return Finding::error(why),
            Ok(wanted) if wanted.count(text) == 0 => {
                problems.push(format!("`{name}` is not as expected: {}", matching.words()));
            }
            Ok(_) => {}
        }
    }
    if let Some(schema) = &it.schema {
        match JsonSchema::new(schema) {
            Err(why) => return Finding::error(format!("the schema {why}")),
            Ok(schema) => {
                let found = of_text(&schema, Some(text), name);
                if found.status == EvaluationStatus::Failed {
                    problems.push(found.message);
                    problems.extend(found.details);
                }
            }
        }
    }
    if let Some(wanted) = it.unchanged {
        match left.unchanged {
            None => {
                return Finding::error(format!("the state of `{name}` before the run is unknown"));
            }
            Some(unchanged) if unchanged == wanted => {}
            Some(true) => problems.push(format!("`{name}` is as it was before the run")),
            Some(false) => problems.push(format!("`{name}` is not as it was before the run")),
        }
    }
    // What an earlier run left would pass unseen.
    let was_there = left.unchanged == Some(true) && it.unchanged.is_none();
    let note = was_there.then(|| {
        "it was there before the run and has not changed since; `unchanged: false` fails then"
            .to_owned()
    });
    Finding::of(problems, format!("`{name}` is as expected")).with(note)
}
