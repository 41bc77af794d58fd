//! One request from its arrival to its answer, as a series of events.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mock::core::Core;
use crate::mock::state::{Announcement, Client};
use crate::mock::template::{self, Reply, Scope, tool_error};
use crate::mock::wire::{self, Id, SERVER_ERROR};
use crate::protocol;
use crate::scenario_file::mock::{Fault, MockReply, MockResponse, Step};

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) request: Request,
    work: Work,
}

/// What a client wants to know.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Value,
    /// The client as a stateless request describes it; otherwise, the session knows it.
    pub(super) client: Option<Client>,
}

#[derive(Debug)]
enum Work {
    /// The answer is known.
    Answered(Result<Value, Value>),
    /// A prepared response is being played.
    Playing(Box<Playing>),
}

/// A prepared response on its way.
#[derive(Debug)]
struct Playing {
    response: Arc<MockResponse>,
    scope: Scope,
    /// What the server would answer without the response; `None` for tools, which have no such answer.
    instead_of: Option<Result<Value, Value>>,
    waited: bool,
    next_step: usize,
    /// The root under which the client's answer will be found.
    asked: Option<&'static str>,
}

/// What happens next.
#[derive(Debug, PartialEq)]
pub(super) enum Event {
    Wait(Duration),
    /// A message that belongs to this request goes out before its answer.
    Message(String),
    /// The client is asked something; its answer goes to the next call of [`Core::advance`].
    Ask {
        method: &'static str,
        params: Value,
    },
    /// A message goes to clients beyond this exchange.
    Announce(Announcement),
    /// The end.
    Answer(Delivery),
}

impl Exchange {
    pub(super) fn answered(request: Request, answer: Result<Value, Value>) -> Self {
        Self {
            request,
            work: Work::Answered(answer),
        }
    }

    pub(super) fn playing(request: Request, response: Arc<MockResponse>, scope: Scope) -> Self {
        let playing = Playing {
            response,
            scope,
            instead_of: None,
            waited: false,
            next_step: 0,
            asked: None,
        };
        Self {
            request,
            work: Work::Playing(Box::new(playing)),
        }
    }

    /// The response comes in place of this answer, which goes out where it declares none of its own.
    pub(super) fn instead_of(mut self, answer: Result<Value, Value>) -> Self {
        if let Work::Playing(playing) = &mut self.work {
            playing.instead_of = Some(answer);
        }
        self
    }
}

impl Core {
    /// What happens next with a request. `answer` is the client's, after an [`Event::Ask`]; nothing comes after an [`Event::Answer`].
    pub(super) fn advance(
        &mut self,
        of_session: &Client,
        exchange: &mut Exchange,
        answer: Option<Result<Value, Value>>,
    ) -> Event {
        let Exchange { request, work } = exchange;
        let client = request.client.as_ref().unwrap_or(of_session);
        let playing = match work {
            Work::Answered(answer) => {
                return Event::Answer(match answer {
                    Ok(result) => self.result(request, result.take()),
                    Err(error) => refuse(request, error),
                });
            }
            Work::Playing(playing) => playing,
        };
        if let Some(root) = playing.asked.take() {
            match answer.unwrap_or_else(|| Err(json!({ "message": "no answer" }))) {
                Ok(answer) => playing.scope.insert(root, answer),
                Err(error) => {
                    let message = error
                        .get("message")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    let message = format!("the client refused {root}: {message}");
                    return self.tool_failed(request, &message);
                }
            }
        }
        if !playing.waited {
            playing.waited = true;
            if let Some(delay) = playing.response.delay {
                return Event::Wait(delay);
            }
        }
        let response = Arc::clone(&playing.response);
        while let Some(step) = response.steps.get(playing.next_step) {
            playing.next_step += 1;
            match self.step(client, request, playing, step) {
                Ok(None) => {}
                Ok(Some(event)) => return event,
                Err(message) => return self.tool_failed(request, &message),
            }
        }
        self.conclude(request, playing, &response)
    }

