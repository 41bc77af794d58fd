//! Reads that recording asks again after they were answered, to see what of their answers varies.
//!
//! These requests are no part of the run: they count towards no limit and take none of the run's time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::model::{Answer, Catalogue, Outcome, ToolCall};

/// How deep answers are looked into for a difference in kind.
const DEPTH: usize = 64;

type OnlyReads = dyn Fn(&ToolCall, &Catalogue) -> bool + Send + Sync;
type IsNew = dyn Fn(&ToolCall) -> bool + Send + Sync;

/// Which calls are asked again.
#[derive(Clone)]
pub struct AskAgain {
    /// How long after its answer a read is asked again, unless the next call comes before.
    pub apart: Duration,
    only_reads: Arc<OnlyReads>,
    /// Of calls that have been answered; `None` for all.
    is_new: Option<Arc<IsNew>>,
}

impl AskAgain {
    /// Asks those calls again, so long after their answers, of which `only_reads` says, by the call and the servers' catalogue, that they
    /// only read.
    pub fn new(
        apart: Duration,
        only_reads: impl Fn(&ToolCall, &Catalogue) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            apart,
            only_reads: Arc::new(only_reads),
            is_new: None,
        }
    }

    /// Asks only those again whose answer is new.
    #[must_use]
    pub fn where_answer(self, is_new: impl Fn(&ToolCall) -> bool + Send + Sync + 'static) -> Self {
        Self {
            is_new: Some(Arc::new(is_new)),
            ..self
        }
    }

    /// Whether a read that has been answered is asked again. Where that takes a closer look, other tasks of the runtime, which needs several
    /// threads then, go on meanwhile.
    pub fn wants(&self, answered: &ToolCall) -> bool {
        let look = |is_new: &Arc<IsNew>| tokio::task::block_in_place(|| is_new(answered));
        self.is_new.as_ref().is_none_or(look)
    }

    /// Whether a call only reads.
    pub fn only_reads(&self, call: &ToolCall, catalogue: &Catalogue) -> bool {
        (self.only_reads)(call, catalogue)
    }
}

impl fmt::Debug for AskAgain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AskAgain")
    }
}

/// The outcomes of asking again after the `first` one: once more, and a third time where the two are not of one kind. `ask` returns `None`
/// where a failure was not caused by the server.
///
/// Where `disturbed` says that an effect was under way at the same time, the effect may have changed the answer, so only an equal answer
/// is kept.
pub async fn ask_again<F>(
    first: &Outcome,
    mut ask: impl FnMut() -> F,
    disturbed: impl Fn() -> bool,
) -> Vec<Outcome>
where
    F: Future<Output = Option<Outcome>>,
{
    let Some(second) = ask().await else {
        return Vec::new();
    };
    if disturbed() {
        return if second == *first {
            vec![second]
        } else {
            Vec::new()
        };
    }
    if is_of_a_kind(first, &second) {
        return vec![second];
    }
    let third = ask().await;
    if disturbed() {
        return Vec::new();
    }
    std::iter::once(second).chain(third).collect()
}

/// Whether two outcomes are of one kind: both answers, with JSON or prose in the same places, the same keys, and nothing that is empty
/// in one alone.
fn is_of_a_kind(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Outcome::Answer(a), Outcome::Answer(b)) => are_answers_of_a_kind(a, b),
        (Outcome::Failure(_), Outcome::Failure(_)) => true,
        _ => false,
    }
}

fn are_answers_of_a_kind(a: &Answer, b: &Answer) -> bool {
    let structured = match (&a.structured_content, &b.structured_content) {
        (Some(a), Some(b)) => are_values_of_a_kind(a, b, DEPTH),
        (a, b) => a.is_some() == b.is_some(),
    };
    let mut blocks = a.content.iter().zip(&b.content);
    a.is_error == b.is_error
        && structured
        && a.content.len() == b.content.len()
        && blocks.all(|(a, b)| are_values_of_a_kind(a, b, DEPTH))
}

