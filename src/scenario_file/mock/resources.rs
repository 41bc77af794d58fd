//! Resources and prompts of a mock server.

use serde_json::{Value, json};

use super::content::{BlockAnnotationsSection, BlockSection, DataFile, check_base64};
use super::declared::{
    MockBody, MockContents, MockMessage, MockPrompt, MockResource, MockResourceTemplate,
};
use super::reply::AnswerBlock;
use crate::model::Object;
use crate::scenario_file::decode::{
    At, NO_HINT, Named, Plain, Served, Word, choice, section, shapes,
};
use crate::scenario_file::yaml::{Findings, Mark};

section! {
    /// A resource.
    ResourceSection, served, checked by check_resource {
        /// Its address.
        uri: At<Word> => "uri",
        /// What it is called; its address unless given.
        name: Option<Word> => "name",
        /// The name people are shown.
        title: Option<String> => "title",
        /// What it is, in words.
        description: Option<String> => "description",
        /// Its MIME type.
        mime_type: Option<String> => "mimeType",
        /// How large it is, in bytes.
        size: Option<i64> => "size",
        /// Whom it is for, and how important it is.
        annotations: Option<BlockAnnotationsSection> => "annotations",
        /// `_meta` of the resource, served as written.
        _meta: Option<Object> => "_meta",
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
    TemplateSection, served, checked by check_template {
        /// The template of their addresses: `notes://{id}` (RFC 6570; `{+path}` also takes slashes).
        uri_template: At<Word> => "uriTemplate",
        /// What they are called; the template unless given.
        name: Option<Word> => "name",
        /// The name people are shown.
        title: Option<String> => "title",
        /// What they are, in words.
        description: Option<String> => "description",
        /// Their MIME type.
        mime_type: Option<String> => "mimeType",
        /// Whom they are for, and how important they are.
        annotations: Option<BlockAnnotationsSection> => "annotations",
        /// `_meta` of the template, served as written.
        _meta: Option<Object> => "_meta",
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

/// What is listed, under its address where it has no other name.
fn listed(section: &impl Served, uri: &Word) -> Object {
    let Some(Value::Object(mut listed)) = section.served() else {
        return Object::new();
    };
    if !listed.contains_key("name") {
        listed.shift_insert(1, "name".to_owned(), uri.0.clone().into());
    }
    listed
}

impl Plain<MockResource> for ResourceSection {
    fn plain(&self, _: &Findings) -> MockResource {
        let blob = self.blob.as_ref().map(|it| &it.value);
        let blob = blob.or(self.blob_file.as_ref().map(|it| &it.0));
        MockResource {
            uri: self.uri.0.clone(),
            served: listed(self, &self.uri),
            contents: MockContents {
                mime_type: self.mime_type.clone(),
                body: body(self.text.as_ref(), self.json.as_ref(), blob),
            },
        }
    }
}

impl Plain<MockResourceTemplate> for TemplateSection {
    fn plain(&self, findings: &Findings) -> MockResourceTemplate {
        let blob = self.blob.as_ref().map(|it| &it.value);
        MockResourceTemplate {
            uri_template: self.uri_template.0.clone(),
            served: listed(self, &self.uri_template),
            contents: MockContents {
                mime_type: self.mime_type.clone(),
                body: body(self.text.as_ref(), self.json.as_ref(), blob),
            },
            completions: self.complete.plain(findings).unwrap_or_default(),
        }
    }
}

section! {
    /// A prompt.
    PromptSection, served {
        /// The name it is fetched by.
        name: At<Word> => "name",
        /// The name people are shown.
        title: Option<String> => "title",
        /// What it is for.
        description: Option<String> => "description",
        /// What it can be given.
        arguments: Option<Vec<PromptArgumentSection>> => "arguments",
        /// `_meta` of the prompt, served as written.
        _meta: Option<Object> => "_meta",
        /// What it says; `{{args.NAME}}` is an argument.
        messages: Vec<MessageSection>,
    }
}

section! {
    /// An argument of a prompt.
    PromptArgumentSection, served {
        /// Its name.
        name: Word => "name",
        /// The name people are shown.
        title: Option<String> => "title",
        /// What it means.
        description: Option<String> => "description",
        /// Whether the prompt cannot do without it.
        required: Option<bool> => "required",
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

impl Plain<MockPrompt> for PromptSection {
    fn plain(&self, _: &Findings) -> MockPrompt {
        let arguments = self.arguments.iter().flatten();
        let completes = arguments
            .clone()
            .filter_map(|it| Some((it.name.0.clone(), it.complete.clone()?)));
        let required = arguments.filter(|it| it.required == Some(true));
        MockPrompt {
            name: self.name.0.clone(),
            served: match self.served() {
                Some(Value::Object(served)) => served,
                _ => Object::new(),
            },
            required: required.map(|it| it.name.0.clone()).collect(),
            messages: self.messages.iter().map(MessageSection::message).collect(),
            completions: completes.collect(),
        }
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
}

/// As it goes over the wire where nothing is left to be made of it.
impl Served for MessageSection {
    fn served(&self) -> Option<Value> {
        let MockMessage { role, content } = self.message();
        let AnswerBlock { mut served, json } = content;
        if let Some(json) = json {
            served["text"] = Value::String(json.to_string());
        }
        Some(json!({ "role": role, "content": served }))
    }
}
