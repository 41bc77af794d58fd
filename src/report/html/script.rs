//! The scripts of the pages: our own files under `templates/`, allowed by their hash, so that nothing else runs.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Leads from change to change, and copies commands.
#[derive(Template)]
#[template(path = "scenario.js", escape = "none")]
pub(super) struct ScenarioScript;
/// Filters and sorts the scenarios of the index.
#[derive(Template)]
#[template(path = "index.js", escape = "none")]
pub(super) struct IndexScript;

/// What a content security policy calls a script that is part of a page: `sha256-…`.
pub(super) fn hash(script: &impl Template) -> String {
    let text = script.render().unwrap_or_default();
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
