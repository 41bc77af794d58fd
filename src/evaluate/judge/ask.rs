//! Asks a judge, as often as votes are wanted, and again where an answer cannot be read.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::agreement::majority;
use super::case::{Case, Fence, marked};
use super::form;
use super::prompt::prompt;
use crate::llm::client::{Attempts, Client, Key, wire};
use crate::llm::errors::Asker;
use crate::llm::message::{
    Finish, Message, OUTPUT_NAME as VERDICT, Part, Request, Response, ToolResult,
};
use crate::llm::wire::Wire;
use crate::model::ruling::{Ruling, Verdict};
use crate::model::usage::TotalUse;
use crate::model::{Object, Trouble, Unanswered};
use crate::run::Budget;
use crate::scenario_file::agent::{ModelAgent, ToolChoice};
use crate::scenario_file::evaluators::LlmJudge;
use crate::scenario_file::judge::{JudgeSettings, VerdictForm};
use crate::text;

/// Answers are remembered under a hash of the question. Another number here forgets them all, as what is asked beyond the request itself
/// changes.
const QUESTIONS: u32 = 1;

/// Where answers are remembered, so that the same question is not paid for twice.
pub trait Memory: Send + Sync {
    /// The answer that was kept under this key.
    fn recall(&self, key: &str) -> Option<Object>;

    /// Keeps an answer. Where that fails, it is asked for again next time.
    fn keep(&self, key: &str, answer: &Object);
}

/// A model that judges runs.
pub struct Judge {
    settings: JudgeSettings,
    wire: &'static dyn Wire,
    client: Client,
    budget: Option<Arc<Budget>>,
    memory: Option<Arc<dyn Memory>>,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge")
            .field("model", &self.settings.asked.model)
            .finish_non_exhaustive()
    }
}

/// Counts attempts, and keeps what the last one met with that gave no answer.
struct Count<'a> {
    attempts: &'a mut usize,
    met: &'a mut Option<String>,
}

impl Attempts for Count<'_> {
    fn begun(&mut self) {
        *self.attempts += 1;
    }

    fn ended(&mut self, _: Option<u16>, problem: Option<String>, _: Option<Duration>) {
        *self.met = problem;
    }
}

/// Why a vote is none.
enum NoVote {
    /// The next one may be one.
    ThisOne(Unanswered),
    /// No other would be one, either.
    All(Unanswered),
}

impl NoVote {
    /// The same where it was asked once more, because of this.
    fn after(mut self, first_problem: Option<&str>) -> Self {
        let (Self::ThisOne(why) | Self::All(why)) = &mut self;
        let first = first_problem.iter();
        let first = first.map(|it| format!("it was asked once more; before that: {it}"));
        why.details.extend(first);
        self
    }
}

impl Judge {
    /// A judge that asks with this key, spends of this budget and remembers what was answered.
    ///
    /// # Errors
    ///
    /// What cannot be used of the settings.
    pub fn new(
        settings: JudgeSettings,
        key: Option<&Key>,
        budget: Option<Arc<Budget>>,
        memory: Option<Arc<dyn Memory>>,
    ) -> Result<Self, Unanswered> {
        let wire = wire(settings.asked.api);
        Ok(Self {
            client: Client::new(&settings.asked, wire, key, Asker::Judge)?,
            wire,
            settings,
            budget,
            memory,
        })
    }

