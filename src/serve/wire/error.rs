//! A reply that says why not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request is not fulfilled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReply {
    /// In a sentence.
    pub error: String,
    /// What is wrong in the request, place by place; empty where it is not malformed.
    #[serde(default)]
    pub findings: Vec<Misfit>,
}

/// Something that is wrong in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Misfit {
    /// Where: a JSON Pointer (RFC 6901) into the body, or the name of a parameter.
    pub path: String,
    pub message: String,
}
