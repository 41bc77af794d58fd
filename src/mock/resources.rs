//! Resources: which one a URI names, and what reading it gives.

use serde_json::{Value, json};

use crate::mock::client::Client;
use crate::mock::core::Core;
use crate::mock::template::Scope;
use crate::mock::wire::{self, INVALID_PARAMS, RESOURCE_NOT_FOUND};
use crate::model::Object;
use crate::model::interactions::{MockBody, MockContents};

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

    /// `resources/read`.
    pub(super) fn read(&mut self, params: &Value) -> Result<Value, Value> {
        let uri = uri(params)?;
        let (contents, variables) = self.resource(uri).ok_or_else(|| not_found(uri))?;
        let mut scope = Scope::new()
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
        params: &Value,
        wanted: bool,
    ) -> Result<Value, Value> {
        let uri = uri(params)?;
        if !wanted {
            client.unsubscribe(uri);
            return Ok(json!({}));
        }
        self.resource(uri).ok_or_else(|| not_found(uri))?;
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

fn not_found(uri: &str) -> Value {
    let mut error = wire::error(RESOURCE_NOT_FOUND, &format!("there is no resource `{uri}`"));
    error["data"] = json!({ "uri": uri });
    error
}
