//! Resources, prompts, and values proposed for arguments.

use serde_json::{Value, json};

use crate::mock::core::Core;
use crate::mock::playing::Request;
use crate::mock::state::{Client, LOG_LEVELS};
use crate::mock::template::{Scope, block};
use crate::mock::wire::{self, INVALID_PARAMS, RESOURCE_NOT_FOUND};
use crate::model::Object;
use crate::scenario_file::mock::{MockBody, MockContents};

impl Core {
    /// What a URI names, with the values of its template's variables.
    fn resource(&self, uri: &str) -> Option<(MockContents, Object)> {
        let own = self.declared.resources.iter().find(|it| it.uri == uri);
        if let Some(resource) = own {
            return Some((resource.contents.clone(), Object::new()));
        }
        let templates = self.declared.resource_templates.iter();
        templates
            .zip(&self.uri_patterns)
            .find_map(|(template, pattern)| {
                let variables = pattern.variables(uri)?;
                Some((template.contents.clone(), variables))
            })
    }

    /// Whether a URI names something.
    pub(super) fn has(&self, uri: &str) -> bool {
        self.resource(uri).is_some()
    }

    /// `resources/read`.
    pub(super) fn read(&mut self, request: &Request, scope: Scope) -> Result<Value, Value> {
        let uri = uri(&request.params)?;
        let found = self.resource(uri);
        let (contents, variables) = found.ok_or_else(|| not_found(request, uri))?;
        let mut scope = scope
            .with("args", json!({ "uri": uri }))
            .with("uri", Value::Object(variables));
        let state = &mut self.state;
        let mut read = json!({ "uri": uri });
        if let Some(mime_type) = contents.mime_type {
            read["mimeType"] = json!(mime_type);
        }
        match contents.body {
            MockBody::Text(text) => read["text"] = json!(scope.text(&text, state)),
            MockBody::Json(value) => read["text"] = json!(scope.fill(&value, state).to_string()),
            MockBody::Blob(blob) => read["blob"] = json!(blob),
        }
        Ok(json!({ "contents": [read] }))
    }

    /// `resources/subscribe` and its opposite.
    pub(super) fn subscribe(
        &self,
        client: &mut Client,
        request: &Request,
        wanted: bool,
    ) -> Result<Value, Value> {
        let uri = uri(&request.params)?;
        if !wanted {
            client.unsubscribe(uri);
            return Ok(json!({}));
        }
        self.resource(uri).ok_or_else(|| not_found(request, uri))?;
        if !client.subscribe(uri) {
            let message = "this client has too many subscriptions";
            return Err(wire::error(INVALID_PARAMS, message));
        }
        Ok(json!({}))
    }
}

fn uri(params: &Value) -> Result<&str, Value> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| wire::error(INVALID_PARAMS, "the request needs the resource's `uri`"))
}

fn not_found(request: &Request, uri: &str) -> Value {
    let code = if request.stateless {
        INVALID_PARAMS
    } else {
        RESOURCE_NOT_FOUND
    };
    let mut error = wire::error(code, &format!("there is no resource `{uri}`"));
    error["data"] = json!({ "uri": uri });
    error
}

/// The most values one completion may have, by the protocol.
const MAX_COMPLETIONS: usize = 100;

impl Core {
    /// `prompts/get`.
    pub(super) fn prompt(&mut self, params: &Value, scope: Scope) -> Result<Value, Value> {
        let name = params.get("name").and_then(Value::as_str);
        let name = name
            .ok_or_else(|| wire::error(INVALID_PARAMS, "the request needs the prompt's `name`"))?;
        let prompt = self.declared.prompts.iter().find(|it| it.name == name);
        let prompt = prompt.ok_or_else(|| {
            refuse(
                "unknown prompt",
                name,
                "the server has no prompt of this name",
            )
        })?;
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => {
                return Err(refuse(
                    "bad arguments for prompt",
                    name,
                    "`arguments` is not an object",
                ));
            }
        };
        let missing = prompt
            .required
            .iter()
            .find(|it| !arguments.contains_key(*it));
        if let Some(missing) = missing {
            let details = format!("the argument `{missing}` is missing");
            return Err(refuse("bad arguments for prompt", name, &details));
        }
        let mut scope = scope.with("args", Value::Object(arguments));
        let state = &mut self.state;
        let messages: Vec<Value> = prompt
            .messages
            .iter()
            .map(|it| json!({ "role": it.role, "content": block(&it.content, &mut scope, state) }))
            .collect();
        let mut result = Object::new();
        if let Some(description) = prompt.served.get("description") {
            result.insert("description".to_owned(), description.clone());
        }
        result.insert("messages".to_owned(), Value::Array(messages));
        Ok(Value::Object(result))
    }

    /// `completion/complete`: the proposed values that begin with what was typed.
    pub(super) fn complete(&self, params: &Value) -> Result<Value, Value> {
        let text = |pointer| params.pointer(pointer).and_then(Value::as_str);
        let argument = text("/argument/name");
        let argument = argument.ok_or_else(|| {
            wire::error(
                INVALID_PARAMS,
                "the request needs an `argument` with a `name`",
            )
        })?;
        let typed = text("/argument/value").unwrap_or_default().to_lowercase();
        let declared = &self.declared;
        let proposed = match (text("/ref/type"), text("/ref/name"), text("/ref/uri")) {
            (Some("ref/prompt"), Some(name), _) => {
                let prompt = declared.prompts.iter().find(|it| it.name == name);
                prompt.map(|it| &it.completions)
            }
            (Some("ref/resource"), _, Some(uri)) => {
                let mut templates = declared.resource_templates.iter();
                let template = templates.find(|it| it.uri_template == uri);
                template.map(|it| &it.completions)
            }
            _ => {
                let message = "`ref` names neither a prompt nor a resource template";
                return Err(wire::error(INVALID_PARAMS, message));
            }
        };
        let Some(proposed) = proposed else {
            let message = "`ref` names something the server does not have";
            return Err(wire::error(INVALID_PARAMS, message));
        };
        let proposed = proposed.iter().find(|(name, _)| name == argument);
        let fitting = proposed.into_iter().flat_map(|(_, values)| values);
        let fitting: Vec<&String> = fitting
            .filter(|it| it.to_lowercase().starts_with(&typed))
            .collect();
        let total = fitting.len();
        let values = &fitting[..total.min(MAX_COMPLETIONS)];
        Ok(
            json!({ "completion": { "values": values, "total": total, "hasMore": total > values.len() } }),
        )
    }
}

/// `logging/setLevel`.
pub(super) fn set_level(client: &mut Client, params: &Value) -> Result<Value, Value> {
    let level = params.get("level").and_then(Value::as_str);
    let severity = LOG_LEVELS.iter().position(|it| Some(*it) == level);
    let Some(severity) = severity else {
        let message = format!("`level` is none of {}", LOG_LEVELS.join(", "));
        return Err(wire::error(INVALID_PARAMS, &message));
    };
    client.log_level = severity;
    Ok(json!({}))
}

fn refuse(what: &str, prompt: &str, details: &str) -> Value {
    let mut error = wire::error(INVALID_PARAMS, &format!("{what} `{prompt}`"));
    error["data"] = json!({ "prompt": prompt, "details": details });
    error
}
