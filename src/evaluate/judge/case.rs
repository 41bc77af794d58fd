//! What is put before a judge: a run, as far as it can be judged by what was said and done in it.

use serde_json::Value;

use crate::model::evaluator::EvaluatorKind;
use crate::model::judge::Dimension;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Answer, Outcome, Step, ToolCall, Trajectory};

/// A run as a judge is shown it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    /// What the user said, message by message.
    pub prompt: Vec<String>,
    pub expected: Expected,
    pub calls: Vec<CaseCall>,
    /// The agent's last words; `None` where it has said nothing, or there was no agent with words of its own.
    pub final_text: Option<String>,
    /// Whether the dimensions of a rubric, and the calls, are listed from the last to the first.
    pub reversed: bool,
}

/// Which tools were expected to be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expected {
    /// Nobody says.
    #[default]
    Unsaid,
    Nothing,
    /// These, in order, each with its arguments where they are expected, too.
    Tools(Vec<String>),
    /// All of these, in any order; others may be called, too.
    InAnyOrder(Vec<String>),
}

impl Expected {
    /// Those that are named.
    pub(super) fn tools(&self) -> &[String] {
        match self {
            Self::Unsaid | Self::Nothing => &[],
            Self::Tools(tools) | Self::InAnyOrder(tools) => tools,
        }
    }
}

/// A call as a judge is shown it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseCall {
    pub tool: String,
    /// As JSON.
    pub arguments: String,
    pub answer: String,
    pub failed: bool,
}

impl Case {
    /// A run of a scenario, both without secrets.
    pub fn of(scenario: &Scenario, run: &Trajectory) -> Self {
        let expected = scenario.expected_trajectory.iter();
        let expected: Vec<String> = expected
            .map(|it| call_words(&it.tool, &Value::Object(it.arguments.clone())))
            .collect();
        Self {
            prompt: scenario.messages(),
            expected: if scenario.expects_no_call {
                Expected::Nothing
            } else if !expected.is_empty() {
                Expected::Tools(expected)
            } else if scenario.is_test_case {
                of_test_case(scenario)
            } else {
                Expected::Unsaid
            },
            ..Self::of_run(run)
        }
    }

    /// A run about which nothing else is known.
    pub fn of_run(run: &Trajectory) -> Self {
        let mut case = Self::default();
        for step in &run.steps {
            match step {
                Step::User { text } => case.prompt.push(text.clone()),
                Step::Assistant { text } => case.final_text = Some(text.clone()),
                Step::ToolCall(call) => {
                    // What is said before a call is not the last that is said.
                    case.final_text = None;
                    case.calls.push(CaseCall::of(call));
                }
            }
        }
        case.final_text = case.final_text.filter(|it| !it.trim().is_empty());
        case
    }
}

/// The tools that a test case wants to be called: it lists them, and has no trajectory.
fn of_test_case(scenario: &Scenario) -> Expected {
    let mut tools = Vec::new();
    for evaluator in &scenario.evaluators {
        if let EvaluatorKind::ToolCalls(wanted) = &evaluator.kind {
            tools.extend(wanted.required.iter().map(|it| it.call.tool.clone()));
        }
    }
    if tools.is_empty() {
        Expected::Unsaid
    } else {
        Expected::InAnyOrder(tools)
    }
}

impl Case {
    /// Dimensions in the order in which they are listed.
    pub(super) fn in_order<'a>(
        &self,
        dimensions: &'a [Dimension],
    ) -> Box<dyn Iterator<Item = &'a Dimension> + 'a> {
        if self.reversed {
            Box::new(dimensions.iter().rev())
        } else {
            Box::new(dimensions.iter())
        }
    }
}

impl CaseCall {
    fn of(call: &ToolCall) -> Self {
        Self {
            tool: call.full_name(),
            arguments: Value::Object(call.arguments.clone()).to_string(),
            answer: match &call.outcome {
                Outcome::Answer(answer) => answer_text(answer),
                Outcome::Failure(failure) => {
                    format!("{}: {}", failure.kind.words(), failure.message)
                }
            },
            failed: call.outcome.is_failure(),
        }
    }
}

/// A tool and its arguments, on one line.
pub fn call_words(tool: &str, arguments: &Value) -> String {
    match arguments {
        Value::Object(members) if !members.is_empty() => format!("{tool} {arguments}"),
        _ => tool.to_owned(),
    }
}

fn answer_text(answer: &Answer) -> String {
    let blocks = answer.content.iter().map(|block| {
        let member = |name: &str| block.get(name).and_then(Value::as_str);
        match (member("text"), member("data")) {
            (Some(text), _) => text.to_owned(),
            // Nobody reads base64.
            (None, Some(data)) => {
                let kind = member("mimeType").or(member("type")).unwrap_or("data");
                format!("[{kind}, {} characters of base64, not shown]", data.len())
            }
            (None, None) => block.to_string(),
        }
    });
    let mut texts: Vec<String> = blocks.filter(|it| !it.trim().is_empty()).collect();
    if texts.is_empty() {
        texts.extend(answer.structured_content.as_ref().map(Value::to_string));
    }
    texts.join("\n")
}
