//! Fingerprints by which two scenarios are the same, on whichever machine they lie.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::rebase::relative;
use crate::input;
use crate::model::scenario::Scenario;

/// What a scenario has become, with variables that were given beside the files, and servers of whoever runs it.
fn as_loaded(scenario: &Scenario) -> String {
    let without_paths = Scenario {
        path: PathBuf::new(),
        read_from: Vec::new(),
        defaults_root: PathBuf::new(),
        ..scenario.clone()
    };
    beside(&format!("{without_paths:?}"), &scenario.defaults_root)
}

/// How many digits of a hash tell one version of a scenario from another, in plans that name thousands.
const DIGITS: usize = 16;

/// What tells many scenarios from other versions of them, on whichever machine.
#[derive(Debug, Default)]
pub struct Fingerprints {
    /// The hashes of the files that were read so far: the rows of a data set all come from the same.
    files: HashMap<PathBuf, Option<Vec<u8>>>,
}

impl Fingerprints {
    /// The first digits of a hash of all that a scenario is made of: the texts of all files that it was read from, with their places as seen
    /// from its folder, and what it has become, with its row, its variables and its servers, wherever these come from. The values of secret
    /// variables are left out: each machine may have its own.
    pub fn of(&mut self, scenario: &Scenario) -> String {
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
            let digest = self.files.entry(path.clone()).or_insert_with(|| {
                let text = input::read(path).ok()?;
                Some(Sha256::digest(text).to_vec())
            });
            if let Some(digest) = digest {
                add(relative(root, path).as_bytes());
                add(digest);
            }
        }
        let mut text = as_loaded(scenario);
        for secret in scenario.redaction.values().filter(|it| !it.is_empty()) {
            text = text.replace(secret, "");
        }
        add(text.as_bytes());
        let mut digits = hex::encode(hash.finalize());
        digits.truncate(DIGITS);
        digits
    }
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
