//! The JSON Schemas of scenario files, and of files of mock servers, for editors.

use schemars::JsonSchema as _;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::document::Document;
use crate::scenario_file::mock::server::{MockSection, SERVER_LISTS};

/// The JSON Schema (draft 2020-12) of a scenario file, made from the types it is read into.
///
/// It says what can be said without looking at two places at once; the loader finds more.
pub fn json_schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), "mcp-eval scenario".into());
    schema.to_value()
}

/// The JSON Schema (draft 2020-12) of a file that `mcp-eval mock` serves. The keys of a file show which of its forms it has, in this
/// order: a scenario, or a part of one, with `mcp_interactions` or `llm_interactions`; a single server; servers by name.
pub fn mock_json_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let scenario = generator.subschema_for::<Document>();
    let server = generator.subschema_for::<MockSection>();
    let mut definitions = generator.take_definitions(true);
    // A file that holds nothing but mock servers has no name, and nobody who asks.
    if let Some(document) = definitions.get_mut(&*Document::schema_name()) {
        let document = document.as_object_mut();
        document.map(|it| it.remove("required"));
    }
    let has = |keys: &[&str]| {
        let any: Vec<Value> = keys.iter().map(|it| json!({ "required": [it] })).collect();
        json!({ "anyOf": any })
    };
    let has_list = |keys: &[&str]| {
        let any = keys
            .iter()
            .map(|it| json!({ "required": [it], "properties": { *it: { "type": "array" } } }));
        json!({ "anyOf": any.collect::<Vec<_>>() })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-eval mock servers",
        "type": "object",
        "if": has(&["mcp_interactions", "llm_interactions"]),
        "then": scenario,
        "else": {
            "if": has_list(&SERVER_LISTS),
            "then": server,
            "else": { "additionalProperties": server, "minProperties": 1 },
        },
        "$defs": definitions,
    })
}
