//! The `OpenAPI` document, made from the table of routes and the types of their bodies.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::routes::{Gives, ROUTES, Route};
use super::wire::reply::ErrorReply;

/// What replies mean that say why not.
const REFUSALS: [(u16, &str); 12] = [
    (400, "The request is malformed: `findings` say where"),
    (401, "The token is missing or wrong"),
    (
        403,
        "Whoever started the server does not allow that, or the request comes from a page of another site",
    ),
    (404, "There is no such thing"),
    (406, "The client does not accept events"),
    (408, "The body did not come in time"),
    (409, "It conflicts with what is there"),
    (413, "The body is too long"),
    (415, "The body is not `application/json`"),
    (
        429,
        "As many runs wait as may: `Retry-After` says when to try again",
    ),
    (500, "A fault of the server itself"),
    (503, "The server is ending"),
];

/// What may be wrong with every body.
const OF_BODIES: [u16; 4] = [400, 408, 413, 415];

/// The document.
pub(super) fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let refusal = generator.subschema_for::<ErrorReply>().to_value();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operation = operation(route, &refusal, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_lowercase()] = operation;
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true);
    schemas.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "mcp-eval test server",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs test cases and scenarios against MCP servers. `mcp-eval serve` prints the address and the token.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }],
    })
}

fn operation(route: &Route, refusal: &Value, generator: &mut SchemaGenerator) -> Value {
    let mut responses: Map<String, Value> = Map::new();
    let mut gives = |status: u16, about: &str, content: Option<Value>| {
        let mut response = json!({ "description": about });
        if let Some(content) = content {
            response["content"] = content;
        }
        responses.insert(status.to_string(), response);
    };
    let events = || json!({ "schema": { "type": "string" } });
    match &route.gives {
        Gives::Json(status, shape) => {
            let schema = shape(generator);
            let content = json!({ "application/json": { "schema": schema } });
            gives(*status, "What came of it", Some(content));
        }
        Gives::Events => {
            let content = json!({ "text/event-stream": events() });
            gives(200, "A stream of events that does not end", Some(content));
        }
        Gives::JsonOrEvents(shape) => {
            let schema = shape(generator);
            let content = json!({
                "application/json": { "schema": schema },
                "text/event-stream": events(),
            });
            gives(200, "What came of it", Some(content));
        }
        Gives::Object => {
            let content = json!({ "application/json": { "schema": { "type": "object" } } });
            gives(200, "What came of it", Some(content));
        }
        Gives::Nothing => gives(204, "It is done", None),
    }
    let mut statuses: Vec<u16> = vec![403];
    if !route.is_open {
        statuses.push(401);
    }
    if route.takes.is_some() {
        statuses.extend(OF_BODIES);
    }
    if route.query.is_some() {
        statuses.push(400);
    }
    statuses.extend(route.refusals);
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        let about = REFUSALS.iter().find(|(it, _)| *it == status);
        let about = about.map_or("Why not", |(_, about)| about);
        let content = json!({ "application/json": { "schema": refusal } });
        gives(status, about, Some(content));
    }
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.about,
        "responses": responses,
    });
    let parameters = parameters(route, generator);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(shape) = route.takes {
        let schema = shape(generator);
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema } },
        });
    }
    if route.is_open {
        operation["security"] = json!([]);
    }
    operation
}

fn parameters(route: &Route, generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters = Vec::new();
    if route.path.contains("{id}") {
        parameters.push(json!({
            "name": "id",
            "in": "path",
            "required": true,
            "description": "A `/` in it is written `%2F`",
            "schema": { "type": "string", "minLength": 1 },
        }));
    }
    if route.id == "events" {
        parameters.push(json!({
            "name": "Last-Event-ID",
            "in": "header",
            "required": false,
            "description": "The id of the last event that was seen; what came behind it is sent first, and `reset` where that is lost in part",
            "schema": { "type": "string" },
        }));
    }
    let Some(shape) = route.query else {
        return parameters;
    };
    // Each member of the type is a parameter.
    let schema = shape(generator).to_value();
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let described = name.and_then(|it| generator.definitions().get(it));
    let described = described.cloned().unwrap_or(schema);
    let members = described["properties"].as_object();
    for (name, schema) in members.into_iter().flatten() {
        let mut schema = schema.clone();
        let about = schema
            .as_object_mut()
            .and_then(|it| it.remove("description"));
        let mut parameter = json!({
            "name": name,
            "in": "query",
            "required": false,
            "schema": schema,
        });
        if let Some(about) = about {
            parameter["description"] = about;
        }
        parameters.push(parameter);
    }
    parameters
}
