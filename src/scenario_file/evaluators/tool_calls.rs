//! `type: tool-calls`.

use serde_json::Value;

use super::schema::SchemaValue;
use crate::model::json_path::JsonPath;
use crate::model::{Object, ShownText};
use crate::scenario_file::decode::{
    At, NO_HINT, PathText, Pattern, Plain as _, Times, Word, choice, section, shapes,
};
use crate::scenario_file::servers::ready::Wanted;
use crate::scenario_file::yaml::{Findings, Mark, quoted};

/// How arguments are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario_file) enum ArgumentsMatch {
    Partial,
    Exact,
    Regex,
}

choice! {
    /// How arguments are compared.
    ArgumentsMatchWord for ArgumentsMatch {
        "partial" => ArgumentsMatch::Partial,
        "exact" => ArgumentsMatch::Exact,
        "regex" => ArgumentsMatch::Regex,
    }
}

section! {
    /// Which tools are called, and which are not.
    ToolCallsKeys, checked by check {
        /// Calls that must be made, each a tool's name or a map that says more.
        required: Option<Vec<At<WantedSection>>>,
        /// Calls that may be made, and are no extra ones.
        optional: Option<Vec<At<WantedSection>>>,
        /// Calls that must not be made.
        prohibited: Option<Vec<At<PatternSection>>>,
        /// The only tools that may be called besides those of `required` and `optional`.
        allowed: Option<Vec<At<Word>>>,
        /// How many calls there may be that are neither required nor optional.
        max_extra: Option<Times>,
    }
}

shapes! {
    /// A call that must be made, or may be: the name of a tool, or a map.
    WantedSection, "the name of a tool, or a map" {
        Text => Tool(At<Word>),
        Map => Call(Box<WantedKeys>),
    }
}

shapes! {
    /// A call that must not be made: the name of a tool, or a map.
    PatternSection, "the name of a tool, or a map" {
        Text => Tool(At<Word>),
        Map => Call(Box<PatternKeys>),
    }
}

section! {
    /// A call that must be made, or may be.
    WantedKeys, checked by check_wanted {
        /// `mcp__<server>__<tool>`, or the tool's bare name.
        tool: At<Word>,
        /// The arguments to look for.
        args: Option<Object>,
        /// `partial`: these arguments, and there may be more. `exact`: these and no others. `regex`: texts are regular expressions. `partial` unless given.
        r#match: Option<At<ArgumentsMatchWord>>,
        /// Instead of `args`: a JSON Schema by which the arguments are valid.
        args_schema: Option<SchemaValue>,
        /// What the answer must be like.
        answer: Option<AnswerKeys>,
        /// How many such calls there must be; 1 unless given, and none of an optional one.
        min: Option<At<Times>>,
        /// How many such calls there may be.
        max: Option<At<Times>>,
        /// The first call of the run is one.
        first: Option<bool>,
        /// The last call of the run is one.
        last: Option<bool>,
        /// The first one is made before any call of this tool, if there is any.
        before: Option<At<Word>>,
    }
}

section! {
    /// A call that must not be made.
    PatternKeys, checked by check_pattern {
        /// `mcp__<server>__<tool>`, or the tool's bare name.
        tool: At<Word>,
        /// The arguments to look for; any unless given.
        args: Option<Object>,
        /// How `args` are compared: `partial`, `exact` or `regex`; `partial` unless given.
        r#match: Option<At<ArgumentsMatchWord>>,
        /// Instead of `args`: a JSON Schema by which the arguments are valid.
        args_schema: Option<SchemaValue>,
        /// What the answer to look for is like; any unless given.
        answer: Option<AnswerKeys>,
    }
}

section! {
    /// What an answer is like: all that is given holds.
    AnswerKeys => AnswerPattern(Default), checked by check_answer {
        /// Whether it is an error, or looks like one by `scoring.errors`; either unless given.
        is_error: Option<bool> as Option<bool>,
        /// This text is somewhere in it.
        contains: Option<Word> as Option<String>,
        /// A place in its JSON: a JSON pointer such as `/id`, or a JSON path. With it goes at least one of `equals`, `matches` and `exists`; of several places, one is enough.
        path: Option<At<PathText>> as Option<JsonPath>,
        /// The value there.
        equals: Option<At<Wanted>> as Option<Value>,
        /// A regular expression that finds something in the value there.
        matches: Option<At<Pattern>> as Option<String>,
        /// Whether there is anything but `null`.
        exists: Option<At<bool>> as Option<bool>,
    }
}

