//! Steps and faults: what a mock server does between a request and its answer, and what goes wrong on purpose.

use std::time::Duration;

use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use super::reply::{Asked, Fault, Question, Step};
use super::resources::MessageSection;
use crate::model::Object;
use crate::scenario_file::decode::{
    Count, Decode, Fraction, NO_HINT, Named, OnlyTrue, Plain, Served, Wait, Word, choice, choose,
    object, one_key, only_entry, schema, section, shapes,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

one_key! {
    /// Something the server does before it answers.
    StepSection {
        /// Wait for so long.
        "wait" => Wait(Wait),
        /// Send a log message.
        "log" => Log(LogEntry),
        /// Report progress, where the client asks for it.
        "progress" => Progress(ProgressSection),
        /// Ask the client's model.
        "sample" => Sample(Box<SampleSection>),
        /// Ask the user.
        "elicit" => Elicit(Box<ElicitSection>),
        /// Ask for the client's roots; the answer is `{{roots.…}}` from here on.
        "list_roots" => ListRoots(OnlyTrue),
        /// Ask several things at once, each under a key of its own; the answers are `{{asked.KEY.…}}` from here on.
        "ask" => Ask(Named<QuestionSection>),
        /// Send any notification.
        "notify" => Notify(NotifySection),
        /// Tell the subscribers of a resource that it changed.
        "update_resource" => UpdateResource(Word),
        /// Tell all clients that a list changed.
        "list_changed" => ListChanged(ListWord),
        /// Put tools into the list, and tell all clients.
        "show_tools" => ShowTools(Vec<String>),
        /// Take tools out of the list, and tell all clients.
        "hide_tools" => HideTools(Vec<String>),
    }
}

one_key! {
    /// Something that the client is asked.
    QuestionSection {
        /// Ask the client's model.
        "sample" => Sample(Box<SampleSection>),
        /// Ask the user.
        "elicit" => Elicit(Box<ElicitSection>),
        /// Ask for the client's roots.
        "list_roots" => ListRoots(OnlyTrue),
    }
}

choice! {
    /// How severe a log message is.
    LevelWord for &'static str {
        "debug" => "debug",
        "info" => "info",
        "notice" => "notice",
        "warning" => "warning",
        "error" => "error",
        "critical" => "critical",
        "alert" => "alert",
        "emergency" => "emergency",
    }
}

choice! {
    /// A list that may change.
    ListWord for &'static str {
        "tools" => "tools",
        "resources" => "resources",
        "prompts" => "prompts",
    }
}

section! {
    /// A log message.
    LogSection {
        /// How severe it is; `info` unless given.
        level: Option<LevelWord>,
        /// Who logs.
        logger: Option<String>,
        /// What is logged: text, or anything else.
        data: Value,
    }
}

section! {
    /// A report of progress, sent to clients that ask for it.
    ProgressSection {
        /// How far the work is; grows from report to report.
        progress: Value,
        /// How far it will be at the end.
        total: Option<Value>,
        /// What is being done.
        message: Option<String>,
    }
}

section! {
    /// A request to the client's model; the answer is `{{sampling.…}}` from here on.
    SampleSection {
        /// The conversation so far.
        messages: Vec<MessageSection>,
        /// The longest answer, in tokens; 100 unless given.
        max_tokens: Option<i64>,
        /// The system prompt.
        system_prompt: Option<String>,
        /// Which context of servers to include: `none`, `thisServer` or `allServers`.
        include_context: Option<String>,
        /// How varied the answer may be.
        temperature: Option<Value>,
        /// Texts at which the answer ends.
        stop_sequences: Option<Vec<String>>,
        /// Which model would be good.
        model_preferences: Option<PreferencesSection>,
        /// Anything more, sent as written.
        metadata: Option<Object>,
    }
}

section! {
    /// Which model would be good.
    PreferencesSection {
        /// Names of models, or parts of them, the best first.
        hints: Option<Vec<String>>,
        /// How much a low price matters.
        cost_priority: Option<Fraction>,
        /// How much speed matters.
        speed_priority: Option<Fraction>,
        /// How much capability matters.
        intelligence_priority: Option<Fraction>,
    }
}

