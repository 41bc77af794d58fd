//! Data of ours that a scenario would read and its author may not see: values of the environment, and secrets by their placeholders.

use std::path::PathBuf;

use crate::model::placeholder;
use crate::scenario_file::decode::{Part, parts};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

/// A text by which a scenario would have such a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WouldRead {
    /// The file that the text stands in: the scenario's own, or one of defaults.
    pub path: PathBuf,
    pub line: usize,
    pub wanted: Wanted,
}

/// What such a text would become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The value of this environment variable; `None` where nobody can read which.
    Variable(Option<String>),
    /// A secret, in the place of its placeholder.
    Secret,
}

/// The first such text of a document over its defaults in which variables are filled in, wherever it stands: what a value is sent to may be
/// said in another place than the value, and by somebody else.
pub(super) fn would_read(document: &Node, findings: &Findings) -> Option<WouldRead> {
    let of = |at: Mark, text: &str| {
        let wanted = wanted(text, findings.is_literal(at))?;
        Some(WouldRead {
            path: findings.path(at.source).to_owned(),
            line: at.line,
            wanted,
        })
    };
    match &document.content {
        Content::Text(text) => of(document.at, text),
        Content::List(items) => items.iter().find_map(|it| would_read(it, findings)),
        Content::Map(entries) => entries
            .iter()
            .find_map(|it| of(it.key_at, &it.key).or_else(|| would_read(&it.value, findings))),
        Content::Null | Content::Bool(_) | Content::Number(_) => None,
    }
}

fn wanted(text: &str, is_literal: bool) -> Option<Wanted> {
    if placeholder::holds(text) {
        return Some(Wanted::Secret);
    }
    if is_literal {
        return None;
    }
    parts(text).find_map(|it| match it {
        Ok(Part::Text(_)) => None,
        Ok(Part::Reference { name, .. }) => Some(Wanted::Variable(Some(name.to_owned()))),
        Err(_) => Some(Wanted::Variable(None)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Wanted, wanted};

    #[test]
    fn references_and_placeholders_are_seen() {
        let variable = |name: &str| Some(Wanted::Variable(Some(name.to_owned())));
        for (text, expected) in [
            ("plain $ {HOME}", None),
            ("$${HOME}", None),
            ("a ${HOME:-b}", variable("HOME")),
            ("$${A} ${B}", variable("B")),
            ("${", Some(Wanted::Variable(None))),
            ("<secret:env.KEY>", Some(Wanted::Secret)),
        ] {
            assert_eq!(wanted(text, false), expected, "{text}");
        }
        assert_eq!(wanted("${HOME}", true), None);
        assert_eq!(wanted("<secret:env.KEY>", true), Some(Wanted::Secret));
    }
}
