//! The mock's side of the protocol, pure: a declaration, a state and a request make an exchange.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25>

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::mock::answers::Choice;
use crate::mock::asking::IN_ROUNDS;
use crate::mock::call_log::Called;
use crate::mock::core::Core;
use crate::mock::exchange::Exchange;
use crate::mock::playing::{Playing, Request};
use crate::mock::recorded;
use crate::mock::resources::set_level;
use crate::mock::state::Client;
use crate::mock::stateless::REMOVED;
use crate::mock::subscription::LISTEN;
use crate::mock::template::{Scope, tool_error};
use crate::mock::wire::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::model::Object;
use crate::scenario_file::mock::MockResponse;

impl Core {
    /// Begins to answer a request.
    pub(super) fn begin(
        &mut self,
        client: &mut Client,
        request: Request,
    ) -> (Exchange, Option<Called>) {
        let arguments = match &request.params {
            Value::Null => Object::new(),
            Value::Object(members) => members.clone(),
            _ => {
                let problem = "`params` is not an object";
                let error = bad_params(problem, &Value::Null, problem);
                return (Exchange::answered(request, Err(error)), None);
            }
        };
        match self.rounds.take(&request) {
            Ok(None) => {}
            Ok(Some(playing)) => return (Exchange::playing(request, playing), None),
            Err(problem) => {
                let error = wire::error(INVALID_PARAMS, &problem);
                return (Exchange::answered(request, Err(error)), None);
            }
        }
        if request.method == "tools/call" {
            return self.call(request);
        }
        // Where the client may be asked first, the answer comes later.
        let asks_first = IN_ROUNDS.contains(&request.method.as_str());
        let now = (!asks_first).then(|| self.answer(client, &request));
        let prepared = self.methods.iter_mut();
        let mut prepared = prepared.filter(|(method, _)| *method == request.method);
        if let Some((_, answers)) = prepared.next() {
            let mut scope = Scope::new().with("args", Value::Object(arguments.clone()));
            let choice = answers.choose(&arguments, &mut scope, &mut self.state);
            if let Choice::Response(_, response) = choice {
                let mut playing = Playing::new(&request, response, scope);
                playing.instead_of = now;
                return (Exchange::playing(request, Box::new(playing)), None);
            }
        }
        if request.stateless && request.method == LISTEN {
            let playing = Playing::new(&request, Arc::default(), Scope::new());
            return (Exchange::playing(request, Box::new(playing)), None);
        }
        let answer = now.unwrap_or_else(|| self.answer(client, &request));
        (Exchange::answered(request, answer), None)
    }

    /// What the server answers when nothing else is declared.
    fn answer(&mut self, client: &mut Client, request: &Request) -> Result<Value, Value> {
        let Request { method, params, .. } = request;
        let method = method.as_str();
        let declared = &self.declared;
        let size = declared.page_size;
        let has_resources = self.has_resources();
        let has_prompts = !declared.prompts.is_empty();
        if request.stateless && REMOVED.contains(&method) {
            return Err(unknown(method));
        }
        match method {
            "server/discover" if request.stateless => Ok(self.discover()),
            "initialize" => Ok(self.initialize(client, params)),
            "ping" => Ok(json!({})),
            "tools/list" => page("tools", self.tools.listed().into_iter(), size, params),
            "resources/list" if has_resources => {
                let resources = declared.resources.iter().map(|it| it.served.clone());
                page("resources", resources, size, params)
            }
            "resources/templates/list" if has_resources => {
                let templates = declared.resource_templates.iter();
                page(
                    "resourceTemplates",
                    templates.map(|it| it.served.clone()),
                    size,
                    params,
                )
            }
            "resources/read" | "prompts/get" => self.text(request, Scope::new()),
            "resources/subscribe" if has_resources => self.subscribe(client, request, true),
            "resources/unsubscribe" if has_resources => self.subscribe(client, request, false),
            "prompts/list" if has_prompts => {
                let prompts = declared.prompts.iter().map(|it| it.served.clone());
                page("prompts", prompts, size, params)
            }
            "completion/complete" if has_resources || has_prompts => self.complete(params),
            "logging/setLevel" if self.capabilities.get("logging").is_some() => {
                set_level(client, params)
            }
            _ => Err(unknown(method)),
        }
    }

    /// What a resource or prompt says; `scope` knows what the client was asked before.
    pub(super) fn text(&mut self, request: &Request, scope: Scope) -> Result<Value, Value> {
        match request.method.as_str() {
            "resources/read" if self.has_resources() => self.read(request, scope),
            "prompts/get" if !self.declared.prompts.is_empty() => {
                self.prompt(&request.params, scope)
            }
            method => Err(unknown(method)),
        }
    }

    fn has_resources(&self) -> bool {
        !self.declared.resources.is_empty() || !self.declared.resource_templates.is_empty()
    }
}

fn unknown(method: &str) -> Value {
    wire::error(METHOD_NOT_FOUND, &format!("there is no method `{method}`"))
}

