//! Replaces values of a run by those of its baseline that they stand for, and back.
//!
//! A run in its baseline's terms: ids, tokens or paths that the server has newly generated are replaced by the recorded ones.

use std::collections::{HashMap, HashSet};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Number, Value};

use crate::response::stable::Terms;
use crate::text::generated::is_generated;
use model::{Answer, Bound, Object, Outcome, Row, Step, ToolCall, Trajectory};

use super::binding::{stands_alone, text_of};

/// The shortest text that is replaced wherever it stands in an answer although it does not look generated.
const LONG_ENOUGH: usize = 6;

/// A one-to-one exchange of values. Each value of the run is replaced by the baseline's, and the baseline's by another one, so that a run in
/// which the old value occurs still differs, and the exchange can be reversed.
#[derive(Debug, Clone, Default)]
pub struct IdTranslation {
    by: HashMap<String, String>,
    /// Finds any of the values, at each place the longest; `None` when there are none.
    values: Option<AhoCorasick>,
}

impl IdTranslation {
    /// Exchanges the values of a run, on the right, for the baseline's, on the left.
    ///
    /// Pairs of different types are left out, and short values, which could occur by chance.
    pub fn new<'v>(pairs: impl IntoIterator<Item = (&'v Value, &'v Value)>) -> Self {
        let mut by: HashMap<String, String> = HashMap::new();
        let mut back: HashMap<String, String> = HashMap::new();
        for (recorded, live) in pairs {
            let (Some(was), Some(now)) = (text_of(recorded), text_of(live)) else {
                continue;
            };
            let fits = recorded.is_string() == live.is_string()
                && is_unmistakable(recorded)
                && is_unmistakable(live);
            if fits && !by.contains_key(&now) && !back.contains_key(&was) {
                by.insert(now.clone(), was.clone());
                back.insert(was, now);
            }
        }
        // To make the exchange one-to-one, each baseline value that is no run value is replaced by the last run value of its chain.
        let open: Vec<String> = back
            .keys()
            .filter(|it| !by.contains_key(*it))
            .cloned()
            .collect();
        for was in open {
            let mut end = &was;
            while let Some(next) = back.get(end) {
                end = next;
            }
            by.insert(was.clone(), end.clone());
        }
        by.retain(|from, to| from != to);
        let finder = || {
            let longest = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(by.keys());
            longest.ok()
        };
        Self {
            values: (!by.is_empty()).then(finder).flatten(),
            by,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_none()
    }

    /// The exchange the other way round.
    pub(super) fn reversed(&self) -> Self {
        let by: HashMap<String, String> = (self.by.iter())
            .map(|(from, to)| (to.clone(), from.clone()))
            .collect();
        // The exchange maps a set of values onto itself, so they are found in the same way.
        Self {
            by,
            values: self.values.clone(),
        }
    }

    pub(crate) fn text(&self, text: &str, kept: &HashSet<String>) -> Option<String> {
        let mut changed = String::new();
        let mut rest = 0;
        for found in self.values.as_ref()?.find_iter(text) {
            let piece = &text[found.range()];
            if let Some(by) = self.by.get(piece)
                && !kept.contains(piece)
                && stands_alone(text, found.start(), found.end())
            {
                changed.push_str(&text[rest..found.start()]);
                changed.push_str(by);
                rest = found.end();
            }
        }
        changed.push_str(&text[rest..]);
        (rest > 0).then_some(changed)
    }

    pub(crate) fn value(&self, value: &mut Value, kept: &HashSet<String>) {
        match value {
            Value::String(text) => self.string(text, kept),
            Value::Number(number) => {
                let text = number.to_string();
                let by = self.by.get(&text).filter(|_| !kept.contains(&text));
                if let Some(by) = by.and_then(|it| it.parse::<Number>().ok()) {
                    *number = by;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.value(it, kept)),
            Value::Object(members) => self.object(members, kept),
            Value::Null | Value::Bool(_) => {}
        }
    }

    pub(crate) fn object(&self, members: &mut Object, kept: &HashSet<String>) {
        members.values_mut().for_each(|it| self.value(it, kept));
        if (members.keys()).any(|it| self.text(it, kept).is_some()) {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(key, value)| (self.text(&key, kept).unwrap_or(key), value))
                .collect();
        }
    }

    pub(crate) fn string(&self, text: &mut String, kept: &HashSet<String>) {
        if let Some(changed) = self.text(text, kept) {
            *text = changed;
        }
    }

    pub(crate) fn outcome(&self, outcome: &mut Outcome) {
        self.outcome_but(outcome, &HashSet::new());
    }

    /// The same, but for these values, which stand for themselves there.
    pub(super) fn outcome_but(&self, outcome: &mut Outcome, kept: &HashSet<String>) {
        if self.is_empty() {
            return;
        }
        match outcome {
            Outcome::Answer(Answer {
                content,
                structured_content,
                breach,
                digits: _,
                is_error: _,
                other: _,
            }) => {
                for it in content.iter_mut().chain(structured_content) {
                    self.value(it, kept);
                }
                if let Some(breach) = breach {
                    self.string(breach, kept);
                }
            }
            Outcome::Failure(failure) => self.string(&mut failure.message, kept),
        }
    }
}

/// Whether a value is long enough that it does not occur by chance.
pub(crate) fn is_unmistakable(value: &Value) -> bool {
    let is_long = |it: &str| it.len() >= LONG_ENOUGH && !it.contains(char::is_whitespace);
    is_generated(value) || value.as_str().is_some_and(is_long)
}

impl Terms for IdTranslation {
    fn given_back(&self, value: &mut Value) {
        self.value(value, &HashSet::new());
    }