section! {
    /// A question to the user; the answer is `{{elicitation.…}}` from here on.
    ElicitSection, checked by check_elicit {
        /// What is asked.
        message: String,
        /// JSON Schema of the answer, sent as written.
        requested_schema: Option<Object>,
        /// Instead of a schema: the address of a page to answer on.
        url: Option<Word>,
        /// Names the question that is answered on a page.
        elicitation_id: Option<Word>,
    }
}

section! {
    /// Any notification.
    NotifySection {
        /// Its method, such as `notifications/message`.
        method: Word,
        /// Its parameters, sent as written.
        params: Option<Object>,
    }
}

fn check_elicit(elicit: &ElicitSection, at: Mark, findings: &mut Findings) {
    let by_page = (elicit.url.is_some(), elicit.elicitation_id.is_some());
    if elicit.requested_schema.is_some() == elicit.url.is_some() || by_page.0 != by_page.1 {
        let message = "a question needs a `requested_schema`, or a `url` with an `elicitation_id`";
        findings.error(at, message, NO_HINT);
    }
}

shapes! {
    /// A log message, or its text.
    LogEntry, "text or a map" {
        Text => Text(String),
        Map => Section(LogSection),
    }
}

impl Plain<Step> for StepSection {
    fn plain(&self, _: &Findings) -> Step {
        match self {
            Self::Wait(wait) => Step::Wait(wait.0),
            Self::Log(LogEntry::Text(text)) => Step::Log {
                level: "info".to_owned(),
                logger: None,
                data: json!(text),
            },
            Self::Log(LogEntry::Section(log)) => Step::Log {
                level: log.level.map_or("info", |it| it.0).to_owned(),
                logger: log.logger.clone(),
                data: log.data.clone(),
            },
            Self::Progress(it) => Step::Progress {
                progress: it.progress.clone(),
                total: it.total.clone(),
                message: it.message.clone(),
            },
            Self::Sample(it) => asked_alone(Asked::Sampling, it.params()),
            Self::Elicit(it) => asked_alone(Asked::Elicitation, it.params()),
            Self::ListRoots(_) => asked_alone(Asked::Roots, Value::Null),
            Self::Ask(questions) => {
                let questions = questions.0.iter();
                Step::Ask(questions.map(|(key, it)| it.question(&key.value)).collect())
            }
            Self::Notify(it) => Step::Notify {
                method: it.method.0.clone(),
                params: it.params.clone().map(Value::Object).unwrap_or_default(),
            },
            Self::UpdateResource(uri) => Step::UpdateResource { uri: uri.0.clone() },
            Self::ListChanged(list) => Step::ListChanged { list: list.0 },
            Self::ShowTools(names) => Step::ShowTools(names.clone()),
            Self::HideTools(names) => Step::HideTools(names.clone()),
        }
    }
}

/// A question that goes by its kind.
fn asked_alone(kind: Asked, params: Value) -> Step {
    let key = kind.name().to_owned();
    Step::Ask(vec![Question { key, kind, params }])
}

impl QuestionSection {
    fn question(&self, key: &str) -> Question {
        let (kind, params) = match self {
            Self::Sample(it) => (Asked::Sampling, it.params()),
            Self::Elicit(it) => (Asked::Elicitation, it.params()),
            Self::ListRoots(_) => (Asked::Roots, Value::Null),
        };
        let key = key.to_owned();
        Question { key, kind, params }
    }
}

