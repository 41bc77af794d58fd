//! Content blocks of a mock server's results: snake case here, camel case on the wire.

use serde_json::{Value, json};

use crate::model::Object;
use crate::model::interactions::AnswerBlock;

use super::data::{DataFile, check_base64};
use super::decode::{At, NO_HINT, Use, check_use, choice, section};
use super::source::{Findings, Mark};
use super::values::{Fraction, Word};

/// The kinds of content blocks the protocol knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Image,
    Audio,
    Resource,
    ResourceLink,
}

choice! {
    /// The kind of content block.
    BlockWord for BlockKind {
        "text" => BlockKind::Text,
        "image" => BlockKind::Image,
        "audio" => BlockKind::Audio,
        "resource" => BlockKind::Resource,
        "resource_link" => BlockKind::ResourceLink,
    }
}

section! {
    /// One content block of a result.
    BlockSection, checked by check {
        /// The kind of block; `text` unless given.
        r#type: Option<At<BlockWord>>,
        /// The text of a `text` block.
        text: Option<At<String>>,
        /// Instead of `text`: any value, which becomes the text as compact JSON.
        json: Option<At<Value>>,
        /// The bytes of an `image` or `audio` block, in Base64.
        data: Option<At<String>>,
        /// Instead of `data`: a file, relative to this one.
        data_file: Option<At<DataFile>>,
        /// The MIME type of an `image`, an `audio` block or a `resource_link`.
        mime_type: Option<At<String>>,
        /// What a `resource` block embeds.
        resource: Option<At<EmbeddedSection>>,
        /// The address a `resource_link` leads to.
        uri: Option<At<Word>>,
        /// The name of a `resource_link`.
        name: Option<At<String>>,
        /// The name of a `resource_link` that people are shown.
        title: Option<At<String>>,
        /// What a `resource_link` leads to, in words.
        description: Option<At<String>>,
        /// How large the target of a `resource_link` is, in bytes.
        size: Option<At<i64>>,
        /// For whom the block is meant, and how important it is.
        annotations: Option<BlockAnnotationsSection>,
        /// `_meta` of the block, served as written.
        _meta: Option<Object>,
    }
}

section! {
    /// A resource embedded in a result.
    EmbeddedSection, checked by check_resource {
        /// The address of the resource.
        uri: Word,
        /// The MIME type of the resource.
        mime_type: Option<String>,
        /// The resource, where it is text.
        text: Option<String>,
        /// The resource, where it is not text, in Base64.
        blob: Option<At<String>>,
        /// Instead of `blob`: a file, relative to this one.
        blob_file: Option<DataFile>,
    }
}

section! {
    /// For whom a content block is meant, and how important it is.
    BlockAnnotationsSection {
        /// `user`, `assistant` or both.
        audience: Option<Vec<AudienceWord>>,
        /// From 0, not important, to 1, required.
        priority: Option<Fraction>,
        /// When the content changed last (ISO 8601).
        last_modified: Option<String>,
    }
}

choice! {
    /// A side of the conversation.
    AudienceWord for &'static str {
        "user" => "user",
        "assistant" => "assistant",
    }
}

/// What each kind of block has to have, may have, and no other.
fn check(block: &BlockSection, at: Mark, findings: &mut Findings) {
    use BlockKind::{Audio, Image, Resource, ResourceLink, Text};
    let kind = block.kind();
    let when = |kinds: &[BlockKind], wanted| {
        if kinds.contains(&kind) {
            wanted
        } else {
            Use::Never
        }
    };
    let data = if block.data_file.is_some() {
        Use::May
    } else {
        Use::Must
    };
    let mime_type = if kind == ResourceLink {
        Use::May
    } else {
        when(&[Image, Audio], Use::Must)
    };
    let given = [
        (
            "text",
            block.text.as_ref().map(At::mark),
            when(&[Text], Use::May),
        ),
        (
            "json",
            block.json.as_ref().map(At::mark),
            when(&[Text], Use::May),
        ),
        (
            "data",
            block.data.as_ref().map(At::mark),
            when(&[Image, Audio], data),
        ),
        (
            "data_file",
            block.data_file.as_ref().map(At::mark),
            when(&[Image, Audio], Use::May),
        ),
        (
            "mime_type",
            block.mime_type.as_ref().map(At::mark),
            mime_type,
        ),
        (
            "resource",
            block.resource.as_ref().map(At::mark),
            when(&[Resource], Use::Must),
        ),
        (
            "uri",
            block.uri.as_ref().map(At::mark),
            when(&[ResourceLink], Use::Must),
        ),
        (
            "name",
            block.name.as_ref().map(At::mark),
            when(&[ResourceLink], Use::Must),
        ),
        (
            "title",
            block.title.as_ref().map(At::mark),
            when(&[ResourceLink], Use::May),
        ),
        (
            "description",
            block.description.as_ref().map(At::mark),
            when(&[ResourceLink], Use::May),
        ),
        (
            "size",
            block.size.as_ref().map(At::mark),
            when(&[ResourceLink], Use::May),
        ),
    ];
    for (key, given, usage) in given {
        check_use(key, given, (usage, "block"), at, findings);
    }
    if block.data.is_some() && block.data_file.is_some() {
        findings.error(at, "a block has `data` or a `data_file`, not both", NO_HINT);
    }
    check_base64(block.data.as_ref(), findings);
    if kind == Text && block.text.is_some() == block.json.is_some() {
        findings.error(at, "a text block needs either `text` or `json`", NO_HINT);
    }
}