fn are_values_of_a_kind(a: &Value, b: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let has = |(key, a): (&String, &Value)| {
                b.get(key)
                    .is_some_and(|b| are_values_of_a_kind(a, b, depth))
            };
            a.len() == b.len() && a.iter().all(has)
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut elements = a.iter().zip(b);
            a.is_empty() == b.is_empty() && elements.all(|(a, b)| are_values_of_a_kind(a, b, depth))
        }
        (Value::String(a), Value::String(b)) => match (embedded(a), embedded(b)) {
            (Some(a), Some(b)) => are_values_of_a_kind(&a, &b, depth),
            (None, None) => a.trim().is_empty() == b.trim().is_empty(),
            _ => false,
        },
        (Value::Null, Value::Null)
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Number(_), Value::Number(_)) => true,
        _ => false,
    }
}

/// The object or list that a text holds.
fn embedded(text: &str) -> Option<Value> {
    let begins = text.trim_start().starts_with(['{', '[']);
    let value = begins.then(|| serde_json::from_str(text).ok()).flatten();
    value.filter(|it: &Value| it.is_object() || it.is_array())
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use parking_lot::Mutex;
    use serde_json::{Value, json};

    use crate::model::{Answer, FailureKind, Outcome};
    use crate::run::again::ask_again;

    /// An answer with a text; of null, a failure.
    fn outcome(said: &Value) -> Outcome {
        let text = match said {
            Value::Null => {
                return Outcome::failed(FailureKind::Timeout, "no answer");
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Outcome::Answer(Answer {
            content: vec![json!({ "type": "text", "text": text })],
            ..Answer::default()
        })
    }

    /// How many of these answers are asked for after the first of them, and how many are kept.
    fn asked(answers: &[Value], disturbed: bool) -> (usize, usize) {
        let asked = Mutex::new(0);
        let ask = || {
            let mut asked = asked.lock();
            *asked += 1;
            std::future::ready(answers.get(*asked).map(outcome))
        };
        let first = outcome(&answers[0]);
        let kept = ask_again(&first, ask, || disturbed);
        let kept = kept.now_or_never().unwrap();
        let expected: Vec<Outcome> = answers[1..=kept.len()].iter().map(outcome).collect();
        assert_eq!(kept, expected);
        (asked.into_inner(), kept.len())
    }

    #[test]
    fn a_third_time_is_asked_where_two_answers_are_not_of_a_kind() {
        let alike = [
            (json!("at 10:00"), json!("at 10:01, later")),
            (
                json!({ "a": 1, "b": [1] }),
                json!({ "b": [2, 3], "a": 1.5 }),
            ),
            (json!({ "a": "x" }), json!({ "a": "y" })),
            (json!([]), json!([])),
            (json!("{no JSON"), json!("no JSON")),
        ];
        for (a, b) in alike {
            assert_eq!(asked(&[a.clone(), b.clone()], false), (1, 1), "{a} {b}");
        }
        let unlike = [
            (json!({ "tools": null }), json!({ "tools": [1] })),
            (json!({ "tools": [] }), json!({ "tools": [1] })),
            (json!({ "a": 1 }), json!({ "a": 1, "b": 1 })),
            (json!({ "a": 1 }), json!({ "b": 1 })),
            (json!({ "a": 1 }), json!({ "a": "1" })),
            (json!({ "a": true }), json!({ "a": 1 })),
            (json!([[1], [{}]]), json!([[1], [{ "a": 1 }]])),
            (json!({ "a": "[1]" }), json!({ "a": "[]" })),
            (json!({ "a": 1 }), json!("not ready yet")),
            (json!("something"), json!(" ")),
            (json!("something"), json!(null)),
        ];
        for (a, b) in unlike {
            for (a, b) in [(&a, &b), (&b, &a)] {
                if !a.is_null() {
                    let three = [a.clone(), b.clone(), a.clone()];
                    assert_eq!(asked(&three, false), (2, 2), "{a} {b}");
                    assert_eq!(asked(&three[..2], false), (2, 1), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn what_an_effect_may_have_changed_tells_nothing() {
        assert_eq!(asked(&[json!("a"), json!("a")], true), (1, 1));
        assert_eq!(asked(&[json!("a"), json!("b")], true), (1, 0));
        assert_eq!(asked(&[json!("a")], false), (1, 0));
    }
}