    /// One step: the event it leads to, if any; an error ends the call.
    fn step(
        &mut self,
        client: &Client,
        request: &Request,
        playing: &mut Playing,
        step: &Step,
    ) -> Result<Option<Event>, String> {
        let Playing { scope, asked, .. } = playing;
        let state = &mut self.state;
        let mut ask = |method, root, capability: &str, params| {
            if client.stateless || !client.can(capability) {
                return Err(format!("the client does not support {capability}"));
            }
            *asked = Some(root);
            Ok(Some(Event::Ask { method, params }))
        };
        match step {
            Step::Wait(wait) => Ok(Some(Event::Wait(*wait))),
            Step::Log {
                level,
                logger,
                data,
            } => {
                if !client.wants_log(level) {
                    return Ok(None);
                }
                let mut params = json!({ "level": level });
                if let Some(logger) = logger {
                    params["logger"] = json!(logger);
                }
                params["data"] = scope.fill(data, state);
                Ok(Some(Event::Message(wire::notification(
                    "notifications/message",
                    &params,
                ))))
            }
            Step::Progress {
                progress,
                total,
                message,
            } => {
                let Some(token) = request.params.pointer("/_meta/progressToken") else {
                    return Ok(None);
                };
                let mut params =
                    json!({ "progressToken": token, "progress": scope.fill(progress, state) });
                if let Some(total) = total {
                    params["total"] = scope.fill(total, state);
                }
                if let Some(message) = message {
                    params["message"] = json!(scope.text(message, state));
                }
                Ok(Some(Event::Message(wire::notification(
                    "notifications/progress",
                    &params,
                ))))
            }
            Step::Sample { params } => ask(
                "sampling/createMessage",
                "sampling",
                "sampling",
                scope.fill(params, state),
            ),
            Step::Elicit { params } => ask(
                "elicitation/create",
                "elicitation",
                "elicitation",
                scope.fill(params, state),
            ),
            Step::ListRoots => ask("roots/list", "roots", "roots", Value::Null),
            Step::Notify { method, params } => Ok(Some(Event::Message(wire::notification(
                method,
                &scope.fill(params, state),
            )))),
            Step::UpdateResource { uri } => {
                let uri = scope.text(uri, state);
                Ok(Some(Event::Announce(Announcement::ResourceUpdated(uri))))
            }
            Step::ListChanged { list } => {
                Ok(Some(Event::Announce(Announcement::ListChanged(list))))
            }
            Step::ShowTools(names) => Ok(self.hide(names, false)),
            Step::HideTools(names) => Ok(self.hide(names, true)),
        }
    }

    fn hide(&mut self, names: &[String], hidden: bool) -> Option<Event> {
        self.tools
            .hide(names, hidden)
            .then_some(Event::Announce(Announcement::ListChanged("tools")))
    }

    /// The answer after all steps. The response's values are set before the answer's references are filled in.
    fn conclude(
        &mut self,
        request: &Request,
        playing: &mut Playing,
        response: &MockResponse,
    ) -> Event {
        if response.fault == Some(Fault::Vanish)
            && let Some(tool) = request.tool()
            && let Some(event) = self.hide(&[tool.to_owned()], true)
        {
            // The next step gives the answer, after clients were informed that the tool is gone.
            return event;
        }
        let scope = &mut playing.scope;
        let state = &mut self.state;
        for (place, value) in &response.set {
            let path = scope.names(place, state);
            let value = scope.fill(value, state);
            if !state.set(&path, value) {
                return self.tool_failed(request, "the server cannot remember any more");
            }
        }
        for place in &response.unset {
            let path = scope.names(place, state);
            state.unset(&path);
        }
        let id = &request.id;
        let odd = response.fault.as_ref().and_then(odd_result);
        let reply = match (&response.reply, playing.instead_of.take()) {
            _ if let Some(result) = odd => self.finished(request, result),
            (MockReply::Default, Some(Ok(result))) => self.finished(request, result),
            (MockReply::Default, Some(Err(error))) => wire::error_reply(id, &error),
            (reply, _) => match template::reply(id, reply, scope, state) {
                Reply::Result(result) => self.finished(request, result),
                Reply::Whole(reply) => reply,
            },
        };
        let fault = response.fault.clone().filter(|it| *it != Fault::Vanish);
        Event::Answer(deliver(id, reply, fault))
    }

    /// A reply with a result.
    fn finished(&self, request: &Request, result: Value) -> String {
        let result = match request.client {
            None => result,
            Some(_) => self.marked_complete(&request.method, result),
        };
        wire::result_reply(&request.id, &result)
    }

