//! Files as editors and MCP clients write them: JSON with comments, and TOML.

use serde::de::IgnoredAny;
use toml_edit::{Document, Item, TableLike, Value};

use super::node::{Content, Entry, Node};
use super::source::{Findings, Mark};

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

/// The document of a source; `None` after saying what is wrong with it.
pub(in crate::scenario_file) fn parse_toml(source: usize, findings: &mut Findings) -> Option<Node> {
    let text = findings.text(source);
    match Document::parse(&*text) {
        Ok(document) => {
            let reader = Reader { source, findings };
            Some(reader.node(document.as_item()))
        }
        Err(error) => {
            let offset = error.span().map_or(0, |it| it.start);
            let at = findings.mark_of_offset(source, offset.min(text.len()));
            findings.refuse(at, error.message(), None::<&str>)
        }
    }
}

struct Reader<'f> {
    source: usize,
    findings: &'f Findings,
}

impl Reader<'_> {
    fn mark(&self, span: Option<std::ops::Range<usize>>) -> Mark {
        let offset = span.map_or(0, |it| it.start);
        self.findings.mark_of_offset(self.source, offset)
    }

    fn node(&self, item: &Item) -> Node {
        let content = match item {
            Item::None => Content::Null,
            Item::Value(value) => self.value(value),
            Item::Table(table) => self.map(table),
            Item::ArrayOfTables(tables) => Content::List(
                (tables.iter())
                    .map(|it| Node {
                        at: self.mark(it.span()),
                        content: self.map(it),
                    })
                    .collect(),
            ),
        };
        Node {
            at: self.mark(item.span()),
            content,
        }
    }

    fn value(&self, value: &Value) -> Content {
        match value {
            Value::String(it) => Content::Text(it.value().clone()),
            Value::Integer(it) => Content::Number((*it.value()).into()),
            Value::Float(it) => match serde_json::Number::from_f64(*it.value()) {
                Some(number) => Content::Number(number),
                None => Content::Text(it.value().to_string()),
            },
            Value::Boolean(it) => Content::Bool(*it.value()),
            Value::Datetime(it) => Content::Text(it.value().to_string()),
            Value::Array(items) => Content::List(
                (items.iter())
                    .map(|it| Node {
                        at: self.mark(it.span()),
                        content: self.value(it),
                    })
                    .collect(),
            ),
            Value::InlineTable(table) => self.map(table),
        }
    }

    fn map(&self, table: &dyn TableLike) -> Content {
        let entries = table.iter().map(|(key, item)| Entry {
            key: key.to_owned(),
            key_at: self.mark(table.key(key).and_then(toml_edit::Key::span)),
            value: self.node(item),
        });
        Content::Map(entries.collect())
    }
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
