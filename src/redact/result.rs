//! Results without what may be left of secrets in their own words: their trajectories, and what was found in them, hold none already.
//!
//! Every type is taken apart whole, so that a new member does not compile until somebody has decided about it.

use model::published::measured::Measured;
use model::published::result::Scenario;
use model::repeated::{Attempt, Repeated};
use model::ruling::{DimensionScore, Judge};
use model::{
    Asked, Called, CalledOption, Cell, Check, Direct, DirectCall, DirectTool, Evaluation,
    ExperimentChange, Problem, RecordCommand, Redacted, Retried, ScenarioResult, Setting,
    SuiteResult, TwoAnswers, Unsteady,
};
use serde_json::Value;

use super::Redactor;

impl Redactor {
    /// What a command found.
    pub fn suite(&self, mut suite: SuiteResult) -> Redacted<SuiteResult> {
        let SuiteResult {
            run_id: _,
            command: _,
            mcp_eval: _,
            started_at: _,
            duration_ms: _,
            git,
            interrupted: _,
            called,
            selected: _,
            scenarios,
        } = &mut suite;
        self.git(git);
        if let Some(it) = called {
            self.as_called(it);
        }
        for it in scenarios {
            self.outcome_of(it);
        }
        Redacted::vouch_for(suite)
    }

    /// What came of one scenario, to be shown before the others have finished.
    pub fn result(&self, mut result: ScenarioResult) -> Redacted<ScenarioResult> {
        self.outcome_of(&mut result);
        Redacted::vouch_for(result)
    }

    /// What evaluators found.
    pub fn evaluations(&self, mut evaluations: Vec<Evaluation>) -> Redacted<Vec<Evaluation>> {
        for it in &mut evaluations {
            self.evaluation(it);
        }
        Redacted::vouch_for(evaluations)
    }

    /// What was measured, as a [`Self::document`]. Where a secret is one of the report's own words, nobody could read the rest: then it says
    /// so, and nothing else.
    pub fn measured(&self, measured: &Measured) -> Redacted<Measured> {
        const UNREADABLE: &str = "what was measured cannot be written without a secret: one that is declared is a word of every report, and has to be another";
        let document = serde_json::to_value(measured).unwrap_or_default();
        let clean = serde_json::from_value(self.document(document).into_inner());
        Redacted::vouch_for(clean.unwrap_or_else(|_| measured.incomplete(UNREADABLE.to_owned())))
    }

