//! Keys and their values in tables of text: a row `| API_KEY | x |`, a column that is headed `password`.

use std::ops::Range;

use super::extent::{character_end, line_break, lines};
use super::random;

/// The largest table that is looked through, in bytes.
const LARGEST: usize = 64 * 1024;

/// How far a row goes before and behind a key in it, in bytes.
const LONGEST_ROW: usize = 2048;

/// What is given to a key that is a cell of a table by itself: the next cell of its row, or all cells below where it heads a column. Words
/// in a row are no value: tables describe settings, too.
pub(super) fn cells(text: &str, key: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut behind = bytes[key.end..].iter();
    let next = behind.find(|it| !is_around(char::from(**it)));
    // Most keys are no cells.
    if next.is_some_and(|it| !b"|\n\r\\".contains(it)) {
        return None;
    }
    let furthest = key.start.saturating_sub(LONGEST_ROW);
    let mut back = (furthest..key.start).rev();
    let start = back.find_map(|at| Some(at + line_break(bytes, at)?));
    let start = start.or((furthest == 0).then_some(0))?;
    let limit = character_end(bytes, bytes.len().min(key.end + LARGEST));
    let mut below = lines(&text[..limit], start);
    let own = below.next().filter(|it| it.end <= key.end + LONGEST_ROW)?;
    let all = row(text, own);
    let column = all
        .iter()
        .position(|it| it == key)
        .filter(|_| all.len() > 1)?;
    if below.next().is_some_and(|it| is_under_heads(&text[it])) {
        let rows = below.take_while(|it| !is_under_heads(&text[it.clone()]));
        let rows = rows.map(|it| row(text, it)).take_while(|it| it.len() > 1);
        return Some(rows.filter_map(|it| it.get(column).cloned()).collect());
    }
    let is_value = |it: &str| !it.is_empty() && !random::is_word(it) && !it.contains(' ');
    let next = all
        .get(column + 1)
        .filter(|it| is_value(&text[(*it).clone()]))?;
    Some(vec![next.clone()])
}

/// Whether a line parts the heads of columns from their cells.
fn is_under_heads(line: &str) -> bool {
    line.contains("---") && line.bytes().all(|it| b"|-+: \t".contains(&it))
}

/// What surrounds the text of a cell.
fn is_around(it: char) -> bool {
    b" \t`*".contains(&u8::try_from(it).unwrap_or_default())
}

/// The cells of a row, without what surrounds them.
fn row(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut at = line.start;
    let cells = text[line].split('|').map(|cell| {
        let inner = cell.trim_matches(is_around);
        let start = at + cell.len() - cell.trim_start_matches(is_around).len();
        at += cell.len() + 1;
        start..start + inner.len()
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::cells;

    fn found<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
        let at = text.find(key).unwrap();
        let cells = cells(text, &(at..at + key.len())).unwrap_or_default();
        cells.into_iter().map(|it| &text[it]).collect()
    }

    #[test]
    fn rows_and_columns_give_values_to_their_keys() {
        let markdown =
            "| user | password |\n|---|:--|\n| bob | `hunter2` |\n| eve | swordfish |\n\n| a | b |";
        assert_eq!(found(markdown, "password"), ["hunter2", "swordfish"]);
        let psql = " user | password \n------+----------\n bob  | hunter2\n(1 row)";
        assert_eq!(found(psql, "password"), ["hunter2"]);
        let row = "| Name | Value |\n|---|---|\n| `API_KEY` | abc123def |\n| MODE | test |";
        assert_eq!(found(row, "API_KEY"), ["abc123def"]);
        assert_eq!(
            found("| password | string | of the user |", "password"),
            [""; 0]
        );
        assert_eq!(found("grep password | sort", "password"), [""; 0]);
    }
}
