//! Whether two scenarios are the same on whichever machine, with the programs and files that these start with.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::depends::depends;
use crate::model::scenario::Scenario;
use crate::scenario_file;

/// What tells scenarios from others of the same ids.
#[derive(Debug, Default)]
pub struct Sameness {
    /// The hashes of the files that were read so far: many scenarios start the same servers.
    files: HashMap<PathBuf, Option<Vec<u8>>>,
}

impl Sameness {
    /// SHA-256, in hexadecimal, of all that a scenario is made of ([`scenario_file::fingerprint`]), and of what lies in the files that its
    /// servers, its agent, its hooks and its evaluators are started with. Files outside of the repository that the scenario lies in belong to
    /// the machine, as its Python does, and are not looked into; without a repository it is the folder around that of the scenarios.
    pub fn of(&mut self, scenario: &Scenario) -> String {
        let own = scenario_file::fingerprint(scenario);
        let around = around(&scenario.defaults_root);
        let mut hash = Sha256::new();
        let mut is_alone = true;
        // In the order in which the scenario, which says their names, has them.
        for path in depends(scenario).used {
            let Ok(path) = path.canonicalize() else {
                continue;
            };
            if !around.as_ref().is_some_and(|it| path.starts_with(it)) {
                continue;
            }
            let digest = self.files.entry(path);
            let digest = digest.or_insert_with_key(|it| content(it).ok());
            if let Some(digest) = digest {
                is_alone = false;
                hash.update(digest);
            }
        }
        if is_alone {
            return own;
        }
        hash.update(own.as_bytes());
        hex::encode(hash.finalize())
    }
}

/// What two copies of a project have alike.
fn around(root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let repository = root.ancestors().find(|it| it.join(".git").exists());
    let around = repository.or(root.parent()).unwrap_or(&root);
    Some(around.to_owned())
}

/// The hash of what lies in a file, which may be a large program.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hash.finalize().to_vec()),
            length => hash.update(&piece[..length]),
        }
    }
}
