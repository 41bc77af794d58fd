//! Whether two scenarios are the same, on whichever machine they lie.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::rebase::relative;
use crate::input;
use crate::model::scenario::Scenario;

/// SHA-256 of all that a scenario is made of, in hexadecimal: the texts of all files that it was read from, with their places as seen from its
/// folder, and what it has become, with its row, its variables and its servers, wherever these come from.
pub fn fingerprint(scenario: &Scenario) -> String {
    let root = &scenario.defaults_root;
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        // So that nothing can be a part of its neighbour.
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    add(scenario.id.as_bytes());
    for path in &scenario.read_from {
        // Files that were looked for, and are not there, are none elsewhere either.
        if let Ok(text) = input::read(path) {
            add(relative(root, path).as_bytes());
            add(&text);
        }
    }
    // With variables that were given beside the files, and servers of whoever runs it.
    let told = Scenario {
        path: PathBuf::new(),
        read_from: Vec::new(),
        defaults_root: PathBuf::new(),
        ..scenario.clone()
    };
    add(beside(&format!("{told:?}"), root).as_bytes());
    hex::encode(hash.finalize())
}

/// A text in which paths begin at this folder, or the one that holds it.
fn beside(text: &str, root: &Path) -> String {
    let shown = |it: &Path| format!("{}/", it.display());
    let text = text.replace(&shown(root), "./");
    match root.parent() {
        Some(above) if above != Path::new("/") => text.replace(&shown(above), "../"),
        _ => text,
    }
}
