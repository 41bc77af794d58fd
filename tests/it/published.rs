//! Every published type, filled in wherever its schema allows it: what is written is read again as it was, is what the schema says, and
//! holds no secret.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use mcp_eval::model::{Redacted, Redaction, ScenarioResult, Trajectory};
use mcp_eval::published::{history, result, trajectory};
use mcp_eval::redact::{Redactor, Secrets};

/// A secret that is declared, and looks like none.
const CANARY: &str = "qTr81-Zk29vMn4-Xw7";

/// Values that a schema accepts, with the canary in every text; where there is a choice, the one of its turn.
struct Sampler {
    schema: Value,
    turn: usize,
}

impl Sampler {
    /// Enough for every branch of every choice.
    const TURNS: usize = 40;

    /// A sample for each turn.
    fn all(schema: &Value, part: Option<&str>) -> Vec<Value> {
        let turns = (0..Self::TURNS).map(|turn| {
            let sampler = Self {
                schema: schema.clone(),
                turn,
            };
            match part {
                Some(name) => sampler.of(&json!({ "$ref": format!("#/$defs/{name}") }), 0),
                None => sampler.of(schema, 0),
            }
        });
        turns.collect()
    }

    fn of(&self, schema: &Value, depth: usize) -> Value {
        if let Some(name) = schema["$ref"].as_str() {
            let found = self.schema.pointer(name.trim_start_matches('#'));
            return self.beside(schema, self.of(found.unwrap(), depth + 1), depth);
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        for choice in ["enum", "oneOf", "anyOf"] {
            let Some(choices) = schema[choice].as_array() else {
                continue;
            };
            let mut choices = choices.iter().filter(|it| it["type"] != "null");
            let count = choices.clone().count();
            // What is chosen further in is another one in the second round.
            let at = (self.turn + self.turn / 20 * depth) % count;
            let chosen = choices.nth(at).unwrap();
            let value = if choice == "enum" {
                chosen.clone()
            } else if depth > 60 {
                Value::Null
            } else {
                self.of(chosen, depth + 1)
            };
            return self.beside(schema, value, depth);
        }
        let types = &schema["type"];
        let types: Vec<&str> = match types {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        match types.first().copied() {
            Some("object") => Value::Object(self.members(schema, depth)),
            // One of each kind, as many as there have to be.
            Some("array") => {
                let each = self.kinds(&schema["items"]);
                let least = schema["minItems"].as_u64().unwrap_or(1);
                let count = each.len().max(usize::try_from(least).unwrap());
                let items = each.iter().cycle().take(count);
                items.map(|it| self.of(it, depth + 1)).collect()
            }
            Some("string") if schema["format"] == "date-time" => json!("2026-03-04T05:06:07Z"),
            Some("string") => json!(CANARY),
            Some("integer") => json!(1),
            Some("number") => json!(0.5),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            // Anything at all.
            _ => json!({ "said": CANARY, "all": [CANARY, 1.25, null] }),
        }
    }

    /// The value with the members that stand beside a reference or a choice.
    fn beside(&self, schema: &Value, mut value: Value, depth: usize) -> Value {
        if let (Some(value), Some(_)) = (value.as_object_mut(), schema.get("properties")) {
            value.extend(self.members(schema, depth));
        }
        value
    }

    /// What an item of a list may be.
    fn kinds<'s>(&'s self, items: &'s Value) -> Vec<&'s Value> {
        let name = items["$ref"].as_str();
        let named = name.and_then(|it| self.schema.pointer(it.trim_start_matches('#')));
        match named.unwrap_or(items)["oneOf"].as_array() {
            Some(kinds) => kinds.iter().collect(),
            None => vec![items],
        }
    }

    fn members(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let known = schema["properties"].as_object().into_iter().flatten();
        let mut members: Map<String, Value> = known
            .map(|(key, it)| match (key.as_str(), self.of(it, depth + 1)) {
                // It leads into an answer.
                ("path", Value::String(to)) => {
                    (key.clone(), format!("/structuredContent/{to}").into())
                }
                (_, value) => (key.clone(), value),
            })
            .collect();
        if let Some(others) = schema
            .get("additionalProperties")
            .filter(|it| **it != false)
        {
            members.insert("key".to_owned(), self.of(others, depth + 1));
        }
        members
    }
}

/// The places of texts that hold the canary, indices as stars.
fn places(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, place: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::String(text) if text.contains(CANARY) => {
                found.insert(place.to_owned());
            }
            Value::Array(items) => items
                .iter()
                .for_each(|it| walk(it, &format!("{place}/*"), found)),
            Value::Object(members) => members
                .iter()
                .for_each(|(key, it)| walk(it, &format!("{place}/{key}"), found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    walk(value, "", &mut found);
    found
}

fn redactor() -> Redactor {
    let mut secrets = Secrets::default();
    secrets.declare("KEY", "", CANARY);
    Redactor::new(&secrets, &Redaction::default())
}

fn read<T: DeserializeOwned>(sample: &Value) -> T {
    T::deserialize(sample).unwrap_or_else(|error| panic!("{error}: {sample}"))
}

/// Reads samples of all turns, and what is written of them.
fn round_trip<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(schema: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    for sample in Sampler::all(schema, None) {
        let first: T = read(&sample);
        let written = serde_json::to_value(&first).unwrap();
        assert_eq!(read::<T>(&written), first);
        if let Err(error) = validator.validate(&written) {
            panic!("{error} at {}", error.instance_path());
        }
    }
}

#[test]
fn what_is_written_is_read_again_as_it_was() {
    round_trip::<result::ResultDocument>(&result::json_schema());
    round_trip::<history::HistoryDocument>(&history::json_schema());
}

/// A trajectory that holds its catalogues itself, or names them.
fn parsed(sample: &Value) -> Trajectory {
    let mut sample = sample.clone();
    sample["upstream"]["catalogue"] = sample["catalogue"].clone();
    let is_named = sample.pointer("/catalogue/0/catalogue").is_some();
    sample["format_version"] = json!(if is_named { 3 } else { 2 });
    // Only of a text of which parts vary is it said which.
    let varying = sample.pointer_mut("/learned/0/varies/0").unwrap();
    if varying["may_be"].as_str().is_some_and(|it| it != "tokens") {
        varying.as_object_mut().unwrap().remove("parts");
    }
    let schema = trajectory::json_schema();
    let catalogue = &Sampler::all(&schema, Some("ServerCatalogue"))[0];
    let catalogue = catalogue.to_string();
    let named = |_: &str| trajectory::parse_catalogue(catalogue.as_bytes());
    let text = sample.to_string();
    trajectory::parse(text.as_bytes(), &named).unwrap_or_else(|error| panic!("{error}: {sample}"))
}

#[test]
fn a_trajectory_is_read_again_as_it_was() {
    let schema = trajectory::json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for sample in Sampler::all(&schema, None) {
        let first = parsed(&sample);
        let written = trajectory::to_json(&Redacted::vouch_for(first.clone()));
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(parsed(&written), first);
        if let Err(error) = validator.validate(&written) {
            panic!("{error} at {}", error.instance_path());
        }
    }
}

#[test]
fn no_text_of_a_result_keeps_a_secret() {
    let mut left = BTreeSet::new();
    for sample in Sampler::all(&result::json_schema(), Some("Scenario")) {
        let result = ScenarioResult {
            scenario: read(&sample),
            ..ScenarioResult::default()
        };
        let clean = redactor().result(result);
        let mut scenario = serde_json::to_value(&clean.scenario).unwrap();
        // Computed of trajectories that hold none.
        for side in ["baseline", "current", "comparison"] {
            scenario[side].take();
        }
        left.extend(places(&scenario));
    }
    let ours: BTreeSet<String> = [
        // Ids, which name folders.
        "/id",
        "/row_of",
        "/cell/scenario",
        "/container_log",
        "/repeated/attempts/*/file",
        // Words of ours, and a hash.
        "/cell/settings/*/name",
        "/evaluators/*/type",
        "/evaluators/*/definition",
        // Filled in when all scenarios are known.
        "/in_words",
        "/left_to_merge",
        "/within_gate",
        "/quarantine/reason",
        "/quarantine/until",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(left, ours);
}

#[test]
fn no_text_of_a_trajectory_keeps_a_secret() {
    let mut left = BTreeSet::new();
    for sample in Sampler::all(&trajectory::json_schema(), None) {
        let clean = redactor().trajectory(parsed(&sample));
        let written = trajectory::to_json(&clean);
        left.extend(places(&serde_json::from_str(&written).unwrap()));
    }
    let ours: BTreeSet<String> = [
        "/scenario/id",
        "/scenario/hash",
        "/stamp/agent",
        "/stamp/agent_hash",
        "/stamp/agent_parts/key",
        "/stamp/image/id",
        "/stamp/mcp_eval",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(left, ours);
}
