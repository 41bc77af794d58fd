//! Scenarios and results without secrets, to be shown rather than stored.

use serde_json::Value;

use super::{Origin, Redactor};
use model::{Evaluation, Redacted, ScenarioResult, ShownText, SuiteResult, TwoAnswers};

/// Something that is made from a file of ours, and may be shown to people.
pub trait Shown: Clone {
    /// Visits every text and value in it that may hold a secret.
    fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>));
}

impl Redactor {
    /// Something without secrets, to be shown to people, not to be run. What is compared with a run is the same text there and here.
    pub fn shown<T: Shown>(&self, thing: &T) -> Redacted<T> {
        let mut redacted = thing.clone();
        redacted.each_text(&mut |it| match it {
            ShownText::Words(text) => self.words(text),
            ShownText::Name(text) => self.name(text),
            ShownText::Value(value) => self.any(value, Origin::Ours, None),
            ShownText::Object(members) => self.members(members, Origin::Ours),
        });
        Redacted::vouch_for(redacted)
    }

    /// What evaluators found, without what may be left of secrets in words that are not of the run itself.
    pub fn evaluations(&self, mut evaluations: Vec<Evaluation>) -> Redacted<Vec<Evaluation>> {
        for it in &mut evaluations {
            self.evaluation(it);
        }
        Redacted::vouch_for(evaluations)
    }

    fn evaluation(&self, evaluation: &mut Evaluation) {
        self.words(&mut evaluation.name);
        self.words(&mut evaluation.message);
        evaluation.details.iter_mut().for_each(|it| self.words(it));
    }

    /// What a command found, without what may be left of secrets in its own words: its trajectories, and what was found in them, hold
    /// none already.
    pub fn suite(&self, mut suite: SuiteResult) -> Redacted<SuiteResult> {
        self.git(&mut suite.git);
        if let Some(called) = &mut suite.called {
            let options = called.options.iter_mut();
            options
                .filter_map(|it| it.value.as_mut())
                .chain(&mut called.paths)
                .chain(&mut called.folder)
                .chain(&mut called.baselines)
                .for_each(|it| self.words(it));
        }
        for scenario in &mut suite.scenarios {
            self.result_words(scenario);
        }
        Redacted::vouch_for(suite)
    }

    /// The same of one scenario, to be shown before the others have finished.
    pub fn result(&self, mut result: ScenarioResult) -> Redacted<ScenarioResult> {
        self.result_words(&mut result);
        Redacted::vouch_for(result)
    }

    /// A document of ours, of whose texts and keys only what is known for sure to be secret is taken out: names stay as they are.
    pub fn measured(&self, mut document: Value) -> Redacted<Value> {
        self.known_in(&mut document);
        Redacted::vouch_for(document)
    }

    fn known_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.known(text).into_inner(),
            Value::Array(items) => items.iter_mut().for_each(|it| self.known_in(it)),
            Value::Object(members) => {
                let old = std::mem::take(members);
                for (key, mut value) in old {
                    self.known_in(&mut value);
                    members.insert(self.known(&key).into_inner(), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn result_words(&self, scenario: &mut ScenarioResult) {
        if let Some(measured) = &mut scenario.measured {
            self.known_in(measured);
        }
        for it in &mut scenario.evaluations {
            self.evaluation(it);
        }
        let problem = scenario.problem.iter_mut().flat_map(|it| {
            std::iter::once(&mut it.message)
                .chain(&mut it.hint)
                .chain(&mut it.details)
        });
        let checks = scenario.checks.iter_mut();
        let checks = checks.flat_map(|it| [&mut it.name, &mut it.message]);
        let repeated = scenario.repeated.iter_mut().flat_map(|it| {
            let attempts = it.attempts.iter_mut();
            attempts
                .filter_map(|it| it.reason.as_mut())
                .chain(&mut it.reason)
        });
        let direct = scenario.direct.iter_mut().flat_map(|it| {
            let calls = it.calls.iter_mut().flat_map(|it| &mut it.findings);
            calls.chain(it.tools.iter_mut().flat_map(|it| &mut it.findings))
        });
        let settings = scenario.cell.iter_mut().flat_map(|it| &mut it.settings);
        let settings = settings.map(|it| &mut it.value);
        let unsteady = scenario.unsteady.iter_mut().flat_map(|it| &mut it.answers);
        let unsteady = unsteady.flat_map(TwoAnswers::texts_mut);
        [&mut scenario.name, &mut scenario.path]
            .into_iter()
            .chain(&mut scenario.description)
            .chain(&mut scenario.user_intent)
            .chain(&mut scenario.tags)
            .chain(settings)
            .chain(problem)
            .chain(checks)
            .chain(repeated)
            .chain(scenario.retried.iter_mut().map(|it| &mut it.reason))
            .chain(direct)
            .chain(unsteady)
            .chain(&mut scenario.compared_with)
            .chain(&mut scenario.notes)
            .chain(&mut scenario.details)
            .chain(&mut scenario.failing)
            .chain(&mut scenario.idle_rules)
            .for_each(|it| self.words(it));
    }
}
