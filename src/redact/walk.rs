//! What a redactor goes through: trajectories, calls, scenarios, stamps.

use crate::digits;
use crate::model::scenario::{Criterion, Scenario};
use crate::model::stamp::{GitStamp, ImageStamp};
use crate::model::trajectory::{Ending, Outcome, Step, ToolCall, Trajectory};

use super::Redactor;

impl Redactor {
    /// Takes secrets out of everything a trajectory holds.
    ///
    /// What only a later step shows to be a secret is one in the steps before it, too: a token that an answer calls by another name.
    pub fn trajectory(&self, trajectory: &mut Trajectory) {
        let known = self.known().len();
        self.pass(trajectory);
        if self.known().len() > known {
            self.pass(trajectory);
        }
        // Last, so that what was only asked again counts among the secrets after all others: where nothing is, they are called the same.
        for step in &mut trajectory.steps {
            if let Step::ToolCall(call) = step {
                call.again.iter_mut().for_each(|it| self.outcome(it));
            }
        }
    }

    fn pass(&self, trajectory: &mut Trajectory) {
        self.string(&mut trajectory.name);
        self.git(&mut trajectory.stamp.scenarios);
        trajectory
            .stamp
            .source
            .iter_mut()
            .for_each(|it| self.git(it));
        if let Some(image) = &mut trajectory.stamp.image {
            self.image(image);
        }
        for step in &mut trajectory.steps {
            match step {
                Step::User { text } | Step::Assistant { text } => self.string(text),
                Step::ToolCall(call) => self.call(call),
            }
        }
        for server in &mut trajectory.catalogue.servers {
            self.string(&mut server.server);
            server.info.iter_mut().for_each(|it| self.value(it));
            server
                .instructions
                .iter_mut()
                .for_each(|it| self.string(it));
            for tool in &mut server.tools {
                // Not by key: a schema may well describe a property named `token`.
                tool.served.values_mut().for_each(|it| self.texts(it));
            }
        }
        trajectory
            .stamp
            .model
            .iter_mut()
            .for_each(|it| self.string(it));
        for request in &mut trajectory.requests {
            let texts = request.model.iter_mut().chain(&mut request.stop_reason);
            texts.for_each(|it| self.string(it));
            let problems = request.attempts.iter_mut();
            problems
                .filter_map(|it| it.problem.as_mut())
                .for_each(|it| self.string(it));
        }
        match &mut trajectory.ending {
            Ending::Blocked { message }
            | Ending::LimitReached { message }
            | Ending::TimedOut { message } => self.string(message),
            Ending::Error { message, details } => {
                self.string(message);
                for line in details {
                    self.string(line);
                }
            }
            Ending::Completed | Ending::Interrupted => {}
        }
    }

    /// Takes secrets out of a call and what became of it, as it will be stored.
    pub fn call(&self, call: &mut ToolCall) {
        self.string(&mut call.tool);
        call.server.iter_mut().for_each(|it| self.string(it));
        // A secret may be a long number, too.
        digits::put_into(&mut call.arguments, &call.digits);
        self.object(&mut call.arguments);
        if !call.digits.is_empty() {
            call.digits = digits::take_from(&mut call.arguments);
        }
        self.outcome(&mut call.outcome);
    }

    /// Takes secrets out of what a scenario says, for telling people; the result is not for running.
    pub fn scenario(&self, scenario: &mut Scenario) {
        self.string(&mut scenario.name);
        scenario
            .description
            .iter_mut()
            .for_each(|it| self.string(it));
        scenario
            .user_intent
            .iter_mut()
            .chain(&mut scenario.turns)
            .for_each(|it| self.string(it));
        for expected in &mut scenario.expected_trajectory {
            self.object(&mut expected.arguments);
        }
        for criterion in &mut scenario.success_criteria {
            if let Criterion::Text(text) | Criterion::Says(text) = criterion {
                self.string(text);
            }
        }
    }

    /// Labels of an image were written by people, as anything else.
    fn image(&self, stamp: &mut ImageStamp) {
        let ImageStamp {
            name,
            id: _,
            digest,
            revision,
            source,
            version,
        } = stamp;
        self.string(name);
        for label in [digest, revision, source, version].into_iter().flatten() {
            self.string(label);
        }
    }