impl ToolCallsKeys {
    pub(super) fn tools(&self) -> Vec<(Mark, &str)> {
        fn named(it: &At<Word>) -> (Mark, &str) {
            (it.at, it.0.as_str())
        }
        let wanted = self.required.iter().chain(&self.optional).flatten();
        let wanted = wanted.flat_map(|it| match &it.value {
            WantedSection::Tool(tool) => vec![named(tool)],
            WantedSection::Call(call) => {
                let before = call.before.iter().map(named);
                std::iter::once(named(&call.tool)).chain(before).collect()
            }
        });
        let prohibited = self.prohibited.iter().flatten();
        let prohibited = prohibited.map(|it| match &it.value {
            PatternSection::Tool(tool) => named(tool),
            PatternSection::Call(call) => named(&call.tool),
        });
        let allowed = self.allowed.iter().flatten().map(named);
        wanted.chain(prohibited).chain(allowed).collect()
    }

    pub(super) fn tool_calls(&self, findings: &Findings) -> ToolCalls {
        let wanted = |list: &Option<Vec<At<WantedSection>>>, min: u32| {
            let list = list.iter().flatten();
            list.map(|it| it.value.wanted(min, findings)).collect()
        };
        ToolCalls {
            required: wanted(&self.required, 1),
            optional: wanted(&self.optional, 0),
            prohibited: (self.prohibited.iter().flatten())
                .map(|it| match &it.value {
                    PatternSection::Tool(tool) => any_call(tool),
                    PatternSection::Call(it) => CallPattern {
                        tool: it.tool.0.clone(),
                        arguments: arguments(
                            it.args.as_ref(),
                            it.r#match.as_ref(),
                            it.args_schema.as_ref(),
                        ),
                        answer: it.answer.plain(findings),
                    },
                })
                .collect(),
            allowed: self.allowed.plain(findings),
            max_extra: self.max_extra.plain(findings),
        }
    }
}

impl WantedSection {
    fn wanted(&self, min: u32, findings: &Findings) -> WantedCall {
        match self {
            Self::Tool(tool) => WantedCall {
                call: any_call(tool),
                min,
                ..WantedCall::default()
            },
            Self::Call(it) => WantedCall {
                call: CallPattern {
                    tool: it.tool.0.clone(),
                    arguments: arguments(
                        it.args.as_ref(),
                        it.r#match.as_ref(),
                        it.args_schema.as_ref(),
                    ),
                    answer: it.answer.plain(findings),
                },
                min: it.min.plain(findings).unwrap_or(min),
                max: it.max.plain(findings),
                first: it.first.unwrap_or(false),
                last: it.last.unwrap_or(false),
                before: it.before.plain(findings),
            },
        }
    }
}

impl WantedSection {
    /// Whether calls may be wrong for it, `min` of which there must be where it does not say.
    fn can_fail(&self, min: u32) -> bool {
        match self {
            Self::Tool(_) => min > 0,
            Self::Call(it) => {
                it.min.as_ref().map_or(min, |it| it.value.0) > 0
                    || it.max.is_some()
                    || it.first == Some(true)
                    || it.last == Some(true)
                    || it.before.is_some()
            }
        }
    }
}

fn any_call(tool: &At<Word>) -> CallPattern {
    CallPattern {
        tool: tool.0.clone(),
        ..CallPattern::default()
    }
}

fn arguments(
    args: Option<&Object>,
    how: Option<&At<ArgumentsMatchWord>>,
    schema: Option<&SchemaValue>,
) -> Option<ArgumentsPattern> {
    if let Some(schema) = schema {
        return Some(ArgumentsPattern::Schema(schema.0.clone()));
    }
    let args = args?.clone();
    Some(match how.map_or(ArgumentsMatch::Partial, |it| it.value.0) {
        ArgumentsMatch::Partial => ArgumentsPattern::Partial(args),
        ArgumentsMatch::Exact => ArgumentsPattern::Exact(args),
        ArgumentsMatch::Regex => ArgumentsPattern::Regex(args),
    })
}

