//! Lists, texts and numbers that have grown since they were recorded: what was there must be there, and more is no change.

use serde_json::Value;

use crate::response::finding::Tree;
use crate::text::at_least::is_at_least;
use crate::text::excerpt;
use crate::text::variation::{self, How, What};
use crate::values::number;
use model::learned::{Variation, VaryingToken};
use model::response::{Edit, Piece};

use super::Walk;
use super::spot::At;

impl<'a> Walk<'a> {
    pub(super) fn at_least(&mut self, b: &Value, c: &Value) {
        let is_less = match (b, c) {
            (Value::Number(b), Value::Number(c)) => number::float(c) < number::float(b),
            (Value::String(b), Value::String(c)) => !is_at_least(b, c),
            _ => false,
        };
        if is_less {
            self.never(Edit::odd("is less"), b, c);
        }
    }

    /// Compares texts whose recorded lines must be there, in their order. The first that is not is the change: those after it may have
    /// moved with it.
    pub(super) fn grown_texts(&mut self, b: &str, c: &str, at: &At<'a>) {
        let mut rest = c.lines();
        for (index, line) in b.lines().enumerate() {
            let under = Tree::under_index(at, index);
            if !line.trim().is_empty() && !rest.any(|it| self.is_line(line, it, &under)) {
                let shown = || excerpt::of_text(line);
                return self.notes.missing(&self.spot, Piece::Line, shown);
            }
        }
    }

    fn is_line(&self, b: &str, c: &str, at: &At<'a>) -> bool {
        let indent = |it: &str| it.len() - it.trim_start().len();
        let varying = Tree::varying(at);
        let parts: &[VaryingToken] = match varying.map(|it| it.by) {
            _ if b == c => return true,
            _ if indent(b) != indent(c) => return false,
            Some(Variation::AtLeast) => return is_at_least(b, c),
            Some(Variation::Tokens) => varying.map_or(&[], |it| &it.parts),
            Some(_) => return true,
            None => &[],
        };
        let how = How {
            varying: parts,
            ..How::plain(&self.spot.known.clock)
        };
        let found = variation::compare(b, c, &how);
        !found
            .iter()
            .any(|it| matches!(it.what, What::Changed | What::Never(_)))
    }
}
