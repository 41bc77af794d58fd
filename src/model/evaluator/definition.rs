//! What tells an evaluator from another one.

use sha2::{Digest as _, Sha256};

use super::kind::EvaluatorKind;
use super::schema_validate::SchemaSource;
use super::text::TextSource;

impl EvaluatorKind {
    /// What tells an evaluator of this kind from one that asks for something else, whatever it is called and wherever it stands: a SHA-256, in
    /// hexadecimal.
    pub fn definition(&self) -> String {
        let mut hash = Sha256::new();
        self.add_to(&mut hash);
        hex::encode(hash.finalize())
    }

    /// Whether it needs more than a run to judge it, so that it cannot look at one that was stored.
    pub fn needs_more(&self) -> bool {
        match self {
            Self::SqlValidate(_) | Self::File(_) | Self::Command(_) | Self::LlmJudge(_) => true,
            Self::SchemaValidate(it) => matches!(it.source, SchemaSource::File(_)),
            Self::Text(it) => it.within == TextSource::Log,
            _ => self.inner().iter().any(|it| it.kind.needs_more()),
        }
    }

    fn add_to(&self, hash: &mut Sha256) {
        hash.update(self.name());
        match self {
            // Where they stand in their file is nothing to tell them by.
            Self::AllOf(_) | Self::AnyOf(_) | Self::Not(_) => {
                for inner in self.inner() {
                    hash.update("(");
                    inner.kind.add_to(hash);
                    hash.update(")");
                }
            }
            // Its address is not shown.
            Self::SqlValidate(it) => hash.update(format!(
                "{:?}{:?}{:?}{:?}",
                it.asked.database, it.asked.query, it.asked.parameters, it.wanted
            )),
            _ => hash.update(format!("{self:?}")),
        }
    }
}
