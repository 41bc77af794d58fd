//! A run in its baseline's terms: ids, tokens or paths that the server has newly generated are replaced by the recorded ones.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::comparison::{Bound, Row};
use crate::model::trajectory::{Step, ToolCall, Trajectory};

use super::id_translation::IdTranslation;

/// A run in its baseline's terms, and the way back.
pub(in crate::score) struct TranslatedRun {
    pub(in crate::score) current: Trajectory,
    /// Places of the baseline's answers that are bound, by the number of the call. Other values are expected there.
    pub(in crate::score) sources: HashMap<usize, Vec<String>>,
    /// Recorded values that are bound, and what the run's servers have given in their place.
    pub(in crate::score) given: Vec<(Value, Value)>,
    /// By the number of the baseline's call.
    pub(super) bound: HashMap<usize, Vec<Bound>>,
    pub(super) translation: IdTranslation,
    /// The exchange of single calls of the run, whose answers had a value that is known not to vary.
    pub(super) own: HashMap<usize, IdTranslation>,
}

impl TranslatedRun {
    /// Whether any value of the run stands for another of the baseline, wherever it occurs.
    pub(in crate::score) fn exchanges_values(&self) -> bool {
        !self.translation.is_empty()
    }

    /// From the baseline's terms back to what the run itself said.
    pub(in crate::score) fn back(&self) -> IdTranslation {
        self.translation.reversed()
    }

    /// Another run of the same moment, such as what the servers behind heard, with the same exchange.
    pub(in crate::score) fn exchanged_in(&self, run: &Trajectory) -> Self {
        let mut current = run.clone();
        for step in &mut current.steps {
            if let Step::ToolCall(call) = step {
                self.translation.object(&mut call.arguments);
                self.translation.outcome(&mut call.outcome);
            }
        }
        Self {
            current,
            sources: HashMap::new(),
            given: Vec::new(),
            bound: HashMap::new(),
            translation: self.translation.clone(),
            own: HashMap::new(),
        }
    }

    /// Puts the run's own values back into rows that were compared in the baseline's terms.
    pub(in crate::score) fn restore(
        &self,
        (baseline, current): (&Trajectory, &Trajectory),
        rows: &mut [Row],
    ) {
        let recorded: Vec<&ToolCall> = baseline.calls().collect();
        let said: Vec<&ToolCall> = current.calls().collect();
        let meant: Vec<&ToolCall> = self.current.calls().collect();
        let back = self.translation.reversed();
        let own: HashMap<usize, IdTranslation> = (self.own.iter())
            .map(|(call, translation)| (*call, translation.reversed()))
            .collect();
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
            let translation = own.get(&pair.current).unwrap_or(&back);
            for difference in &mut pair.response.differences {
                if let Some(got) = &mut difference.got {
                    translation.string(got);
                }
            }
            pair.bound = self.bound.get(&pair.baseline).cloned().unwrap_or_default();
        }
    }
}
