//! What of an evaluator is compared with what a run holds.

use serde_json::Value;

use crate::Object;

/// A text or value of an evaluator that is compared with what a run holds, and so must be without secrets as that is.
#[derive(Debug)]
pub enum EvaluatorText<'a> {
    Words(&'a mut String),
    /// A regular expression.
    Pattern(&'a mut String),
    Value(&'a mut Value),
    Object(&'a mut Object),
}
