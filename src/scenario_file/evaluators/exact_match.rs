//! `type: exact-match`.

use serde_json::Value;

use super::compared::{AnswerOf, value};
use super::text::answer_of;
use crate::model::json_path::JsonPath;
use crate::scenario_file::decode::{At, Count, NO_HINT, PathText, Word, choice, section};
use crate::scenario_file::servers::ready::Wanted;
use crate::scenario_file::yaml::{Findings, Mark};

choice! {
    /// What a value is compared with: `true` for an answer.
    ValueSourceWord for bool {
        "answer" => true,
        "final_text" => false,
    }
}

choice! {
    /// How like two values must be.
    LikenessWord for Likeness {
        "exact" => Likeness::Exact,
        "deep" => Likeness::Deep,
        "partial" => Likeness::Partial,
    }
}

section! {
    /// A value that an answer, or the agent's last words, must be.
    ExactMatchKeys {
        /// `answer`: what a tool answered. `final_text`: the agent's last words. `answer` unless given.
        r#in: Option<At<ValueSourceWord>>,
        /// The tool whose answer is checked; its last one, unless `call` says which.
        tool: Option<At<Word>>,
        /// The number of the call whose answer is checked, counted from 1: among those of `tool`, or among all. The last one unless given.
        call: Option<At<Count>>,
        /// The place in its JSON that is compared: a JSON pointer such as `/id`, or a JSON path. Where it leads to several places, each of them is. All of it unless given.
        path: Option<PathText>,
        /// The value.
        value: Wanted,
        /// `exact`: the same text, character for character. `deep`: the same JSON; the order of keys does not matter, and 1 is 1.0. `partial`: all of the value is there, and more may be: members by name, elements of lists in their order. `deep` unless given.
        r#match: Option<At<LikenessWord>>,
    }
}

impl ExactMatchKeys {
    pub(super) fn tool(&self) -> Option<(Mark, &str)> {
        self.tool.as_ref().map(|it| (it.at, it.0.as_str()))
    }

    pub(super) fn exact_match(&self, findings: &mut Findings) -> ExactMatch {
        let of_answer = self.r#in.as_ref().is_none_or(|it| it.value.0);
        if !of_answer {
            let tool = self.tool.as_ref().map(|it| ("tool", it.at));
            let call = self.call.as_ref().map(|it| ("call", it.at));
            for (key, at) in tool.into_iter().chain(call) {
                let message = format!("`{key}` means nothing for `in: final_text`");
                findings.error(at, message, NO_HINT);
            }
        }
        let likeness = self
            .r#match
            .as_ref()
            .map_or(Likeness::Deep, |it| it.value.0);
        if let (Some(how), Likeness::Partial) = (&self.r#match, likeness)
            && is_empty(&self.value.0)
        {
            let message = "nothing of the value must be there, so any value of its kind passes";
            findings.warning(how.at, message, Some("say what must be in it"));
        }
        ExactMatch {
            answer: of_answer.then(|| answer_of(self.tool.as_ref(), self.call.as_ref())),
            path: self.path.as_ref().map(|it| it.0.clone()),
            value: self.value.0.clone(),
            likeness,
        }
    }
}

/// A list or a map without anything in it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.is_empty(),
        _ => false,
    }
}

/// An answer, or the agent's last words, is compared with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactMatch {
    /// The answer; `None` for the agent's last words.
    pub answer: Option<AnswerOf>,
    /// The place in it that is compared; all of it unless given.
    pub path: Option<JsonPath>,
    pub value: Value,
    pub likeness: Likeness,
}

/// How like two values must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Likeness {
    /// The same text, character for character.
    Exact,
    /// The same JSON: the order of keys does not matter, and `1` is `1.0`.
    #[default]
    Deep,
    /// All that is expected is there; more may be.
    Partial,
}

impl ExactMatch {
    pub(super) fn words(&self) -> String {
        let what = match &self.answer {
            Some(of) => format!("the answer{}", of.words()),
            None => "final_text".to_owned(),
        };
        let at = (self.path.as_ref()).map_or_else(String::new, |it| format!(" at {it}"));
        let verb = match self.likeness {
            Likeness::Exact => "is exactly",
            Likeness::Deep => "is",
            Likeness::Partial => "has",
        };
        format!("{what}{at} {verb} {}", value(&self.value))
    }
}
