//! A run in its baseline's terms: ids, tokens or paths that the server has newly generated are replaced by the recorded ones.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use model::comparison::{Bound, Row};
use model::trajectory::{Outcome, Step, ToolCall, Trajectory};

use super::id_translation::IdTranslation;

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
    /// Where in the baseline's answer, as in [`Source::path`](model::binding::Source::path).
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
