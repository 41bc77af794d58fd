//! Changes to a text on its way through a proxy.

use serde_json::Value;

use crate::text::excerpt;
use crate::values::embedded::embedded;
use crate::values::same::same;

/// How many characters of its own a proxy may add where it cuts an answer, such as how to read on.
const NOTICE: usize = 400;

/// How much of what arrived must be the beginning of what was sent for the rest to have been cut, and not reworded: a fifth.
const KEPT: usize = 5;

/// What became of a text; `None` where it was passed on as it was.
pub(super) fn text(was: &str, now: &str) -> Option<String> {
    if was == now {
        return None;
    }
    let (before, after) = (was.chars().count(), now.chars().count());
    if was.is_empty() {
        return Some(format!(
            "{after} characters were added to an answer without text"
        ));
    }
    if now.is_empty() {
        return Some(format!("all {before} characters of the text were lost"));
    }
    if now.contains(was) {
        return Some(format!(
            "{} characters were put around the text",
            after - before
        ));
    }
    // As a text within JSON.
    let quoted = Value::from(was).to_string();
    if now.contains(&quoted[1..quoted.len() - 1]) {
        return Some(format!(
            "the text was wrapped in JSON, {after} characters for {before}"
        ));
    }
    let (document, written) = (embedded(was), embedded(now));
    if document.zip(written).is_some_and(|(a, b)| same(&a, &b)) {
        return Some(format!(
            "the same JSON was written otherwise, {after} characters for {before}"
        ));
    }
    let begins = was.chars().zip(now.chars());
    let kept = begins.take_while(|(a, b)| a == b).count();
    if after < before && after <= kept + NOTICE && kept * KEPT >= after {
        let added = after - kept;
        let notice = if added == 0 {
            String::new()
        } else {
            format!(", and {added} of the proxy's own added")
        };
        return Some(format!("cut after {kept} of {before} characters{notice}"));
    }
    let (was, now) = excerpt::of_texts(was, now);
    Some(format!("reworded: {was} became {now}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text;

    #[test]
    fn what_became_of_a_text_is_distinguished() {
        let long = "abcdefghij".repeat(20);
        let cases = [
            (long.clone(), long.clone(), None),
            (
                long.clone(),
                long[..50].to_owned(),
                Some("cut after 50 of 200 characters"),
            ),
            (
                long.clone(),
                format!("{}… read on", &long[..50]),
                Some("cut after 50 of 200 characters, and 9 of the proxy's own added"),
            ),
            (
                "now".to_owned(),
                "Result: now".to_owned(),
                Some("8 characters were put around the text"),
            ),
            (
                "say \"hi\"".to_owned(),
                json!({ "text": "say \"hi\"" }).to_string(),
                Some("the text was wrapped in JSON, 21 characters for 8"),
            ),
            (
                r#"{"a":1,"b":[2]}"#.to_owned(),
                r#"{ "b": [2.0], "a": 1 }"#.to_owned(),
                Some("the same JSON was written otherwise, 22 characters for 15"),
            ),
            (
                "12 of 12".to_owned(),
                "12 of 13".to_owned(),
                Some("reworded: "),
            ),
            (
                "no".to_owned(),
                String::new(),
                Some("all 2 characters of the text were lost"),
            ),
            (
                String::new(),
                "yes".to_owned(),
                Some("3 characters were added to an answer without text"),
            ),
        ];
        for (was, now, expected) in cases {
            let found = text(&was, &now);
            match (&found, expected) {
                (Some(found), Some(expected)) => assert!(found.starts_with(expected), "{found}"),
                _ => assert_eq!(found.as_deref(), expected),
            }
        }
    }
}
