//! An agent with a language model behind one of several APIs, and the loop in which it calls tools.
//!
//! The APIs, their wire formats and how they are asked are in [`crate::llm`]; `results` makes of a tool's answer what a model gets of it, and
//! `results` of a tool's schema.

mod results;

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::llm::client::{Attempts, Client, Key, wire};
use crate::llm::errors::Asker;
use crate::llm::message::{Call, Finish, Message, OfferedTool, Request, Response, ToolResult};
use crate::llm::wire::{Names, Wire};
use crate::model::{Catalogue, Unanswered, Unsendable};
use crate::run::{Agent, Conversation, Driving, SetupError, Stop, WantedCall};
use crate::scenario_file::agent::{ModelAgent, ToolChoice};
use crate::scenario_file::mock::NEXT;

/// An agent that asks a model what to do, until the model has nothing more to do.
pub struct Chat {
    settings: ModelAgent,
    wire: &'static dyn Wire,
    client: Client,
    /// What the user says, message by message.
    turns: Vec<String>,
    history: Vec<Message>,
    /// The number of the interaction that a stand-in for the model expects next, where there is one.
    left_over: Option<Value>,
    notes: Vec<String>,
}

/// The tools of a run as the model knows them.
struct Offer {
    tools: Vec<OfferedTool>,
    names: Names,
    tool_choice: Option<ToolChoice>,
    /// What of the catalogue could not be offered as it is.
    notes: Vec<String>,
}

impl Offer {
    /// A message of an API, with the tools that it counts, as in `tools.0.input_schema`, by their names.
    fn named(&self, said: &str) -> String {
        let Some(counted) = COUNTED.as_ref() else {
            return said.to_owned();
        };
        let named = counted.replace_all(said, |it: &Captures<'_>| {
            let number = it[1].parse::<usize>().ok();
            let tool = number.and_then(|it| self.tools.get(it));
            tool.map_or_else(
                || it[0].to_owned(),
                |tool| format!("{} (`{}`)", &it[0], tool.name),
            )
        });
        named.into_owned()
    }
}

/// How APIs count the tools of a request.
static COUNTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\btools?(?:\.|\[)(\d+)\]?").ok());

impl Chat {
    /// An agent with these settings, which asks with this key.
    ///
    /// # Errors
    ///
    /// What cannot be used of the settings.
    pub fn new(
        settings: ModelAgent,
        key: Option<&Key>,
        turns: Vec<String>,
    ) -> Result<Self, SetupError> {
        let wire = wire(settings.api);
        Ok(Self {
            client: Client::new(&settings, wire, key, Asker::Agent)?,
            wire,
            settings,
            turns,
            history: Vec::new(),
            left_over: None,
            notes: Vec::new(),
        })
    }

    async fn converse(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        let offer = self.offer(conversation.catalogue()).map_err(Stop::Error)?;
        self.notes.extend(offer.notes.iter().cloned());
        for turn in std::mem::take(&mut self.turns) {
            conversation.user(&turn);
            self.history.push(Message::User(turn));
            let mut is_first = true;
            loop {
                let response = self.ask(conversation, &offer, is_first).await?;
                is_first = false;
                let Response {
                    said,
                    calls,
                    finish,
                    ..
                } = response;
                self.history.push(Message::Assistant(said));
                if calls.is_empty() {
                    if finish == Finish::Paused {
                        continue;
                    }
                    break;
                }
                let results = self.act(conversation, &offer, calls, finish).await?;
                self.history.push(Message::Results(results));
            }
        }
        let Some(number) = &self.left_over else {
            return Ok(());
        };
        let message = format!("interaction {number} of the stand-in's script was never requested");
        Err(Stop::LimitReached { message })
    }