fn check(section: &ToolCallsKeys, at: Mark, findings: &mut Findings) {
    let is_empty = section.required.is_none()
        && section.optional.is_none()
        && section.prohibited.is_none()
        && section.allowed.is_none()
        && section.max_extra.is_none();
    if is_empty {
        let hint = "give `required`, `optional`, `prohibited`, `allowed` or `max_extra`";
        findings.error(at, "says nothing of any call", Some(hint));
    }
    let prohibits = section.prohibited.as_ref().is_some_and(|it| !it.is_empty());
    let is_wanted = |list: &Option<Vec<At<WantedSection>>>, min: u32| {
        list.iter().flatten().any(|it| it.value.can_fail(min))
    };
    let can_fail = is_wanted(&section.required, 1) || is_wanted(&section.optional, 0);
    if !(is_empty || prohibits || can_fail)
        && section.allowed.is_none()
        && section.max_extra.is_none()
    {
        let hint = "require, limit or prohibit a call";
        findings.warning(at, "passes whatever is called", Some(hint));
    }
    check_required(section, findings);
    let mut names: Vec<&str> = Vec::new();
    for it in section.required.iter().flatten() {
        if let WantedSection::Tool(tool) = &it.value {
            if names.contains(&tool.0.as_str()) {
                let message = format!("{} is required already", quoted(&tool.0));
                let hint = format!("`{{ tool: {}, min: 2 }}` requires it twice", tool.0);
                findings.warning(tool.at, message, Some(hint));
            }
            names.push(&tool.0);
        }
    }
}

fn check_wanted(section: &WantedKeys, _: Mark, findings: &mut Findings) {
    check_arguments(
        section.args.as_ref(),
        section.r#match.as_ref(),
        section.args_schema.as_ref(),
        section.tool.at,
        findings,
    );
    if let (Some(min), Some(max)) = (&section.min, &section.max)
        && min.value.0 > max.value.0
    {
        let message = "no number is at least `min` and at most `max`";
        findings.error(min.at, message, Some("swap them"));
    }
}

/// Says which required calls must not be made.
fn check_required(section: &ToolCallsKeys, findings: &mut Findings) {
    for it in section.required.iter().flatten() {
        if let WantedSection::Call(call) = &it.value
            && let Some(max) = call.max.as_ref().filter(|it| it.value.0 == 0)
            && call.min.is_none()
        {
            let message = "a required call is made at least once, but at most 0 times is never";
            let hint = format!(
                "`prohibited: [{}]` says that there must be none",
                call.tool.0
            );
            findings.error(max.at, message, Some(&hint));
        }
    }
}

fn check_pattern(section: &PatternKeys, _: Mark, findings: &mut Findings) {
    check_arguments(
        section.args.as_ref(),
        section.r#match.as_ref(),
        section.args_schema.as_ref(),
        section.tool.at,
        findings,
    );
}

fn check_arguments(
    args: Option<&Object>,
    how: Option<&At<ArgumentsMatchWord>>,
    schema: Option<&SchemaValue>,
    at: Mark,
    findings: &mut Findings,
) {
    if args.is_some() && schema.is_some() {
        let message = "`args` and `args_schema` exclude each other";
        findings.error(at, message, Some("keep one of the two"));
    }
    let Some(how) = how else { return };
    let Some(args) = args else {
        findings.error(how.at, "`match` means nothing without `args`", NO_HINT);
        return;
    };
    if how.value.0 == ArgumentsMatch::Regex {
        for value in args.values() {
            model::texts::each(value, &mut |text| {
                if text.is_empty() {
                    let message = "an empty regular expression finds something in every text";
                    let hint = "leave the argument out where any text will do, or write `^$`";
                    findings.error(how.at, message, Some(hint));
                }
                if let Err(error) = regex::Regex::new(text) {
                    let error = error.to_string();
                    let reason = error.lines().last().unwrap_or_default();
                    let reason = reason.trim_start_matches("error: ");
                    let message = format!("{} is not a regular expression: {reason}", quoted(text));
                    findings.error(how.at, message, NO_HINT);
                }
            });
        }
    }
}

fn check_answer(section: &AnswerKeys, at: Mark, findings: &mut Findings) {
    let given = [
        ("equals", section.equals.as_ref().map(At::mark)),
        ("matches", section.matches.as_ref().map(At::mark)),
        ("exists", section.exists.as_ref().map(At::mark)),
    ];
    let first = given.iter().find_map(|(key, at)| Some((*key, (*at)?)));
    match (&section.path, first) {
        (Some(path), None) => {
            let hint = "add `exists: true`, `equals: …` or `matches: …`";
            findings.error(
                path.at,
                "`path` does not say what must be there",
                Some(hint),
            );
        }
        (None, Some((key, at))) => {
            let message = format!("`{key}` needs a `path` to say where");
            findings.error(at, message, Some("`path: $` is the whole answer"));
        }
        (None, None) if section.is_error.is_none() && section.contains.is_none() => {
            findings.error(at, "says nothing of the answer", NO_HINT);
        }
        _ => {}
    }
}

