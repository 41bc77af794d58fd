//! The case put before a judge: a run, with long texts cut down, kept apart from the instructions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;
use uuid::Uuid;

use crate::model::{Answer, Outcome, Step, ToolCall, Trajectory};
use crate::scenario_file::Scenario;
use crate::scenario_file::evaluators::{Dimension, EvaluatorKind};
use crate::text;

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

/// How much is kept around a word, in bytes, on either side.
const AROUND: usize = 160;
/// How often the places of one word are kept.
const PLACES: usize = 2;
/// The shortest word that is looked for, unless a digit is in it.
const SHORTEST: usize = 4;
/// The most words that are looked for.
const MOST_WORDS: usize = 400;

/// The words that are talked about.
#[derive(Debug, Clone, Default)]
pub(super) struct Words(BTreeSet<String>);

impl Words {
    /// Adds those of a text.
    pub(super) fn add(&mut self, text: &str) {
        let parts = text.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
        for word in parts {
            let has_digit = word.contains(|it: char| it.is_ascii_digit());
            if self.0.len() < MOST_WORDS
                && (word.len() >= SHORTEST || has_digit && word.len() >= 2)
                && word.len() <= AROUND
            {
                self.0.insert(word.to_ascii_lowercase());
            }
        }
    }
}

/// The longest that each of several texts may be so that together they are no longer than `most`: short ones leave their room to long ones.
pub(super) fn fair_share(lengths: &[usize], most: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = most;
    for (index, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// A text of at most about `most` bytes: its beginning, its end, and what stands around the words in between, the rarest first. What is
/// left out is said.
pub(super) fn shortened(text: &str, most: usize, words: &Words) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = snap(text, most / 3);
    let tail = snap(text, text.len() - most / 6);
    let mut kept = vec![0..head, tail..text.len()];
    let mut left = most - most / 3 - most / 6;
    // As long as the text, so that places in one are places in the other.
    let lower = text.to_ascii_lowercase();
    let mut by_rarity: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (number, word) in words.0.iter().enumerate() {
        let places = lower.match_indices(word.as_str()).map(|(at, _)| at);
        let count = places.clone().take(1000).count();
        let between = places.filter(|at| (head..tail).contains(at)).take(PLACES);
        let between: Vec<usize> = between.collect();
        if !between.is_empty() {
            by_rarity.insert((count, number), between);
        }
    }
    for at in by_rarity.into_values().flatten() {
        let around = snap(text, at.saturating_sub(AROUND))..snap(text, (at + AROUND).min(tail));
        if kept
            .iter()
            .any(|it| it.start <= at && at + SHORTEST <= it.end)
        {
            continue;
        }
        if around.len() > left {
            break;
        }
        left -= around.len();
        kept.push(around);
    }
    joined(text, kept)
}

/// The pieces of a text in their order, with a note where something is left out between them.
fn joined(text: &str, mut pieces: Vec<Range<usize>>) -> String {
    pieces.sort_unstable_by_key(|it| (it.start, it.end));
    let mut shown = String::new();
    let mut end = 0;
    for piece in pieces {
        let start = piece.start.max(end);
        if start > end {
            let count = text[end..start].chars().count();
            let _ = write!(shown, " [… {count} characters left out …] ");
        }
        if piece.end > start {
            shown.push_str(&text[start..piece.end]);
            end = piece.end;
        }
    }
    shown
}

/// The nearest place at or before this one at which a character begins.
fn snap(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// What stands in front of each line that somebody else has written.
const MARK: &str = "| ";

/// The word that begins and ends a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence(String);

impl Fence {
    /// A word that nobody can guess.
    pub(super) fn new() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }

    /// The same word each time: for telling whether two questions are the same, and never for asking one.
    pub(super) fn fixed() -> Self {
        Self("…".to_owned())
    }

    pub(super) fn begin(&self) -> String {
        format!("BEGIN RECORD {}", self.0)
    }

    pub(super) fn end(&self) -> String {
        format!("END RECORD {}", self.0)
    }
}

/// A text of somebody else's, each line of it marked, and nothing unseen in it.
pub(super) fn marked(words: &str) -> String {
    let words = words.replace("\r\n", "\n");
    let words = text::block(&words);
    let lines = words.split('\n').map(|line| format!("{MARK}{line}\n"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::{Fence, Words, fair_share, marked, shortened};

    #[test]
    fn short_texts_leave_their_room_to_long_ones() {
        assert_eq!(fair_share(&[10, 10, 10], 30), usize::MAX);
        assert_eq!(fair_share(&[10, 100, 100], 110), 50);
        assert_eq!(fair_share(&[5, 5, 1000], 100), 90);
        assert_eq!(fair_share(&[], 100), usize::MAX);
    }

    #[test]
    fn what_is_talked_about_is_kept() {
        let filler = "wörter ohne Belang, ".repeat(500);
        let text = format!("It begins. {filler} order 4711 was paid twice {filler} It ends.");
        let mut words = Words::default();
        words.add("Was order 4711 paid once?");
        let short = shortened(&text, 1200, &words);
        for expected in [
            "It begins.",
            "order 4711 was paid twice",
            "It ends.",
            "characters left out",
        ] {
            assert!(short.contains(expected), "{expected}: {short}");
        }
        assert!(short.len() < 1400, "{}", short.len());
        let without = shortened(&text, 1200, &Words::default());
        assert!(!without.contains("4711"), "{without}");
        assert_eq!(shortened("short", 5, &words), "short");
    }

    #[test]
    fn no_line_begins_without_the_mark() {
        let breaks = "a\nb\r\nc\rd\u{2028}e\u{2029}f\u{85}g\u{b}h\u{c}i\u{e0041}";
        let marked = marked(breaks);
        assert!(marked.lines().all(|it| it.starts_with("| ")), "{marked}");
        assert_eq!(marked.lines().count(), 3);
        assert!(marked.ends_with("\\u{e0041}\n"), "{marked}");
        for hidden in ['\r', '\u{2028}', '\u{85}', '\u{b}', '\u{c}', '\u{e0041}'] {
            assert!(!marked.contains(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn the_word_is_another_one_each_time() {
        assert_ne!(Fence::new(), Fence::new());
        assert!(Fence::new().end().len() >= 32 + "END RECORD ".len());
    }
}
