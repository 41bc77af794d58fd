//! The recorded final answer of a poll, recognized in a live one.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::ids::id_translation::IdTranslation;
use crate::response::json::Context;
use crate::response::outcome::{self, Response};
use crate::scores::polls::Poll;
use crate::values::embedded::{Documents, embedded};
use crate::values::path::{Pattern, patterns};
use crate::work::Work;
use model::rules::{Responses, Rules};
use model::{Learned, Outcome, ToolCall, Trajectory};

/// An answer this similar to the recorded final one, without a change of its contract, is that answer.
const FINAL: f64 = 0.9;

static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d+(?:\.\d+)?").ok());

/// Whether a live answer is the recorded final one of a poll: equal to it after masking, or more like it than like any before it –
/// as it is, or apart from its numbers, which show how long a job takes rather than whether it is done.
///
/// `swap` knows the values that stand for recorded ones.
pub fn is_final_answer(
    trajectory: &Trajectory,
    rules: &Rules,
    poll: Poll,
    live: &Outcome,
    translation: &IdTranslation,
) -> bool {
    let mut live = live.clone();
    translation.outcome(&mut live);
    let calls = trajectory.calls().skip(poll.first - 1);
    let calls: Vec<&ToolCall> = calls.take(poll.last + 1 - poll.first).collect();
    let learned = trajectory.learned.iter().find(|it| it.call == poll.last);
    let varies: Vec<String> = learned
        .into_iter()
        .flat_map(Learned::paths)
        .map(str::to_owned)
        .collect();
    let looked_at = LookedAt {
        ignore: patterns(&rules.ignore),
        volatile: patterns(&varies),
        learned: learned.is_some(),
    };
    let recorded: Vec<Outcome> = calls.iter().map(|it| it.outcome.clone()).collect();
    let numberless: Vec<Outcome> = recorded.iter().map(without_numbers).collect();
    let (as_it_is, apart) = (
        looked_at.closeness(&recorded, &live),
        looked_at.closeness(&numberless, &without_numbers(&live)),
    );
    as_it_is.is_equal || as_it_is.is_last || apart.is_last
}

/// How close an answer is to the last of several.
struct Closeness {
    is_equal: bool,
    /// It is much like the last one, and more than like any before it.
    is_last: bool,
}

/// What of the answers is compared.
struct LookedAt {
    ignore: Vec<Pattern>,
    volatile: Vec<Pattern>,
    learned: bool,
}

impl LookedAt {
    fn closeness(&self, recorded: &[Outcome], live: &Outcome) -> Closeness {
        let Some((last, before)) = recorded.split_last() else {
            return Closeness {
                is_equal: false,
                is_last: false,
            };
        };
        let (work, documents) = (Work::uninterrupted(), Documents::default());
        let similarity = |it: &Outcome| {
            let response = |outcome| Response {
                outcome,
                breach: None,
                in_band: None,
                is_unknown_tool: false,
                asks_first: false,
            };
            let context = Context {
                ignore: &self.ignore,
                volatile: &self.volatile,
                learned: self.learned,
                echoes: &[],
                mode: Responses::Similar,
                work: &work,
                documents: &documents,
            };
            let score = outcome::compare(response(it), response(live), context, None);
            (score.similarity, !score.is_broken())
        };
        let (last, keeps_contract) = similarity(last);
        let closest = before.iter().map(|it| similarity(it).0);
        let closest = closest.fold(f64::NEG_INFINITY, f64::max);
        Closeness {
            is_equal: last >= 1.0 - 1e-9,
            is_last: last >= FINAL && keeps_contract && closest < last,
        }
    }
}

/// The outcome with 0 for every number, also in its texts.
fn without_numbers(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    if let Outcome::Answer(answer) = &mut outcome {
        let all = answer
            .content
            .iter_mut()
            .chain(&mut answer.structured_content);
        all.for_each(zero);
    }
    outcome
}

fn zero(value: &mut Value) {
    match value {
        Value::Number(_) => *value = 0.into(),
        Value::String(text) => {
            *text = match (embedded(text), DIGITS.as_ref()) {
                (Some(mut json), _) => {
                    zero(&mut json);
                    json.to_string()
                }
                (None, Some(digits)) => digits.replace_all(text, "0").into_owned(),
                (None, None) => return,
            };
        }
        Value::Array(items) => items.iter_mut().for_each(zero),
        Value::Object(members) => members.values_mut().for_each(zero),
        Value::Null | Value::Bool(_) => {}
    }
}