    fn text_given_back(&self, text: &str) -> Option<String> {
        self.text(text, &HashSet::new())
    }
}

/// A run in its baseline's terms, and the way back.
pub(crate) struct TranslatedRun {
    pub(crate) current: Trajectory,
    /// Places of the baseline's answers that are bound, by the number of the call. Other values are expected there.
    pub(crate) sources: HashMap<usize, Vec<String>>,
    /// Recorded values that are bound, and what the run's servers have given in their place.
    pub(crate) given: Vec<(Value, Value)>,
    /// By the number of the baseline's call.
    pub(super) bound: HashMap<usize, Vec<Bound>>,
    pub(super) translation: IdTranslation,
    /// By the number of the run's call: the values that its answer was the first to have.
    pub(super) given_by: HashMap<usize, Vec<Given>>,
}

/// A value that an answer was the first to have.
pub(crate) struct Given {
    /// Where in the baseline's answer, as in [`Source::path`](model::Source::path).
    pub(crate) path: String,
    pub(crate) was: String,
    pub(crate) now: String,
    /// It is known not to vary, so it is not exchanged in this answer.
    pub(super) is_stable: bool,
}

impl TranslatedRun {
    /// Whether any value of the run stands for another of the baseline, wherever it occurs.
    pub(crate) fn exchanges_values(&self) -> bool {
        !self.translation.is_empty()
    }

    /// From the baseline's terms back to what the run itself said.
    pub(crate) fn back(&self) -> IdTranslation {
        self.translation.reversed()
    }

    /// Another run of the same moment, such as the lane of the servers behind, with the same exchange.
    pub(crate) fn exchanged_in(&self, run: &Trajectory) -> Self {
        let mut current = run.clone();
        for step in &mut current.steps {
            if let Step::ToolCall(call) = step {
                self.translation
                    .object(&mut call.arguments, &HashSet::new());
                self.translation.outcome(&mut call.outcome);
            }
        }
        Self {
            current,
            sources: HashMap::new(),
            given: Vec::new(),
            bound: HashMap::new(),
            translation: self.translation.clone(),
            given_by: HashMap::new(),
        }
    }

    /// The values that the answer to a call of the run was the first to have.
    pub(crate) fn given_by(&self, number: usize) -> &[Given] {
        self.given_by.get(&number).map_or(&[], Vec::as_slice)
    }

    /// What a call of the run was answered, in the baseline's terms but for the values that this answer was the first to have.
    pub(crate) fn as_given(&self, number: usize, said: &Outcome) -> Outcome {
        let mut outcome = said.clone();
        let kept = texts(self.given_by(number).iter());
        self.translation.outcome_but(&mut outcome, &kept);
        outcome
    }

    /// The values that stand for themselves in the answer to a call of the run.
    pub(super) fn kept(given_by: &HashMap<usize, Vec<Given>>, number: usize) -> HashSet<String> {
        let given = given_by.get(&number).into_iter().flatten();
        texts(given.filter(|it| it.is_stable))
    }

    /// Puts the run's own values back into rows that were compared in the baseline's terms.
    pub(crate) fn restore(
        &self,
        (baseline, current): (&Trajectory, &Trajectory),
        rows: &mut [Row],
    ) {
        let recorded: Vec<&ToolCall> = baseline.calls().collect();
        let said: Vec<&ToolCall> = current.calls().collect();
        let meant: Vec<&ToolCall> = self.current.calls().collect();
        let back = self.translation.reversed();
        for row in rows {
            let Row::Pair(pair) = row else { continue };
            for parameter in &mut pair.request.parameters {
                let given = |calls: &[&'_ ToolCall], number: usize| {
                    let call = calls.get(number - 1)?;
                    call.arguments.get(&parameter.name).cloned()
                };
                let own = given(&said, pair.current);
                let is_equal = parameter.similarity == Some(1.0);
                if own != given(&meant, pair.current) {
                    let is_recorded = own == given(&recorded, pair.baseline);
                    match (is_equal, is_recorded) {
                        (true, _) => parameter.method = "bound",
                        (false, true) => parameter.method = "stale",
                        (false, false) => {}
                    }
                }
            }
            let kept = Self::kept(&self.given_by, pair.current);
            for difference in &mut pair.response.differences {
                if let Some(got) = &mut difference.got {
                    back.string(got, &kept);
                }
            }
            pair.bound = self.bound.get(&pair.baseline).cloned().unwrap_or_default();
        }
    }
}

fn texts<'g>(given: impl Iterator<Item = &'g Given>) -> HashSet<String> {
    let texts = given.flat_map(|it| [it.was.clone(), it.now.clone()]);
    texts.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::{Value, json};

    use super::IdTranslation;

    #[test]
    fn values_change_places_and_back() {
        let pairs = [
            (json!("T-1001"), json!("T-1002")),
            (json!("T-1002"), json!("T-1003")),
            (json!(482_913), json!(555_555)),
            (json!("short"), json!("x")),
        ];
        let translation = IdTranslation::new(pairs.iter().map(|(was, now)| (was, now)));
        let cases = [
            (json!("T-1002 and T-1003"), json!("T-1001 and T-1002")),
            (
                json!("the old T-1001 is another"),
                json!("the old T-1003 is another"),
            ),
            (
                json!({ "T-1002": [555_555, 17, "555555"] }),
                json!({ "T-1001": [482_913, 17, "482913"] }),
            ),
            (json!("T-10022, xT-1002, x"), json!("T-10022, xT-1002, x")),
        ];
        for (live, expected) in cases {
            let mut value: Value = live.clone();
            translation.value(&mut value, &HashSet::new());
            assert_eq!(value, expected);
            translation.reversed().value(&mut value, &HashSet::new());
            assert_eq!(value, live);
        }
    }
}
