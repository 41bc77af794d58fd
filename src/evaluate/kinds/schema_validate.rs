//! Checks of JSON by a schema.

use serde_json::Value;

use super::answers;
use crate::evaluate::finding::{Finding, STORED, not_asked};
use crate::evaluate::subject::{LeftFile, Subject};
use crate::evaluate::tools::call_name;
use crate::json;
use crate::json_schema::{JsonSchema, MOST};
use crate::model::placeholder;
use crate::model::{EvaluationStatus, Outcome, Trajectory};
use crate::scenario_file::evaluators::{AnswerOf, FilePlace, SchemaSource, SchemaValidate};

pub(in crate::evaluate) fn look(it: &SchemaValidate, subject: Subject<'_>) -> Finding {
    let schema = match JsonSchema::new(&it.schema) {
        Ok(schema) => schema,
        Err(why) => return Finding::error(format!("the schema {why}")),
    };
    let run = subject.trajectory;
    let found = match &it.source {
        SchemaSource::Answer(of) => of_answers(&schema, of, run, false),
        SchemaSource::Structured(of) => of_answers(&schema, of, run, true),
        SchemaSource::FinalText => match answers::of(run) {
            Err(why) => Finding::skipped(why),
            Ok(text) => match answers::document(text) {
                None => Finding::failed("there is no JSON in the agent's last words"),
                Some(document) => {
                    let problems = problems(&schema, &document, "final_text");
                    Finding::of(problems, "final_text is valid")
                }
            },
        },
        SchemaSource::File(_) => Finding::gone(STORED),
    };
    // A placeholder does not show whether the value that was there is valid.
    let asks_of_hidden = found.status == EvaluationStatus::Failed && subject.hides_secrets();
    if asks_of_hidden && looks_at_placeholder(&it.source, run) {
        return Finding::hidden();
    }
    found
}

/// Whether a secret was taken out of what is looked at.
fn looks_at_placeholder(source: &SchemaSource, run: &Trajectory) -> bool {
    match source {
        SchemaSource::Answer(of) | SchemaSource::Structured(of) => {
            let selected = answers::selected(run, of);
            selected
                .iter()
                .any(|it| answers::holds_placeholder(&it.1.outcome))
        }
        SchemaSource::FinalText => answers::of(run).is_ok_and(placeholder::holds),
        SchemaSource::File(_) => false,
    }
}

/// Looks at a file by the schema as it is `written`, and tells of it by what is shown of both.
pub(in crate::evaluate) async fn look_at_file(
    file: &FilePlace,
    (it, written): (&SchemaValidate, &SchemaValidate),
    subject: Subject<'_>,
) -> Finding {
    let Some(around) = subject.around else {
        return Finding::gone(STORED);
    };
    let judged = |it: &SchemaValidate, left: &LeftFile| match JsonSchema::new(&it.schema) {
        Ok(schema) => of_text(&schema, left.text.as_deref(), &file.written),
        Err(why) => Finding::error(format!("the schema {why}")),
    };
    match around.file(file).await {
        Err(unasked) => not_asked(unasked),
        Ok(left) => judged(written, &left.said).worded_as(judged(it, &left.shown)),
    }
}

/// Whether the JSON of a file is valid.
pub(super) fn of_text(schema: &JsonSchema, text: Option<&str>, name: &str) -> Finding {
    let Some(text) = text else {
        return Finding::failed(format!("there is no file `{name}`"));
    };
    match json::read::<Value>(text.as_bytes()) {
        Err(error) => Finding::failed(format!("`{name}` is not JSON: {error}")),
        Ok(document) => {
            let problems = problems(schema, &document, &format!("`{name}`"));
            Finding::of(problems, format!("`{name}` is valid"))
        }
    }
}

fn of_answers(
    schema: &JsonSchema,
    of: &AnswerOf,
    run: &Trajectory,
    structured_alone: bool,
) -> Finding {
    let selected = answers::selected(run, of);
    if selected.is_empty() {
        return Finding::failed(format!("there is no answer{}", of.words()));
    }
    let count = selected.len();
    let mut found = Vec::new();
    for call in selected {
        let name = format!("the answer to {}", call_name(call));
        if let Some(failure) = answers::failure(call.1) {
            found.push(format!("{} {failure}", call_name(call)));
            continue;
        }
        let structured = match &call.1.outcome {
            Outcome::Answer(answer) => answer.structured_content.clone(),
            Outcome::Failure(_) => None,
        };
        let document = structured.or_else(|| {
            let documents = answers::documents(&call.1.outcome);
            documents.into_iter().next().filter(|_| !structured_alone)
        });
        match document {
            Some(document) => found.extend(problems(schema, &document, &name)),
            None if structured_alone => found.push(format!("{name} has no structured content")),
            None => found.push(format!("{name} is not JSON")),
        }
    }
    let answers = if count == 1 {
        "answer is"
    } else {
        "answers are"
    };
    Finding::of(found, format!("{count} {answers} valid"))
}

/// What breaks the schema, each with its place.
fn problems(schema: &JsonSchema, document: &Value, name: &str) -> Vec<String> {
    let broken = schema.violations(document);
    let mut problems: Vec<String> = broken
        .map(|it| {
            let place = if it.path.is_empty() {
                String::new()
            } else {
                format!(" at {}", it.path)
            };
            format!("{name}{place}: {}", it.what)
        })
        .collect();
    if problems.len() > MOST {
        problems.truncate(MOST);
        problems.push(format!("{name}: and more"));
    }
    problems
}
