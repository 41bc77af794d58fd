//! A declared secret: its name, its parts that are secret by themselves, and the spellings of each.

use super::spelling::{self, Spelling, WITHIN_BASE64};

/// The spelling of a part of which nobody can say which one it was.
pub(super) const ONE_OF_SEVERAL: &str = "one-of-several";

/// A value known to be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) name: String,
    /// All of it, or what of it is secret by itself.
    pub(super) part: Part,
    /// Whether it is hidden wherever it stands. What only the name of a variable says to be secret may be a common word: it is hidden
    /// where a password would stand.
    pub(super) is_everywhere: bool,
}

/// What a text is of a declared value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Whole,
    /// All of it, decoded.
    Decoded,
    /// The only part there is.
    Part,
    OneOfSeveral,
    /// A line of a block that is encoded already: nobody encodes it again by itself.
    Line,
}

/// A declared value, or what of it is secret by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) role: Role,
    pub(super) text: String,
}

impl Part {
    /// How programs write it. A spelling is called so that the text can be made of the whole value again, or so that it cannot.
    pub(super) fn spellings(&self) -> Vec<Spelling> {
        let mut all = spelling::spellings(&self.text);
        if self.role == Role::Line {
            all.truncate(1);
        }
        let prefix = match self.role {
            Role::Whole => return all,
            Role::Decoded => Some("decoded"),
            Role::Part => Some("part"),
            Role::OneOfSeveral | Role::Line => None,
        };
        for it in all.iter_mut().filter(|it| it.name != WITHIN_BASE64) {
            it.name = match prefix {
                Some(prefix) if it.name.is_empty() => prefix.to_owned(),
                Some(prefix) => format!("{prefix}-{}", it.name),
                None => ONE_OF_SEVERAL.to_owned(),
            };
        }
        all
    }
}
