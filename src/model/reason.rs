//! Reasons why a run failed, or deserves a warning: a value for each condition, and its sentence.

use std::collections::HashMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label::labelled;
use crate::text::word_diff::around_difference;
use crate::text::{several, shorten};
use crate::{Change, ChangeKind, Edit, Steady, Text, ToolDrift, What, When};

/// One condition that failed or is worth a warning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    pub kind: ReasonKind,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The full name of the call's tool, or the bare one of a tool that no server lists; absent where no call is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the call is for, where its tool only passes calls on; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The line of the scenario's file that says to make, or to expect, the call concerned; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub why: Why,
    /// The whole sentence, tool included, for those who read the document.
    #[serde(default)]
    pub text: Text,
    pub expected: Option<String>,
    pub got: Option<String>,
    /// What explains it, where the tool catalogue or a server behind does.
    pub cause: Option<String>,
    /// The change that it is about, by its place in the list of changes from 0; absent where it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<usize>,
}

/// A condition that failed, with what else failed because of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped<'a> {
    pub reason: &'a Reason,
    pub follows: Vec<&'a Reason>,
}

/// What failed, each cause once: a reason whose change follows from that of another one is beneath it.
pub fn grouped<'a>(reasons: &'a [Reason], changes: &[Change]) -> Vec<Grouped<'a>> {
    let mut groups: Vec<Grouped<'a>> = Vec::new();
    let mut of_root: HashMap<usize, usize> = HashMap::new();
    for reason in reasons {
        // Where anything else failed, that is what the score is too low for.
        if let (ReasonKind::Threshold, Some(first)) = (reason.kind, groups.first_mut()) {
            first.follows.push(reason);
            continue;
        }
        let root = reason.change.map(|at| root(changes, at));
        if let Some(group) = root.and_then(|it| of_root.get(&it)) {
            groups[*group].follows.push(reason);
            continue;
        }
        of_root.extend(root.map(|it| (it, groups.len())));
        groups.push(Grouped {
            reason,
            follows: Vec::new(),
        });
    }
    groups
}

/// The change that another one follows from in the end, by its place in the list; itself where it follows from none.
pub fn root(changes: &[Change], at: usize) -> usize {
    let mut at = at;
    // Each step leads to another change, so that there are no more steps than changes.
    for _ in 0..changes.len() {
        match changes.get(at).and_then(|it| it.follows) {
            Some(it) if it.change != at => at = it.change,
            _ => break,
        }
    }
    at
}

/// Which condition failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// The overall score is below the threshold.
    Threshold,
    /// The same question got another answer.
    ServerRegression,
    /// An effect differs, is missing or is new.
    EffectChange,
    /// The tool catalogue changed in a way that breaks clients.
    Drift,
    /// A call became slower.
    Slower,
    /// The model used many more tokens.
    Tokens,
    /// A match mode that is all or nothing does not hold.
    Match,
    /// An expectation of the scenario is not met.
    Expectation,
    /// Something changed, and nothing may.
    Strict,
    /// The same call of the agent became other calls behind the server under test.
    Upstream,
}

impl ReasonKind {
    /// Whether it is about one call of the agent, and no other calls behind that.
    pub fn is_of_call(self) -> bool {
        matches!(self, Self::ServerRegression | Self::EffectChange)
    }
}

/// What speaks against a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A call failed, with this message, that had not failed.
    Failed(String),
    /// The same question got another answer.
    AnsweredOtherwise(Answered),
    /// The same effect had another result.
    OtherResult(Answered),
    /// An effect was made with something else, at this place of its arguments and at so many more.
    MadeOtherwise {
        path: String,
        more: usize,
    },
    /// An effect was called with another argument of this name.
    CalledOtherwise(String),
    EffectNotMade,
    EffectNew,
    Slower,
    Tokens,
    Drifted(ToolDrift),
    /// The catalogue accepts less in so many places of so many tools, and refuses no recorded call.
    AcceptsLess {
        places: usize,
        tools: usize,
        first: ToolDrift,
    },
    /// Something was heard otherwise behind a call of the tool with this bare name, or before the first call.
    Heard {
        tool: Option<String>,
        when: Option<When>,
        said: String,
    },
    /// The overall score is too low; why most was lost, at the reason's call where it has one.
    BelowThreshold(Option<String>),
    /// The calls do not fit what the way of matching demands.
    Unfit {
        demand: String,
        of_expected: bool,
    },
    ExpectedNotMade,
    NotExpected,
    /// An expected call was made with another argument of this name.
    OtherArgument(String),
    MoreNotExpected(usize),
    TooUnlike,
    /// Something changed where nothing may, and so many changes more.
    Strict {
        change: ChangeKind,
        what: What,
        path: Option<String>,
        more: usize,
    },
    /// In words: what concerns no single condition, and results of earlier programs.
    Described(String),
}

