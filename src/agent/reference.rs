//! Resolving a script's references to earlier answers.
//!
//! `calls.N` is the N-th call of the script, counted from 0. `json:` takes a JSON Pointer (RFC 6901) into the answer's structured
//! content, or into its text where that is JSON; what a server wraps as `{"result": …}`, as JSON or as a text that is JSON, is looked into as
//! well. `text:` takes a regular expression; the value is its first group, or else all it matches. An argument that is one reference and
//! nothing else takes the value with its type; inside a longer text it is written out. What a variable's value says is a text, whatever it
//! looks like.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use regex::Regex;
use serde_json::Value;

use crate::digits;
use crate::model::texts;
use crate::model::{Answer, Object, Outcome, Part, Reference, Trajectory};
use crate::scenario_file::agent::{FilledText, ScriptedCall};
use crate::text::beginning;

/// The answers of a run, into which references lead.
#[derive(Debug, Default)]
pub struct Answers<'a> {
    /// By the calls, in order; where there is nothing to refer to, what became of the call.
    calls: Vec<Result<Answered<'a>, String>>,
}

#[derive(Debug)]
struct Answered<'a> {
    answer: Cow<'a, Answer>,
    /// The JSON in it, read when the first reference needs it.
    documents: OnceCell<Vec<Value>>,
}

impl<'a> Answers<'a> {
    /// Those of a run that has ended. Without a script, all calls that failed were meant to.
    pub fn of(trajectory: &'a Trajectory, script: Option<&[ScriptedCall]>) -> Self {
        let mut answers = Self::default();
        for (index, call) in trajectory.calls().enumerate() {
            let may_fail = script.is_none_or(|it| it.get(index).is_some_and(|it| it.is_error));
            answers.push(Cow::Borrowed(&call.outcome), may_fail);
        }
        answers
    }

    /// Adds what the next call was answered. What a tool says of its failure is an answer where the call `may_fail`.
    pub(super) fn push(&mut self, outcome: Cow<'a, Outcome>, may_fail: bool) {
        let answer = match outcome {
            Cow::Borrowed(Outcome::Answer(answer)) => Cow::Borrowed(answer),
            Cow::Owned(Outcome::Answer(answer)) => Cow::Owned(answer),
            Cow::Borrowed(Outcome::Failure(_)) | Cow::Owned(Outcome::Failure(_)) => {
                return self.calls.push(Err("got no answer".to_owned()));
            }
        };
        self.calls.push(if answer.is_error && !may_fail {
            Err(format!("failed unexpectedly: {}", excerpt(&answer.text())))
        } else {
            let documents = OnceCell::new();
            Ok(Answered { answer, documents })
        });
    }

    /// Fills in all references of the arguments of a call, long integers as [`digits`] marks them.
    ///
    /// # Errors
    ///
    /// A sentence naming the first reference that leads nowhere.
    pub(super) fn fill(&self, arguments: &mut Value, filled: &[FilledText]) -> Result<(), String> {
        fill_at(arguments, &mut String::new(), filled, self)
    }

    /// Fills in the references of expected arguments; those that lead nowhere stay as they are. Returns whether all of them lead somewhere.
    pub fn fill_references(&self, arguments: &mut Object, of_variables: &[FilledText]) -> bool {
        let mut all = true;
        for (name, argument) in arguments.iter_mut() {
            let mut filled = argument.clone();
            let mut at = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            if fill_at(&mut filled, &mut at, of_variables, self).is_ok() {
                digits::take(&mut filled);
                *argument = filled;
            } else {
                all = false;
            }
        }
        all
    }
}

impl Answered<'_> {
    /// The documents that a pointer is looked for in, in this order.
    fn documents(&self) -> &[Value] {
        self.documents.get_or_init(|| {
            let structured = self.answer.structured_content.as_ref();
            let structured = structured.map(|it| digits::filled(it, &self.answer.digits));
            let structured = structured.map(Cow::into_owned);
            let text = digits::parse(&self.answer.text()).ok();
            let mut documents = Vec::new();
            for it in structured.into_iter().chain(text) {
                let inner = wrapped(&it);
                documents.push(it);
                documents.extend(inner);
            }
            documents
        })
    }
}

/// What `FastMCP` wraps because a tool returns no object: `{"result": [1]}`, `{"result": "[1]"}`.
fn wrapped(document: &Value) -> Option<Value> {
    let members = document.as_object().filter(|it| it.len() == 1)?;
    match members.get("result")? {
        Value::String(text) => digits::parse(text).ok(),
        result => Some(result.clone()),
    }
}