fn check_resource(resource: &EmbeddedSection, at: Mark, findings: &mut Findings) {
    let given = [
        resource.text.is_some(),
        resource.blob.is_some(),
        resource.blob_file.is_some(),
    ];
    if given.iter().filter(|it| **it).count() != 1 {
        let message = "a resource needs exactly one of `text`, `blob` and `blob_file`";
        findings.error(at, message, NO_HINT);
    }
    check_base64(resource.blob.as_ref(), findings);
}

impl BlockSection {
    fn kind(&self) -> BlockKind {
        self.r#type.as_ref().map_or(BlockKind::Text, |it| it.0)
    }

    pub(super) fn block(&self) -> AnswerBlock {
        AnswerBlock {
            served: self.served(),
            json: self.json.as_ref().map(|it| it.value.clone()),
        }
    }

    /// The block as it goes over the wire, but for the text that its `json` becomes.
    fn served(&self) -> Value {
        let text = |it: &Option<At<String>>| it.as_ref().map(|it| json!(it.value));
        let kind = match self.kind() {
            BlockKind::Text => "text",
            BlockKind::Image => "image",
            BlockKind::Audio => "audio",
            BlockKind::Resource => "resource",
            BlockKind::ResourceLink => "resource_link",
        };
        let parts = [
            ("type", Some(json!(kind))),
            ("text", text(&self.text)),
            (
                "data",
                text(&self.data).or(self.data_file.as_ref().map(|it| json!(it.value.0))),
            ),
            ("resource", self.resource.as_ref().map(|it| it.served())),
            ("uri", self.uri.as_ref().map(|it| json!(it.0))),
            ("name", text(&self.name)),
            ("title", text(&self.title)),
            ("description", text(&self.description)),
            ("mimeType", text(&self.mime_type)),
            ("size", self.size.as_ref().map(|it| json!(it.value))),
            (
                "annotations",
                self.annotations
                    .as_ref()
                    .map(BlockAnnotationsSection::served),
            ),
            ("_meta", self._meta.clone().map(Value::Object)),
        ];
        Value::Object(object(parts))
    }
}

impl EmbeddedSection {
    fn served(&self) -> Value {
        Value::Object(object([
            ("uri", Some(json!(self.uri.0))),
            ("mimeType", self.mime_type.as_ref().map(|it| json!(it))),
            ("text", self.text.as_ref().map(|it| json!(it))),
            (
                "blob",
                self.blob
                    .as_ref()
                    .map(|it| json!(it.value))
                    .or(self.blob_file.as_ref().map(|it| json!(it.0))),
            ),
        ]))
    }
}

impl BlockAnnotationsSection {
    pub(super) fn served(&self) -> Value {
        let audience = |it: &Vec<AudienceWord>| it.iter().map(|it| it.0).collect::<Value>();
        Value::Object(object([
            ("audience", self.audience.as_ref().map(audience)),
            ("priority", self.priority.map(|it| json!(it.0))),
            (
                "lastModified",
                self.last_modified.as_ref().map(|it| json!(it)),
            ),
        ]))
    }
}

/// An object of the parts that are there.
pub(super) fn object<const N: usize>(parts: [(&str, Option<Value>); N]) -> Object {
    let given = parts.into_iter();
    given
        .filter_map(|(name, value)| value.map(|it| (name.to_owned(), it)))
        .collect()
}
