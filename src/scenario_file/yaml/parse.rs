//! YAML text to nodes. Says everything that is wrong with the text itself.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::Number;

use super::finding::quoted;
use super::node::{self, Content, Entry, MAX_DEPTH, Node, Scalar};
use super::source::{Findings, Mark};

/// What anchors and aliases may copy in all, in bytes: more is an attack, not a scenario.
const MAX_COPIED: usize = 8 * 1024 * 1024;
/// What one node is taken to weigh beside its text, in bytes.
const NODE_WEIGHT: usize = 128;

const NONE: Option<&str> = None;

/// Parses the first document of a source.
///
/// `None` when there is nothing to go on with: the syntax is broken, which is said, or there is no document, which is not.
pub(in crate::scenario_file) fn parse(source: usize, findings: &mut Findings) -> Option<Node> {
    let text = findings.text(source);
    let mut builder = Builder {
        source,
        findings,
        open: Vec::new(),
        root: None,
        anchors: HashMap::new(),
        copied: 0,
    };
    for event in Parser::new_from_str(&text) {
        let step = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => builder.syntax_error(&error),
        };
        match step {
            Step::Next => {}
            Step::Done => break,
            Step::Broken => return None,
        }
    }
    builder.root
}

/// The same, where an empty document is no basis either; `hint` says what it needs.
pub(in crate::scenario_file) fn parse_some(
    source: usize,
    findings: &mut Findings,
    hint: &str,
) -> Option<Node> {
    let errors = findings.errors();
    let document = parse(source, findings);
    let document = document.filter(|it| !matches!(it.content, Content::Null));
    if document.is_none() && findings.errors() == errors {
        let start = Mark {
            source,
            line: 1,
            column: 1,
        };
        findings.error(start, "the file is empty", Some(hint));
    }
    document
}

/// Whether to go on reading.
enum Step {
    Next,
    Done,
    Broken,
}

/// Puts nodes together as the events of the parser come in.
struct Builder<'a> {
    source: usize,
    findings: &'a mut Findings,
    /// The lists and maps not yet at their end, outermost first.
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    copied: usize,
}

/// A list or map not yet at its end.
struct Open {
    at: Mark,
    anchor: usize,
    parts: Parts,
}

enum Parts {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        keys: HashSet<String>,
        /// Values of `<<`, to be merged at the end: the map's own keys win.
        merges: Vec<Node>,
        key: Key,
    },
}

