//! Answers of judges, so that the same question is not paid for twice.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{StoreError, write};
use crate::input;
use crate::model::{Object, Redacted};

/// The form of a file; one of another is passed over.
const FORMAT_VERSION: u32 = 1;

/// A folder of answers, each under a hash of its question.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    format_version: u32,
    answer: Object,
}

impl Cache {
    /// The cache in this folder, which need not be there.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The answer to the question of this hash; `None` where there is none that can be read.
    pub fn load(&self, question: &str) -> Option<Object> {
        let text = input::read(&self.path(question)).ok()?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        (kept.format_version == FORMAT_VERSION).then_some(kept.answer)
    }

    /// Keeps an answer.
    ///
    /// # Errors
    ///
    /// [`StoreError::Write`], naming the file.
    pub fn save(&self, question: &str, answer: &Redacted<Object>) -> Result<(), StoreError> {
        let kept = Kept {
            format_version: FORMAT_VERSION,
            answer: (**answer).clone(),
        };
        let text = serde_json::to_vec_pretty(&kept).unwrap_or_default();
        write(&self.path(question), &text)
    }

    /// A hash is nothing but letters and digits.
    fn path(&self, question: &str) -> PathBuf {
        self.folder.join(format!("judge-{question}.json"))
    }
}
