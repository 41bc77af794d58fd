//! The JSON Schema of scenario files, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::document::Document;

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
