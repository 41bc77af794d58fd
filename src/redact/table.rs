//! Keys and their values in tables of text: a row `| API_KEY | x |`, a column that is headed `password`, in Markdown, CSV, HTML and SQL.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::extent::{character_end, closing, line_break, lines, quote_at};
use super::random;

/// The largest table that is looked through, in bytes.
const LARGEST: usize = 64 * 1024;

/// How far a row goes before and behind a key in it, in bytes.
const LONGEST_ROW: usize = 2048;

/// What parts cells where no line is under their heads: the last where columns are aligned.
const BETWEEN: [&str; 5] = [",", ";", "\t", "\\t", ALIGNED];
const ALIGNED: &str = "  ";

/// What stands between cells of HTML.
const CELLS: &str = "</t";

/// What stands between a name and the first values in `INSERT INTO users (name, password) VALUES ('bob', 'x')`.
static INSERTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^[\\"`\]]*(?:,[ [:word:],.\[\]"`\\]{0,1024})?\)(?:\s|\\[rnt])*(?i:values)"#)
        .expect("a valid pattern")
});

/// What is given to a key that is a cell of a table by itself: the next cell of its row, or all cells below where it heads a column. Words
/// in a row are no value: tables describe settings, too.
pub(super) fn cells(text: &str, key: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let behind = text[key.end..].trim_start_matches(['"', '`']);
    // Most keys are no cells.
    let next = behind.trim_start_matches([' ', '\t', '`', '*']);
    let is_parted = BETWEEN.iter().any(|it| behind.starts_with(it));
    if !is_parted && !next.is_empty() && !next.starts_with(['|', '\n', '\r', '\\', '<', ')']) {
        return None;
    }
    let furthest = character_end(bytes, key.start.saturating_sub(LONGEST_ROW));
    let limit = character_end(bytes, bytes.len().min(key.end + LARGEST));
    let (near, before) = (&text[..limit], &text[furthest..key.start]);
    let is_near = |it: &Range<usize>| it.end <= key.end + LONGEST_ROW;
    if behind.starts_with("</th>") {
        let start = before.rfind("<tr")?;
        let above = before[..start].rfind("<tr");
        let above = above.map(|it| furthest + it..furthest + start);
        let mut rows = parted(near, furthest + start..limit, "</tr");
        let own = rows.next().filter(is_near)?;
        return column(text, key, (above, own), rows, CELLS);
    }
    if let Some(found) = INSERTED.find(&text[key.end..limit]) {
        let own = furthest + before.rfind('(')? + 1..key.end + found.as_str().find(')')?;
        // From bracket to bracket.
        let rows = parted(near, key.end + found.end()..limit, ")").map_while(|it| {
            let open = it.start + text[it.clone()].find('(')?;
            let is_between = |it: char| it.is_whitespace() || ",\\nrt".contains(it);
            let is_next = text[it.start..open].chars().all(is_between);
            is_next.then_some(open + 1..it.end)
        });
        return column(text, key, (None, own), rows, ",");
    }
    let mut back = (furthest..key.start).rev();
    let start = back.find_map(|at| Some(at + line_break(bytes, at)?));
    // A table may be a string of JSON.
    let opened = before
        .rfind([':', '['])
        .map_or("", |it| before[it + 1..].trim_start());
    let opened = key.start - opened.len();
    let string =
        quote_at(bytes, opened).map(|it| opened + it.len()..closing(bytes, opened + it.len(), it));
    let string = string.filter(|it| it.contains(&key.end));
    let near = string
        .as_ref()
        .map_or(near, |it| &text[..it.end.min(limit)]);
    let start = start
        .max(string.map(|it| it.start))
        .or((furthest == 0).then_some(0))?;
    let mut below = lines(near, start);
    let own = below.next().filter(is_near)?;
    let mut rows = below.clone();
    if rows.next().is_some_and(|it| is_under_heads(&text[it])) {
        let all = row(text, own, "|");
        let column = all.iter().position(|it| it == key);
        let column = column.filter(|_| all.len() > 1)?;
        let rows = rows.take_while(|it| !is_under_heads(&text[it.clone()]));
        let rows = rows.map(|it| row(text, it, "|"));
        let rows = rows.take_while(|it| it.len() > 1);
        return Some(rows.filter_map(|it| it.get(column).cloned()).collect());
    }
    let above = lines(&text[..start], furthest);
    let above = above.filter(|it| it.end < start).last();
    let mut columns = BETWEEN.iter().filter_map(|between| {
        let lines = (above.clone(), own.clone());
        column(text, key, lines, below.clone(), between)
    });
    columns.next().or_else(|| {
        let all = row(text, own.clone(), "|");
        let column = all.iter().position(|it| it == key)?;
        let is_value = |it: &str| !it.is_empty() && !random::is_word(it) && !it.contains(' ');
        let next = all.get(column + 1)?;
        is_value(&text[next.clone()]).then(|| vec![next.clone()])
    })
}

