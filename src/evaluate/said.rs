//! What was said in a run, for texts to be looked for in it.

use serde_json::Value;

use crate::model::placeholder;
use crate::model::trajectory::{Answer, FailureKind, Outcome, Step, ToolCall, Trajectory};

/// Members of a content block that are no words: its type, bytes, and what is said about it.
const NO_WORDS: [&str; 5] = ["type", "data", "blob", "annotations", "_meta"];

/// What the servers answered, what the agent said in its own words, and the full names of the tools that were called, in lower case.
///
/// The user's messages and the arguments of calls are left out, so that a script cannot meet a criterion by what it sends.
pub(super) struct Said(Vec<String>);

impl Said {
    pub(super) fn in_run(trajectory: &Trajectory) -> Self {
        let mut said = Vec::new();
        for step in &trajectory.steps {
            match step {
                Step::User { .. } => {}
                Step::Assistant { text } => said.push(text.clone()),
                Step::ToolCall(call) => of_call(call, trajectory, &mut said),
            }
        }
        Self(said.iter().map(|it| it.to_lowercase()).collect())
    }

    /// Whether a secret was taken out of it.
    pub(super) fn hides_secrets(&self) -> bool {
        self.0.iter().any(|it| placeholder::holds(it))
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        let wanted = text.to_lowercase();
        self.0.iter().any(|it| it.contains(&wanted))
    }
}

fn of_call(call: &ToolCall, trajectory: &Trajectory, said: &mut Vec<String>) {
    // Tools of the agent's own are no calls of a server.
    let Some(server) = &call.server else { return };
    let is_listed = trajectory.catalogue.tool(server, &call.tool).is_some();
    if is_listed || !call.outcome.is_failure() {
        said.push(call.full_name());
    }
    match &call.outcome {
        Outcome::Answer(answer) => of_answer(answer, said),
        // These are the server's words; the messages of other failures are ours.
        Outcome::Failure(it) if it.kind == FailureKind::Rpc => said.push(it.message.clone()),
        Outcome::Failure(_) => {}
    }
}

fn of_answer(answer: &Answer, said: &mut Vec<String>) {
    said.push(answer.text());
    let mut structured = Vec::new();
    texts_of_answer(answer, said, &mut structured);
    // Once as JSON text with its keys, and each text in it once more without JSON escapes.
    said.extend(answer.structured_content.as_ref().map(Value::to_string));
    said.extend(structured);
}

/// The texts in the content blocks of an answer, and those in its structured content.
pub(super) fn texts_of_answer(
    answer: &Answer,
    blocks: &mut Vec<String>,
    structured: &mut Vec<String>,
) {
    for block in answer.content.iter().filter_map(Value::as_object) {
        for (_, value) in block.iter().filter(|(key, _)| !is_no_words(key)) {
            texts_of(value, blocks);
        }
    }
    if let Some(content) = &answer.structured_content {
        texts_of(content, structured);
    }
}

fn is_no_words(key: &str) -> bool {
    NO_WORDS.contains(&key)
}

/// The texts in a value. They are gathered without recursion, because answers may be nested deeply.
fn texts_of(value: &Value, said: &mut Vec<String>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => said.push(text.clone()),
            Value::Array(elements) => pending.extend(elements),
            Value::Object(members) => {
                let words = members.iter().filter(|(key, _)| !is_no_words(key));
                pending.extend(words.map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