    /// So was what a repository says of itself.
    fn git(&self, stamp: &mut GitStamp) {
        match stamp {
            GitStamp::Known(commit) => {
                for text in [
                    &mut commit.commit,
                    &mut commit.short,
                    &mut commit.subject,
                    &mut commit.committed_at,
                ] {
                    self.string(text);
                }
                let optional = commit.branch.iter_mut().chain(&mut commit.describe);
                optional.for_each(|it| self.string(it));
            }
            GitStamp::Unknown { reason } => self.string(reason),
        }
    }

    fn outcome(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Answer(answer) => {
                answer.content.iter_mut().for_each(|it| self.value(it));
                if let Some(structured) = &mut answer.structured_content {
                    digits::put(structured, &answer.digits);
                    self.value(structured);
                    if !answer.digits.is_empty() {
                        answer.digits = digits::take(structured);
                    }
                }
                self.object(&mut answer.other);
            }
            Outcome::Failure(failure) => {
                self.string(&mut failure.message);
                failure.data.iter_mut().for_each(|it| self.value(it));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::Redactor;
    use crate::model::catalogue::Catalogue;
    use crate::model::stamp::{GitCommit, GitStamp, ImageStamp, Servers, Stamp};
    use crate::model::trajectory::{Answer, Ending, Outcome, Step, ToolCall, Trajectory};
    use crate::model::{Digits, Object};

    /// A trajectory of these steps.
    fn trajectory(steps: Vec<Step>) -> Trajectory {
        Trajectory {
            scenario: "s".to_owned(),
            name: "s".to_owned(),
            scenario_hash: None,
            stamp: Stamp {
                recorded_at: Timestamp::UNIX_EPOCH,
                mcp_eval: "0.0.0".to_owned(),
                agent: "scripted".to_owned(),
                agent_hash: None,
                servers: Servers::Live,
                model: None,
                scenarios: GitStamp::Unknown {
                    reason: "no folder".to_owned(),
                },
                source: None,
                image: None,
            },
            catalogue: Catalogue::default(),
            steps,
            ending: Ending::Completed,
            duration_ms: None,
            learned: Vec::new(),
            repeated: None,
            bindings: Vec::new(),
            requests: Vec::new(),
        }
    }

    #[test]
    fn a_secret_that_is_shown_late_is_hidden_from_the_start() {
        let call = |arguments: Value, answer: Value| {
            Step::ToolCall(Box::new(ToolCall {
                server: None,
                tool: "t".to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                outcome: Outcome::Answer(Answer {
                    structured_content: Some(answer),
                    ..Answer::default()
                }),
                digits: Digits::new(),
                again: Vec::new(),
                start_ms: None,
                duration_ms: None,
            }))
        };
        let mut shown_late = trajectory(vec![
            call(json!({}), json!({ "access": "tok_ab12" })),
            call(json!({ "header": "Bearer tok_ab12" }), json!({})),
        ]);
        Redactor::default().trajectory(&mut shown_late);
        let hidden = "<redacted:bearer-token:1>";
        let header = format!("Bearer {hidden}");
        let expected = [
            call(json!({}), json!({ "access": hidden })),
            call(json!({ "header": header }), json!({})),
        ];
        assert_eq!(shown_late.steps, expected);
    }

    #[test]
    fn names_and_commits_are_texts_too() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let mut trajectory = trajectory(vec![Step::ToolCall(Box::new(ToolCall {
            server: Some(token.clone()),
            tool: token.clone(),
            arguments: Object::new(),
            outcome: Outcome::Answer(Answer::default()),
            digits: Digits::new(),
            again: Vec::new(),
            start_ms: None,
            duration_ms: None,
        }))]);
        trajectory.name = format!("Use {token}");
        let stamp = &mut trajectory.stamp;
        stamp.scenarios = GitStamp::Unknown {
            reason: format!("{token} is no folder"),
        };
        stamp.source = Some(GitStamp::Known(GitCommit {
            commit: "c0ffee".repeat(7),
            short: "c0ffeec".to_owned(),
            branch: Some(format!("with-{token}")),
            describe: None,
            subject: format!("Drop {token}"),
            committed_at: String::new(),
            dirty: None,
        }));
        stamp.image = Some(ImageStamp {
            name: format!("image:{token}"),
            source: Some(format!("https://{token}@host/repository")),
            version: Some(token.clone()),
            ..ImageStamp::default()
        });
        Redactor::default().trajectory(&mut trajectory);
        assert!(
            !format!("{trajectory:?}").contains(&token),
            "{trajectory:?}"
        );
    }
}
