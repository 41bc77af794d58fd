//! Templates made into text, and the scripts of the pages: our own files, allowed by their hash.

use askama::Template;
use askama::filters::Safe;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Renders a page. It fails only if the formatting of a value does, which none of ours can; if one did, the page would show the error.
pub(super) fn render(page: &impl Template) -> String {
    page.render().unwrap_or_else(|error| error.to_string())
}

/// A template within another one. It has escaped its own values, so this is not escaped again; nothing but a template can be put here.
///
/// Parts of a page are templates of their own, and not includes, because an include is compiled anew at each place that has it.
pub(super) fn embedded<T: Template>(part: T) -> Safe<T> {
    Safe(part)
}

/// A text that stands between tags, and in no attribute.
#[derive(Template)]
#[template(source = "{{ text }}", ext = "txt", escape = "between-tags")]
pub(super) struct BetweenTags<'a> {
    text: &'a str,
}

/// A text between tags, for the templates.
pub(super) fn between_tags(text: &str) -> Safe<BetweenTags<'_>> {
    embedded(BetweenTags { text })
}

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