/// Which part of a map comes next.
enum Key {
    /// A key.
    Awaited,
    /// The value of this key.
    Read(String, Mark),
    /// The value of `<<`.
    Merge,
    /// A value whose key was refused.
    Refused,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Step {
        let at = self.mark(span.start.line(), span.start.col());
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document starts here; only one is read";
                let hint = "put each scenario in its own file";
                self.findings.error(at, message, Some(hint));
                return Step::Done;
            }
            Event::Scalar(text, style, anchor, tag) => {
                if self.awaits_key() {
                    self.scalar_key(&text, style, at);
                } else {
                    let content = self.scalar(&text, style, tag.as_deref(), at);
                    return self.finish(Node { at, content }, anchor);
                }
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "seq", at);
                return self.open(at, anchor, Parts::List(Vec::new()));
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "map", at);
                let parts = Parts::Map {
                    entries: Vec::new(),
                    keys: HashSet::new(),
                    merges: Vec::new(),
                    key: Key::Awaited,
                };
                return self.open(at, anchor, parts);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { at, anchor, parts }) = self.open.pop() {
                    let content = match parts {
                        Parts::List(items) => Content::List(items),
                        Parts::Map {
                            entries,
                            keys,
                            merges,
                            key: _,
                        } => Content::Map(self.merged(entries, keys, merges)),
                    };
                    return self.finish(Node { at, content }, anchor);
                }
            }
            Event::Alias(anchor) => return self.alias(anchor, at),
            _ => {}
        }
        Step::Next
    }

    fn open(&mut self, at: Mark, anchor: usize, parts: Parts) -> Step {
        if self.open.len() >= MAX_DEPTH {
            return self.too_deep(at);
        }
        if self.awaits_key() {
            // The key itself becomes `Refused` when the list or map is at its end.
            self.findings.error(at, "a key must be text", NONE);
        }
        self.open.push(Open { at, anchor, parts });
        Step::Next
    }

    /// Puts a complete value where it belongs.
    fn finish(&mut self, node: Node, anchor: usize) -> Step {
        if anchor != 0 {
            if !self.may_copy(weight(&node), node.at) {
                return Step::Broken;
            }
            self.anchors.insert(anchor, node.clone());
        }
        self.put(node);
        Step::Next
    }

    fn put(&mut self, node: Node) {
        match self.open.last_mut().map(|it| &mut it.parts) {
            None => self.root = Some(node),
            Some(Parts::List(items)) => items.push(node),
            Some(Parts::Map {
                entries,
                merges,
                key,
                ..
            }) => match std::mem::replace(key, Key::Awaited) {
                Key::Read(name, key_at) => entries.push(Entry {
                    key: name,
                    key_at,
                    value: node,
                }),
                Key::Merge => merges.push(node),
                // A list or map that stood where a key was awaited: its own value is refused like it.
                Key::Awaited => *key = Key::Refused,
                Key::Refused => {}
            },
        }
    }

    fn alias(&mut self, anchor: usize, at: Mark) -> Step {
        if self.awaits_key() {
            self.findings.error(at, "an alias cannot be a key", NONE);
            if let Some(Parts::Map { key, .. }) = self.open.last_mut().map(|it| &mut it.parts) {
                *key = Key::Refused;
            }
            return Step::Next;
        }
        let Some(node) = self.anchors.get(&anchor) else {
            let message = "this alias is inside what it refers to";
            self.findings.error(at, message, NONE);
            return Step::Broken;
        };
        let (weight, depth) = (weight(node), depth(node));
        if self.open.len() + depth > MAX_DEPTH {
            return self.too_deep(at);
        }
        if !self.may_copy(weight, at) {
            return Step::Broken;
        }
        if let Some(node) = self.anchors.get(&anchor).cloned() {
            self.put(node);
        }
        Step::Next
    }

    fn too_deep(&mut self, at: Mark) -> Step {
        let message = format!("nested deeper than {MAX_DEPTH} levels");
        self.findings.error(at, message, NONE);
        Step::Broken
    }

    /// Counts a copy of this many bytes; `false`, after saying so, when that is too much.
    fn may_copy(&mut self, weight: usize, at: Mark) -> bool {
        self.copied += weight;
        if self.copied > MAX_COPIED {
            let message = "anchors and aliases expand to too many values";
            self.findings.error(at, message, NONE);
        }
        self.copied <= MAX_COPIED
    }

    fn awaits_key(&self) -> bool {
        matches!(
            self.open.last().map(|it| &it.parts),
            Some(Parts::Map {
                key: Key::Awaited,
                ..
            })
        )
    }

    fn scalar_key(&mut self, text: &str, style: ScalarStyle, at: Mark) {
        let Some(Parts::Map { keys, key, .. }) = self.open.last_mut().map(|it| &mut it.parts)
        else {
            return;
        };
        let is_plain = style == ScalarStyle::Plain;
        if is_plain && text == "<<" {
            *key = Key::Merge;
        } else if is_plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
            *key = Key::Refused;
            self.findings.error(at, "a key must be text", NONE);
        } else if keys.insert(text.to_owned()) {
            *key = Key::Read(text.to_owned(), at);
        } else {
            *key = Key::Refused;
            let message = format!("the key {} is given twice", quoted(text));
            self.findings
                .error(at, message, Some("keep one of the two"));
        }
    }

    /// The entries of a map with those of its `<<` after them; the earlier of two equal keys wins.
    fn merged(
        &mut self,
        mut entries: Vec<Entry>,
        mut keys: HashSet<String>,
        merges: Vec<Node>,
    ) -> Vec<Entry> {
        for merge in merges {
            let sources = match merge.content {
                Content::List(items) => items,
                _ => vec![merge],
            };
            for source in sources {
                let Content::Map(more) = source.content else {
                    let message = format!("`<<` merges maps, and this is {}", source.kind());
                    self.findings.error(source.at, message, NONE);
                    continue;
                };
                entries.extend(more.into_iter().filter(|it| keys.insert(it.key.clone())));
            }
        }
        entries
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Mark) -> Content {
        let wanted = match tag {
            None if style == ScalarStyle::Plain => None,
            None => return Content::Text(text.to_owned()),
            Some(tag) if tag.is_yaml_core_schema() => Some(tag.suffix()),
            Some(tag) => {
                self.refuse_tag(Some(tag), "str", at);
                return Content::Text(text.to_owned());
            }
        };
        if wanted == Some("str") {
            return Content::Text(text.to_owned());
        }
        let content = match node::plain_scalar(text) {
            Ok(scalar) => {
                if let Scalar::Number(number) = &scalar
                    && is_rounded(text, number)
                {
                    self.findings.note_rounded(at);
                }
                Content::from(scalar)
            }
            Err(problem) => {
                let message = format!("{} {problem}", quoted(text));
                let hint = "put it in quotes if it is text";
                self.findings.error(at, message, Some(hint));
                return Content::Null;
            }
        };
        let fits = match (wanted, &content) {
            (None, _)
            | (Some("null"), Content::Null)
            | (Some("bool"), Content::Bool(_))
            | (Some("float"), Content::Number(_)) => true,
            (Some("int"), Content::Number(number)) => !number.is_f64(),
            _ => false,
        };
        if !fits {
            let message = format!("{} is not what its tag says", quoted(text));
            self.findings.error(at, message, NONE);
        }
        content
    }

    /// Says so when a tag is there and is not the one the core schema has for this kind of value.
    fn refuse_tag(&mut self, tag: Option<&Tag>, fitting: &str, at: Mark) {
        if let Some(tag) = tag.filter(|it| !it.is_yaml_core_schema_tag(fitting)) {
            let name = format!("{}{}", tag.original_handle(), tag.suffix());
            let message = format!("the tag {} means nothing here", quoted(&name));
            self.findings.error(at, message, NONE);
        }
    }

    fn syntax_error(&mut self, error: &ScanError) -> Step {
        let marker = error.marker();
        let at = self.mark(marker.line(), marker.col());
        let info = error.info();
        let hint = if info.contains("tabs") {
            Some("indent with spaces")
        } else if info.contains("mapping values are not allowed") {
            Some("a text that holds `: ` needs quotes")
        } else {
            None
        };
        self.findings
            .error(at, format!("invalid YAML: {info}"), hint);
        Step::Broken
    }

    /// A place as the parser counts it: lines from 1, columns from 0.
    fn mark(&self, line: usize, column: usize) -> Mark {
        Mark {
            source: self.source,
            line: line.max(1),
            column: column + 1,
        }
    }
}