    /// One request and its answer, recorded.
    async fn ask(
        &mut self,
        conversation: &mut Conversation<'_>,
        offer: &Offer,
        is_first: bool,
    ) -> Result<Response, Stop> {
        conversation.ask(self.settings.max_steps)?;
        // A model that must call a tool each time would never come to an end.
        let must_call = matches!(
            offer.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Tool(_))
        );
        let request = Request {
            settings: &self.settings,
            tools: &offer.tools,
            tool_choice: offer
                .tool_choice
                .as_ref()
                .filter(|_| is_first || !must_call),
            history: &self.history,
            output: None,
        };
        let body = self.wire.body(&request, self.client.address.at_home);
        let answer = self.client.ask(conversation, &body).await;
        let answer = answer.map_err(|mut it| {
            it.message = offer.named(&it.message);
            let details = it.details.iter();
            it.details = details.map(|it| offer.named(it)).collect();
            Stop::Error(it.into())
        })?;
        self.left_over = answer.get(NEXT).cloned();
        let response = self.wire.read(&answer).map_err(|problem| {
            Stop::Error(SetupError::new(format!(
                "the model's answer cannot be understood: {problem}"
            )))
        })?;
        let texts = response.texts.iter();
        for text in texts.filter(|it| !it.trim().is_empty()) {
            conversation.assistant(text);
        }
        let price = self.settings.price.as_ref();
        conversation.answered(
            response.model.clone(),
            response.stop_reason.clone(),
            response.usage,
            price.and_then(|it| response.usage.cost(it)),
        )?;
        self.judge(&response)?;
        Ok(response)
    }

    /// What the way a model stopped means for the run.
    fn judge(&mut self, response: &Response) -> Result<(), Stop> {
        let end = |message: &str| Err(Stop::Error(SetupError::new(message)));
        match response.finish {
            Finish::Filtered => return end("the vendor's content filter blocked the answer"),
            Finish::ContextFull => {
                return end(
                    "the conversation is too long for the model: `agent.max_result_chars` shortens what tools answer",
                );
            }
            Finish::Refused => self.notes.push("the model refused".to_owned()),
            Finish::MaxTokens => self.notes.push(format!(
                "an answer of the model was cut off at its longest ({}): `agent.max_tokens` allows more",
                response.stop_reason.as_deref().unwrap_or("max_tokens")
            )),
            Finish::Done if response.is_empty() => {
                self.notes.push("the model answered with nothing".to_owned());
            }
            Finish::Done | Finish::Paused => {}
        }
        Ok(())
    }

    /// Makes the calls the model asks for.
    async fn act(
        &self,
        conversation: &mut Conversation<'_>,
        offer: &Offer,
        mut calls: Vec<Call>,
        finish: Finish,
    ) -> Result<Vec<ToolResult>, Stop> {
        // The last call of an answer that was cut off may lack a part of its arguments, and still look whole.
        if let (Finish::MaxTokens, Some(last)) = (finish, calls.last_mut()) {
            let said = match &last.arguments {
                Ok(arguments) => json!(arguments).to_string(),
                Err(unsendable) => unsendable.said.clone(),
            };
            last.arguments = Err(Unsendable {
                why: "the answer was cut off at its longest, so the call may be incomplete"
                    .to_owned(),
                said,
            });
        }
        let wanted = calls.iter().map(|call| WantedCall {
            name: offer.names.full(&call.name).to_owned(),
            arguments: call.arguments.clone(),
        });
        let made = conversation.call_all(wanted.collect()).await?;
        let results = calls.into_iter().zip(made).map(|(call, made)| ToolResult {
            id: call.id,
            name: call.name,
            parts: results::parts(&made.outcome, self.settings.max_result_chars),
            is_error: made.outcome.is_failure(),
        });
        Ok(results.collect())
    }

    /// The tools of a catalogue as the model is offered them.
    fn offer(&self, catalogue: &Catalogue) -> Result<Offer, SetupError> {
        let tools = catalogue.servers.iter().flat_map(|server| {
            let tools = server.tools.iter();
            tools.map(|it| (format!("mcp__{}__{}", server.server, it.name()), it))
        });
        let (mut notes, mut seen) = (Vec::new(), HashSet::new());
        let mut tools: Vec<_> = tools.collect();
        tools.retain(|(name, _)| {
            let is_new = seen.insert(name.clone());
            if !is_new {
                notes.push(format!("`{name}` is listed twice, and was offered once"));
            }
            is_new
        });
        let full = tools.iter().map(|(name, _)| name.as_str());
        let names = Names::new(full.clone(), self.wire.vendor().names);
        let tool_choice = match &self.settings.tool_choice {
            Some(ToolChoice::Tool(wanted)) => {
                let bare = format!("__{wanted}");
                let found = names.offered(wanted).or_else(|| {
                    let mut fitting = full.clone().filter(|it| it.ends_with(&bare));
                    let only = fitting.next().filter(|_| fitting.next().is_none());
                    only.and_then(|it| names.offered(it))
                });
                let found = found.ok_or_else(|| {
                    SetupError::new(format!(
                        "`agent.tool_choice` names `{wanted}`, and no single tool of the servers is called so"
                    ))
                })?;
                Some(ToolChoice::Tool(found.to_owned()))
            }
            other => other.clone(),
        };
        let tools = tools.iter().map(|(name, tool)| {
            let (input_schema, taken_off) = results::offered(tool.served.get("inputSchema"));
            if !taken_off.is_empty() {
                notes.push(format!(
                    "`{name}` was offered without {} at the top of its input schema, which APIs refuse, and with the parameters of all branches",
                    taken_off.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" and ")
                ));
            }
            OfferedTool {
                name: names.offered(name).unwrap_or(name).to_owned(),
                description: crate::llm::message::text(&json!(tool.served), "description"),
                input_schema,
            }
        });
        Ok(Offer {
            tools: tools.collect(),
            names,
            tool_choice,
            notes,
        })
    }
}

/// The conversation keeps the record of what its requests take.
impl Attempts for Conversation<'_> {
    fn begun(&mut self) {
        self.attempt();
    }

    fn ended(&mut self, status: Option<u16>, problem: Option<String>, pause: Option<Duration>) {
        self.attempted(status, problem, pause);
    }
}

/// A run cannot go on without its model.
impl From<Unanswered> for SetupError {
    fn from(
        Unanswered {
            message, details, ..
        }: Unanswered,
    ) -> Self {
        Self {
            message,
            details,
            // What its last attempt met with stands in the record of the run.
            trouble: None,
        }
    }
}

impl Agent for Chat {
    fn drive<'a>(&'a mut self, conversation: &'a mut Conversation<'_>) -> Driving<'a> {
        Box::pin(self.converse(conversation))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