impl SampleSection {
    /// The parameters as they go over the wire.
    fn params(&self) -> Value {
        let text = |it: &Option<String>| it.as_ref().map(|it| json!(it));
        let messages = self.messages.iter().filter_map(MessageSection::served);
        let preferences = self.model_preferences.as_ref();
        object([
            ("messages", Some(messages.collect())),
            (
                "modelPreferences",
                preferences.map(PreferencesSection::served),
            ),
            ("systemPrompt", text(&self.system_prompt)),
            ("includeContext", text(&self.include_context)),
            ("temperature", self.temperature.clone()),
            ("maxTokens", Some(json!(self.max_tokens.unwrap_or(100)))),
            (
                "stopSequences",
                self.stop_sequences.as_ref().map(|it| json!(it)),
            ),
            ("metadata", self.metadata.clone().map(Value::Object)),
        ])
    }
}

impl PreferencesSection {
    fn served(&self) -> Value {
        let hints = |it: &Vec<String>| it.iter().map(|it| json!({ "name": it })).collect();
        let priority = |it: Option<Fraction>| it.map(|it| json!(it.0));
        object([
            ("hints", self.hints.as_ref().map(hints)),
            ("costPriority", priority(self.cost_priority)),
            ("speedPriority", priority(self.speed_priority)),
            ("intelligencePriority", priority(self.intelligence_priority)),
        ])
    }
}

impl ElicitSection {
    fn params(&self) -> Value {
        let word = |it: &Option<Word>| it.as_ref().map(|it| json!(it.0));
        object([
            ("mode", self.url.as_ref().map(|_| json!("url"))),
            ("message", Some(json!(self.message))),
            (
                "requestedSchema",
                self.requested_schema.clone().map(Value::Object),
            ),
            ("url", word(&self.url)),
            ("elicitationId", word(&self.elicitation_id)),
        ])
    }
}

/// The faults that need no more words.
const PLAIN: [(&str, Fault); 12] = [
    ("invalid_json", Fault::InvalidJson),
    ("empty_body", Fault::EmptyBody),
    ("hang", Fault::Hang),
    ("disconnect", Fault::Disconnect),
    ("wrong_id", Fault::WrongId),
    ("duplicate_reply", Fault::DuplicateReply),
    ("vanish", Fault::Vanish),
    ("content_not_a_list", Fault::ContentNotAList),
    ("bad_item", Fault::BadItem),
    ("invalid_base64", Fault::InvalidBase64),
    ("wrong_result_type", Fault::WrongResultType),
    ("no_cache_hints", Fault::NoCacheHints),
];

/// The largest reply that can be asked for, in bytes.
const MAX_OVERSIZED: i64 = 1024 * 1024 * 1024;

/// What goes wrong with an answer.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct FaultSection {
    name: &'static str,
    fault: Fault,
}

section! {
    /// An HTTP status instead of an answer.
    StatusSection {
        /// The status, such as 503.
        status: i64,
        /// Headers of the response, by name.
        headers: Option<Named<String>>,
        /// The body of the response.
        body: Option<String>,
    }
}

section! {
    /// An answer that comes a few bytes at a time.
    SlowSection {
        /// How many bytes come at once; 1 unless given.
        bytes: Option<Count>,
        /// How long each of them takes.
        every: Wait,
    }
}

impl Decode for FaultSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let valued = ["http_status", "slow_bytes", "oversized", "exit"];
        if !matches!(node.content, Content::Map(_)) {
            let words: Vec<&'static str> = PLAIN.iter().map(|it| it.0).chain(valued).collect();
            let name = choose(node, &words, findings)?;
            let Some((name, fault)) = PLAIN.iter().find(|it| it.0 == name) else {
                let message = format!("the fault `{name}` needs a value: `{{ {name}: … }}`");
                return findings.refuse(node.at, message, NO_HINT);
            };
            return Some(Self {
                name,
                fault: fault.clone(),
            });
        }
        let (name, value) = only_entry(node, &valued, findings)?;
        let fault = match name {
            "http_status" => status(value, findings)?,
            "slow_bytes" => slow(value, findings)?,
            "oversized" => Fault::Oversized(bytes(value, findings)?),
            _ => Fault::Exit(code(value, findings)?),
        };
        Some(Self { name, fault })
    }
}