/// How an answer differs, in its gravest place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answered {
    Somehow,
    At(String),
    /// What broke, how steady it had been, and how many places more.
    Broke {
        path: String,
        edit: Edit,
        steady: Steady,
        more: usize,
    },
    /// Many places changed in one way: which, and what became of them, as two parts of a sentence.
    Many {
        places: String,
        became: String,
        /// The sentence has what they were and are in it.
        has_values: bool,
    },
}

/// The longest expected or got value in a sentence; the document holds what there is.
const VALUE_CHARS: usize = 160;

impl Reason {
    pub fn new(kind: ReasonKind, why: Why) -> Self {
        Self {
            kind,
            baseline: None,
            current: None,
            tool: None,
            label: None,
            line: None,
            why,
            text: Text::default(),
            expected: None,
            got: None,
            cause: None,
            change: None,
        }
    }

    /// What happened, without the call: `failed: no such city`.
    pub fn predicate(&self) -> String {
        match &self.why {
            Why::Failed(message) => format!("failed: {message}"),
            Why::AnsweredOtherwise(answered) => {
                format!("answered the same request differently: {answered}")
            }
            Why::OtherResult(answered) => {
                format!("changes something and had a different result: {answered}")
            }
            Why::MadeOtherwise { path, more } => {
                let made = "changes something and was made with a different value of arguments";
                match more {
                    0 => format!("{made}{path}"),
                    _ => format!("{made}{path}, and of {more} more"),
                }
            }
            Why::CalledOtherwise(name) => {
                format!("changes something and was called differently: argument {name:?}")
            }
            Why::EffectNotMade => "changes something and was not made".to_owned(),
            Why::EffectNew => "changes something and is not in the baseline".to_owned(),
            Why::Slower => "took much longer".to_owned(),
            Why::Tokens => "the model used many more tokens".to_owned(),
            Why::ExpectedNotMade => "was not made".to_owned(),
            Why::NotExpected => "was made and is not expected".to_owned(),
            Why::OtherArgument(name) => {
                format!("differs from the expected call: argument `{name}`")
            }
            Why::MoreNotExpected(more) => format!("{more} more calls are not as expected"),
            Why::TooUnlike => "the calls are too unlike the expected ones".to_owned(),
            Why::Drifted(drift) => drift.to_string(),
            Why::AcceptsLess {
                places,
                tools,
                first,
            } => format!(
                "the tool catalogue accepts less in {places} places of {tools} tools, and refuses no recorded call; the first: {first}"
            ),
            Why::Heard {
                when: Some(when),
                said,
                ..
            } => format!("{when}, {said}"),
            Why::Heard { said, .. } | Why::Described(said) => said.clone(),
            Why::BelowThreshold(most) => {
                let below = "the overall score is below the threshold";
                match (most, self.call()) {
                    (None, _) => below.to_owned(),
                    (Some(rule), Some(call)) => format!("{below}; most was lost at {call}: {rule}"),
                    (Some(rule), None) => format!("{below}; most was lost because {rule}"),
                }
            }
            Why::Unfit {
                demand,
                of_expected,
            } => {
                let call = match (self.baseline, self.current) {
                    (Some(number), _) => format!("call {number}"),
                    (None, Some(number)) if *of_expected => format!("call {number}"),
                    (None, Some(number)) => format!("new call {number}"),
                    (None, None) => "the order of the calls".to_owned(),
                };
                format!("the scenario demands {demand}, and {call} does not fit")
            }
            Why::Strict {
                change,
                what,
                path,
                more,
            } => {
                let call = match (self.baseline.or(self.current), self.tool_name()) {
                    (Some(number), Some(tool)) => format!("call {number}, {tool}, "),
                    _ => String::new(),
                };
                let what = match change {
                    ChangeKind::Drift => what.to_string(),
                    ChangeKind::Call | ChangeKind::Upstream => format!("{call}{what}"),
                    _ => format!("{call}{}: {what}", path.as_deref().unwrap_or("it")),
                };
                let more = match more {
                    0 => String::new(),
                    1 => ", and 1 more change".to_owned(),
                    _ => format!(", and {more} more changes"),
                };
                format!("nothing may change: {what}{more}")
            }
        }
    }

    /// The call that the sentence begins with: `call 3 (now 4), mcp__shop__order,`; `None` where it begins with none.
    fn subject(&self) -> Option<String> {
        let tool = self.tool_name();
        let tool = tool.map_or_else(String::new, |it| format!(", {it},"));
        match (&self.why, self.baseline, self.current) {
            (Why::Heard { tool: None, .. }, ..) => None,
            (Why::Heard { tool, .. }, before, now) => {
                let tool = labelled(tool.as_deref()?, self.label.as_deref());
                call_name((before, now), &tool).map(|it| it + ":")
            }
            (Why::ExpectedNotMade, Some(number), _) => {
                Some(format!("expected call {number}{tool}"))
            }
            (Why::NotExpected | Why::OtherArgument(_), _, Some(number)) => {
                Some(format!("call {number}{tool}"))
            }
            (Why::EffectNew, _, Some(number)) => Some(format!("new call {number}{tool}")),
            (_, Some(before), now) if self.is_of_call() => Some(match now {
                Some(now) if now != before => format!("call {before} (now {now}){tool}"),
                _ => format!("call {before}{tool}"),
            }),
            _ => None,
        }
    }

