//! Choosing the prepared response to a request, and the tools of a mock server with the arguments they take.

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use regex::Regex;
use serde_json::Value;

use crate::mock::state::State;
use crate::mock::template::Scope;
use crate::model::Object;
use crate::scenario_file::mock::{
    ArgumentCondition, MockResponse, MockTool, OnExhausted, Reference,
};

/// The prepared responses of a tool or method, and how often each has answered.
#[derive(Debug)]
pub(super) struct Answers {
    prepared: Vec<Prepared>,
    on_exhausted: OnExhausted,
}

#[derive(Debug)]
struct Prepared {
    response: Arc<MockResponse>,
    matches: Vec<(String, Condition)>,
    when: Vec<(Reference, Condition)>,
    answered: u32,
}

#[derive(Debug)]
pub(super) enum Condition {
    Equals(Value),
    Contains(String),
    Regex(Regex),
    Any,
    Absent,
}

/// What answers a request.
#[derive(Debug)]
pub(super) enum Choice {
    /// The response with this number, counted from 1.
    Response(usize, Arc<MockResponse>),
    /// The answer of a tool without responses.
    Default,
    /// All responses that would fit are used up.
    Exhausted,
    /// No response fits.
    Unmatched,
}

impl Answers {
    /// # Errors
    ///
    /// A sentence when a regular expression is invalid.
    pub(super) fn new(
        responses: &[MockResponse],
        on_exhausted: OnExhausted,
    ) -> Result<Self, String> {
        let prepared = responses.iter().map(Prepared::new);
        Ok(Self {
            prepared: prepared.collect::<Result<_, _>>()?,
            on_exhausted,
        })
    }

    /// The first response that fits and is not used up.
    pub(super) fn choose(
        &mut self,
        arguments: &Object,
        scope: &mut Scope,
        state: &mut State,
    ) -> Choice {
        if self.prepared.is_empty() {
            return Choice::Default;
        }
        let mut last_fitting = None;
        for (index, prepared) in self.prepared.iter_mut().enumerate() {
            if !prepared.fits(arguments, scope, state) {
                continue;
            }
            if prepared
                .response
                .times
                .is_none_or(|times| prepared.answered < times)
            {
                prepared.answered = prepared.answered.saturating_add(1);
                return Choice::Response(index + 1, Arc::clone(&prepared.response));
            }
            last_fitting = Some((index + 1, Arc::clone(&prepared.response)));
        }
        match (self.on_exhausted, last_fitting) {
            (OnExhausted::Default, _) => Choice::Default,
            (OnExhausted::RepeatLast, Some((number, last))) => Choice::Response(number, last),
            (OnExhausted::Error, Some(_)) => Choice::Exhausted,
            (_, None) => Choice::Unmatched,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.prepared.len()
    }

    /// Makes all responses available again.
    pub(super) fn reset(&mut self) {
        for prepared in &mut self.prepared {
            prepared.answered = 0;
        }
    }
}

impl Prepared {
    fn new(response: &MockResponse) -> Result<Self, String> {
        let matches = response.matches.iter();
        let when = response.when.iter();
        Ok(Self {
            matches: matches
                .map(|(name, it)| Ok((name.clone(), Condition::new(it)?)))
                .collect::<Result<_, String>>()?,
            when: when
                .map(|(place, it)| Ok((place.clone(), Condition::new(it)?)))
                .collect::<Result<_, String>>()?,
            response: Arc::new(response.clone()),
            answered: 0,
        })
    }

    fn fits(&self, arguments: &Object, scope: &mut Scope, state: &mut State) -> bool {
        if let Some(expected) = &self.response.arguments
            && !same_members(expected, arguments)
        {
            return false;
        }
        let named = |(name, condition): &(String, Condition)| condition.holds(arguments.get(name));
        self.matches.iter().all(named)
            && self.when.iter().all(|(place, condition)| {
                let path = scope.names(place, state);
                condition.holds(state.get(&path))
            })
    }
}

impl Condition {
    pub(super) fn new(declared: &ArgumentCondition) -> Result<Self, String> {
        Ok(match declared {
            ArgumentCondition::Equals(value) => Self::Equals(value.clone()),
            ArgumentCondition::Contains(part) => Self::Contains(part.clone()),
            ArgumentCondition::Regex(pattern) => {
                Self::Regex(Regex::new(pattern).map_err(|error| error.to_string())?)
            }
            ArgumentCondition::Any => Self::Any,
            ArgumentCondition::Absent => Self::Absent,
        })
    }

