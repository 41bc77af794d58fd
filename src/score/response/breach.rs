//! Answers that break their tool's own `outputSchema`, or hold a secret that the recorded ones did not.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::text::excerpt;
use model::placeholder::{self, placeholders};
use model::{Answer, Catalogue, Difference, Edit, Outcome, Step, ToolCall, Trajectory};
use model::{digits, texts};

/// Marks every answer whose structured content breaks its tool's output schema, so that it counts as an error.
///
/// The content is not changed. A tool that declares an output schema must send structured content unless it
/// reports an error. A schema that cannot be used – one that is invalid, or refers to other documents, which are never
/// fetched – breaks nothing.
pub fn mark_breaches(trajectory: &mut Trajectory) {
    let mut schemas = Schemas::new(&trajectory.catalogue);
    for step in &mut trajectory.steps {
        let Step::ToolCall(call) = step else { continue };
        let breach = schemas.breach(call);
        if let (Outcome::Answer(answer), Some(breach)) = (&mut call.outcome, breach) {
            answer.breach = Some(breach);
        }
    }
}

/// The output schemas of a catalogue, each compiled when first needed.
pub(crate) struct Schemas<'a> {
    catalogue: &'a Catalogue,
    compiled: HashMap<(String, String), Option<Validator>>,
}

impl<'a> Schemas<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue) -> Self {
        Self {
            catalogue,
            compiled: HashMap::new(),
        }
    }

    /// How the answer to a call breaks its tool's output schema, in words.
    pub(crate) fn breach(&mut self, call: &ToolCall) -> Option<String> {
        let (Outcome::Answer(answer), Some(server)) = (&call.outcome, &call.server) else {
            return None;
        };
        if answer.is_error {
            return None;
        }
        if let Some(known) = &answer.breach {
            return Some(known.clone());
        }
        let schema = self.catalogue.tool(server, &call.tool)?.output_schema()?;
        let validator = self
            .compiled
            .entry((server.clone(), call.tool.clone()))
            .or_insert_with(|| compile(schema))
            .as_ref()?;
        check(validator, answer)
    }
}

/// The breach an answer was marked with when it was recorded.
pub(crate) fn marked(call: &ToolCall) -> Option<String> {
    match &call.outcome {
        Outcome::Answer(answer) => answer.breach.clone(),
        Outcome::Failure(_) => None,
    }
}

fn compile(schema: &Value) -> Option<Validator> {
    jsonschema::options()
        // Only linear-time patterns, because a schema comes from a server under test and may be hostile.
        .with_pattern_options(PatternOptions::regex())
        .offline()
        .build(schema)
        .ok()
}

fn check(validator: &Validator, answer: &Answer) -> Option<String> {
    let Some(content) = &answer.structured_content else {
        return Some(
            "invalid structured content: missing, though the tool has an output schema".to_owned(),
        );
    };
    // A placeholder for a secret does not show whether the value that the server sent was valid.
    let mut content = Cow::Borrowed(content);
    if !answer.digits.is_empty() {
        digits::take(content.to_mut());
    }
    let error = validator
        .iter_errors(&content)
        .find(|it| !it.instance().as_str().is_some_and(placeholder::holds))?;
    let path = error.instance_path().to_string();
    let at = if path.is_empty() { "/" } else { &path };
    let what = excerpt::shorten(&error.to_string());
    Some(format!("invalid structured content at {at}: {what}"))
}

/// The secrets of names of which the recorded answer held fewer, by their places, but for those that the `known` differences show.
pub(crate) fn news(b: &Outcome, c: &Outcome, known: &[Difference]) -> Vec<Difference> {
    let now = found(c);
    if now.is_empty() {
        return Vec::new();
    }
    let was = found(b);
    // Placeholders of version 1 have no names.
    if was.contains_key("") {
        return Vec::new();
    }
    let of_name = |found: &Found, name: &str| found.get(name).map_or(0, BTreeMap::len);
    let more = now
        .iter()
        .filter(|(name, places)| places.len() > of_name(&was, name));
    let mut by_place: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for (name, places) in more {
        for (secret, path) in places.iter().skip(of_name(&was, name)) {
            let mut shown = known.iter().filter_map(|it| it.got.as_ref());
            if !shown.any(|it| it.contains(secret)) {
                by_place.entry(path).or_default().push(secret);
            }
        }
    }
    let differences = by_place.into_iter().map(|(path, secrets)| Difference {
        got: Some(secrets.join(", ")),
        ..Difference::shown(path.clone(), Edit::NewSecret)
    });
    differences.collect()
}

/// The places of placeholders, by their names; each placeholder once.
type Found = BTreeMap<String, BTreeMap<String, String>>;

fn found(outcome: &Outcome) -> Found {
    let mut found = Found::new();
    let mut look = |path: &str, text: &str| {
        for it in placeholders(text) {
            let of_name = found.entry(it.name.unwrap_or_default().to_owned());
            let places = of_name.or_default();
            let secret = text[it.at].to_owned();
            places.entry(secret).or_insert_with(|| path.to_owned());
        }
    };
    match outcome {
        Outcome::Failure(failure) => look("", &failure.message),
        Outcome::Answer(answer) => {
            for (index, block) in answer.content.iter().enumerate() {
                let path = format!("/content/{index}");
                texts::each(block, &mut |text| look(&path, text));
            }
            let structured = answer.structured_content.iter();
            for it in structured {
                texts::each(it, &mut |text| look("/structuredContent", text));
            }
        }
    }
    found
}
