//! Questions for a corpus of tools, written by a model.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::agents::reach_model;
use super::outcome::Error;
use crate::discovery::golden::{Corpus, Tool};
use crate::discovery::questions::{INSTRUCTIONS, key, once_more, question, read, refusal, schema};
use crate::llm::client::{Attempts, Client, wire};
use crate::llm::errors::Asker;
use crate::llm::message::{
    Finish, Message, OUTPUT_NAME, OfferedTool, Part, Request, Response, ToolResult,
};
use crate::llm::wire::Wire;
use crate::model::usage::TotalUse;
use crate::model::{Redaction, Unanswered};
use crate::redact::{Redactor, Secrets};
use crate::run::{Budget, SetupError};
use crate::scenario_file::agent::{ModelAgent, ToolChoice};
use crate::scenario_file::judge::{JudgeSettings, LoadedJudge, VerdictForm};

/// The section of a file that says how a model is asked, for messages.
const SECTION: &str = "judge";

/// How often a model is asked about one tool.
const ROUNDS: usize = 3;

/// What a model has written.
#[derive(Debug, Default)]
pub struct Written {
    /// The id of the tool that each should find, and the question, in the order of the corpus.
    pub questions: Vec<(String, String)>,
    /// The tools that lack some, with how many, and what was wrong with the last that could not be used.
    pub short: Vec<Short>,
    pub took: Option<TotalUse>,
    pub interrupted: bool,
    /// Why nothing more was asked, before all tools had their questions.
    pub stopped: Option<Unanswered>,
}

/// A tool with fewer questions than were wanted.
#[derive(Debug)]
pub struct Short {
    pub tool: String,
    pub lacking: usize,
    pub why: String,
}

/// How questions are written.
#[derive(Debug, Clone)]
pub struct WriteSettings {
    /// How many for each tool, at least 1.
    pub per_tool: usize,
    /// What all requests may cost together, in the currency of the model's price.
    pub budget: Option<f64>,
}

/// Has a model write questions for each tool of a corpus, that do not name it. `tell` is called before each tool, with its number from 1.
///
/// # Errors
///
/// What cannot be used of the settings.
pub async fn write_questions(
    corpus: &Corpus,
    model: &LoadedJudge,
    settings: &WriteSettings,
    tell: &(dyn Fn(usize, &Tool) + Sync),
    interrupt: &CancellationToken,
) -> Result<Written, Error> {
    if settings.budget.is_some() && model.settings.asked.price.is_none() {
        return Err(Error::invalid(
            "--budget cannot be kept, because the price of the model is unknown",
        )
        .hint("give its `price` in the file that `--model-file` names"));
    }
    let redaction = Redaction {
        marked: model.marked.clone(),
        ..Redaction::default()
    };
    let mut secrets = Secrets::given_to(&redaction);
    let reached = reach_model(&model.settings.asked, SECTION, &mut secrets);
    let (asked, key) = reached.map_err(|it| unusable(it.message, it.details))?;
    let redactor = Redactor::new(&secrets, &redaction);
    let wire = wire(asked.api);
    let client = Client::new(&asked, wire, key.as_ref(), Asker::Judge);
    let judge = JudgeSettings {
        asked,
        ..model.settings.clone()
    };
    let writer = Writer {
        client: client.map_err(|it| unusable(it.message, it.details))?,
        wire,
        settings: &judge,
        budget: settings.budget.map(|it| Arc::new(Budget::new(it))),
        per_tool: settings.per_tool,
    };
    let clean = |text: &str| redactor.known(text).into_inner();
    let mut written = Written::default();
    let mut taken: HashSet<Vec<String>> = HashSet::new();
    for (number, tool) in (1..).zip(&corpus.tools) {
        tell(number, tool);
        let mut took = TotalUse::NOTHING;
        let asked = writer.about(tool, &mut taken, &mut took);
        let asked = interrupt.run_until_cancelled(asked).await;
        written.took = written.took.into_iter().chain([took]).reduce(TotalUse::and);
        match asked {
            None => {
                written.interrupted = true;
                break;
            }
            Some((questions, why)) => {
                let lacking = settings.per_tool - questions.len();
                let questions = questions.into_iter();
                let questions = questions.map(|it| (tool.id.clone(), clean(&it)));
                written.questions.extend(questions);
                match why {
                    Some(Lacks::All(unanswered)) => {
                        written.stopped = Some(Unanswered {
                            message: clean(&unanswered.message),
                            details: unanswered.details.iter().map(|it| clean(it)).collect(),
                            ..unanswered
                        });
                        break;
                    }
                    Some(Lacks::ThisOne(why)) if lacking > 0 => written.short.push(Short {
                        tool: tool.id.clone(),
                        lacking,
                        why,
                    }),
                    _ => {}
                }
            }
        }
    }
    Ok(written)
}

fn unusable(message: String, details: Vec<String>) -> Error {
    Error::Invalid {
        message,
        hint: details.into_iter().next(),
    }
}

/// Why a tool has fewer questions than were wanted.
enum Lacks {
    ThisOne(String),
    /// No other would get any, either.
    All(Unanswered),
}

/// Counts attempts.
struct Count<'a>(&'a mut usize);

impl Attempts for Count<'_> {
    fn begun(&mut self) {
        *self.0 += 1;
    }

    fn ended(&mut self, _: Option<u16>, _: Option<String>, _: Option<Duration>) {}
}

