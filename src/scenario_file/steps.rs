//! Steps: what a mock server does between a request and its answer.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::model::Object;
use crate::model::interactions::Step;

use super::content::object;
use super::decode::{Decode, NO_HINT, choice, only_entry, section};
use super::node::{Content, Node};
use super::prompts::MessageSection;
use super::source::{Findings, Mark};
use super::values::{Fraction, Wait, Word};

/// Something the server does before it answers.
#[derive(Debug, Clone)]
pub(super) struct StepSection(pub(super) Step);

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

const STEPS: [&str; 11] = [
    "wait",
    "log",
    "progress",
    "sample",
    "elicit",
    "list_roots",
    "notify",
    "update_resource",
    "list_changed",
    "show_tools",
    "hide_tools",
];

impl Decode for StepSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let (name, value) = only_entry(node, &STEPS, findings)?;
        let step = match name {
            "wait" => Step::Wait(Wait::decode(value, findings)?.0),
            "log" => log(value, findings)?,
            "progress" => {
                let section = ProgressSection::decode(value, findings)?;
                Step::Progress {
                    progress: section.progress,
                    total: section.total,
                    message: section.message,
                }
            }
            "sample" => Step::Sample {
                params: SampleSection::decode(value, findings)?.params(),
            },
            "elicit" => Step::Elicit {
                params: ElicitSection::decode(value, findings)?.params(),
            },
            "list_roots" => {
                if !bool::decode(value, findings)? {
                    findings.error(value.at, "only `list_roots: true` has a meaning", NO_HINT);
                    return None;
                }
                Step::ListRoots
            }
            "notify" => {
                let section = NotifySection::decode(value, findings)?;
                Step::Notify {
                    method: section.method.0,
                    params: section.params.map(Value::Object).unwrap_or_default(),
                }
            }
            "update_resource" => Step::UpdateResource {
                uri: Word::decode(value, findings)?.0,
            },
            "list_changed" => Step::ListChanged {
                list: ListWord::decode(value, findings)?.0,
            },
            "show_tools" => Step::ShowTools(Vec::decode(value, findings)?),
            _ => Step::HideTools(Vec::decode(value, findings)?),
        };
        Some(Self(step))
    }
}

fn log(node: &Node, findings: &mut Findings) -> Option<Step> {
    if let Content::Text(text) = &node.content {
        return Some(Step::Log {
            level: "info".to_owned(),
            logger: None,
            data: json!(text),
        });
    }
    let section = LogSection::decode(node, findings)?;
    Some(Step::Log {
        level: section.level.map_or("info", |it| it.0).to_owned(),
        logger: section.logger,
        data: section.data,
    })
}

impl SampleSection {
    /// The parameters as they go over the wire.
    fn params(&self) -> Value {
        let text = |it: &Option<String>| it.as_ref().map(|it| json!(it));
        let messages = self.messages.iter().map(MessageSection::served);
        let preferences = self.model_preferences.as_ref();
        Value::Object(object([
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
        ]))
    }
}

impl PreferencesSection {
    fn served(&self) -> Value {
        let hints = |it: &Vec<String>| it.iter().map(|it| json!({ "name": it })).collect();
        let priority = |it: Option<Fraction>| it.map(|it| json!(it.0));
        Value::Object(object([
            ("hints", self.hints.as_ref().map(hints)),
            ("costPriority", priority(self.cost_priority)),
            ("speedPriority", priority(self.speed_priority)),
            ("intelligencePriority", priority(self.intelligence_priority)),
        ]))
    }
}

impl ElicitSection {
    fn params(&self) -> Value {
        let word = |it: &Option<Word>| it.as_ref().map(|it| json!(it.0));
        Value::Object(object([
            ("mode", self.url.as_ref().map(|_| json!("url"))),
            ("message", Some(json!(self.message))),
            (
                "requestedSchema",
                self.requested_schema.clone().map(Value::Object),
            ),
            ("url", word(&self.url)),
            ("elicitationId", word(&self.elicitation_id)),
        ]))
    }
}

impl JsonSchema for StepSection {
    fn schema_name() -> Cow<'static, str> {
        "Step".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let log = generator.subschema_for::<LogSection>();
        let names = json_schema!({ "type": "array", "items": { "type": "string" } });
        let values = [
            generator.subschema_for::<Wait>(),
            json_schema!({ "anyOf": [{ "type": "string" }, log] }),
            generator.subschema_for::<ProgressSection>(),
            generator.subschema_for::<SampleSection>(),
            generator.subschema_for::<ElicitSection>(),
            json_schema!({ "const": true }),
            generator.subschema_for::<NotifySection>(),
            generator.subschema_for::<Word>(),
            generator.subschema_for::<ListWord>(),
            names.clone(),
            names,
        ];
        let descriptions = [
            "Wait for so long.",
            "Send a log message.",
            "Report progress, where the client asks for it.",
            "Ask the client's model.",
            "Ask the user.",
            "Ask for the client's roots; the answer is `{{roots.…}}` from here on.",
            "Send any notification.",
            "Tell the subscribers of a resource that it changed.",
            "Tell all clients that a list changed.",
            "Put tools into the list, and tell all clients.",
            "Take tools out of the list, and tell all clients.",
        ];
        let steps = STEPS.iter().zip(values).zip(descriptions);
        let steps: Vec<Schema> = steps
            .map(|((name, value), description)| {
                json_schema!({
                    "description": description,
                    "type": "object",
                    "properties": { *name: value },
                    "required": [name],
                    "additionalProperties": false,
                })
            })
            .collect();
        json_schema!({
            "description": "Something the server does before it answers.",
            "anyOf": steps,
        })
    }
}