    /// A document of ours, of whose texts and keys only what is known for sure to be secret is taken out: names stay as they are.
    pub fn document(&self, mut document: Value) -> Redacted<Value> {
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

    fn as_called(&self, called: &mut Called) {
        let Called {
            folder,
            paths,
            options,
            baselines,
            keeps_pending: _,
            report,
            selection: _,
        } = called;
        for CalledOption { name: _, value } in options {
            self.all_words(value);
        }
        self.all_words(folder.iter_mut().chain(paths));
        self.all_words(baselines.iter_mut().chain(report));
    }

    fn outcome_of(&self, result: &mut ScenarioResult) {
        let ScenarioResult {
            scenario,
            places: _,
            labels: _,
            overall: _,
            comparison: _,
            baseline: _,
            current: _,
            trouble: _,
        } = result;
        self.scenario(scenario);
    }

    fn scenario(&self, scenario: &mut Scenario) {
        let Scenario {
            // They name folders, and stay what they are.
            id: _,
            row_of: _,
            name,
            path,
            line: _,
            column: _,
            tags,
            description,
            user_intent,
            cell,
            experiment_changes,
            status: _,
            duration_ms: _,
            not_run: _,
            problem,
            compared_with,
            notes,
            details,
            failing,
            idle_rules,
            without_rules: _,
            container_log: _,
            checks,
            evaluators,
            evaluation: _,
            unchanged: _,
            // What is computed of the trajectories, and of what a suite says, when it is published.
            in_words: _,
            baseline: _,
            current: _,
            comparison: _,
            flaky: _,
            quarantine: _,
            within_gate: _,
            left_to_merge: _,
            repeated,
            retried,
            unsteady,
            judging: _,
            direct,
            measured,
        } = scenario;
        self.all_words([name, path]);
        self.all_words(description.iter_mut().chain(user_intent).chain(tags));
        self.all_words(compared_with.iter_mut().chain(notes).chain(details));
        self.all_words(failing.iter_mut().chain(idle_rules));
        if let Some(cell) = cell {
            let Cell {
                scenario: _,
                settings,
            } = &mut **cell;
            for Setting { name: _, value } in settings {
                self.words(value);
            }
        }
        for it in experiment_changes {
            let ExperimentChange {
                what: _,
                part,
                script: _,
                baseline,
                current,
            } = it;
            self.all_words(part.iter_mut().chain(baseline).chain(current));
        }
        if let Some(it) = problem {
            self.problem(it);
        }
        for it in checks {
            self.check(it);
        }
        for it in evaluators {
            self.evaluation(it);
        }
        if let Some(it) = repeated {
            self.repeated(it);
        }
        for it in retried {
            let Retried {
                status: _,
                trouble: _,
                reason,
                duration_ms: _,
                usage: _,
            } = it;
            self.words(reason);
        }
        if let Some(unsteady) = unsteady {
            let Unsteady { gates: _, answers } = &mut **unsteady;
            self.all_words(answers.iter_mut().flat_map(TwoAnswers::texts_mut));
        }
        if let Some(it) = direct {
            self.direct(it);
        }
        if let Some(report) = measured {
            *report = self.measured(report).into_inner();
        }
    }

    fn problem(&self, problem: &mut Problem) {
        let Problem {
            message,
            hint,
            details,
            record,
            line: _,
        } = problem;
        self.words(message);
        self.all_words(hint.iter_mut().chain(details));
        if let Some(record) = record {
            let RecordCommand { file, row, options } = &mut **record;
            self.all_words(file.iter_mut().chain(row).chain(options));
        }
    }

    fn check(&self, check: &mut Check) {
        let Check {
            name,
            line: _,
            passed: _,
            unchecked: _,
            call: _,
            asks_for_more: _,
            asked,
            message,
        } = check;
        self.all_words([name, message]);
        match asked {
            Some(Asked::Text(text) | Asked::Answer(text)) => self.words(text),
            Some(Asked::Success(tool)) => self.name(tool),
            None => {}
        }
    }

    fn evaluation(&self, evaluation: &mut Evaluation) {
        let Evaluation {
            name,
            kind: _,
            role: _,
            weight: _,
            status: _,
            score: _,
            message,
            details,
            duration_ms: _,
            line: _,
            said_in,
            // A hash.
            definition: _,
            judges,
            is_gone: _,
        } = evaluation;
        self.all_words([name, message]);
        self.all_words(details.iter_mut().chain(said_in));
        for judge in judges {
            let Judge {
                model,
                confidence: _,
                reasoning,
                dimension_scores,
                tool_accuracy: _,
                suggestions,
                votes: _,
                spread: _,
                cached_votes: _,
                usage: _,
                trouble: _,
            } = judge;
            self.words(model);
            self.all_words(reasoning.iter_mut().chain(suggestions));
            for DimensionScore { name, score: _ } in dimension_scores {
                self.words(name);
            }
        }
    }

    fn repeated(&self, repeated: &mut Repeated) {
        let Repeated {
            runs: _,
            passed: _,
            failed: _,
            incomplete: _,
            pass_rate: _,
            interval: _,
            pass_threshold: _,
            flaky: _,
            reason,
            score: _,
            duration_ms: _,
            pass_at_k: _,
            pass_hat_k: _,
            shown: _,
            attempts,
            usage: _,
            baseline: _,
            difference: _,
        } = repeated;
        self.all_words(reason);
        for attempt in attempts {
            let Attempt {
                status: _,
                score: _,
                duration_ms: _,
                reason,
                changes: _,
                file: _,
                usage: _,
            } = attempt;
            self.all_words(reason);
        }
    }

    fn direct(&self, direct: &mut Direct) {
        let Direct {
            calls,
            tools,
            totals: _,
        } = direct;
        for call in calls {
            let DirectCall {
                call: _,
                tool,
                server,
                upstream_tool,
                findings,
                through: _,
                straight: _,
            } = call;
            self.all_words(findings);
            for it in [tool, server, upstream_tool] {
                self.name(it);
            }
        }
        for tool in tools {
            let DirectTool {
                server,
                tool,
                listed_as,
                findings,
            } = tool;
            self.all_words(findings);
            for it in [server, tool] {
                self.name(it);
            }
            if let Some(it) = listed_as {
                self.name(it);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Redaction;
    use model::published::measured::retrieval::Report;
    use model::published::measured::{Measured, Status};

    use crate::{Redactor, Secrets};

    fn cleaned(secret: &str) -> Report {
        let mut secrets = Secrets::default();
        secrets.declare("KEY", "", secret);
        let measured = Measured::Retrieval(Box::new(Report {
            status: Status::Failed,
            notes: vec![format!("asked with {secret}")],
            ..Report::default()
        }));
        let redactor = Redactor::new(&secrets, &Redaction::default());
        match redactor.measured(&measured).into_inner() {
            Measured::Retrieval(report) => *report,
            Measured::Security(_) => unreachable!("it was a search"),
        }
    }

    #[test]
    fn a_secret_that_is_a_word_of_ours_makes_no_report_green() {
        let report = cleaned("blue-lagoon-7");
        assert_eq!(report.status, Status::Failed);
        assert!(!report.notes.concat().contains("lagoon"));
        for word in ["failed", "problems", "runs_averaged", "retrieval"] {
            let report = cleaned(word);
            assert_ne!(report.status, Status::Passed, "{word}");
        }
    }
}