    /// Whether the sentence begins with the baseline's call.
    fn is_of_call(&self) -> bool {
        match self.why {
            Why::Failed(_)
            | Why::AnsweredOtherwise(_)
            | Why::OtherResult(_)
            | Why::MadeOtherwise { .. }
            | Why::CalledOtherwise(_)
            | Why::EffectNotMade
            | Why::Slower => true,
            Why::Described(_) => self.tool.is_some(),
            _ => false,
        }
    }

    /// The call within a sentence: `call 3, mcp__shop__order`.
    fn call(&self) -> Option<String> {
        let tool = self.tool_name()?;
        Some(match (self.baseline, self.current) {
            (Some(number), _) => format!("call {number}, {tool}"),
            (None, number) => format!("new call {}, {tool}", number?),
        })
    }

    fn tool_name(&self) -> Option<String> {
        Some(labelled(self.tool.as_ref()?, self.label.as_deref()))
    }

    /// The sentence without values.
    pub fn sentence(&self) -> String {
        match self.subject() {
            Some(subject) => format!("{subject} {}", self.predicate()),
            None => self.predicate(),
        }
    }

    /// The same without the number of its call, which differs between scenarios, and with the tool by this name if there is one:
    /// ``` `search` was not made ```.
    pub fn without_number(&self, name: Option<&str>) -> String {
        let is_of_call = self.is_of_call() || matches!(self.why, Why::EffectNew);
        match name.or(self.tool.as_deref()) {
            Some(tool) if is_of_call => format!("`{tool}` {}", self.predicate()),
            _ => self.sentence(),
        }
    }

    /// The sentence with all that was expected and got, however long.
    pub fn whole(&self) -> String {
        let values = match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => format!(": expected {expected}, got {got}"),
            (Some(expected), None) => format!(": expected {expected}, got nothing"),
            (None, Some(got)) => format!(": got {got}"),
            (None, None) => String::new(),
        };
        let cause = self.cause.as_ref().map(|it| format!(" ({it})"));
        format!("{}{values}{}", self.sentence(), cause.unwrap_or_default())
    }
}

impl Grouped<'_> {
    /// The sentence, and how much follows from it.
    pub fn headline(&self) -> String {
        let reason = self.reason;
        match self.follows.len() {
            0 => reason.to_string(),
            1 => format!("{reason}, and one more follows from it"),
            more => format!("{reason}, and {more} more follow from it"),
        }
    }
}

/// A call by its numbers in the baseline and in the run, and its tool: ``call 3 (now 4) `search` ``; `None` without a number.
pub fn call_name(numbers: (Option<usize>, Option<usize>), tool: &str) -> Option<String> {
    Some(match numbers {
        (Some(before), Some(now)) if before != now => {
            format!("call {before} (now {now}) `{tool}`")
        }
        (Some(number), _) => format!("call {number} `{tool}`"),
        (None, Some(number)) => format!("new call {number} `{tool}`"),
        (None, None) => return None,
    })
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        let short = |text: &str| shorten(text, VALUE_CHARS).into_owned();
        match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => {
                let [expected, got] = around_difference(expected, got, VALUE_CHARS);
                write!(f, ": expected {expected}, got {got}")?;
            }
            (Some(expected), None) => write!(f, ": expected {}, got nothing", short(expected))?,
            (None, Some(got)) => write!(f, ": got {}", short(got))?,
            (None, None) => {}
        }
        match &self.cause {
            Some(cause) => write!(f, " ({cause})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Somehow => f.write_str("it differs"),
            Self::At(path) if path.is_empty() => f.write_str("it differs"),
            Self::At(path) => write!(f, "{path} differs"),
            Self::Broke {
                path,
                edit,
                steady,
                more,
            } => {
                match (path.as_str(), edit) {
                    ("", Edit::NoLongerError) => f.write_str("it is ")?,
                    ("", _) => f.write_str("it ")?,
                    (path, _) => write!(f, "{path} ")?,
                }
                write!(f, "{edit}{steady}")?;
                if *more == 0 {
                    return Ok(());
                }
                let more = several(
                    *more,
                    "more place of the answer differs",
                    "more places of the answer differ",
                );
                write!(f, ", and {more}")
            }
            Self::Many { places, became, .. } => write!(f, "{places} {became}"),
        }
    }
}
