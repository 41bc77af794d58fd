//! The calls of a script and of `expected_trajectory`, and their arguments, in which texts may refer to earlier answers.

use std::ops::{Deref, Range};

use crate::model::{Object, Reference};
use crate::scenario_file::decode::{At, Decode, Plain, Word, schema, section};
use crate::scenario_file::servers::ready::{ExpectSection, UntilSection};
use crate::scenario_file::servers::{Expected, Until};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

section! {
    /// One call of a script.
    CallSection {
        /// `mcp__<server>__<tool>`, or the tool's bare name where only one server has it.
        tool: At<Word>,
        /// The arguments, none unless given; `{{calls.0.json:/id}}` is a part of an earlier answer.
        args: Option<Arguments>,
        /// Whether the run ends when the call fails; the name of the operation decides unless given.
        critical: Option<bool>,
        /// The call is expected to fail.
        is_error: Option<bool>,
        /// What the answer must hold before the next call: the call, which only reads, is repeated until it does.
        until: Option<UntilSection>,
    }
}

section! {
    /// One call that is expected of a run.
    ExpectedSection, checked by check_expected {
        /// What the call is for, in a word.
        action: Option<String>,
        /// `mcp__<server>__<tool>`, or the tool's bare name where only one server has it.
        tool: At<Word>,
        /// The arguments that are expected. Without it, a model or a program may give any, and a script gives none; `{}` expects none.
        args: Option<Arguments>,
        /// Remarks for the reader.
        notes: Option<String>,
        /// The call is expected to fail.
        is_error: Option<bool>,
        /// Whether the run ends when the call fails; the name of the operation decides unless given.
        critical: Option<bool>,
        /// What its answer must hold, whatever was recorded. A run fails where it does not.
        expect: Option<ExpectSection>,
        /// What its answer must hold before a script makes the next call: the call, which only reads, is repeated until it does.
        until: Option<At<UntilSection>>,
    }
}

fn check_expected(section: &ExpectedSection, at: Mark, findings: &mut Findings) {
    let expected = section.expect.as_ref().and_then(ExpectSection::is_error);
    if let (Some(own), Some(expected)) = (section.is_error, expected)
        && own != expected
    {
        let message = "`is_error` of the call and that of its `expect` contradict each other";
        findings.error(at, message, Some("keep one of the two"));
    }
    if let (Some(until), Some(_)) = (&section.until, &section.expect) {
        let message = "`until` says what the answer must hold, and so does `expect`";
        findings.error(until.at, message, Some("keep one of the two"));
    }
}

/// The calls under `expected_trajectory`.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct ExpectedCalls {
    list: Vec<ExpectedSection>,
    /// Nothing stands behind the key, not even `[]`: all calls may be comments.
    is_blank: bool,
}

impl ExpectedCalls {
    /// Whether the author says that an agent that decides for itself calls nothing.
    pub(in crate::scenario_file) fn forbid_calls(&self) -> bool {
        self.list.is_empty() && !self.is_blank
    }
}

impl Deref for ExpectedCalls {
    type Target = [ExpectedSection];

    fn deref(&self) -> &[ExpectedSection] {
        &self.list
    }
}

impl Decode for ExpectedCalls {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let list = Vec::decode(node, findings)?;
        Some(Self {
            list,
            is_blank: false,
        })
    }

    fn of_null() -> Option<Self> {
        Some(Self {
            list: Vec::new(),
            is_blank: true,
        })
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.list.templates(visit);
    }
}

schema!(ExpectedCalls, |generator| {
    Vec::<ExpectedSection>::json_schema(generator)
});

impl CallSection {
    pub(in crate::scenario_file) fn call(&self, findings: &Findings) -> ScriptedCall {
        let args = self.args.clone().unwrap_or_default();
        let until = self.until.as_ref().and_then(|it| it.expect.is_error());
        let is_error = self.is_error.or(until);
        ScriptedCall {
            tool: self.tool.0.clone(),
            arguments: args.object,
            filled: args.filled,
            critical: unless_meant(self.critical, is_error),
            is_error: is_error.unwrap_or(false),
            until: self.until.plain(findings),
        }
    }
}

/// Whether a call's failure ends the run. One that is meant to fail ends nothing by failing, unless the scenario says so.
fn unless_meant(critical: Option<bool>, is_error: Option<bool>) -> Option<bool> {
    critical.or(is_error.filter(|it| *it).map(|_| false))
}

impl ExpectedSection {
    pub(in crate::scenario_file) fn expected(&self, findings: &Findings) -> ExpectedCall {
        let args = self.args.clone().unwrap_or_default();
        ExpectedCall {
            action: self.action.clone(),
            tool: self.tool.0.clone(),
            arguments: args.object,
            is_open: self.args.is_none(),
            filled: args.filled,
            notes: self.notes.clone(),
            is_error: self.fails(),
            critical: self.critical,
            expect: self.expect().map(|it| Expected {
                is_error: self.fails(),
                ..it.plain(findings)
            }),
        }
    }

    /// What the answer must hold, at once or in the end.
    fn expect(&self) -> Option<&ExpectSection> {
        let until = self.until.as_ref().map(|it| &it.expect);
        self.expect.as_ref().or(until)
    }

    /// Whether the call is meant to fail.
    fn fails(&self) -> bool {
        let expected = self.expect().and_then(ExpectSection::is_error);
        self.is_error.or(expected).unwrap_or(false)
    }

