//! A difference in lines, those of both sides beside each other.

use askama::Template;

use crate::diff::{Diff, PieceKind, Row};

use super::sides::Sides;

/// The lines of a difference.
#[derive(Template)]
#[template(path = "scenario/diff.html")]
pub(super) struct DiffTemplate<'a> {
    diff: &'a Diff,
    label: &'a str,
    is_beside: bool,
    sides: &'a Sides,
}

impl<'a> DiffTemplate<'a> {
    pub(super) fn new(diff: &'a Diff, label: &'a str, is_beside: bool, sides: &'a Sides) -> Self {
        Self {
            diff,
            label,
            is_beside,
            sides,
        }
    }
}
