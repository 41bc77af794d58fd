//! The mock's side of the protocol, pure: a declaration, a state and a request make an exchange.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25>

use serde_json::{Value, json};

use crate::mock::answers::Choice;
use crate::mock::call_log::Called;
use crate::mock::calls::bad_params;
use crate::mock::client::Client;
use crate::mock::core::Core;
use crate::mock::exchange::Exchange;
use crate::mock::lists::page;
use crate::mock::prompts::set_level;
use crate::mock::template::Scope;
use crate::mock::wire::{self, Id, METHOD_NOT_FOUND};
use crate::model::Object;

impl Core {
    /// Begins to answer a request.
    pub(super) fn begin(
        &mut self,
        client: &mut Client,
        id: Id,
        method: &str,
        params: &Value,
    ) -> (Exchange, Option<Called>) {
        let arguments = match params {
            Value::Null => Object::new(),
            Value::Object(members) => members.clone(),
            _ => {
                let problem = "`params` is not an object";
                let error = bad_params(problem, &Value::Null, problem);
                return (Exchange::answered(id, Err(error)), None);
            }
        };
        if method == "tools/call" {
            return self.call(id, params);
        }
        let answer = self.answer(client, method, params);
        let prepared = self.methods.iter_mut().find(|(it, _)| it == method);
        if let Some((_, answers)) = prepared {
            let mut scope = Scope::new().with("args", Value::Object(arguments.clone()));
            let choice = answers.choose(&arguments, &mut scope, &mut self.state);
            if let Choice::Response(_, response) = choice {
                let exchange = Exchange::playing(id, response, scope, params).instead_of(answer);
                return (exchange, None);
            }
        }
        (Exchange::answered(id, answer), None)
    }

    /// What the server answers when nothing else is declared.
    fn answer(
        &mut self,
        client: &mut Client,
        method: &str,
        params: &Value,
    ) -> Result<Value, Value> {
        let declared = &self.declared;
        let size = declared.page_size;
        let has_resources =
            !declared.resources.is_empty() || !declared.resource_templates.is_empty();
        let has_prompts = !declared.prompts.is_empty();
        match method {
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
            "resources/read" if has_resources => self.read(params),
            "resources/subscribe" if has_resources => self.subscribe(client, params, true),
            "resources/unsubscribe" if has_resources => self.subscribe(client, params, false),
            "prompts/list" if has_prompts => {
                let prompts = declared.prompts.iter().map(|it| it.served.clone());
                page("prompts", prompts, size, params)
            }
            "prompts/get" if has_prompts => self.prompt(params),
            "completion/complete" if has_resources || has_prompts => self.complete(params),
            "logging/setLevel" if self.capabilities.get("logging").is_some() => {
                set_level(client, params)
            }
            _ => {
                let message = format!("there is no method `{method}`");
                Err(wire::error(METHOD_NOT_FOUND, &message))
            }
        }
    }
}