    pub(super) fn holds(&self, value: Option<&Value>) -> bool {
        let text = value.and_then(Value::as_str);
        match self {
            Self::Equals(expected) => value.is_some_and(|it| same(it, expected)),
            Self::Contains(part) => text.is_some_and(|it| it.contains(part.as_str())),
            Self::Regex(pattern) => text.is_some_and(|it| pattern.is_match(it)),
            Self::Any => value.is_some(),
            Self::Absent => value.is_none(),
        }
    }
}

/// Equality in which a number is the same however it is written: `1` and `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => same_members(a, b),
        _ => a == b,
    }
}

fn same_members(a: &Object, b: &Object) -> bool {
    a.len() == b.len()
        && a.iter()
            .all(|(name, it)| b.get(name).is_some_and(|other| same(it, other)))
}

/// The most tools a server has.
pub const MAX_TOOLS: usize = 1000;

/// How many violations of a schema an error lists.
const MAX_VIOLATIONS: usize = 5;

/// The tools by the order they are listed in.
#[derive(Debug, Default)]
pub(super) struct Tools {
    entries: Vec<Entry>,
}

/// A tool and what it has answered.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) tool: MockTool,
    pub(super) answers: Answers,
    hidden: bool,
    /// Made from the input schema when the first call is checked.
    validator: Option<Result<Validator, String>>,
}

impl Tools {
    /// # Errors
    ///
    /// A sentence about the first tool that cannot be served.
    pub(super) fn new(declared: &[MockTool]) -> Result<Self, String> {
        let mut tools = Self::default();
        for tool in declared {
            if tools.position(&tool.name).is_some() {
                return Err(format!("the tool `{}` is declared twice", tool.name));
            }
            tools.put(tool.clone())?;
        }
        Ok(tools)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|it| it.tool.name == name)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Adds a tool, or replaces the one of the same name.
    ///
    /// # Errors
    ///
    /// A sentence when there are too many tools, or an invalid regular expression.
    pub(super) fn put(&mut self, tool: MockTool) -> Result<(), String> {
        let answers = Answers::new(&tool.responses, tool.on_exhausted)
            .map_err(|problem| format!("tool `{}`: {problem}", tool.name))?;
        let index = self.position(&tool.name);
        if index.is_none() && self.entries.len() >= MAX_TOOLS {
            return Err(format!("a mock server has at most {MAX_TOOLS} tools"));
        }
        let entry = Entry {
            hidden: tool.hidden,
            answers,
            tool,
            validator: None,
        };
        match index {
            Some(index) => self.entries[index] = entry,
            None => self.entries.push(entry),
        }
        Ok(())
    }

    /// Removes a tool; false when there is none of the name.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let index = self.position(name);
        if let Some(index) = index {
            self.entries.remove(index);
        }
        index.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Hides or shows tools; whether that changed the list.
    pub(super) fn hide(&mut self, names: &[String], hidden: bool) -> bool {
        let mut changed = false;
        for entry in &mut self.entries {
            if names.contains(&entry.tool.name) && entry.hidden != hidden {
                entry.hidden = hidden;
                changed = true;
            }
        }
        changed
    }

    /// As `tools/list` serves them.
    pub(super) fn listed(&self) -> Vec<Object> {
        let listed = self.entries.iter().filter(|it| !it.hidden);
        listed.map(|it| it.tool.served.clone()).collect()
    }

    /// Makes all responses available again, and hides declared tools as at the start; tells whether that changed the list.
    pub(super) fn reset(&mut self) -> bool {
        let mut changed = false;
        for entry in &mut self.entries {
            entry.answers.reset();
            changed |= entry.hidden != entry.tool.hidden;
            entry.hidden = entry.tool.hidden;
        }
        changed
    }

    /// The tool of this name. Of a recording, also one that was not listed, because calls of it were answered, too.
    pub(super) fn find(&mut self, name: &str) -> Option<&mut Entry> {
        self.entries
            .iter_mut()
            .find(|it| it.tool.name == name && (!it.hidden || it.tool.recorded.is_some()))
    }
}

