//! Keys that distinguish one cause from another.

use serde::Serialize;
use sha2::{Digest, Sha256};

use model::published::result::CauseKind;
use model::text::{NUMBER, masked};
use model::{ToolChange, ToolDrift};

/// The fewest digits of a number in a key that is a part of an id.
const ID_DIGITS: usize = 5;

/// What two causes have in common that are one. Sentences are kept with their numbers masked, because ids and times differ between scenarios.
///
/// It is written out for the id that addresses and commands know a cause by: whoever renames a part of it changes all ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Key {
    /// A sentence that says all there is.
    Said(CauseKind, String),
    /// A baseline is not there, wherever it should be.
    NoBaseline,
    /// A server that fails in one way may do so in all its tools.
    Failed { server: String, message: String },
    /// Many places of one answer that changed in one way.
    Many(String),
    /// A change of the catalogue, the same wherever it is met; one that several tools may have names none.
    Drift {
        server: String,
        tool: Option<String>,
        what: Option<ToolChange>,
        was: Option<String>,
        now: Option<String>,
    },
    /// Something happened at a place of a call; what is passed on behind all tools names none.
    Place {
        kind: CauseKind,
        tool: Option<String>,
        /// Keys such as `p50` and `p95` are two; those made of ids are one.
        path: Option<String>,
        said: String,
    },
    /// Another experiment was made.
    Experiment {
        said: String,
        was: Option<String>,
        now: Option<String>,
    },
    /// An expectation by its name, and what it asks for beyond that.
    Expectation { name: String, asked: Option<String> },
}

impl Key {
    pub(super) fn said(kind: CauseKind, said: &str) -> Self {
        Self::Said(kind, masked(said))
    }

    pub(super) fn failed(server: &str, message: &str) -> Self {
        Self::Failed {
            server: server.to_owned(),
            message: masked(message),
        }
    }

    pub(super) fn many(said: &str) -> Self {
        Self::Many(masked(said))
    }

    pub(super) fn drift(drift: &ToolDrift, (was, now): (&Option<String>, &Option<String>)) -> Self {
        let (tool, what, values) = match drift.change {
            ToolChange::Input(_) => (None, Some(&drift.change), None),
            ToolChange::Annotation(_) | ToolChange::OnlyReads(_) => (None, None, None),
            _ => (Some(&drift.tool), Some(&drift.change), Some((was, now))),
        };
        let (was, now) = values.map(|(was, now)| (was.clone(), now.clone())).unzip();
        Self::Drift {
            server: drift.server.clone(),
            tool: tool.cloned(),
            what: what.cloned(),
            was: was.flatten(),
            now: now.flatten(),
        }
    }

    pub(super) fn place(
        kind: CauseKind,
        tool: Option<&str>,
        path: Option<&str>,
        said: &str,
    ) -> Self {
        Self::Place {
            kind,
            tool: tool.map(str::to_owned),
            path: path.map(without_ids),
            said: masked(said),
        }
    }

    /// Names the cause in addresses and commands.
    pub(super) fn id(&self) -> String {
        // Nothing in it could fail to be written.
        let written = serde_json::to_string(self).unwrap_or_default();
        format!("cause-{}", &hex::encode(Sha256::digest(written))[..10])
    }
}

/// A path with its long numbers masked, which are parts of ids.
fn without_ids(path: &str) -> String {
    let mut plain = String::new();
    for run in path.split_inclusive(|it: char| !it.is_ascii_digit()) {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        let masked = digits >= ID_DIGITS;
        plain.extend(masked.then_some(NUMBER));
        plain.push_str(if masked { &run[digits..] } else { run });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Key;
    use model::published::result::CauseKind;

    #[test]
    fn a_cause_is_known_by_what_it_is_and_not_by_numbers() {
        let said = |it| Key::said(CauseKind::Error, it);
        assert_eq!(said("call 1 fails").id(), said("call 27 fails").id());
        assert_ne!(said("a fails").id(), said("b fails").id());
        let place = |it| Key::place(CauseKind::Answer, None, Some(it), "").id();
        assert_eq!(
            place("orders/ord-47110/total"),
            place("orders/ord-90210/total")
        );
        assert_ne!(place("latency/p50"), place("latency/p95"));
        assert_ne!(place("revenue_2025"), place("revenue_2026"));
        let problem = Key::said(CauseKind::Problem, "call 1 fails");
        assert_ne!(problem.id(), said("call 1 fails").id());
    }
}