    /// Asks about a run.
    pub async fn rule(&self, asked: &LlmJudge, case: &Case) -> Ruling {
        let mut ruling = Ruling {
            verdict: Err(Unanswered::new("")),
            votes: Vec::new(),
            took: TotalUse::NOTHING,
            cached: 0,
            model: self.settings.asked.model.clone(),
        };
        let mut votes = Vec::new();
        for number in 0..asked.votes.max(1) {
            let vote = match self.recalled(asked, case, number) {
                Some(verdict) => {
                    ruling.cached += 1;
                    Ok(verdict)
                }
                None => match self.vote(asked, case, number, &mut ruling.took).await {
                    Ok(verdict) => Ok(verdict),
                    Err(NoVote::ThisOne(why)) => Err(why),
                    Err(NoVote::All(why)) => {
                        votes.push(Err(why));
                        break;
                    }
                },
            };
            votes.push(vote);
        }
        ruling.verdict = majority(&votes, asked.votes.max(1) as usize);
        let votes = votes.into_iter().map(|it| match it {
            Ok(verdict) => Ok(verdict.score),
            Err(unruled) => Err(unruled.message),
        });
        ruling.votes = votes.collect();
        ruling
    }

    /// One vote, within its time.
    async fn vote(
        &self,
        asked: &LlmJudge,
        case: &Case,
        number: u32,
        took: &mut TotalUse,
    ) -> Result<Verdict, NoVote> {
        let longest = self.settings.vote_timeout();
        let mut met = None;
        let answering = self.answer(asked, case, took, &mut met);
        let answer = tokio::time::timeout(longest, answering).await;
        let (answer, verdict) = answer.unwrap_or_else(|_| {
            let timeout = self.settings.asked.timeout;
            let met = met.map_or_else(String::new, |it| format!("; before that: {it}"));
            Err(NoVote::ThisOne(Unanswered {
                // As where one answer takes too long.
                trouble: Some(Trouble::Transport),
                ..Unanswered::new(format!(
                    "no verdict within {longest:?}: one answer may take {timeout:?} (`judge.timeout`){met}"
                ))
            }))
        })?;
        if let Some(memory) = &self.memory {
            memory.keep(&self.key(asked, case, number), &answer);
        }
        Ok(verdict)
    }

    /// Asks, and once more where the answer cannot be read.
    async fn answer(
        &self,
        asked: &LlmJudge,
        case: &Case,
        took: &mut TotalUse,
        met: &mut Option<String>,
    ) -> Result<(Object, Verdict), NoVote> {
        let question = Question::new(&self.settings, asked, case, &Fence::new());
        let mut history = vec![Message::User(question.user.clone())];
        let mut first_problem: Option<String> = None;
        loop {
            if let Some(budget) = &self.budget {
                budget.check().map_err(|it| {
                    NoVote::All(Unanswered {
                        details: it.details,
                        ..Unanswered::new(it.message)
                    })
                })?;
            }
            let response = self.response(&question, &history, took, met).await;
            let response = response.map_err(|it| it.after(first_problem.as_deref()))?;
            let read = form::members(&response);
            let read = read.and_then(|it| form::verdict(&it, asked).map(|verdict| (it, verdict)));
            let problem = match read {
                Ok(answer) => return Ok(answer),
                Err(problem) => problem,
            };
            if let Some(first) = first_problem {
                let why =
                    Unanswered::new(format!("the judge's answer is not a verdict: {problem}"));
                return Err(NoVote::ThisOne(why).after(Some(&first)));
            }
            history.extend(repair(response, &problem));
            first_problem = Some(problem);
        }
    }

    /// One request and its answer, counted.
    async fn response(
        &self,
        question: &Question,
        history: &[Message],
        took: &mut TotalUse,
        met: &mut Option<String>,
    ) -> Result<Response, NoVote> {
        let body = self
            .wire
            .body(&question.request(history), self.client.address.at_home);
        // Until the answer is there, nobody knows what it costs.
        let cost_before = took.cost.take();
        took.requests += 1;
        let attempts = &mut took.attempts;
        let answer = (self.client).ask(&mut Count { attempts, met }, &body).await;
        let answer = answer.map_err(NoVote::All)?;
        let response = self.wire.read(&answer).map_err(|problem| {
            NoVote::ThisOne(Unanswered::new(format!(
                "the judge's answer cannot be understood: {problem}"
            )))
        });
        let usage = response.as_ref().map(|it| it.usage).unwrap_or_default();
        let price = self.settings.asked.price.as_ref();
        let cost = price.and_then(|it| usage.cost(it));
        took.tokens = took.tokens.and(usage.into());
        took.cost = cost_before.zip(cost).map(|(a, b)| a + b);
        if let Some(budget) = &self.budget {
            budget.spend(cost).map_err(|it| {
                NoVote::All(Unanswered {
                    details: it.details,
                    ..Unanswered::new(it.message)
                })
            })?;
        }
        let response = response?;
        let end = match response.finish {
            Finish::Filtered => "the vendor's content filter blocked the judge's answer".to_owned(),
            Finish::ContextFull => {
                format!(
                    "the run is too long for the judge: {}",
                    Asker::Judge.shortened_by()
                )
            }
            Finish::Done | Finish::MaxTokens | Finish::Refused | Finish::Paused => {
                return Ok(response);
            }
        };
        Err(NoVote::All(Unanswered::new(end)))
    }