fn status(node: &Node, findings: &mut Findings) -> Option<Fault> {
    let (status, headers, body) = match node.content {
        Content::Map(_) => {
            let section = StatusSection::decode(node, findings)?;
            let headers = section.headers.into_iter().flat_map(|it| it.0);
            let headers = headers.map(|(name, value)| (name.value, value)).collect();
            (section.status, headers, section.body.unwrap_or_default())
        }
        _ => (i64::decode(node, findings)?, Vec::new(), String::new()),
    };
    // A status below 200 would only announce the one that counts.
    let status = u16::try_from(status)
        .ok()
        .filter(|it| (200..=599).contains(it));
    if status.is_none() {
        findings.error(
            node.at,
            "an HTTP status is a number from 200 to 599",
            NO_HINT,
        );
    }
    Some(Fault::HttpStatus {
        status: status?,
        headers,
        body,
    })
}

fn slow(node: &Node, findings: &mut Findings) -> Option<Fault> {
    let (bytes, every): (usize, Duration) = match node.content {
        Content::Map(_) => {
            let section = SlowSection::decode(node, findings)?;
            let bytes = section.bytes.map_or(1, |it| it.0);
            (
                usize::try_from(bytes).unwrap_or(usize::MAX),
                section.every.0,
            )
        }
        _ => (1, Wait::decode(node, findings)?.0),
    };
    Some(Fault::SlowBytes { bytes, every })
}

fn bytes(node: &Node, findings: &mut Findings) -> Option<usize> {
    let bytes = i64::decode(node, findings)?;
    let fits = (1..=MAX_OVERSIZED).contains(&bytes);
    if !fits {
        let message =
            format!("expected a number of bytes from 1 to {MAX_OVERSIZED}, found {bytes}");
        findings.error(node.at, message, NO_HINT);
    }
    usize::try_from(bytes).ok().filter(|_| fits)
}

fn code(node: &Node, findings: &mut Findings) -> Option<u8> {
    let code = i64::decode(node, findings)?;
    let fits = u8::try_from(code).ok();
    if fits.is_none() {
        let message = format!("an exit code is a number from 0 to 255, found {code}");
        findings.error(node.at, message, NO_HINT);
    }
    fits
}

impl FaultSection {
    pub(in crate::scenario_file) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the declared answer goes out, in whatever shape.
    pub(in crate::scenario_file) fn carries_an_answer(&self) -> bool {
        matches!(
            self.fault,
            Fault::InvalidJson
                | Fault::SlowBytes { .. }
                | Fault::Disconnect
                | Fault::WrongId
                | Fault::DuplicateReply
                | Fault::Vanish
                | Fault::WrongResultType
                | Fault::NoCacheHints
        )
    }
}

impl Plain<Fault> for FaultSection {
    fn plain(&self, _: &Findings) -> Fault {
        self.fault.clone()
    }
}

schema!(FaultSection as "Fault", |generator| {
    let words = PLAIN.map(|it| it.0);
    let one = |name: &str, description: &str, value: Schema| {
        json_schema!({
            "description": description,
            "type": "object",
            "properties": { name: value },
            "required": [name],
            "additionalProperties": false,
        })
    };
    let status = generator.subschema_for::<StatusSection>();
    let slow = generator.subschema_for::<SlowSection>();
    let wait = generator.subschema_for::<Wait>();
    json_schema!({
        "description": "What goes wrong with an answer.",
        "anyOf": [
            { "type": "string", "enum": words },
            one("http_status", "This HTTP status instead of an answer.", json_schema!({
                "anyOf": [{ "type": "integer", "minimum": 200, "maximum": 599 }, status],
            })),
            one("slow_bytes", "The answer comes a few bytes at a time; one by one when only the time is given.", json_schema!({
                "anyOf": [wait, slow],
            })),
            one("oversized", "An answer with a text of this many bytes.", json_schema!({
                "type": "integer", "minimum": 1, "maximum": MAX_OVERSIZED,
            })),
            one("exit", "The server's process ends with this code.", json_schema!({
                "type": "integer", "minimum": 0, "maximum": 255,
            })),
        ],
    })
});
