//! The script for a model's stand-in in a file, whatever else the file holds or lacks.

use crate::model::interactions::LlmInteraction;
use crate::model::redaction::Redaction;

use super::find::Found;
use super::loader::{Loader, Options};
use super::mocks::redaction;
use crate::scenario_file::decode::Decode;
use crate::scenario_file::decode::section::check_keys;
use crate::scenario_file::file::document::Document;
use crate::scenario_file::mock::llm::InteractionSection;
use crate::scenario_file::yaml::finding::Finding;
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::source::Findings;

const SECTION: &str = "llm_interactions";

/// What became of a file with a script for a model.
#[derive(Debug, Clone)]
pub struct LoadedLlm {
    /// The script; empty when something is wrong.
    pub interactions: Vec<LlmInteraction>,
    /// What the file declares to be secret.
    pub redaction: Redaction,
    /// Everything that is wrong, sorted by path, line and column.
    pub findings: Vec<Finding>,
}

/// Reads the `llm_interactions` of a scenario, or of a file that holds nothing else.
pub fn llm(found: &Found) -> LoadedLlm {
    let options = Options::default();
    let mut loader = Loader::new(&options);
    let document = loader.merged(found);
    let mut findings = loader.into_findings();
    let redaction = document.as_ref().map(|it| redaction(it, &findings));
    let interactions = document.and_then(|it| interactions(&it, &mut findings));
    let is_right = findings.errors() == 0;
    LoadedLlm {
        interactions: interactions.filter(|_| is_right).unwrap_or_default(),
        redaction: redaction.unwrap_or_default(),
        findings: findings.into_list(),
    }
}

fn interactions(document: &Node, findings: &mut Findings) -> Option<Vec<LlmInteraction>> {
    // The other sections are none of our business, and variables are not filled in there; but a misspelt key may have been meant to matter.
    check_keys::<Document>(document, findings);
    let Some(section) = document.get(SECTION) else {
        let hint = format!("declare them under `{SECTION}`");
        return findings.refuse(
            document.at,
            "declares no interactions of a model",
            Some(hint),
        );
    };
    let script = Vec::<InteractionSection>::decode(section, findings)?;
    if script.is_empty() {
        findings.error(section.at, "lists no interaction", None::<&str>);
    }
    Some(script.iter().map(InteractionSection::interaction).collect())
}
