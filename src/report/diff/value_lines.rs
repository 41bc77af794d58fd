//! A value as lines of JSON: one to a member, without commas, what is short in one line.

use serde_json::Value;

use super::lines::{Line, Piece, PieceKind, grouped};
use super::tree::Tree;
use super::words;

/// The longest text within a value that is tried as JSON, in bytes.
const LONGEST_JSON: usize = 1_000_000;

/// Writes a value, as far as it fits into so many lines; whether something is left out.
pub(super) fn written(
    tree: &Tree<'_>,
    indent: usize,
    lead: &[Piece],
    limit: usize,
    lines: &mut Vec<Line>,
) -> bool {
    let before = lines.len();
    let mut left = limit;
    let is_cut = write(tree, indent, lead, &mut left, lines);
    let written = lines.len() - before;
    let missing = tree.lines.saturating_sub(written);
    if missing > 0 {
        lines.push(Line {
            indent,
            pieces: vec![Piece {
                text: format!("⋯ {} more lines", grouped(missing)),
                kind: PieceKind::LeftOut,
            }],
            goes_on: false,
        });
    }
    is_cut || missing > 0
}

fn write(
    tree: &Tree<'_>,
    indent: usize,
    lead: &[Piece],
    left: &mut usize,
    lines: &mut Vec<Line>,
) -> bool {
    if *left == 0 {
        return true;
    }
    *left -= 1;
    let line = |rest: Vec<Piece>, lead: &[Piece]| {
        Line::new(indent, lead.iter().cloned().chain(rest).collect())
    };
    if !tree.is_open() {
        let value = words::shortened(&in_one_line(tree.value), PieceKind::Plain);
        let is_cut = value.iter().any(|it| it.kind == PieceKind::LeftOut);
        lines.push(line(value, lead));
        return is_cut;
    }
    let is_list = tree.value.is_array();
    let [open, close] = if is_list { ["[", "]"] } else { ["{", "}"] };
    lines.push(line(vec![Piece::plain(open)], lead));
    let mut is_cut = false;
    if is_list {
        for it in tree.elements() {
            is_cut |= write(it, indent + 1, &[], left, lines);
        }
    } else {
        for (key, it) in tree.members() {
            let lead = named(key, PieceKind::Plain);
            is_cut |= write(it, indent + 1, &lead, left, lines);
        }
    }
    if *left == 0 {
        return true;
    }
    *left -= 1;
    lines.push(line(vec![Piece::plain(close)], &[]));
    is_cut
}

/// The name of a member, as it stands before its value.
pub(super) fn named(key: &str, kind: PieceKind) -> Vec<Piece> {
    let mut pieces = words::shortened(&quoted(key), kind);
    pieces.push(Piece::plain(": "));
    pieces
}

/// A value as JSON in one line, with blanks that let it break.
pub(super) fn in_one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(in_one_line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, it)| format!("{}: {}", quoted(key), in_one_line(it)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text as it stands between the quotes of JSON.
pub(super) fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// The object or list that a text holds.
pub(super) fn container(text: &str) -> Option<Value> {
    let may_be = text.len() <= LONGEST_JSON && text.trim_start().starts_with(['{', '[']);
    let value: Value = may_be.then(|| serde_json::from_str(text).ok())??;
    (value.is_object() || value.is_array()).then_some(value)
}