    fn result(&self, request: &Request, result: Value) -> Delivery {
        Delivery::Messages(vec![self.finished(request, result)])
    }

    /// A tool error that the mock itself answers.
    fn tool_failed(&self, request: &Request, message: &str) -> Event {
        Event::Answer(self.result(request, tool_error(message)))
    }
}

impl Request {
    /// The tool that is called, if one is.
    fn tool(&self) -> Option<&str> {
        let is_call = self.method == "tools/call";
        self.params.get("name").filter(|_| is_call)?.as_str()
    }
}

/// An error of the mock itself. What it stands for in HTTP counts where there is no session.
pub(super) fn refuse(request: &Request, error: &Value) -> Delivery {
    let reply = wire::error_reply(&request.id, error);
    match request.client {
        None => Delivery::Messages(vec![reply]),
        Some(_) => Delivery::Refused {
            status: protocol::status(error["code"].as_i64().unwrap_or_default()),
            reply,
        },
    }
}

/// A reply on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Delivery {
    /// These messages, one after the other.
    Messages(Vec<String>),
    /// This text, which is no message.
    Broken(String),
    /// Nothing, in the place of a message.
    Empty,
    /// This message, with an HTTP status.
    Refused {
        status: u16,
        reply: String,
    },
    /// An HTTP status; `error` is what stands for it where there is none.
    Status {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
        error: String,
    },
    Never,
    /// The message, this many bytes at a time.
    Slow {
        message: String,
        bytes: usize,
        every: Duration,
    },
    /// The first part of the message; then the connection ends.
    Cut(String),
    /// The process ends with this code.
    Exit(u8),
}

/// What is delivered in place of a reply.
fn deliver(id: &Id, reply: String, fault: Option<Fault>) -> Delivery {
    let Some(fault) = fault else {
        return Delivery::Messages(vec![reply]);
    };
    match fault {
        Fault::HttpStatus {
            status,
            headers,
            body,
        } => {
            let error = wire::error(SERVER_ERROR, &format!("HTTP status {status}"));
            let error = wire::error_reply(id, &error);
            Delivery::Status {
                status,
                headers,
                body,
                error,
            }
        }
        Fault::InvalidJson => Delivery::Broken(half(&reply).to_owned()),
        Fault::EmptyBody => Delivery::Empty,
        Fault::Hang => Delivery::Never,
        Fault::SlowBytes { bytes, every } => Delivery::Slow {
            message: reply,
            bytes,
            every,
        },
        Fault::Disconnect => Delivery::Cut(half(&reply).to_owned()),
        Fault::WrongId => Delivery::Messages(vec![reply.replacen(
            &format!("\"id\":{}", id.as_json()),
            &format!("\"id\":{}", id.other().as_json()),
            1,
        )]),
        Fault::DuplicateReply => Delivery::Messages(vec![reply.clone(), reply]),
        Fault::Exit(code) => Delivery::Exit(code),
        Fault::Oversized(_)
        | Fault::Vanish
        | Fault::ContentNotAList
        | Fault::BadItem
        | Fault::InvalidBase64 => Delivery::Messages(vec![reply]),
    }
}

/// The result that a fault puts in place of the declared one.
fn odd_result(fault: &Fault) -> Option<Value> {
    let content = match fault {
        Fault::Oversized(bytes) => json!([{ "type": "text", "text": "x".repeat(*bytes) }]),
        Fault::ContentNotAList => json!("a text where a list belongs"),
        Fault::BadItem => json!([
            { "type": "text", "text": "a good block" },
            { "type": "no-such-type", "payload": 1 },
            { "type": "text", "text": "another good block" },
        ]),
        Fault::InvalidBase64 => json!([
            { "type": "image", "data": "*** this is not Base64 ***", "mimeType": "image/png" },
        ]),
        _ => return None,
    };
    Some(json!({ "content": content }))
}

/// The first half of a text, cut between characters.
fn half(text: &str) -> &str {
    let middle = text.len() / 2;
    let cut = (0..=middle).rev().find(|it| text.is_char_boundary(*it));
    &text[..cut.unwrap_or(0)]
}
