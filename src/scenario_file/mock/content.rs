//! Content blocks of a mock server's results, snake case here, camel case on the wire, and the bytes in them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::reply::AnswerBlock;
use crate::model::Object;
use crate::scenario_file::decode::{
    At, Decode, Fraction, NO_HINT, Served, Unnamed, Variant, Word, choice, kinds, schema, section,
};
use crate::scenario_file::yaml::{Findings, Mark, Node, quoted};

/// One content block of a result.
pub(in crate::scenario_file) type BlockSection = Variant<BlockKeys, BlockKind>;

kinds! {
    /// One content block of a result.
    BlockKind, by "type" of "block", named "BlockSection", unnamed Unnamed::Is("text"); {
        /// A text; what a block is unless `type` is given.
        "text" => Text(TextKeys),
        /// A picture.
        "image" => Image(BytesKeys),
        /// A sound.
        "audio" => Audio(BytesKeys),
        /// A resource, with all it holds.
        "resource" => Resource(ResourceKeys),
        /// A resource, by its address.
        "resource_link" => ResourceLink(LinkKeys),
    }
}

section! {
    /// What is said of every content block.
    BlockKeys, served {
        /// Whom the block is for, and how important it is.
        annotations: Option<BlockAnnotationsSection> => "annotations",
        /// `_meta` of the block, served as written.
        _meta: Option<Object> => "_meta",
    }
}

section! {
    /// What is said of a text.
    TextKeys, served, checked by check_text {
        /// The text.
        text: Option<String> => "text",
        /// Instead of `text`: any value, which becomes the text as compact JSON.
        json: Option<Value>,
    }
}

section! {
    /// What is said of a picture or a sound.
    BytesKeys, served, checked by check_bytes {
        /// The bytes, in Base64.
        data: Option<At<String>> => "data",
        /// Instead of `data`: a file, relative to this one.
        data_file: Option<DataFile> => "data",
        /// The MIME type of the bytes.
        mime_type: String => "mimeType",
    }
}

section! {
    /// What is said of a resource that is embedded.
    ResourceKeys, served {
        /// What the block embeds.
        resource: EmbeddedSection => "resource",
    }
}

section! {
    /// What is said of a resource by its address.
    LinkKeys, served {
        /// The address the link leads to.
        uri: Word => "uri",
        /// The name of the link.
        name: String => "name",
        /// The name that people are shown.
        title: Option<String> => "title",
        /// What the link leads to, in words.
        description: Option<String> => "description",
        /// The MIME type of what the link leads to.
        mime_type: Option<String> => "mimeType",
        /// How large the target is, in bytes.
        size: Option<i64> => "size",
    }
}

section! {
    /// A resource embedded in a result.
    EmbeddedSection, served, checked by check_resource {
        /// The address of the resource.
        uri: Word => "uri",
        /// The MIME type of the resource.
        mime_type: Option<String> => "mimeType",
        /// The resource, where it is text.
        text: Option<String> => "text",
        /// The resource, where it is not text, in Base64.
        blob: Option<At<String>> => "blob",
        /// Instead of `blob`: a file, relative to this one.
        blob_file: Option<DataFile> => "blob",
    }
}

section! {
    /// For whom a content block is meant, and how important it is.
    BlockAnnotationsSection, served {
        /// `user`, `assistant` or both.
        audience: Option<Vec<AudienceWord>> => "audience",
        /// From 0, not important, to 1, required.
        priority: Option<Fraction> => "priority",
        /// When the content changed last (ISO 8601).
        last_modified: Option<String> => "lastModified",
    }
}

choice! {
    /// A side of the conversation.
    AudienceWord for &'static str {
        "user" => "user",
        "assistant" => "assistant",
    }
}

fn check_text(block: &TextKeys, at: Mark, findings: &mut Findings) {
    if block.text.is_some() == block.json.is_some() {
        findings.error(at, "a text block needs either `text` or `json`", NO_HINT);
    }
}

fn check_bytes(block: &BytesKeys, at: Mark, findings: &mut Findings) {
    match (&block.data, &block.data_file) {
        (None, None) => {
            let message = "missing key `data`, which this type of block needs";
            findings.error(at, message, NO_HINT);
        }
        (Some(_), Some(_)) => {
            findings.error(at, "a block has `data` or a `data_file`, not both", NO_HINT);
        }
        _ => {}
    }
    check_base64(block.data.as_ref(), findings);
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
    pub(in crate::scenario_file) fn block(&self) -> AnswerBlock {
        let json = match &self.kind {
            BlockKind::Text(text) => text.json.clone(),
            _ => None,
        };
        AnswerBlock {
            served: self.served(),
            json,
        }
    }

    /// The block as it goes over the wire, but for the text that its `json` becomes.
    fn served(&self) -> Value {
        let (kind, keys) = match &self.kind {
            BlockKind::Text(it) => ("text", it.served()),
            BlockKind::Image(it) => ("image", it.served()),
            BlockKind::Audio(it) => ("audio", it.served()),
            BlockKind::Resource(it) => ("resource", it.served()),
            BlockKind::ResourceLink(it) => ("resource_link", it.served()),
        };
        let mut served = json!({ "type": kind });
        for part in [keys, self.all.served()] {
            if let (Value::Object(served), Some(Value::Object(part))) = (&mut served, part) {
                served.extend(part);
            }
        }
        served
    }
}

impl Served for AudienceWord {
    fn served(&self) -> Option<Value> {
        Some(self.0.into())
    }
}

/// The largest file of data, in bytes.
const MAX_DATA: u64 = 16 * 1024 * 1024;

/// The content of a file, in Base64.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct DataFile(pub(in crate::scenario_file) String);

impl Decode for DataFile {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if findings.without_files {
            let message = "a tool that is sent to a running server cannot name a file";
            let hint = "send the bytes themselves, in Base64, as `data` or `blob`";
            return findings.refuse(node.at, message, Some(hint));
        }
        let path = Word::decode(node, findings)?.0;
        let file = findings.folder(node.at).join(&path);
        if !findings.may_name(node.at, &file) {
            return None;
        }
        findings.depends_on(&file);
        match findings.read_bytes(&file, MAX_DATA) {
            Ok(bytes) => Some(Self(STANDARD.encode(bytes))),
            Err(problem) => {
                let message = format!("the file {} {problem}", quoted(&path));
                findings.refuse(node.at, message, NO_HINT)
            }
        }
    }
}

schema!(DataFile, {"type": "string", "pattern": r"\S"});

impl Served for DataFile {
    fn served(&self) -> Option<Value> {
        Some(self.0.clone().into())
    }
}

/// Says so when bytes are not written in Base64. Broken bytes are sent by the fault `invalid_base64`.
pub(in crate::scenario_file) fn check_base64(data: Option<&At<String>>, findings: &mut Findings) {
    if let Some(data) = data
        && STANDARD.decode(&data.value).is_err()
        && !data.value.contains("{{")
    {
        let hint = "the fault `invalid_base64` sends such data on purpose";
        findings.error(data.at, "is not Base64", Some(hint));
    }
}
