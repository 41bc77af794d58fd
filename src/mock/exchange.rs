//! One request from its arrival to its answer, as a series of events.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mock::core::Core;
use crate::mock::playing::{Playing, Request};
use crate::mock::state::{Announcement, Client};
use crate::mock::subscription::{LISTEN, Subscription};
use crate::mock::template::{self, Reply, Scope, tool_error};
use crate::mock::wire::{self, Id, SERVER_ERROR};
use crate::model::Object;
use crate::protocol;
use crate::scenario_file::mock::{Fault, MockReply, MockResponse, Step};

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) request: Request,
    /// The client as a stateless request describes it; otherwise, the session knows it.
    pub(super) client: Option<Client>,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// The answer is known.
    Answered(Result<Value, Value>),
    /// A prepared response is being played.
    Playing(Box<Playing>),
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
    /// The client gets news, until it or the server ends that.
    Listen(Subscription),
    /// The end.
    Answer(Delivery),
}

impl Exchange {
    pub(super) fn answered(request: Request, answer: Result<Value, Value>) -> Self {
        Self {
            request,
            client: None,
            work: Work::Answered(answer),
        }
    }

    pub(super) fn playing(request: Request, playing: Box<Playing>) -> Self {
        Self {
            request,
            client: None,
            work: Work::Playing(playing),
        }
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
        let Exchange {
            request,
            client,
            work,
        } = exchange;
        let client = client.as_ref().unwrap_or(of_session);
        let playing = match work {
            Work::Answered(answer) => {
                return Event::Answer(match answer {
                    Ok(result) => self.result(request, result.take()),
                    Err(error) => refuse(request, error),
                });
            }
            Work::Playing(playing) => playing,
        };
        if !playing.waited {
            playing.waited = true;
            if let Some(delay) = playing.response.delay {
                return Event::Wait(delay);
            }
        }
        let response = Arc::clone(&playing.response);
        let mut answer = answer;
        loop {
            let asking = if request.stateless {
                self.next_round(request, playing)
            } else {
                self.next_question(request, playing, answer.take())
            };
            if let Some(event) = asking {
                return event;
            }
            let Some(step) = response.steps.get(playing.next_step) else {
                break;
            };
            playing.next_step += 1;
            if let Some(event) = self.step(client, request, playing, step) {
                return event;
            }
        }
        self.conclude(request, playing, &response)
    }

    /// One step: the event it leads to, if any.
    fn step(
        &mut self,
        client: &Client,
        request: &Request,
        playing: &mut Playing,
        step: &Step,
    ) -> Option<Event> {
        let scope = &mut playing.scope;
        let state = &mut self.state;
        match step {
            Step::Wait(wait) => Some(Event::Wait(*wait)),
            Step::Log {
                level,
                logger,
                data,
            } => {
                if !client.wants_log(level) {
                    return None;
                }
                let mut params = json!({ "level": level });
                if let Some(logger) = logger {
                    params["logger"] = json!(logger);
                }
                params["data"] = scope.fill(data, state);
                Some(Event::Message(wire::notification(
                    "notifications/message",
                    &params,
                )))
            }
            Step::Progress {
                progress,
                total,
                message,
            } => {
                let token = request.params.pointer("/_meta/progressToken")?;
                let mut params =
                    json!({ "progressToken": token, "progress": scope.fill(progress, state) });
                if let Some(total) = total {
                    params["total"] = scope.fill(total, state);
                }
                if let Some(message) = message {
                    params["message"] = json!(scope.text(message, state));
                }
                Some(Event::Message(wire::notification(
                    "notifications/progress",
                    &params,
                )))
            }
            Step::Notify { method, params } => Some(Event::Message(wire::notification(
                method,
                &scope.fill(params, state),
            ))),
            Step::UpdateResource { uri } => {
                let uri = scope.text(uri, state);
                Some(Event::Announce(Announcement::ResourceUpdated(uri)))
            }
            Step::ListChanged { list } => Some(Event::Announce(Announcement::ListChanged(list))),
            Step::ShowTools(names) => self.hide(names, false),
            Step::Ask(questions) => self.ask(client, request, playing, questions),
            Step::HideTools(names) => self.hide(names, true),
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
        let fault = response.fault.clone().filter(|it| *it != Fault::Vanish);
        let is_default = response.reply == MockReply::Default;
        if is_default && fault.is_none() && request.stateless && request.method == LISTEN {
            return match self.subscription(request) {
                Ok(subscription) => Event::Listen(subscription),
                Err(error) => Event::Answer(refuse(request, &error)),
            };
        }
        let own = match playing.instead_of.take() {
            None if is_default && request.tool().is_none() => {
                let scope = std::mem::replace(&mut playing.scope, Scope::new());
                Some(self.text(request, scope))
            }
            own => own,
        };
        let odd = fault.as_ref().and_then(odd_result);
        let reply = match (&response.reply, own) {
            _ if let Some(result) = odd => Reply::Result(result),
            (MockReply::Default, Some(Ok(result))) => Reply::Result(result),
            (MockReply::Default, Some(Err(error))) => Reply::Whole(wire::error_reply(id, &error)),
            (reply, _) => template::reply(id, reply, &mut playing.scope, &mut self.state),
        };
        let reply = match reply {
            Reply::Whole(reply) => reply,
            Reply::Result(result) => {
                let mut result = self.finished(request, result);
                if let (Some(fault), Some(members)) = (&fault, result.as_object_mut()) {
                    spoil(members, fault);
                }
                wire::result_reply(id, &result)
            }
        };
        Event::Answer(deliver(id, reply, fault))
    }

    /// A result as the revision of its request wants it.
    fn finished(&self, request: &Request, result: Value) -> Value {
        if request.stateless {
            self.marked_complete(&request.method, result)
        } else {
            result
        }
    }

    pub(super) fn result(&self, request: &Request, result: Value) -> Delivery {
        let result = self.finished(request, result);
        Delivery::Messages(vec![wire::result_reply(&request.id, &result)])
    }

    /// A tool error that the mock itself answers.
    pub(super) fn tool_failed(&self, request: &Request, message: &str) -> Event {
        Event::Answer(self.result(request, tool_error(message)))
    }
}

/// An error of the mock itself. What it stands for in HTTP counts where there is no session.
pub(super) fn refuse(request: &Request, error: &Value) -> Delivery {
    let reply = wire::error_reply(&request.id, error);
    if request.stateless {
        let status = protocol::status(error["code"].as_i64().unwrap_or_default());
        return Delivery::Refused { status, reply };
    }
    Delivery::Messages(vec![reply])
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
        | Fault::WrongResultType
        | Fault::NoCacheHints
        | Fault::ContentNotAList
        | Fault::BadItem
        | Fault::InvalidBase64 => Delivery::Messages(vec![reply]),
    }
}

/// Takes from a result, or changes in it, what the protocol has added.
fn spoil(result: &mut Object, fault: &Fault) {
    match fault {
        Fault::WrongResultType => {
            result.insert("resultType".to_owned(), json!("no_such_type"));
        }
        Fault::NoCacheHints => result.retain(|name, _| name != "ttlMs" && name != "cacheScope"),
        _ => {}
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
