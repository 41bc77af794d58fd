//! A check of what a database holds after a run.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::exact_match::differences;
use crate::evaluate::finding::{Finding, STORED, not_asked};
use crate::evaluate::subject::Subject;
use crate::model::number::compare;
use crate::scenario_file::evaluators::{SqlValidate, WantedRow, WantedRows};
use crate::score::same;
use crate::sql::Rows;
use crate::text::shorten;

/// How much of a value is shown, in characters.
const SHOWN: usize = 200;

/// How many rows are shown that are not as expected.
const SHOWN_ROWS: usize = 3;

/// Looks at the rows by what is `written` of them, and tells of them by what is shown of both.
pub(in crate::evaluate) async fn look(
    it: &SqlValidate,
    written: &SqlValidate,
    subject: Subject<'_>,
) -> Finding {
    let Some(around) = subject.around else {
        return Finding::gone(STORED);
    };
    match around.rows(&it.asked).await {
        Err(unasked) => not_asked(unasked),
        Ok(rows) => judged(&written.wanted, &rows.said).worded_as(judged(&it.wanted, &rows.shown)),
    }
}

/// All that is wanted must hold. What cannot be known is an error, unless something else fails already.
fn judged(wanted: &WantedRows, found: &Rows) -> Finding {
    let results = [
        wanted.is_of_one_value().then(|| of_value(wanted, found)),
        wanted.rows.as_ref().map(|it| of_rows(it, found)),
        wanted.count.map(|it| of_count(it, found)),
        wanted.empty.map(|it| Ok(of_emptiness(it, found))),
    ];
    let (mut problems, mut unknown) = (Vec::new(), Vec::new());
    for it in results.into_iter().flatten() {
        match it {
            Ok(found) => problems.extend(found),
            Err(why) => unknown.push(why),
        }
    }
    match unknown.into_iter().next() {
        Some(why) if problems.is_empty() => Finding::error(why),
        _ => Finding::of(problems, passed(wanted, found)),
    }
}

fn passed(wanted: &WantedRows, found: &Rows) -> String {
    match only_value(found) {
        Ok(value) if wanted.is_of_one_value() => format!("the query says {}", shown(value)),
        _ => format!("the query has {}", rows_in_words(found)),
    }
}

/// What speaks against a rows' number, value or emptiness; an error where nobody can tell.
type Mismatches = Result<Vec<String>, String>;

fn of_value(wanted: &WantedRows, found: &Rows) -> Mismatches {
    let value = match only_value(found) {
        Ok(value) => value,
        Err(NoValue::Columns(count)) => {
            return Err(format!(
                "the query has {count} columns, and a single value is asked for: select one column, or write `rows`"
            ));
        }
        Err(NoValue::Rows) => {
            let rows = rows_in_words(found);
            return Ok(vec![format!("the query has {rows}, and one is expected")]);
        }
    };
    let mut problems = Vec::new();
    if let Some(wanted) = wanted.equals.as_ref().filter(|it| !same(it, value)) {
        problems.push(format!(
            "the query says {}, and {} is expected",
            shown(value),
            shown(wanted)
        ));
    }
    let bounds = [
        (&wanted.at_least, "at least", Ordering::Less),
        (&wanted.at_most, "at most", Ordering::Greater),
    ];
    for (bound, words, beyond) in bounds {
        let Some(bound) = bound else { continue };
        let order = value.as_number().and_then(|it| compare(it, bound));
        if order.is_none_or(|it| it == beyond) {
            problems.push(format!(
                "the query says {}, and {words} {bound} is expected",
                shown(value)
            ));
        }
    }
    Ok(problems)
}

/// Why there is no single value.
enum NoValue {
    /// There are none, or several.
    Rows,
    /// So many; whatever the run did, one value will never come of it.
    Columns(usize),
}

fn only_value(found: &Rows) -> Result<&Value, NoValue> {
    if found.columns.len() != 1 {
        return Err(NoValue::Columns(found.columns.len()));
    }
    match found.rows.as_slice() {
        [row] if !found.has_more => row.first().ok_or(NoValue::Rows),
        _ => Err(NoValue::Rows),
    }
}