/// A model that writes questions.
struct Writer<'a> {
    client: Client,
    wire: &'static dyn Wire,
    settings: &'a JudgeSettings,
    budget: Option<Arc<Budget>>,
    per_tool: usize,
}

impl Writer<'_> {
    /// Questions about a tool, and why there are fewer than were wanted.
    async fn about(
        &self,
        tool: &Tool,
        taken: &mut HashSet<Vec<String>>,
        used: &mut TotalUse,
    ) -> (Vec<String>, Option<Lacks>) {
        let mut history = vec![Message::User(question(tool, self.per_tool))];
        let mut questions: Vec<String> = Vec::new();
        let mut why = "the model wrote fewer".to_owned();
        for _ in 0..ROUNDS {
            let response = match self.response(&history, used).await {
                Ok(response) => response,
                Err(unanswered) => return (questions, Some(Lacks::All(unanswered))),
            };
            let mut refused: Vec<(String, &'static str)> = Vec::new();
            let read = answer(&response).and_then(|it| read(&it));
            let problem = match read {
                Ok(read) => {
                    for it in read {
                        if questions.len() == self.per_tool {
                            break;
                        }
                        if let Some(what) = refusal(&it, tool, taken) {
                            refused.push((it, what));
                        } else {
                            taken.insert(key(&it));
                            questions.push(it);
                        }
                    }
                    None
                }
                Err(problem) => Some(problem),
            };
            let lacking = self.per_tool - questions.len();
            if lacking == 0 {
                return (questions, None);
            }
            if let Some((_, what)) = refused.last() {
                why = format!("the last question that was refused {what}");
            }
            let again = match problem {
                None => once_more(&refused, lacking),
                Some(problem) => {
                    why = format!("the model's answer cannot be used: {problem}");
                    format!(
                        "That cannot be used: {problem}. {}",
                        once_more(&[], lacking)
                    )
                }
            };
            history.extend(replied(response, &again));
        }
        (questions, Some(Lacks::ThisOne(why)))
    }

    /// One request and its answer, counted.
    async fn response(
        &self,
        history: &[Message],
        used: &mut TotalUse,
    ) -> Result<Response, Unanswered> {
        let spent = |it: SetupError| Unanswered {
            message: it.message,
            details: it.details,
            trouble: it.trouble,
        };
        if let Some(budget) = &self.budget {
            budget.check().map_err(spent)?;
        }
        let is_forced = self.settings.form == VerdictForm::ToolCall;
        let schema = schema();
        let settings = ModelAgent {
            system: Some(INSTRUCTIONS.to_owned()),
            ..self.settings.asked.clone()
        };
        let tools: Vec<OfferedTool> = is_forced
            .then(|| OfferedTool {
                name: OUTPUT_NAME.to_owned(),
                description: Some("Gives the questions.".to_owned()),
                input_schema: schema.clone(),
            })
            .into_iter()
            .collect();
        let choice = is_forced.then(|| ToolChoice::Tool(OUTPUT_NAME.to_owned()));
        let request = Request {
            settings: &settings,
            tools: &tools,
            tool_choice: choice.as_ref(),
            history,
            output: (!is_forced).then_some(&schema),
        };
        let body = self.wire.body(&request, self.client.address.at_home);
        // Until the answer is there, nobody knows what it costs.
        let cost_before = used.cost.take();
        used.requests += 1;
        let answer = self
            .client
            .ask(&mut Count(&mut used.attempts), &body)
            .await?;
        let response = self.wire.read(&answer).map_err(|problem| {
            Unanswered::new(format!(
                "the model's answer cannot be understood: {problem}"
            ))
        })?;
        let price = self.settings.asked.price.as_ref();
        let cost = price.and_then(|it| response.usage.cost(it));
        used.tokens = used.tokens.and(response.usage.into());
        used.cost = cost_before.zip(cost).map(|(a, b)| a + b);
        if let Some(budget) = &self.budget {
            budget.spend(cost).map_err(spent)?;
        }
        match response.finish {
            Finish::Filtered => Err(Unanswered::new(
                "the vendor's content filter blocked the model's answer",
            )),
            Finish::ContextFull => Err(Unanswered::new("a tool is too long for the model")),
            _ => Ok(response),
        }
    }
}

/// What a response holds: the arguments of its call, else the JSON in its texts.
///
/// # Errors
///
/// In a fragment, why there is none.
fn answer(response: &Response) -> Result<Value, String> {
    if let Some(call) = response.calls.first() {
        return match &call.arguments {
            Ok(arguments) => Ok(Value::Object(arguments.clone())),
            Err(unsendable) => Err(unsendable.why.clone()),
        };
    }
    let said = response.texts.join("\n");
    let begin = said.find('{').unwrap_or(said.len());
    let end = said.rfind('}').map_or(begin, |it| it + 1);
    let inner = said.get(begin..end).unwrap_or_default();
    serde_json::from_str(inner).map_err(|_| "it holds no JSON".to_owned())
}

/// The answer of the model, and the reply to it.
fn replied(response: Response, reply: &str) -> Vec<Message> {
    let Response { said, calls, .. } = response;
    let answer = if calls.is_empty() {
        Message::User(reply.to_owned())
    } else {
        let results = calls.into_iter().map(|call| ToolResult {
            id: call.id,
            name: call.name,
            parts: vec![Part::Text(reply.to_owned())],
            is_error: true,
        });
        Message::Results(results.collect())
    };
    vec![Message::Assistant(said), answer]
}
