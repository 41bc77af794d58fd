//! Bytes in content: written in Base64, or taken from a file.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::decode::{At, Decode, NO_HINT};
use super::finding::quoted;
use super::node::Node;
use super::source::{Findings, read_bytes};
use super::values::Word;

/// The largest file of data, in bytes.
const MAX_DATA: u64 = 16 * 1024 * 1024;

/// The content of a file, in Base64.
#[derive(Debug, Clone)]
pub(super) struct DataFile(pub(super) String);

impl Decode for DataFile {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let path = Word::decode(node, findings)?.0;
        let bytes = read_bytes(&findings.folder(node.at).join(&path), MAX_DATA);
        match bytes {
            Ok(bytes) => Some(Self(STANDARD.encode(bytes))),
            Err(problem) => {
                let message = format!("the file {} {problem}", quoted(&path));
                findings.error(node.at, message, NO_HINT);
                None
            }
        }
    }
}

impl JsonSchema for DataFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DataFile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": r"\S"})
    }
}

/// Says so when bytes are not written in Base64. Broken bytes are sent by the fault `invalid_base64`.
pub(super) fn check_base64(data: Option<&At<String>>, findings: &mut Findings) {
    if let Some(data) = data
        && STANDARD.decode(&data.value).is_err()
        && !data.value.contains("{{")
    {
        let hint = "the fault `invalid_base64` sends such data on purpose";
        findings.error(data.at, "is no Base64", Some(hint));
    }
}