/// One page of a list under its key, as the client's cursor asks for it.
pub(super) fn page<T: Into<Value>>(
    key: &str,
    entries: impl ExactSizeIterator<Item = T>,
    page_size: Option<usize>,
    params: &Value,
) -> Result<Value, Value> {
    let total = entries.len();
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => offset(cursor).filter(|it| *it < total).ok_or_else(|| {
            wire::error(
                INVALID_PARAMS,
                &format!("there is no page at the cursor {cursor}"),
            )
        })?,
    };
    let size = page_size.unwrap_or(total);
    let entries: Vec<Value> = entries.skip(start).take(size).map(Into::into).collect();
    let end = start + entries.len();
    let mut page = Map::new();
    page.insert(key.to_owned(), Value::Array(entries));
    if end < total {
        page.insert("nextCursor".to_owned(), json!(format!("{CURSOR}{end}")));
    }
    Ok(Value::Object(page))
}

const CURSOR: &str = "from-";

/// The number of entries before the page a cursor leads to.
fn offset(cursor: &Value) -> Option<usize> {
    cursor.as_str()?.strip_prefix(CURSOR)?.parse().ok()
}

impl Core {
    /// Begins a tool call.
    pub(super) fn call(&mut self, request: Request) -> (Exchange, Option<Called>) {
        let refuse = |request, message: &str, tool: &Value, details: &str| {
            let error = bad_params(message, tool, details);
            (Exchange::answered(request, Err(error)), None)
        };
        let params = &request.params;
        let name = match params.get("name") {
            Some(Value::String(name)) => name.clone(),
            given => {
                let details = match given {
                    None => "`name` is missing",
                    Some(_) => "`name` is not text",
                };
                return refuse(
                    request,
                    "a tool call needs the tool's name",
                    &Value::Null,
                    details,
                );
            }
        };
        let tool = json!(name);
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => {
                let message = format!("the arguments of tool `{name}` are no object");
                return refuse(request, &message, &tool, "`arguments` is not an object");
            }
        };
        let validates = self.options.validate;
        let Some(entry) = self.tools.find(&name) else {
            let details = "the server has no tool of this name";
            return refuse(request, &format!("unknown tool `{name}`"), &tool, details);
        };
        if validates && let Some(details) = entry.violations(&arguments) {
            let message = format!("the arguments of tool `{name}` do not fit its input schema");
            return refuse(request, &message, &tool, &details);
        }
        let mut scope = Scope::new()
            .with("tool", tool)
            .with("args", Value::Object(arguments.clone()));
        // Recorded arguments hold no secrets, so the given ones are redacted before they are compared.
        let compared = match entry.tool.recorded {
            None => arguments.clone(),
            Some(alike) => {
                let mut redacted = self.redactor.fresh().object(arguments.clone()).into_inner();
                alike.object(&mut redacted);
                redacted
            }
        };
        let choice = entry.answers.choose(&compared, &mut scope, &mut self.state);
        let called = |response| Called {
            tool: name.clone(),
            arguments: arguments.clone(),
            response,
        };
        let (called, response) = match choice {
            Choice::Response(number, response) => (called(Some(number)), response),
            Choice::Default if entry.tool.recorded.is_none() => {
                (called(None), Arc::new(MockResponse::default()))
            }
            Choice::Exhausted => {
                let text = format!("all responses of mock tool `{name}` that fit are used up");
                let answer = Exchange::answered(request, Ok(tool_error(&text)));
                return (answer, Some(called(None)));
            }
            Choice::Default | Choice::Unmatched => {
                let error = recorded::unrecorded(&entry.tool, &compared).unwrap_or_else(|| {
                    let given = Value::Object(arguments.clone());
                    let count = entry.answers.len();
                    tool_error(&format!("none of the {count} responses of mock tool `{name}` fits the arguments {given}"))
                });
                let answer = Exchange::answered(request, Ok(error));
                return (answer, Some(called(None)));
            }
        };
        let playing = Playing::new(&request, response, scope);
        let exchange = Exchange::playing(request, Box::new(playing));
        (exchange, Some(called))
    }
}

/// The error for invalid parameters.
pub(super) fn bad_params(message: &str, tool: &Value, details: &str) -> Value {
    let mut error = wire::error(INVALID_PARAMS, message);
    error["data"] = json!({ "tool": tool, "details": details });
    error
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::mock::requests::page;

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let ask = |params: Value| page("things", ["a", "b", "c"].into_iter(), Some(2), &params);
        let first = ask(json!({})).unwrap();
        assert_eq!(
            first,
            json!({ "things": ["a", "b"], "nextCursor": "from-2" })
        );
        assert_eq!(
            ask(json!({ "cursor": "from-2" })).unwrap(),
            json!({ "things": ["c"] })
        );
        for cursor in [
            json!("from-3"),
            json!("2"),
            json!(2),
            json!("from--1"),
            json!(""),
        ] {
            assert_eq!(
                ask(json!({ "cursor": cursor })).unwrap_err()["code"],
                -32602,
                "{cursor}"
            );
        }
        let whole = page(
            "things",
            [].into_iter().map(|it: &str| it),
            None,
            &json!(null),
        );
        assert_eq!(whole.unwrap(), json!({ "things": [] }));
    }
}
