//! TOML text to nodes, as MCP clients write it.

use toml_edit::{Document, Item, TableLike, Value};

use super::node::{Content, Entry, Node};
use super::source::{Findings, Mark};

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
