//! Resources and prompts of a mock server.

use serde_json::{Value, json};

use super::content::{BlockAnnotationsSection, BlockSection, DataFile, check_base64, object};
use crate::model::Object;
use crate::model::interactions::{
    AnswerBlock, MockBody, MockContents, MockMessage, MockPrompt, MockResource,
    MockResourceTemplate,
};
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, NO_HINT, Named, choice, section, shapes};
use crate::scenario_file::yaml::source::{Findings, Mark};

section! {
    /// A resource.
    ResourceSection, checked by check_resource {
        /// Its address.
        uri: At<Word>,
        /// What it is called; its address unless given.
        name: Option<Word>,
        /// The name people are shown.
        title: Option<String>,
        /// What it is, in words.
        description: Option<String>,
        /// Its MIME type.
        mime_type: Option<String>,
        /// How large it is, in bytes.
        size: Option<i64>,
        /// Whom it is for, and how important it is.
        annotations: Option<BlockAnnotationsSection>,
        /// `_meta` of the resource, served as written.
        _meta: Option<Object>,
        /// What it holds: text, which may refer to what the server remembers.
        text: Option<String>,
        /// What it holds: any value, which becomes the text as compact JSON.
        json: Option<Value>,
        /// What it holds: bytes, in Base64.
        blob: Option<At<String>>,
        /// What it holds: the bytes of a file, relative to this one.
        blob_file: Option<DataFile>,
    }
}

section! {
    /// Resources that share a URI template.
    TemplateSection, checked by check_template {
        /// The template of their addresses: `notes://{id}` (RFC 6570; `{+path}` also takes slashes).
        uri_template: At<Word>,
        /// What they are called; the template unless given.
        name: Option<Word>,
        /// The name people are shown.
        title: Option<String>,
        /// What they are, in words.
        description: Option<String>,
        /// Their MIME type.
        mime_type: Option<String>,
        /// Whom they are for, and how important they are.
        annotations: Option<BlockAnnotationsSection>,
        /// `_meta` of the template, served as written.
        _meta: Option<Object>,
        /// What they hold: text; `{{uri.NAME}}` is a variable of the template.
        text: Option<String>,
        /// What they hold: any value, which becomes the text as compact JSON.
        json: Option<Value>,
        /// What they hold: bytes, in Base64.
        blob: Option<At<String>>,
        /// Values proposed for variables of the template.
        complete: Option<Named<Vec<String>>>,
    }
}

/// What a resource holds is said once.
fn check_body(given: &[bool], blob: Option<&At<String>>, at: Mark, findings: &mut Findings) {
    if given.iter().filter(|it| **it).count() != 1 {
        let message = "a resource needs exactly one of `text`, `json`, `blob` and `blob_file`";
        findings.error(at, message, NO_HINT);
    }
    check_base64(blob, findings);
}

fn check_resource(resource: &ResourceSection, at: Mark, findings: &mut Findings) {
    let given = [
        resource.text.is_some(),
        resource.json.is_some(),
        resource.blob.is_some(),
        resource.blob_file.is_some(),
    ];
    check_body(&given, resource.blob.as_ref(), at, findings);
}

fn check_template(template: &TemplateSection, at: Mark, findings: &mut Findings) {
    let given = [
        template.text.is_some(),
        template.json.is_some(),
        template.blob.is_some(),
    ];
    check_body(&given, template.blob.as_ref(), at, findings);
    let uri = &template.uri_template.0;
    let opened = uri.matches('{').count();
    let names_all = !uri.contains("{}") && opened > 0 && opened == uri.matches('}').count();
    if !names_all {
        let message = "a URI template names its variables in braces: `notes://{id}`";
        findings.error(template.uri_template.at, message, NO_HINT);
    }
}

fn body(text: Option<&String>, json: Option<&Value>, blob: Option<&String>) -> MockBody {
    match (text, json, blob) {
        (_, Some(json), _) => MockBody::Json(json.clone()),
        (_, _, Some(blob)) => MockBody::Blob(blob.clone()),
        (text, ..) => MockBody::Text(text.cloned().unwrap_or_default()),
    }
}

impl ResourceSection {
    pub(in crate::scenario_file) fn resource(&self) -> MockResource {
        let text = |it: &Option<String>| it.as_ref().map(|it| json!(it));
        let uri = &self.uri.0;
        let annotations = self.annotations.as_ref();
        let served = object([
            ("uri", Some(json!(uri))),
            (
                "name",
                Some(json!(self.name.as_ref().map_or(uri, |it| &it.0))),
            ),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("mimeType", text(&self.mime_type)),
            ("size", self.size.map(|it| json!(it))),
            (
                "annotations",
                annotations.map(BlockAnnotationsSection::served),
            ),
            ("_meta", self._meta.clone().map(Value::Object)),
        ]);
        let blob = self.blob.as_ref().map(|it| &it.value);
        let blob = blob.or(self.blob_file.as_ref().map(|it| &it.0));
        MockResource {
            uri: uri.clone(),
            served,
            contents: MockContents {
                mime_type: self.mime_type.clone(),
                body: body(self.text.as_ref(), self.json.as_ref(), blob),
            },
        }
    }
}

impl TemplateSection {
    pub(in crate::scenario_file) fn template(&self) -> MockResourceTemplate {
        let text = |it: &Option<String>| it.as_ref().map(|it| json!(it));
        let uri = &self.uri_template.0;
        let annotations = self.annotations.as_ref();
        let served = object([
            ("uriTemplate", Some(json!(uri))),
            (
                "name",
                Some(json!(self.name.as_ref().map_or(uri, |it| &it.0))),
            ),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("mimeType", text(&self.mime_type)),
            (
                "annotations",
                annotations.map(BlockAnnotationsSection::served),
            ),
            ("_meta", self._meta.clone().map(Value::Object)),
        ]);
        let completions = self.complete.iter().flat_map(|it| &it.0);
        MockResourceTemplate {
            uri_template: uri.clone(),
            served,
            contents: MockContents {
                mime_type: self.mime_type.clone(),
                body: body(
                    self.text.as_ref(),
                    self.json.as_ref(),
                    self.blob.as_ref().map(|it| &it.value),
                ),
            },
            completions: completions
                .map(|(name, values)| (name.value.clone(), values.clone()))
                .collect(),
        }
    }
}

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
