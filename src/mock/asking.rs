//! Questions to the client while its request is being answered: requests to it in a session, and otherwise rounds of its own request.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use serde_json::{Value, json};

use crate::mock::core::Core;
use crate::mock::exchange::{Event, refuse};
use crate::mock::playing::{Playing, Request};
use crate::mock::state::Client;
use crate::mock::wire::{self, INTERNAL_ERROR, INVALID_PARAMS};
use crate::model::Object;
use crate::protocol::MISSING_CAPABILITY;
use crate::scenario_file::mock::{Asked, Question};

/// The requests that may take several rounds.
pub(super) const IN_ROUNDS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

impl Core {
    /// Begins to ask; an event where that fails. What the client cannot be asked is left out, unless that is all.
    pub(super) fn ask(
        &mut self,
        client: &Client,
        request: &Request,
        playing: &mut Playing,
        questions: &[Question],
    ) -> Option<Event> {
        if request.stateless && !IN_ROUNDS.contains(&request.method.as_str()) {
            let message = format!("`{}` cannot ask the client", request.method);
            let error = wire::error(INTERNAL_ERROR, &message);
            return Some(Event::Answer(refuse(request, &error)));
        }
        for question in questions {
            if client.can(capability(question, request.stateless)) {
                let mut question = question.clone();
                question.params = playing.scope.fill(&question.params, &mut self.state);
                playing.asking.push_back(question);
            }
        }
        let first = questions.first().filter(|_| playing.asking.is_empty())?;
        if !request.stateless {
            let message = format!("the client does not support {}", first.kind.name());
            return Some(self.tool_failed(request, &message));
        }
        let message = "the client has not declared a capability that the request needs";
        let mut error = wire::error(MISSING_CAPABILITY, message);
        let needed = questions.iter().map(|it| {
            let (name, within) = capability(it, true).split_first()?;
            let declared = within.iter().map(|it| ((*it).to_owned(), json!({})));
            Some(((*name).to_owned(), Value::Object(declared.collect())))
        });
        let needed: Object = needed.flatten().collect();
        error["data"] = json!({ "requiredCapabilities": needed });
        Some(Event::Answer(refuse(request, &error)))
    }

    /// In a session: the next request to the client, after its answer to the one before; `None` once all is answered.
    pub(super) fn next_question(
        &self,
        request: &Request,
        playing: &mut Playing,
        answer: Option<Result<Value, Value>>,
    ) -> Option<Event> {
        if let Some(answer) = answer
            && let Some(question) = playing.asking.pop_front()
        {
            match answer {
                Ok(answer) => playing.answered(&question, answer),
                Err(error) => {
                    let message = error.get("message").and_then(Value::as_str);
                    let name = question.kind.name();
                    let message =
                        format!("the client refused {name}: {}", message.unwrap_or_default());
                    return Some(self.tool_failed(request, &message));
                }
            }
        }
        let question = playing.asking.front()?;
        Some(Event::Ask {
            method: method(question.kind),
            params: question.params.clone(),
        })
    }

    /// Without a session: the end of this round, with all that the client has not answered yet; `None` once it has.
    pub(super) fn next_round(&mut self, request: &Request, playing: &mut Playing) -> Option<Event> {
        for question in std::mem::take(&mut playing.asking) {
            match playing.responses.shift_remove(&question.key) {
                None => playing.asking.push_back(question),
                Some(answer) if is_answer(question.kind, &answer) => {
                    playing.answered(&question, answer);
                }
                Some(_) => {
                    let message = format!("`{}` is no response to what was asked", question.key);
                    let error = wire::error(INVALID_PARAMS, &message);
                    return Some(Event::Answer(refuse(request, &error)));
                }
            }
        }
        if playing.asking.is_empty() {
            return None;
        }
        let requests = playing.asking.iter().map(|it| {
            let mut params = it.params.clone();
            match params.as_object_mut() {
                // Names a page in a session.
                Some(members) => drop(members.shift_remove("elicitationId")),
                None => params = json!({}),
            }
            let asked = json!({ "method": method(it.kind), "params": params });
            (it.key.clone(), asked)
        });
        let requests: Object = requests.collect();
        let state = self.rounds.put(request, playing.clone());
        let result = json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": state,
        });
        Some(Event::Answer(self.result(request, result)))
    }
}

fn method(kind: Asked) -> &'static str {
    match kind {
        Asked::Sampling => "sampling/createMessage",
        Asked::Elicitation => "elicitation/create",
        Asked::Roots => "roots/list",
    }
}

/// What a client must have declared to be asked, from the outside in.
fn capability(question: &Question, stateless: bool) -> &'static [&'static str] {
    match question.kind {
        Asked::Sampling => &["sampling"],
        Asked::Roots => &["roots"],
        Asked::Elicitation if stateless && question.params["mode"] == "url" => {
            &["elicitation", "url"]
        }
        Asked::Elicitation => &["elicitation"],
    }
}

fn is_answer(kind: Asked, answer: &Value) -> bool {
    match kind {
        Asked::Sampling => answer.get("role").is_some() && answer.get("content").is_some(),
        Asked::Elicitation => {
            let action = answer.get("action").and_then(Value::as_str);
            action.is_some_and(|it| matches!(it, "accept" | "decline" | "cancel"))
        }
        Asked::Roots => answer.get("roots").is_some_and(Value::is_array),
    }
}
