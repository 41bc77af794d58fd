//! JSON as editors write it for themselves: with comments, and with commas behind the last of several.

use serde::de::IgnoredAny;

/// The same text as plain JSON, everything at its place, if it is JSON but for comments and last commas.
pub(in crate::scenario_file) fn without_comments(text: &str) -> Option<String> {
    let is_json = |it: &str| serde_json::from_str::<IgnoredAny>(it).is_ok();
    if is_json(text) {
        return None;
    }
    let plain = without_last_commas(&blanked(text));
    is_json(&plain).then_some(plain)
}

/// The text with spaces in the place of comments.
fn blanked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        match (it, rest.peek()) {
            ('"', _) => {
                plain.push(it);
                let mut is_escaped = false;
                for it in rest.by_ref() {
                    plain.push(it);
                    if it == '"' && !is_escaped {
                        break;
                    }
                    is_escaped = it == '\\' && !is_escaped;
                }
            }
            ('/', Some('/')) => {
                plain.push(' ');
                while let Some(it) = rest.next_if(|it| !matches!(it, '\n' | '\r')) {
                    blank(&mut plain, it);
                }
            }
            ('/', Some('*')) => {
                plain.push(' ');
                let mut before = ' ';
                // The `*` that begins the comment ends none.
                if let Some(star) = rest.next() {
                    blank(&mut plain, star);
                }
                for it in rest.by_ref() {
                    blank(&mut plain, it);
                    if before == '*' && it == '/' {
                        break;
                    }
                    before = it;
                }
            }
            _ => plain.push(it),
        }
    }
    plain
}

fn blank(plain: &mut String, it: char) {
    plain.push(if matches!(it, '\n' | '\r') { it } else { ' ' });
}

/// The text with spaces in the place of commas that nothing follows.
fn without_last_commas(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma stands behind which nothing but space has come.
    let mut comma: Option<usize> = None;
    let mut in_text = false;
    let mut is_escaped = false;
    for it in text.chars() {
        if in_text {
            in_text = it != '"' || is_escaped;
            is_escaped = it == '\\' && !is_escaped;
        } else if it == ',' {
            comma = Some(plain.len());
        } else if !it.is_whitespace() {
            if let Some(at) = comma.take().filter(|_| matches!(it, '}' | ']')) {
                plain.replace_range(at..=at, " ");
            }
            in_text = it == '"';
        }
        plain.push(it);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_and_last_commas_go_and_everything_else_stays_where_it_is() {
        for (written, plain) in [
            (
                "{ // one\n  \"a\": 1, /* two\n */ \"b\": [2,], }",
                "{       \n  \"a\": 1,       \n    \"b\": [2 ]  }",
            ),
            (
                "// ä\n{ \"u\": \"http://x/*y*/\", \"q\": \"\\\"// no\" } // end",
                "    \n{ \"u\": \"http://x/*y*/\", \"q\": \"\\\"// no\" }       ",
            ),
            ("{ \"a\": \",}\", }", "{ \"a\": \",}\"  }"),
            ("{}/**/", "{}    "),
        ] {
            assert_eq!(without_comments(written).as_deref(), Some(plain));
        }
        for other in [
            "{ \"a\": \"// no comment\" }",
            "a: http://x",
            "{ a: 1 } // YAML",
            "{ \"a\": 1 /* open",
            "[,]x",
            "",
        ] {
            assert_eq!(without_comments(other), None, "{other}");
        }
    }
}