/// What is said of the calls of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCalls {
    pub required: Vec<WantedCall>,
    /// Calls that may be made, and are no extra ones.
    pub optional: Vec<WantedCall>,
    pub prohibited: Vec<CallPattern>,
    /// The only tools that may be called besides the required and the optional ones; `None` where any may be.
    pub allowed: Option<Vec<String>>,
    /// How many calls there may be that are neither required nor optional.
    pub max_extra: Option<u32>,
}

/// A call that must be made, or may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedCall {
    pub call: CallPattern,
    /// How many such calls there must be, and may be.
    pub min: u32,
    pub max: Option<u32>,
    /// The first call of the run is one.
    pub first: bool,
    /// The last call of the run is one.
    pub last: bool,
    /// The first one is made before any call of this tool.
    pub before: Option<String>,
}

/// What calls are meant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallPattern {
    /// The full name, or the bare one.
    pub tool: String,
    pub arguments: Option<ArgumentsPattern>,
    pub answer: Option<AnswerPattern>,
}

/// What arguments are meant.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentsPattern {
    /// These, by value; there may be more.
    Partial(Object),
    /// These and no others.
    Exact(Object),
    /// Texts are regular expressions that find something in the argument; there may be more arguments.
    Regex(Object),
    /// They are valid by this JSON Schema.
    Schema(Value),
}

impl WantedCall {
    /// Whether there are calls that do not satisfy it.
    fn can_fail(&self) -> bool {
        self.min > 0 || self.max.is_some() || self.first || self.last || self.before.is_some()
    }
}

impl ToolCalls {
    /// Whether there are calls that do not satisfy it.
    pub(super) fn can_fail(&self) -> bool {
        let mut wanted = self.required.iter().chain(&self.optional);
        !self.prohibited.is_empty()
            || self.allowed.is_some()
            || self.max_extra.is_some()
            || wanted.any(WantedCall::can_fail)
    }

    /// All that it says of calls.
    pub fn patterns(&self) -> impl Iterator<Item = &CallPattern> {
        let wanted = self.required.iter().chain(&self.optional);
        wanted.map(|it| &it.call).chain(&self.prohibited)
    }

    /// The tools that it names, wherever it does.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let wanted = self.required.iter().chain(&self.optional);
        let before = wanted.filter_map(|it| it.before.as_deref());
        let allowed = self.allowed.iter().flatten().map(String::as_str);
        let called = self.patterns().map(|it| it.tool.as_str());
        called.chain(before).chain(allowed)
    }

    fn patterns_mut(&mut self) -> impl Iterator<Item = &mut CallPattern> {
        let wanted = self.required.iter_mut().chain(&mut self.optional);
        wanted
            .map(|it| &mut it.call)
            .chain(self.prohibited.iter_mut())
    }

    pub(super) fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        for pattern in self.patterns_mut() {
            match &mut pattern.arguments {
                Some(ArgumentsPattern::Partial(args) | ArgumentsPattern::Exact(args)) => {
                    visit(ShownText::Object(args));
                }
                Some(ArgumentsPattern::Regex(args)) => {
                    for value in args.values_mut() {
                        model::texts::each_mut(value, &mut |text| {
                            visit(ShownText::Name(text));
                        });
                    }
                }
                Some(ArgumentsPattern::Schema(_)) | None => {}
            }
            let Some(answer) = &mut pattern.answer else {
                continue;
            };
            if let Some(text) = &mut answer.contains {
                visit(ShownText::Words(text));
            }
            if let Some(value) = &mut answer.equals {
                visit(ShownText::Value(value));
            }
            if let Some(pattern) = &mut answer.matches {
                visit(ShownText::Name(pattern));
            }
        }
    }

    pub(super) fn words(&self) -> String {
        let list = |said: &str, names: Vec<&str>| {
            (!names.is_empty()).then(|| format!("{said} {}", names.join(", ")))
        };
        let wanted = |calls: &'_ [WantedCall]| -> Vec<String> {
            calls.iter().map(|it| it.call.tool.clone()).collect()
        };
        let (required, optional) = (wanted(&self.required), wanted(&self.optional));
        let prohibited = self.prohibited.iter().map(|it| it.tool.as_str());
        let allowed = self.allowed.iter().flatten().map(String::as_str);
        let names = |it: &'_ [String]| -> String { it.join(", ") };
        let said = [
            (!required.is_empty()).then(|| format!("required {}", names(&required))),
            (!optional.is_empty()).then(|| format!("optional {}", names(&optional))),
            list("allowed", allowed.collect()),
            list("prohibited", prohibited.collect()),
            self.max_extra.map(|it| format!("at most {it} extra")),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        format!("tool calls: {}", said.join("; "))
    }
}
