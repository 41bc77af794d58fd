//! The subject of evaluators: the run, what was said in it, and through a port what lies around it.

use std::sync::LazyLock;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::evaluate::judge::Case;
use crate::model::placeholder;
use crate::model::published::evaluator::Verdict;
use crate::model::ruling::Ruling;
use crate::model::{Answer, Catalogue, FailureKind, Outcome, Servers, Step, ToolCall, Trajectory};
use crate::scenario_file::Scenario;
use crate::scenario_file::evaluators::{CommandEvaluator, FilePlace, LlmJudge, SqlQuestion};
use crate::sql::Rows;

/// A run that is judged, as it is shown: scenario and trajectory are without secrets, both alike, so that a secret in both is the same text.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub scenario: &'a Scenario,
    pub trajectory: &'a Trajectory,
    /// Both as they were, by which the run is judged; `None` of a run that was stored, of which this is not left.
    pub said: Option<(&'a Scenario, &'a Trajectory)>,
    /// Where the run stands; `None` for one that was stored, of which nothing else is left.
    pub around: Option<&'a dyn RunEnvironment>,
    /// The times of its calls are judged together with those of other runs.
    pub is_repeated: bool,
    /// What servers offered in the accepted run, where there is one.
    pub before: Option<&'a OfferedBefore>,
}

/// What servers offered in an accepted run, which is read when somebody asks for it.
pub type OfferedBefore =
    LazyLock<Option<Catalogue>, Box<dyn FnOnce() -> Option<Catalogue> + Send + Sync>>;

impl<'a> Subject<'a> {
    /// The same run once it is stored.
    pub(super) fn stored(self) -> Self {
        Self {
            around: None,
            said: None,
            ..self
        }
    }

    /// Whether only placeholders are left of its secrets: it was stored, or stored answers were given in it.
    pub(super) fn hides_secrets(&self) -> bool {
        self.around.is_none() || self.trajectory.stamp.servers == Servers::Recorded
    }

    /// What servers offered in the accepted run, where there is one.
    pub(super) fn offered_before(&self) -> Option<&'a Catalogue> {
        self.before.and_then(|it| LazyLock::force(it).as_ref())
    }
}

/// What the run has left, as it is and without secrets: it is judged by the one, and reported by the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Left<T> {
    pub said: T,
    pub shown: T,
}

/// What lies around a run while it still stands: its files, and databases, programs and models that may be asked.
///
/// What programs and models say holds no secrets.
pub trait RunEnvironment: Send + Sync {
    /// What each server has written whose log is at hand.
    fn logs(&self) -> &[Left<String>];

    /// What has become of a file.
    fn file<'a>(&'a self, file: &'a FilePlace) -> BoxFuture<'a, Result<Left<LeftFile>, Unasked>>;

    /// What a database holds.
    fn rows<'a>(&'a self, asked: &'a SqlQuestion) -> BoxFuture<'a, Result<Left<Rows>, Unasked>>;

    /// What a program says of the run; the last lines that it wrote to stderr are among the details.
    fn command<'a>(
        &'a self,
        command: &'a CommandEvaluator,
    ) -> BoxFuture<'a, Result<Verdict, Unasked>>;

    /// What a model says of the run.
    fn judge<'a>(
        &'a self,
        asked: &'a LlmJudge,
        case: Case,
    ) -> BoxFuture<'a, Result<Ruling, Unasked>>;
}

/// A file after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFile {
    /// Its text; `None` where it is not there.
    pub text: Option<String>,
    /// Whether it is as it was before the run; `None` where that is not known.
    pub unchanged: Option<bool>,
}

/// Why something around a run could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unasked {
    /// There is none in this run, in a sentence.
    Absent(String),
    /// It does not answer as it should, with what it said last.
    Broken { why: String, said: Vec<String> },
}

impl Unasked {
    /// It does not answer, and has said nothing.
    pub fn broken(why: impl Into<String>) -> Self {
        Self::Broken {
            why: why.into(),
            said: Vec::new(),
        }
    }
}

/// Members of a content block that are no words: its type, bytes, and what is said about it.
const NO_WORDS: [&str; 5] = ["type", "data", "blob", "annotations", "_meta"];

/// What the servers answered, what the agent said in its own words, and the full names of the tools that were called, in lower case.
///
/// The user's messages and the arguments of calls are left out, so that a script cannot meet a criterion by what it sends.
pub(super) struct SaidTexts(Vec<String>);

impl SaidTexts {
    pub(super) fn in_run(trajectory: &Trajectory) -> Self {
        let mut said = Vec::new();
        for step in &trajectory.steps {
            match step {
                Step::User { .. } => {}
                Step::Assistant { text } => said.push(text.clone()),
                Step::ToolCall(call) => of_call(call, trajectory, &mut said),
            }
        }
        Self(said.iter().map(|it| it.to_lowercase()).collect())
    }

    /// Whether a secret was taken out of it.
    pub(super) fn hides_secrets(&self) -> bool {
        self.0.iter().any(|it| placeholder::holds(it))
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        let wanted = text.to_lowercase();
        self.0.iter().any(|it| it.contains(&wanted))
    }
}

fn of_call(call: &ToolCall, trajectory: &Trajectory, said: &mut Vec<String>) {
    // Tools of the agent's own are no calls of a server.
    let Some(server) = &call.server else { return };
    let is_listed = trajectory.catalogue.tool(server, &call.tool).is_some();
    if is_listed || !call.outcome.is_failure() {
        said.push(call.full_name());
    }
    match &call.outcome {
        Outcome::Answer(answer) => of_answer(answer, said),
        // These are the server's words; the messages of other failures are ours.
        Outcome::Failure(it) if it.kind == FailureKind::Rpc => said.push(it.message.clone()),
        Outcome::Failure(_) => {}
    }
}

fn of_answer(answer: &Answer, said: &mut Vec<String>) {
    said.push(answer.text());
    let mut structured = Vec::new();
    texts_of_answer(answer, said, &mut structured);
    // Once as JSON text with its keys, and each text in it once more without JSON escapes.
    said.extend(answer.structured_content.as_ref().map(Value::to_string));
    said.extend(structured);
}

/// The texts in the content blocks of an answer, and those in its structured content.
pub(super) fn texts_of_answer(
    answer: &Answer,
    blocks: &mut Vec<String>,
    structured: &mut Vec<String>,
) {
    for block in answer.content.iter().filter_map(Value::as_object) {
        for (_, value) in block.iter().filter(|(key, _)| !is_no_words(key)) {
            texts_of(value, blocks);
        }
    }
    if let Some(content) = &answer.structured_content {
        texts_of(content, structured);
    }
}

fn is_no_words(key: &str) -> bool {
    NO_WORDS.contains(&key)
}

/// The texts in a value. They are gathered without recursion, because answers may be nested deeply.
fn texts_of(value: &Value, said: &mut Vec<String>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => said.push(text.clone()),
            Value::Array(elements) => pending.extend(elements),
            Value::Object(members) => {
                let words = members.iter().filter(|(key, _)| !is_no_words(key));
                pending.extend(words.map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