    /// The verdict that is remembered for the same question; one that could not be read today is none.
    fn recalled(&self, asked: &LlmJudge, case: &Case, number: u32) -> Option<Verdict> {
        let answer = self
            .memory
            .as_ref()?
            .recall(&self.key(asked, case, number))?;
        form::verdict(&answer, asked).ok()
    }

    /// A hash of the model, its parameters, the rubric and the prompt, and of which vote it is. Headers and keys are not in it.
    fn key(&self, asked: &LlmJudge, case: &Case, number: u32) -> String {
        let question = Question::new(&self.settings, asked, case, &Fence::fixed());
        let history = [Message::User(question.user.clone())];
        let mut address = self.client.address.url.clone();
        let _ = address.set_password(None);
        let _ = address.set_username("");
        address.set_query(None);
        let whole = json!({
            "questions": QUESTIONS,
            "api": address.as_str(),
            "request": self.wire.body(&question.request(&history), self.client.address.at_home),
            "standard": format!("{:?}", asked.standard),
            "threshold": asked.threshold,
            "vote": number,
        });
        hex::encode(Sha256::digest(whole.to_string()))
    }
}

/// What is asked, in the API's terms.
struct Question {
    settings: ModelAgent,
    user: String,
    schema: Value,
    tools: Vec<crate::llm::message::OfferedTool>,
    choice: Option<ToolChoice>,
}

impl Question {
    fn new(settings: &JudgeSettings, asked: &LlmJudge, case: &Case, fence: &Fence) -> Self {
        let prompt = prompt(settings, asked, case, fence);
        let schema = form::schema(asked, case);
        let is_forced = settings.form == VerdictForm::ToolCall;
        Self {
            settings: ModelAgent {
                system: Some(prompt.system),
                ..settings.asked.clone()
            },
            user: prompt.user,
            tools: is_forced.then(|| form::tool(&schema)).into_iter().collect(),
            choice: is_forced.then(|| ToolChoice::Tool(VERDICT.to_owned())),
            schema,
        }
    }

    fn request<'a>(&'a self, history: &'a [Message]) -> Request<'a> {
        Request {
            settings: &self.settings,
            tools: &self.tools,
            tool_choice: self.choice.as_ref(),
            history,
            output: self.choice.is_none().then_some(&self.schema),
        }
    }
}

/// What the model has answered, and what is wrong with that. It is reported in words of its answer, which may be those of a tool.
fn repair(response: Response, problem: &str) -> Vec<Message> {
    let wrong = format!(
        "This is no verdict, because of what stands in the next line, which quotes it:\n{}\
         Give your verdict once more, whole, in the form that was asked for.",
        marked(&text::line(problem)),
    );
    let Response { said, calls, .. } = response;
    let answer = if calls.is_empty() {
        Message::User(wrong)
    } else {
        let results = calls.into_iter().map(|call| ToolResult {
            id: call.id,
            name: call.name,
            parts: vec![Part::Text(wrong.clone())],
            is_error: true,
        });
        Message::Results(results.collect())
    };
    vec![Message::Assistant(said), answer]
}
