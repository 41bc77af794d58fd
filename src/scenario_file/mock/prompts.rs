//! Prompts of a mock server, and messages of conversations.

use serde_json::{Value, json};

use crate::model::Object;
use crate::model::interactions::{AnswerBlock, MockMessage, MockPrompt};

use super::content::{BlockSection, object};
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, choice, section, shapes};

section! {
    /// A prompt.
    PromptSection {
        /// The name it is fetched by.
        name: At<Word>,
        /// The name people are shown.
        title: Option<String>,
        /// What it is for.
        description: Option<String>,
        /// What it can be given.
        arguments: Option<Vec<PromptArgumentSection>>,
        /// `_meta` of the prompt, served as written.
        _meta: Option<Object>,
        /// What it says; `{{args.NAME}}` is an argument.
        messages: Vec<MessageSection>,
    }
}

section! {
    /// An argument of a prompt.
    PromptArgumentSection {
        /// Its name.
        name: Word,
        /// The name people are shown.
        title: Option<String>,
        /// What it means.
        description: Option<String>,
        /// Whether the prompt cannot do without it.
        required: Option<bool>,
        /// Values proposed for it.
        complete: Option<Vec<String>>,
    }
}

section! {
    /// A message of a prompt or of a conversation.
    MessageSection {
        /// Who says it; `user` unless given.
        role: Option<RoleWord>,
        /// What is said: a content block, or text.
        content: OneBlock,
    }
}

choice! {
    /// A side of the conversation.
    RoleWord for &'static str {
        "user" => "user",
        "assistant" => "assistant",
    }
}

shapes! {
    /// A content block, or text for one.
    OneBlock, "text or a content block" {
        Text => Text(String),
        Map => Block(Box<BlockSection>),
    }
}

impl PromptSection {
    pub(in crate::scenario_file) fn prompt(&self) -> MockPrompt {
        let text = |it: &Option<String>| it.as_ref().map(|it| json!(it));
        let arguments = self.arguments.as_ref();
        let served = |it: &Vec<PromptArgumentSection>| {
            it.iter()
                .map(PromptArgumentSection::served)
                .collect::<Value>()
        };
        let completes = arguments
            .into_iter()
            .flatten()
            .filter_map(|it| Some((it.name.0.clone(), it.complete.clone()?)));
        let required = arguments
            .into_iter()
            .flatten()
            .filter(|it| it.required == Some(true));
        MockPrompt {
            name: self.name.0.clone(),
            served: object([
                ("name", Some(json!(self.name.0))),
                ("title", text(&self.title)),
                ("description", text(&self.description)),
                ("arguments", arguments.map(served)),
                ("_meta", self._meta.clone().map(Value::Object)),
            ]),
            required: required.map(|it| it.name.0.clone()).collect(),
            messages: self.messages.iter().map(MessageSection::message).collect(),
            completions: completes.collect(),
        }
    }
}

impl PromptArgumentSection {
    fn served(&self) -> Value {
        let text = |it: &Option<String>| it.as_ref().map(|it| json!(it));
        Value::Object(object([
            ("name", Some(json!(self.name.0))),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("required", self.required.map(Value::Bool)),
        ]))
    }
}

impl MessageSection {
    fn message(&self) -> MockMessage {
        MockMessage {
            role: self.role.map_or("user", |it| it.0).to_owned(),
            content: match &self.content {
                OneBlock::Text(text) => AnswerBlock::text(text),
                OneBlock::Block(block) => block.block(),
            },
        }
    }

    /// The message as it goes over the wire, where nothing is left to be made of it.
    pub(in crate::scenario_file) fn served(&self) -> Value {
        let AnswerBlock { mut served, json } = self.message().content;
        if let Some(json) = json {
            served["text"] = Value::String(json.to_string());
        }
        json!({ "role": self.role.map_or("user", |it| it.0), "content": served })
    }
}
