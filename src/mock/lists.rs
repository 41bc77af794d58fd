//! Splits lists into pages.

use serde_json::{Map, Value, json};

use crate::mock::wire::{self, INVALID_PARAMS};

/// One page of a list under its key, as the client's cursor asks for it.
pub(super) fn page<T: Into<Value>>(
    key: &str,
    entries: impl ExactSizeIterator<Item = T>,
    page_size: Option<usize>,
    params: &Value,
) -> Result<Value, Value> {
    let total = entries.len();
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => offset(cursor).filter(|it| *it < total).ok_or_else(|| {
            wire::error(
                INVALID_PARAMS,
                &format!("there is no page at the cursor {cursor}"),
            )
        })?,
    };
    let size = page_size.unwrap_or(total);
    let entries: Vec<Value> = entries.skip(start).take(size).map(Into::into).collect();
    let end = start + entries.len();
    let mut page = Map::new();
    page.insert(key.to_owned(), Value::Array(entries));
    if end < total {
        page.insert("nextCursor".to_owned(), json!(format!("{CURSOR}{end}")));
    }
    Ok(Value::Object(page))
}

const CURSOR: &str = "from-";

/// The number of entries before the page a cursor leads to.
fn offset(cursor: &Value) -> Option<usize> {
    cursor.as_str()?.strip_prefix(CURSOR)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::page;

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let ask = |params: Value| page("things", ["a", "b", "c"].into_iter(), Some(2), &params);
        let first = ask(json!({})).unwrap();
        assert_eq!(
            first,
            json!({ "things": ["a", "b"], "nextCursor": "from-2" })
        );
        assert_eq!(
            ask(json!({ "cursor": "from-2" })).unwrap(),
            json!({ "things": ["c"] })
        );
        for cursor in [
            json!("from-3"),
            json!("2"),
            json!(2),
            json!("from--1"),
            json!(""),
        ] {
            assert_eq!(
                ask(json!({ "cursor": cursor })).unwrap_err()["code"],
                -32602,
                "{cursor}"
            );
        }
        let whole = page(
            "things",
            [].into_iter().map(|it: &str| it),
            None,
            &json!(null),
        );
        assert_eq!(whole.unwrap(), json!({ "things": [] }));
    }
}