/// The same for a value at this place in the arguments.
fn fill_at(
    value: &mut Value,
    at: &mut String,
    filled: &[FilledText],
    answers: &Answers<'_>,
) -> Result<(), String> {
    let mut step = |name: &str, value: &mut Value| {
        let length = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let done = fill_at(value, at, filled, answers);
        at.truncate(length);
        done
    };
    match value {
        Value::String(text) => {
            let of_variables = filled.iter().find(|it| it.at == *at);
            let of_variables = of_variables.map_or(&[][..], |it| &it.values);
            if let Some(filled) = fill_text(text, of_variables, answers)? {
                *value = filled;
            }
            Ok(())
        }
        Value::Array(items) => {
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(index, it)| step(&index.to_string(), it))
        }
        Value::Object(members) => members.iter_mut().try_for_each(|(name, it)| step(name, it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The numbers of the calls whose answers the references of these arguments look into, counted from 1.
pub(super) fn needed(arguments: &Object) -> Vec<usize> {
    let mut needed = Vec::new();
    for argument in arguments.values() {
        texts::each(argument, &mut |text| {
            let references = Reference::all(text, &[]).into_iter();
            needed.extend(references.map(|(_, it)| it.call + 1));
        });
    }
    needed
}

fn fill_text(
    text: &str,
    of_variables: &[Range<usize>],
    answers: &Answers<'_>,
) -> Result<Option<Value>, String> {
    let references = Reference::all(text, of_variables);
    let Some((_, first)) = references.first() else {
        return Ok(None);
    };
    if first.whole.len() == text.len() {
        return look_up(first, answers).map(Some);
    }
    let mut filled = String::new();
    let mut rest = 0;
    for (start, reference) in &references {
        filled.push_str(&text[rest..*start]);
        let value = look_up(reference, answers)?;
        filled.push_str(&match &value {
            Value::String(text) => digits::of(&value).unwrap_or(text).to_owned(),
            other => digits::unmarked(&other.to_string()).into_owned(),
        });
        rest = start + reference.whole.len();
    }
    filled.push_str(&text[rest..]);
    Ok(Some(Value::String(filled)))
}

fn look_up(reference: &Reference<'_>, answers: &Answers<'_>) -> Result<Value, String> {
    let whole = reference.whole;
    let call = answers.calls.get(reference.call).ok_or_else(|| {
        format!("{whole} refers to a call that has not been made yet (calls are counted from 0)")
    })?;
    let answered = call
        .as_ref()
        .map_err(|became| format!("{whole} refers to a call that {became}"))?;
    let pointer = match &reference.part {
        Part::Text => return Ok(Value::String(answered.answer.text())),
        Part::Found(pattern) => return found_in(&answered.answer.text(), pattern, whole),
        Part::Json(pointer) => pointer,
    };
    let documents = answered.documents();
    let Some(first) = documents.first() else {
        let text = answered.answer.text();
        return Err(format!(
            "{whole} refers to an answer that is not JSON: {}",
            excerpt(&text)
        ));
    };
    let mut found = documents.iter().filter_map(|it| it.pointer(pointer));
    found.next().cloned().ok_or_else(|| {
        let shown = first.to_string();
        format!(
            "{whole} finds nothing in the answer {}",
            excerpt(&digits::unmarked(&shown))
        )
    })
}

/// What a pattern finds in the text of an answer: its first group, or without one, all of it.
fn found_in(text: &str, pattern: &Regex, whole: &str) -> Result<Value, String> {
    let found = pattern
        .captures(text)
        .ok_or_else(|| format!("{whole} finds nothing in the answer {}", excerpt(text)))?;
    let found = found.get(1).or(found.get(0));
    Ok(Value::from(found.map_or("", |it| it.as_str())))
}

fn excerpt(text: &str) -> String {
    format!("`{}`", beginning(text, 120))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use std::borrow::Cow;

    use super::Answers;
    use crate::model::{Answer, FailureKind, Outcome};
    use crate::scenario_file::agent::FilledText;

    fn answers(answers: impl IntoIterator<Item = Option<Answer>>) -> Answers<'static> {
        let mut all = Answers::default();
        for it in answers {
            let outcome = it.map_or_else(
                || Outcome::failed(FailureKind::Timeout, ""),
                Outcome::Answer,
            );
            all.push(Cow::Owned(outcome), false);
        }
        all
    }

    #[test]
    fn values_of_variables_are_no_references() {
        let answers = answers([Some(Answer {
            content: vec![json!({ "type": "text", "text": "said" })],
            ..Answer::default()
        })]);
        let text = "{{calls.0.text}}{{calls.0.text}}-{{calls.0.text}}";
        let one = |values| {
            let at = "/a~1b/0".to_owned();
            let mut value = json!({ "a/b": [text], "other": text });
            answers
                .fill(&mut value, &[FilledText { at, values }])
                .unwrap();
            assert_eq!(value["other"], "saidsaid-said");
            value["a/b"][0].as_str().unwrap().to_owned()
        };
        assert_eq!(
            one(vec![0..16, 33..49]),
            "{{calls.0.text}}said-{{calls.0.text}}"
        );
        assert_eq!(
            one(vec![16..32, 33..49]),
            "said{{calls.0.text}}-{{calls.0.text}}"
        );
        assert_eq!(one(std::iter::once(0..49).collect()), text);
    }

    #[test]
    fn references_are_filled_in() {
        let text = |text: &str| Answer {
            content: vec![json!({ "type": "text", "text": text })],
            ..Answer::default()
        };
        let long = "1000000000000000000001";
        let structured = |content| Answer {
            structured_content: Some(content),
            ..Answer::default()
        };
        let answers = answers([
            Some(text(r#"{"id": 7, "tags": ["a/b"]}"#)),
            Some(text("plain")),
            None,
            Some(Answer {
                structured_content: Some(json!({ "id": "s" })),
                ..text(r#"{"id": "t", "more": 1}"#)
            }),
            Some(structured(json!({ "result": "{\"id\": 8}" }))),
            Some(structured(json!({ "result": [{ "id": 9 }] }))),
            Some(text(&format!(r#"{{"id": {long}, "ids": [{long}]}}"#))),
        ]);
        let cases = [
            (json!("{{calls.0.json:/id}}"), Ok(json!(7))),
            (json!("{{ calls.0.json:/tags/0 }}"), Ok(json!("a/b"))),
            (
                json!({ "a": ["id-{{calls.0.json:/id}}-{{calls.1.text}}"] }),
                Ok(json!({ "a": ["id-7-plain"] })),
            ),
            (json!("{{calls.3.json:/id}}"), Ok(json!("s"))),
            (json!("{{calls.3.json:/more}}"), Ok(json!(1))),
            (json!("{{calls.4.json:/id}}"), Ok(json!(8))),
            (json!("{{calls.4.json:/result}}"), Ok(json!("{\"id\": 8}"))),
            (json!("{{calls.5.json:/0/id}}"), Ok(json!(9))),
            (json!("{{calls.5.json:/result/0/id}}"), Ok(json!(9))),
            (
                json!("n-{{calls.6.json:/id}} {{calls.6.json:/ids}}"),
                Ok(json!(format!("n-{long} [{long}]"))),
            ),
            (json!("{{calls.1.text:l(.)}}"), Ok(json!("a"))),
            (json!("{{calls.1.text:[il]n}}"), Ok(json!("in"))),
            (json!("{{ calls.1.text:(\\w{3})n }}"), Ok(json!("lai"))),
            (json!("{{calls.1.text:^\\w{3}}}"), Ok(json!("pla"))),
            (json!("{{calls.1.text:[^}{]{2}}}"), Ok(json!("pl"))),
            (
                json!("{\"a\":{\"b\":{{calls.0.json:/id}}}, \"c\": {{calls.0.text:\\d+}}}"),
                Ok(json!("{\"a\":{\"b\":7}, \"c\": 7}")),
            ),
            (
                json!("{{calls.0.text:\\{.*\\}}} {{calls.1.text:n{1}}}"),
                Ok(json!("{\"id\": 7, \"tags\": [\"a/b\"]} n")),
            ),
            (
                json!("{{calls.1.text:nothing}}"),
                Err("finds nothing in the answer `plain`"),
            ),
            (json!("no reference"), Ok(json!("no reference"))),
            (
                json!("{{calls.0.json:/nope}}"),
                Err("finds nothing in the answer"),
            ),
            (json!("{{calls.1.json:/id}}"), Err("is not JSON: `plain`")),
            (json!("{{calls.2.text}}"), Err("got no answer")),
            (json!("{{calls.9.text}}"), Err("has not been made yet")),
        ];
        for (mut value, expected) in cases {
            let shown = value.to_string();
            match (answers.fill(&mut value, &[]), expected) {
                (Ok(()), Ok(expected)) => assert_eq!(value, expected, "{shown}"),
                (Err(problem), Err(part)) => assert!(problem.contains(part), "{shown}: {problem}"),
                (got, expected) => panic!("{shown}: {got:?} instead of {expected:?}"),
            }
        }
    }
}