    /// The call as a script plays it.
    pub(in crate::scenario_file) fn call(&self, findings: &Findings) -> ScriptedCall {
        let args = self.args.clone().unwrap_or_default();
        ScriptedCall {
            tool: self.tool.0.clone(),
            arguments: args.object,
            filled: args.filled,
            critical: unless_meant(self.critical, Some(self.fails())),
            is_error: self.fails(),
            until: self.until.plain(findings),
        }
    }
}

/// The arguments of a call, and where in them values of variables stand: what looks like a reference there is none.
#[derive(Debug, Clone, Default)]
pub(in crate::scenario_file) struct Arguments {
    pub(in crate::scenario_file) object: Object,
    pub(in crate::scenario_file) filled: Vec<FilledText>,
    /// The calls that references in them lead to, counted from 0.
    pub(in crate::scenario_file) references: Vec<At<usize>>,
}

impl Decode for Arguments {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let mut arguments = Self {
            object: Object::decode(node, findings)?,
            ..Self::default()
        };
        find(node, &mut String::new(), findings, &mut arguments);
        Some(arguments)
    }
}

fn find(node: &Node, at: &mut String, findings: &Findings, arguments: &mut Arguments) {
    let mut step = |name: &str, node: &Node| {
        let length = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        find(node, at, findings, arguments);
        at.truncate(length);
    };
    match &node.content {
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                step(&index.to_string(), item);
            }
        }
        Content::Map(entries) => entries.iter().for_each(|it| step(&it.key, &it.value)),
        Content::Text(text) => {
            let values = findings.filled(node.at);
            let references = Reference::all(text, values).into_iter();
            arguments.references.extend(references.map(|(_, it)| At {
                at: findings.find_word(node.at, &format!("calls.{}.", it.call)),
                value: it.call,
            }));
            if !values.is_empty() {
                arguments.filled.push(FilledText {
                    at: at.clone(),
                    values: values.to_vec(),
                });
            }
        }
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}

schema!(Arguments, |generator| Object::json_schema(generator));

/// One call of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    /// `mcp__<server>__<tool>`, or the bare name where only one server has it.
    pub tool: String,
    /// May hold `{{calls.0.json:/id}}` references into earlier answers.
    pub arguments: Object,
    /// The texts in them that are no such references, in part or whole.
    pub filled: Vec<FilledText>,
    /// Whether its failure ends the run; `None` leaves it to the operation's name.
    pub critical: Option<bool>,
    /// Whether the call is meant to fail.
    pub is_error: bool,
    /// It is a read, and repeated until its answer holds this.
    pub until: Option<Until>,
}

/// A text among the arguments of a call in which values of variables stand. What looks like a reference to an earlier answer there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledText {
    /// Where it is: a JSON Pointer (RFC 6901) into the arguments.
    pub at: String,
    /// Where the values stand in it, in bytes.
    pub values: Vec<Range<usize>>,
}

/// One call the scenario expects of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// What the call is for, in a word.
    pub action: Option<String>,
    pub tool: String,
    pub arguments: Object,
    /// Whether the scenario says nothing of its arguments. An agent that decides may then give any; a script gives none.
    pub is_open: bool,
    /// See [`ScriptedCall::filled`].
    pub filled: Vec<FilledText>,
    /// Remarks for the reader.
    pub notes: Option<String>,
    /// Whether the call is meant to fail.
    pub is_error: bool,
    /// See [`ScriptedCall::critical`].
    pub critical: Option<bool>,
    /// What its answer must hold.
    pub expect: Option<Expected>,
}

/// Operations whose failure makes the rest of a run pointless, unless the scenario says otherwise.
const CRITICAL_OPERATIONS: [&str; 6] =
    ["add", "create", "initialize", "connect", "setup", "install"];

impl ScriptedCall {
    /// Whether the failure of this call ends the run: as the scenario says, else by the operation, which is the `operation` argument
    /// or, without one, the first word of the tool's name.
    pub fn is_critical(&self) -> bool {
        self.critical.unwrap_or_else(|| {
            let tool = self.tool.rsplit("__").next().unwrap_or(&self.tool);
            let operation = self.arguments.get("operation").and_then(|it| it.as_str());
            let word = operation
                .unwrap_or(tool)
                .split(['_', '-', '.', ' ', '/'])
                .next();
            word.is_some_and(|it| CRITICAL_OPERATIONS.contains(&it.to_lowercase().as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ScriptedCall;

    #[test]
    fn critical_calls_are_known_by_their_operation() {
        let cases = [
            ("mcp__p__add_server", json!({}), None, true),
            (
                "mcp__p__upstream_servers",
                json!({ "operation": "Add" }),
                None,
                true,
            ),
            (
                "mcp__p__upstream_servers",
                json!({ "operation": "list" }),
                None,
                false,
            ),
            ("mcp__p__address_book", json!({}), None, false),
            ("mcp__p__create", json!({}), Some(false), false),
            ("mcp__p__list", json!({}), Some(true), true),
        ];
        for (tool, arguments, critical, expected) in cases {
            let call = ScriptedCall {
                tool: tool.to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                filled: Vec::new(),
                critical,
                is_error: false,
                until: None,
            };
            assert_eq!(call.is_critical(), expected, "{tool} {arguments}");
        }
    }
}