impl Entry {
    /// What is wrong with arguments, by the input schema.
    pub(super) fn violations(&mut self, arguments: &Object) -> Option<String> {
        let schema = self.tool.input_schema()?;
        let validator = self.validator.get_or_insert_with(|| {
            jsonschema::options()
                .with_pattern_options(PatternOptions::regex())
                .build(schema)
                .map_err(|error| format!("the input schema is not a JSON Schema: {error}"))
        });
        let validator = match validator {
            Ok(validator) => validator,
            Err(problem) => return Some(problem.clone()),
        };
        let arguments = Value::Object(arguments.clone());
        let found: Vec<String> = validator
            .iter_errors(&arguments)
            .take(MAX_VIOLATIONS)
            .map(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        (!found.is_empty()).then(|| found.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::mock::answers::{Answers, Choice};
    use crate::mock::state::State;
    use crate::mock::template::Scope;
    use crate::scenario_file::mock::ArgumentCondition as Is;
    use crate::scenario_file::mock::MockResponse;
    use crate::scenario_file::mock::OnExhausted;
    use crate::scenario_file::mock::Reference;

    fn on(matches: &[(&str, Is)], times: Option<u32>) -> MockResponse {
        let matches = matches.iter();
        MockResponse {
            matches: matches
                .map(|(name, it)| ((*name).to_owned(), it.clone()))
                .collect(),
            times,
            ..MockResponse::default()
        }
    }

    /// The number of the response that answers; 0 for the default answer, -1 when used up, -2 when none fits.
    fn choose(answers: &mut Answers, arguments: &Value, state: &mut State) -> i64 {
        let arguments = arguments.as_object().unwrap();
        match answers.choose(arguments, &mut Scope::new(), state) {
            Choice::Response(number, _) => i64::try_from(number).unwrap(),
            Choice::Default => 0,
            Choice::Exhausted => -1,
            Choice::Unmatched => -2,
        }
    }

    #[test]
    fn the_first_response_that_fits_and_is_not_used_up_answers() {
        let responses = [
            on(&[("q", Is::Equals(json!("a")))], Some(1)),
            on(&[("q", Is::Contains("a".to_owned()))], None),
            on(&[("q", Is::Regex("^b+$".to_owned()))], None),
            on(&[("any", Is::Any), ("q", Is::Absent)], None),
            on(&[("n", Is::Equals(json!({ "x": [1.0] })))], None),
        ];
        let mut answers = Answers::new(&responses, OnExhausted::Error).unwrap();
        let cases = [
            (json!({ "q": "a" }), 1),
            (json!({ "q": "a" }), 2),
            (json!({ "q": "bb" }), 3),
            (json!({ "q": "bbc" }), -2),
            (json!({ "any": null }), 4),
            (json!({ "any": null, "q": 1 }), -2),
            (json!({ "n": { "x": [1] } }), 5),
            (json!({ "n": { "x": [2] } }), -2),
            (json!({}), -2),
        ];
        for (arguments, expected) in cases {
            let chosen = choose(&mut answers, &arguments, &mut State::default());
            assert_eq!(chosen, expected, "{arguments}");
        }
        answers.reset();
        assert_eq!(
            choose(&mut answers, &json!({ "q": "a" }), &mut State::default()),
            1
        );
    }

    #[test]
    fn what_follows_the_last_response_is_declared() {
        let cases = [
            (OnExhausted::Error, [1, -1, -2]),
            (OnExhausted::RepeatLast, [1, 1, -2]),
            (OnExhausted::Default, [1, 0, 0]),
        ];
        for (on_exhausted, expected) in cases {
            let responses = [on(&[("q", Is::Any)], Some(1))];
            let mut answers = Answers::new(&responses, on_exhausted).unwrap();
            let calls = [json!({ "q": 1 }), json!({ "q": 1 }), json!({})];
            let chosen = calls.map(|it| choose(&mut answers, &it, &mut State::default()));
            assert_eq!(chosen, expected, "{on_exhausted:?}");
        }
    }

    #[test]
    fn conditions_on_the_state_count() {
        let when = |condition| MockResponse {
            when: vec![(Reference::state("things.x").unwrap(), condition)],
            ..MockResponse::default()
        };
        let responses = [when(Is::Equals(json!(1))), when(Is::Any), when(Is::Absent)];
        let mut answers = Answers::new(&responses, OnExhausted::Error).unwrap();
        let mut state = State::default();
        let path = ["things".to_owned(), "x".to_owned()];
        assert_eq!(choose(&mut answers, &json!({}), &mut state), 3);
        state.set(&path, json!(1));
        assert_eq!(choose(&mut answers, &json!({}), &mut state), 1);
        state.set(&path, json!(2));
        assert_eq!(choose(&mut answers, &json!({}), &mut state), 2);
    }
}
