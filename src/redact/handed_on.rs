//! Passing known secrets on to a mock server of ours that compares with a recording: through its environment, which other
//! users cannot read.

use serde::{Deserialize, Serialize};

use super::Secrets;
use model::{Redaction, RedactionPattern};

/// The environment variable it is handed on in.
pub const VARIABLE: &str = "MCP_EVAL_REDACTION";

#[derive(Serialize, Deserialize)]
struct HandedOn {
    secrets: Secrets,
    patterns: Vec<String>,
    keep: Vec<String>,
}

/// The value of the variable.
pub fn to_text(secrets: &Secrets, redaction: &Redaction) -> String {
    let mut secrets = secrets.clone();
    secrets.of_scenario(redaction);
    let patterns = redaction.patterns.iter();
    let handed_on = HandedOn {
        secrets,
        patterns: patterns.map(|it| it.regex().as_str().to_owned()).collect(),
        keep: redaction.keep.clone(),
    };
    // Texts and lists of them always serialise.
    serde_json::to_string(&handed_on).unwrap_or_default()
}

/// What was handed on; `None` when it is none of our doing.
pub fn from_text(text: &str) -> Option<(Secrets, Redaction)> {
    let handed_on: HandedOn = serde_json::from_str(text).ok()?;
    let patterns = handed_on.patterns.iter();
    let redaction = Redaction {
        patterns: patterns
            .filter_map(|it| RedactionPattern::new(it).ok())
            .collect(),
        keep: handed_on.keep,
        ..Redaction::default()
    };
    Some((handed_on.secrets, redaction))
}