fn of_rows(wanted: &[WantedRow], found: &Rows) -> Mismatches {
    let unknown = wanted.iter().find_map(|it| unknown_column(it, found));
    if let Some(name) = unknown {
        let known = found.columns.join("`, `");
        return Err(format!(
            "the query has no column `{name}`: it has `{known}`"
        ));
    }
    let mut problems = Vec::new();
    if wanted.len() != found.rows.len() || found.has_more {
        let expected = wanted.len();
        let noun = if expected == 1 { "is" } else { "are" };
        problems.push(format!(
            "the query has {}, and {expected} {noun} expected",
            rows_in_words(found)
        ));
    }
    for (number, (wanted, row)) in (1..).zip(wanted.iter().zip(&found.rows)) {
        let mismatches = match wanted {
            WantedRow::Values(values) => {
                differences(&Value::Array(values.clone()), &Value::Array(row.clone()))
            }
            WantedRow::Named(columns) => {
                let named = columns.keys().map(|it| (it.clone(), cell(it, found, row)));
                let named: Map<String, Value> = named.collect();
                differences(&Value::Object(columns.clone()), &Value::Object(named))
            }
        };
        problems.extend(
            mismatches
                .into_iter()
                .map(|it| format!("row {number}: {it}")),
        );
    }
    let more = found.rows.iter().skip(wanted.len()).take(SHOWN_ROWS);
    let more = more.map(|it| format!("not expected: {}", shown(&Value::Array(it.clone()))));
    problems.extend(more);
    Ok(problems)
}

fn unknown_column<'a>(wanted: &'a WantedRow, found: &Rows) -> Option<&'a str> {
    let WantedRow::Named(columns) = wanted else {
        return None;
    };
    let mut names = columns.keys().map(String::as_str);
    names.find(|name| !found.columns.iter().any(|it| it == name))
}

/// Of several columns with one name, the first.
fn cell(name: &str, found: &Rows, row: &[Value]) -> Value {
    let mut cells = found.columns.iter().zip(row);
    let cell = cells.find(|(it, _)| *it == name);
    cell.map_or(Value::Null, |(_, it)| it.clone())
}

fn of_count(wanted: usize, found: &Rows) -> Mismatches {
    let read = found.rows.len();
    // Of more than were read, nobody knows how many there are, but that there are more than these.
    if found.has_more && wanted > read {
        return Err(format!(
            "the query has more than {read} rows, which are not read: `select count(*)` and `equals` tell how many there are"
        ));
    }
    let holds = !found.has_more && read == wanted;
    let noun = if wanted == 1 { "is" } else { "are" };
    Ok((!holds)
        .then(|| {
            format!(
                "the query has {}, and {wanted} {noun} expected",
                rows_in_words(found)
            )
        })
        .into_iter()
        .collect())
}

fn of_emptiness(wanted: bool, found: &Rows) -> Vec<String> {
    let is_empty = found.rows.is_empty() && !found.has_more;
    match (is_empty == wanted, wanted) {
        (true, _) => Vec::new(),
        (false, true) => {
            let first = found.rows.first().cloned().unwrap_or_default();
            vec![format!(
                "the query has {}, and none is expected: {}",
                rows_in_words(found),
                shown(&Value::Array(first))
            )]
        }
        (false, false) => vec!["the query has no row".to_owned()],
    }
}

fn rows_in_words(found: &Rows) -> String {
    match (found.rows.len(), found.has_more) {
        (count, true) => format!("more than {count} rows"),
        (0, false) => "no row".to_owned(),
        (1, false) => "1 row".to_owned(),
        (count, false) => format!("{count} rows"),
    }
}

