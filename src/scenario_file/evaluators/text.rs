//! `type: text`, and which answers an evaluator means.

use super::compared;
use super::compared::AnswerOf;
use crate::model::ShownText;
use crate::scenario_file::decode::{At, Count, Pattern, Times, Word, choice, section};
use crate::scenario_file::yaml::{Findings, Mark};

choice! {
    /// What a text is looked for in.
    TextSourceWord for TextSource {
        "final_text" => TextSource::FinalText,
        "answers" => TextSource::Answers,
        "transcript" => TextSource::Transcript,
        "log" => TextSource::Log,
    }
}

section! {
    /// A text that must be said: one of `contains`, `equals`, `regex` and `starts_with`.
    TextKeys {
        /// `final_text`: the agent's last words. `answers`: what the tools answered. `transcript`: all that was said. `log`: what the servers wrote to stderr, or their containers. `answers` unless given.
        r#in: Option<TextSourceWord>,
        /// This text is in it.
        contains: Option<At<Word>>,
        /// It is this text; of answers, a whole one. Spaces around it do not count.
        equals: Option<At<String>>,
        /// This regular expression finds something in it.
        regex: Option<At<Pattern>>,
        /// It, or an answer, starts with this text.
        starts_with: Option<At<Word>>,
        /// Whether capitals and small letters are the same; false unless given.
        any_case: Option<bool>,
        /// How often it is there at least: once unless given, or not at all where there is `at_most`.
        at_least: Option<At<Times>>,
        /// How often it is there at most.
        at_most: Option<At<Times>>,
        /// The run passes if it is not so.
        not: Option<bool>,
    }
}

impl TextKeys {
    pub(super) fn text(&self, at: Mark, findings: &mut Findings) -> Option<TextEvaluator> {
        let (contains, regex) = (self.contains.as_ref(), self.regex.as_ref());
        let start = self.starts_with.as_ref();
        let ways = [
            way("contains", contains, |it| TextMatch::Contains(it.0)),
            way("equals", self.equals.as_ref(), TextMatch::Equals),
            way("regex", regex, |it| TextMatch::Regex(it.0)),
            way("starts_with", start, |it| TextMatch::StartsWith(it.0)),
        ];
        let wanted = only_one(at, ways, findings)?;
        let (least, most) = (self.at_least.as_ref(), self.at_most.as_ref());
        if let (Some(least), Some(most)) = (least, most)
            && least.value.0 > most.value.0
        {
            let message = "no number is at least `at_least` and at most `at_most`";
            findings.error(least.at, message, Some("swap them"));
        }
        if let (Some(least), None) = (least, most)
            && least.value.0 == 0
        {
            let (message, hint) = if self.not.unwrap_or(false) {
                (
                    "fails whatever is said: nothing is there fewer than 0 times",
                    "leave it out",
                )
            } else {
                (
                    "passes whatever is said: everything is there at least 0 times",
                    "give `at_most`, or leave it out",
                )
            };
            findings.warning(least.at, message, Some(hint));
        }
        Some(TextEvaluator {
            within: self.r#in.map_or(TextSource::Answers, |it| it.0),
            wanted,
            any_case: self.any_case.unwrap_or(false),
            at_least: least.map(|it| it.value.0),
            at_most: most.map(|it| it.value.0),
            negated: self.not.unwrap_or(false),
        })
    }
}

/// A way to say which text is meant: its key, and what is given there.
pub(super) fn way<T: Clone>(
    key: &'static str,
    given: Option<&At<T>>,
    wanted: impl FnOnce(T) -> TextMatch,
) -> (&'static str, Option<(Mark, TextMatch)>) {
    (key, given.map(|it| (it.at, wanted(it.value.clone()))))
}

/// The only one of several ways to say what a text is like; `None`, after saying so, where there is none or more than one.
pub(super) fn only_one<const N: usize>(
    at: Mark,
    ways: [(&'static str, Option<(Mark, TextMatch)>); N],
    findings: &mut Findings,
) -> Option<TextMatch> {
    let names = ways.each_ref().map(|(name, _)| format!("`{name}`"));
    let mut given = ways.into_iter().filter_map(|(name, it)| Some((name, it?)));
    let Some((first, (_, wanted))) = given.next() else {
        let hint = format!("give one of {}", names.join(", "));
        return findings.refuse(at, "does not say which text is expected", Some(hint));
    };
    if let Some((second, (at, _))) = given.next() {
        let message = format!("`{first}` and `{second}` exclude each other");
        let hint = "write two evaluators, or `type: any_of`";
        return findings.refuse(at, message, Some(hint));
    }
    Some(wanted)
}

/// The answers of a tool, or of one call.
pub(super) fn answer_of(tool: Option<&At<Word>>, call: Option<&At<Count>>) -> AnswerOf {
    AnswerOf {
        tool: tool.map(|it| it.0.clone()),
        call: call.map(|it| it.value.0 as usize),
    }
}

/// A text is looked for in what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEvaluator {
    pub within: TextSource,
    pub wanted: TextMatch,
    pub any_case: bool,
    /// How often it must be there; at least once where neither is given.
    pub at_least: Option<u32>,
    pub at_most: Option<u32>,
    /// The run passes if it is not so.
    pub negated: bool,
}

/// What a text is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSource {
    /// The agent's last words.
    FinalText,
    /// What the servers answered.
    Answers,
    /// All that was said: by the user and the agent, to the tools and by them.
    Transcript,
    /// What the servers wrote for their operators: the stderr of programs, the output of containers and of what was started.
    Log,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextMatch {
    Contains(String),
    /// The whole text is this one; spaces around it do not count.
    Equals(String),
    Regex(String),
    StartsWith(String),
}

impl TextSource {
    /// As scenario files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FinalText => "final_text",
            Self::Answers => "answers",
            Self::Transcript => "transcript",
            Self::Log => "log",
        }
    }
}

impl TextMatch {
    /// The text itself.
    pub fn text(&self) -> &str {
        match self {
            Self::Contains(text)
            | Self::Equals(text)
            | Self::Regex(text)
            | Self::StartsWith(text) => text,
        }
    }

    /// `contains`, as in a sentence.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Contains(_) => "contains",
            Self::Equals(_) => "equals",
            Self::Regex(_) => "matches",
            Self::StartsWith(_) => "starts with",
        }
    }

    pub(super) fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        match self {
            Self::Regex(pattern) => visit(ShownText::Name(pattern)),
            Self::Contains(text) | Self::Equals(text) | Self::StartsWith(text) => {
                visit(ShownText::Words(text));
            }
        }
    }

    /// The verb with what is looked for.
    pub fn words(&self) -> String {
        format!("{} {}", self.verb(), compared::quoted(self.text()))
    }
}

impl TextEvaluator {
    /// How often it must be there at least.
    pub fn least(&self) -> u32 {
        let usual = u32::from(self.at_most.is_none());
        self.at_least.unwrap_or(usual)
    }

    pub(super) fn words(&self) -> String {
        let not = if self.negated { "not: " } else { "" };
        let times = match (self.at_least, self.at_most) {
            (None, None) => String::new(),
            (Some(least), None) => format!(", at least {least} times"),
            (None, Some(most)) => format!(", at most {most} times"),
            (Some(least), Some(most)) => format!(", {least} to {most} times"),
        };
        format!("{not}{} {}{times}", self.within.name(), self.wanted.words())
    }
}