fn depth(node: &Node) -> usize {
    match &node.content {
        Content::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Content::Map(entries) => 1 + entries.iter().map(|it| depth(&it.value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many bytes a copy of the node takes.
fn weight(node: &Node) -> usize {
    let inner = match &node.content {
        Content::Text(text) => text.len(),
        Content::List(items) => items.iter().map(weight).sum(),
        Content::Map(entries) => entries
            .iter()
            .map(|it| it.key.len() + weight(&it.value))
            .sum(),
        _ => 0,
    };
    NODE_WEIGHT + inner
}

/// Says which numbers in a value are not what is written there. The place of a number says too little to repeat what was written.
pub(in crate::scenario_file) fn refuse_rounded(node: &Node, findings: &mut Findings) {
    match &node.content {
        Content::Number(number) if findings.is_rounded(node.at) => {
            refuse_rounded_one(node.at, number, findings);
        }
        Content::List(items) => items.iter().for_each(|it| refuse_rounded(it, findings)),
        Content::Map(entries) => {
            for it in entries {
                refuse_rounded(&it.value, findings);
            }
        }
        _ => {}
    }
}

/// Says that a number is not what is written there.
pub(in crate::scenario_file) fn refuse_rounded_one(
    at: Mark,
    number: &Number,
    findings: &mut Findings,
) {
    let message = format!("has more digits than a number keeps, and would become {number}");
    findings.error(at, message, Some("put it in quotes, which keep them all"));
}

/// Whether a number, which was read from a text, has another value than the text says.
pub(in crate::scenario_file) fn is_rounded(written: &str, number: &Number) -> bool {
    if !number.is_f64() {
        return false;
    }
    let Some(said) = Decimal::read(written) else {
        // It is in another notation than that of decimals.
        return false;
    };
    let is_whole = written.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    // Even where a whole number beyond 64 bits keeps its value, it is written otherwise from here on.
    is_whole && !said.digits.is_empty() || Some(said) != Decimal::read(&number.to_string())
}

/// A decimal number, in the one way that there is to say it.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    /// Neither begins nor ends with a zero; empty for 0.
    digits: String,
    /// What power of ten they are multiplied with; 0 for 0.
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{part}");
        if all.is_empty() || !all.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let places = i64::try_from(part.len()).ok()?;
        let digits = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - digits.len()).ok()?;
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self {
                is_negative: false,
                digits: String::new(),
                exponent: 0,
            });
        }
        Some(Self {
            is_negative,
            digits: digits.to_owned(),
            exponent: exponent.checked_sub(places)?.checked_add(zeros)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Number;

    use super::is_rounded;

    #[test]
    fn a_number_is_rounded_where_its_value_is_another() {
        for (written, rounded) in [
            ("0.1", false),
            ("1.10", false),
            ("-0", false),
            ("1e5", false),
            ("1.5E-7", false),
            ("-12.50e+2", false),
            ("0.30000000000000004", false),
            ("1e22", false),
            ("18446744073709551615", false),
            ("18446744073709551616", true),
            ("100000000000000000000", true),
            ("-123456789012345678901", true),
            ("0.12345678901234567890", true),
            ("9007199254740993.0", true),
            ("1e-400", true),
        ] {
            let number: Number = serde_json::from_str(written).unwrap();
            assert_eq!(is_rounded(written, &number), rounded, "{written}");
        }
    }
}