fn shown(value: &Value) -> String {
    shorten(&value.to_string(), SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::judged;
    use crate::model::EvaluationStatus::{self, Error, Failed, Passed};
    use crate::scenario_file::evaluators::WantedRow;
    use crate::scenario_file::evaluators::WantedRows;
    use crate::sql::Rows;

    fn rows(columns: &[&str], rows: &[Value], has_more: bool) -> Rows {
        let list = |it: &Value| it.as_array().unwrap().clone();
        Rows {
            columns: columns.iter().map(|it| (*it).to_owned()).collect(),
            rows: rows.iter().map(list).collect(),
            has_more,
        }
    }

    fn check(wanted: &WantedRows, found: &Rows, (status, said): (EvaluationStatus, &str)) {
        let finding = judged(wanted, found);
        assert_eq!(finding.status, status, "{finding:?}");
        assert!(finding.message.contains(said), "{finding:?}");
    }

    #[test]
    fn one_value_is_compared() {
        let wanted = |equals: Value| WantedRows {
            equals: Some(equals),
            ..WantedRows::default()
        };
        let one = |value: Value| rows(&["n"], &[json!([value])], false);
        check(&wanted(json!(1)), &one(json!(1.0)), (Passed, "says 1"));
        check(&wanted(json!(1)), &one(json!(2)), (Failed, "says 2, and 1"));
        check(&wanted(json!(1)), &one(json!("1")), (Failed, "\"1\""));
        check(&wanted(Value::Null), &one(Value::Null), (Passed, "null"));
        let none = rows(&["n"], &[], false);
        check(&wanted(Value::Null), &none, (Failed, "no row"));
        let two = rows(&["n"], &[json!([1]), json!([1])], false);
        check(&wanted(json!(1)), &two, (Failed, "2 rows"));
        let wide = rows(&["a", "b"], &[json!([1, 1])], false);
        check(&wanted(json!(1)), &wide, (Error, "2 columns"));
    }

    #[test]
    fn bounds_may_be_reached() {
        let wanted = WantedRows {
            at_least: Some(2.into()),
            at_most: Some(3.into()),
            ..WantedRows::default()
        };
        for (value, status) in [
            (json!(2), Passed),
            (json!(3), Passed),
            (json!(1), Failed),
            (json!(3.5), Failed),
            (json!("2"), Failed),
            (Value::Null, Failed),
        ] {
            let found = rows(&["n"], &[json!([value])], false);
            check(&wanted, &found, (status, ""));
        }
    }

    #[test]
    fn rows_are_compared_in_their_order() {
        let wanted = WantedRows {
            rows: Some(vec![
                WantedRow::Values(vec![json!(1), json!("tea")]),
                WantedRow::Named(serde_json::from_value(json!({ "item": "milk" })).unwrap()),
            ]),
            ..WantedRows::default()
        };
        let (tea, milk) = (json!([1, "tea"]), json!([2, "milk"]));
        let found = |of: &[&Value]| {
            let of: Vec<Value> = of.iter().map(|it| (*it).clone()).collect();
            rows(&["id", "item"], &of, false)
        };
        check(&wanted, &found(&[&tea, &milk]), (Passed, "2 rows"));
        check(&wanted, &found(&[&milk, &tea]), (Failed, "row 1: /0 is 2"));
        check(
            &wanted,
            &found(&[&tea]),
            (Failed, "1 row, and 2 are expected"),
        );
        let three = found(&[&tea, &milk, &milk]);
        check(&wanted, &three, (Failed, "3 rows, and 2 are expected"));
        let other = rows(&["id", "name"], &[tea.clone(), milk.clone()], false);
        check(&wanted, &other, (Error, "no column `item`"));
    }

    #[test]
    fn rows_that_were_not_read_are_never_counted() {
        let of = |count| WantedRows {
            count: Some(count),
            ..WantedRows::default()
        };
        let many = rows(&["n"], &[json!([1]), json!([2])], true);
        check(&of(2), &many, (Failed, "more than 2 rows"));
        check(&of(3), &many, (Error, "are not read"));
        check(
            &of(2),
            &rows(&["n"], &many_rows(), false),
            (Passed, "2 rows"),
        );
        let empty = |it| WantedRows {
            empty: Some(it),
            ..WantedRows::default()
        };
        check(&empty(true), &many, (Failed, "none is expected"));
        check(&empty(false), &many, (Passed, ""));
        check(&empty(false), &rows(&["n"], &[], false), (Failed, "no row"));
        check(&empty(true), &rows(&["n"], &[], false), (Passed, ""));
    }

    fn many_rows() -> [Value; 2] {
        [json!([1]), json!([2])]
    }
}
