//! Bodies of requests, read strictly: by the JSON Schema that the `OpenAPI` document has, with all that is wrong at once.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use axum::extract::{Query, Request};
use axum::http::Uri;
use parking_lot::Mutex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problem::Problem;
use super::wire::reply::Misfit;
use crate::http_server::{is_json, read_body};
use crate::json;
use crate::json_schema;

/// The longest body that is read, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// The most that is said of one body.
const MOST_FINDINGS: usize = json_schema::MOST;

/// The JSON of a request.
///
/// # Errors
///
/// When it has another type, is too long, or is no JSON.
pub(super) async fn json(request: Request) -> Result<Value, Problem> {
    let (parts, body) = request.into_parts();
    is_json(&parts.headers)?;
    let bytes = read_body(body, LONGEST).await?;
    json::read_distinct(&bytes)
        .map_err(|error| Problem::at("", format!("the body is not JSON: {error}")))
}

/// The same as a value that its schema allows.
///
/// # Errors
///
/// As [`json()`], and with all that the schema does not allow.
pub(super) async fn read<T: DeserializeOwned + JsonSchema + 'static>(
    request: Request,
) -> Result<T, Problem> {
    checked(json(request).await?)
}

/// The schemas that were used so far.
type Schemas = Mutex<HashMap<TypeId, Arc<json_schema::JsonSchema>>>;

/// A value as its schema allows it.
///
/// # Errors
///
/// All that the schema does not allow.
pub(super) fn checked<T: DeserializeOwned + JsonSchema + 'static>(
    value: Value,
) -> Result<T, Problem> {
    let findings = misfits::<T>(&value)?;
    if !findings.is_empty() {
        return Err(Problem::malformed(findings));
    }
    let mut value = value;
    whole(&mut value);
    // What a schema cannot say, such as that a number fits.
    serde_json::from_value(value).map_err(|error| Problem::at("", error.to_string()))
}

/// Writes `7.0` as `7`: to a schema, both are integers.
fn whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Up to here, a float counts exactly.
            let float = number
                .as_f64()
                .filter(|it| it.fract() == 0.0 && it.abs() < 9e15);
            if let Some(float) = float.filter(|_| number.is_f64())
                && let Ok(whole) = format!("{float:.0}").parse::<i64>()
            {
                *number = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole),
        Value::Object(members) => members.values_mut().for_each(whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// What of a value its schema does not allow.
///
/// # Errors
///
/// When our own schema cannot be used, which is a fault of ours.
pub(super) fn misfits<T: JsonSchema + 'static>(value: &Value) -> Result<Vec<Misfit>, Problem> {
    let schema = schema::<T>().map_err(Problem::ours)?;
    let violations = schema.violations(value).take(MOST_FINDINGS);
    let misfits = violations.map(|it| Misfit {
        path: it.path,
        message: it.what,
    });
    Ok(misfits.collect())
}

fn schema<T: JsonSchema + 'static>() -> Result<Arc<json_schema::JsonSchema>, String> {
    static KNOWN: LazyLock<Schemas> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock();
    if let Some(schema) = known.get(&TypeId::of::<T>()) {
        return Ok(Arc::clone(schema));
    }
    let generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.into_root_schema_for::<T>().to_value();
    let schema = json_schema::JsonSchema::new(&schema)
        .map_err(|why| format!("the schema of {} {why}", type_name::<T>()))?;
    let schema = Arc::new(schema);
    known.insert(TypeId::of::<T>(), Arc::clone(&schema));
    Ok(schema)
}

/// The parameters behind the `?` of an address.
///
/// # Errors
///
/// That one is not known, is there twice, or has no such value.
pub(super) fn query<T>(uri: &Uri) -> Result<T, Problem>
where
    T: DeserializeOwned + Serialize + JsonSchema + 'static,
{
    match Query::<T>::try_from_uri(uri) {
        Ok(Query(query)) => {
            // What its type cannot say, such as the greatest number.
            let value = serde_json::to_value(&query).unwrap_or_default();
            let mut findings = misfits::<T>(&value)?;
            for it in &mut findings {
                it.path.insert_str(0, "query");
            }
            if findings.is_empty() {
                return Ok(query);
            }
            Err(Problem::malformed(findings))
        }
        Err(refused) => {
            let why = refused.body_text();
            let why = why.trim_start_matches("Failed to deserialize query string: ");
            let name = why.split_once(": ").map_or("", |(name, _)| name);
            let why = match why.rsplit_once("invalid digit found in string") {
                Some((before, _)) => format!("{before}write a whole number that is not below 0"),
                None => why.to_owned(),
            };
            Err(Problem::at(format!("query/{name}"), why))
        }
    }
}
