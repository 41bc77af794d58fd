//! The tools that are called, how often, with what, and their answers.

use serde_json::Value;

use crate::model::Object;
use crate::model::redacted::ShownText;
pub use crate::scenario_file::evaluators::tool_calls::AnswerPattern;

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
                        crate::model::texts::each_mut(value, &mut |text| {
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
