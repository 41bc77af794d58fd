//! Bytes in content: written in Base64, or taken from a file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, Decode, NO_HINT, schema};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::source::Findings;

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