/// The cells below a key in the first row of all that have one number of cells, which only has names.
fn column(
    text: &str,
    key: &Range<usize>,
    (above, own): (Option<Range<usize>>, Range<usize>),
    rows: impl Iterator<Item = Range<usize>>,
    between: &str,
) -> Option<Vec<Range<usize>>> {
    let heads = row(text, own, between);
    let column = heads.iter().position(|it| it == key)?;
    let is_alike = |it: &Vec<Range<usize>>| it.len() == heads.len();
    let is_name = |it: &Range<usize>| {
        let head = &text[it.clone()];
        let signs = if between == "," { "_-." } else { "_-. " };
        let belongs = |it: char| it.is_ascii_alphanumeric() || signs.contains(it);
        // Lines of a help are aligned, too.
        let is_head = between != ALIGNED || head.starts_with(|it: char| it.is_ascii_uppercase());
        is_head && !head.is_empty() && head.chars().all(belongs)
    };
    let is_first = !above.is_some_and(|it| is_alike(&row(text, it, between)));
    if !is_first || heads.len() < 2 || !heads.iter().all(is_name) {
        return None;
    }
    let rows = rows.map(|it| row(text, it, between)).take_while(is_alike);
    let cells: Vec<_> = rows.filter_map(|it| it.get(column).cloned()).collect();
    (!cells.is_empty()).then_some(cells)
}

/// Whether a line parts the heads of columns from their cells.
fn is_under_heads(line: &str) -> bool {
    line.contains("---") && line.bytes().all(|it| b"|-+: \t".contains(&it))
}

/// What surrounds the text of a cell.
fn is_around(it: char) -> bool {
    b" \t`*\"'\\".contains(&u8::try_from(it).unwrap_or_default())
}

/// The pieces of a text that such ends part.
fn parted(text: &str, within: Range<usize>, ends: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    text[within].split(ends).map(move |it| {
        let start = at;
        at += it.len() + ends.len();
        start..start + it.len()
    })
}

/// A cell of CSV, which may hold commas where it is quoted.
static OF_CSV: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?:"[^"]*(?:"|$)|[^,"])*"#).expect("a valid pattern"));

/// The cells of a row, without what surrounds them.
fn row(text: &str, line: Range<usize>, between: &str) -> Vec<Range<usize>> {
    let cells: Vec<_> = if between == "," {
        let cells = OF_CSV.find_iter(&text[line.clone()]);
        cells
            .map(|it| line.start + it.start()..line.start + it.end())
            .collect()
    } else {
        parted(text, line, between).collect()
    };
    let cells = cells.into_iter().map(|it| {
        let tag = text[it.clone()].rfind('>').filter(|_| between == CELLS);
        let start = it.start + tag.map_or(0, |it| it + 1);
        let inner = text[start..it.end].trim_start_matches(is_around);
        let start = it.end - inner.len();
        start..start + inner.trim_end_matches(is_around).len()
    });
    cells
        .filter(|it| !it.is_empty() || ![ALIGNED, CELLS].contains(&between))
        .collect()
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
