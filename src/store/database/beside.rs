//! Facts that the database knows of a run and its document does not: kept beside the document, so that a database that is made anew knows
//! them, too.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::finished::Declared;
use super::write::Identity;
use crate::input;
use crate::store::write;

/// The file in the folder of the run.
const FILE: &str = "database.json";

/// What is known of a run besides. All of it is free of secrets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Beside {
    #[serde(default)]
    pub(super) identity: Identity,
    /// By the ids of the results, made with the name of the folder.
    #[serde(default)]
    pub(super) results: BTreeMap<String, BesideResult>,
}

/// What is known of a result besides.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct BesideResult {
    /// What its scenario was declared as.
    pub(super) declared: Option<Declared>,
    /// The verdict of the reply, where it was asked for as a test case.
    pub(super) verdict: Option<Value>,
}

impl Beside {
    /// What lies in a folder; nothing, where that cannot be read.
    pub(super) fn read(folder: &Path) -> Self {
        let text = input::read_to_string(&folder.join(FILE));
        let read = text.ok().and_then(|it| serde_json::from_str(&it).ok());
        read.unwrap_or_default()
    }

    /// Keeps it in a folder that is there. What goes wrong is no loss while the database is there.
    pub(super) fn keep(&self, folder: &Path) {
        if let (true, Ok(text)) = (folder.is_dir(), serde_json::to_string(self)) {
            let _ = write(&folder.join(FILE), text.as_bytes());
        }
    }
}
