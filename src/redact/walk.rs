//! What a redactor goes through: trajectories, calls, scenarios, stamps.

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

    /// Takes secrets out of a call and what became of it.
    pub fn call(&self, call: &mut ToolCall) {
        self.string(&mut call.tool);
        call.server.iter_mut().for_each(|it| self.string(it));
        self.object(&mut call.arguments);
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
                answer
                    .structured_content
                    .iter_mut()
                    .for_each(|it| self.value(it));
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
    use crate::model::Object;
    use crate::model::catalogue::Catalogue;
    use crate::model::stamp::{GitCommit, GitStamp, ImageStamp, Servers, Stamp};
    use crate::model::trajectory::{Answer, Ending, Outcome, Step, ToolCall, Trajectory};

    #[test]
    fn a_secret_that_is_shown_late_is_hidden_from_the_start() {
        let redactor = Redactor::default();
        let call = |arguments: Value, answer: Value| {
            Step::ToolCall(Box::new(ToolCall {
                server: None,
                tool: "t".to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                outcome: Outcome::Answer(Answer {
                    structured_content: Some(answer),
                    ..Answer::default()
                }),
                again: Vec::new(),
                start_ms: None,
                duration_ms: None,
            }))
        };
        let mut first = call(json!({}), json!({ "access": "tok_ab12" }));
        let mut second = call(json!({ "header": "Bearer tok_ab12" }), json!({}));
        for _ in 0..2 {
            for step in [&mut first, &mut second] {
                let Step::ToolCall(call) = step else { continue };
                redactor.call(call);
            }
        }
        let hidden = "<redacted:bearer-token:1>";
        let header = format!("Bearer {hidden}");
        assert_eq!(first, call(json!({}), json!({ "access": hidden })));
        assert_eq!(second, call(json!({ "header": header }), json!({})));
    }

    #[test]
    fn names_and_commits_are_texts_too() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let mut trajectory = Trajectory {
            scenario: "s".to_owned(),
            name: format!("Use {token}"),
            scenario_hash: None,
            stamp: Stamp {
                recorded_at: Timestamp::UNIX_EPOCH,
                mcp_eval: "0.0.0".to_owned(),
                agent: "scripted".to_owned(),
                agent_hash: None,
                servers: Servers::Live,
                model: None,
                scenarios: GitStamp::Unknown {
                    reason: format!("{token} is no folder"),
                },
                source: Some(GitStamp::Known(GitCommit {
                    commit: "c0ffee".repeat(7),
                    short: "c0ffeec".to_owned(),
                    branch: Some(format!("with-{token}")),
                    describe: None,
                    subject: format!("Drop {token}"),
                    committed_at: String::new(),
                    dirty: None,
                })),
                image: Some(ImageStamp {
                    name: format!("image:{token}"),
                    source: Some(format!("https://{token}@host/repository")),
                    version: Some(token.clone()),
                    ..ImageStamp::default()
                }),
            },
            catalogue: Catalogue::default(),
            steps: vec![Step::ToolCall(Box::new(ToolCall {
                server: Some(token.clone()),
                tool: token.clone(),
                arguments: Object::new(),
                outcome: Outcome::Answer(Answer::default()),
                again: Vec::new(),
                start_ms: None,
                duration_ms: None,
            }))],
            ending: Ending::Completed,
            duration_ms: None,
            volatile: Vec::new(),
            repeated: None,
            bindings: Vec::new(),
            requests: Vec::new(),
        };
        Redactor::default().trajectory(&mut trajectory);
        assert!(
            !format!("{trajectory:?}").contains(&token),
            "{trajectory:?}"
        );
    }
}
