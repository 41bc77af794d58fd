//! Trajectories, calls and stamps without secrets, to be stored.

use std::collections::BTreeMap;

use super::hit::Hit;
use super::{Origin, Redactor, keys};
use model::usage::ModelRequest;
use model::{
    Answer, Binding, Catalogue, Client, ClientAnswer, Ending, Failure, Git, Header, ImageStamp,
    Learned, Odd, Outcome, Redacted, Repeat, ServerCatalogue, Stamp, Step, ToolCall, Trajectory,
    UpstreamLane, Varying,
};
use model::{digits, json, texts};

impl Redactor {
    /// A trajectory without secrets in anything it holds.
    ///
    /// What only a later step shows to be a secret is one in the steps before it, too: a token that an answer calls by another name.
    pub fn trajectory(&self, trajectory: Trajectory) -> Redacted<Trajectory> {
        self.trajectory_and_said(trajectory).0
    }

    /// The same, and the steps with secrets in them as they were, by their places: for those who judge the run while it is in memory.
    pub fn trajectory_and_said(
        &self,
        mut trajectory: Trajectory,
    ) -> (Redacted<Trajectory>, BTreeMap<usize, Step>) {
        let mut said = BTreeMap::new();
        self.pass(&mut trajectory, &mut said);
        // Last, so that what was only asked again counts among the secrets after all others: where nothing is, they are called the same.
        for step in &mut trajectory.steps {
            if let Step::ToolCall(call) = step {
                call.again.iter_mut().for_each(|it| self.outcome(it));
            }
        }
        if !self.seen.lock().has_shown_nothing() {
            self.shown_anywhere(&mut trajectory, &mut said);
        }
        (Redacted::vouch_for(trajectory), said)
    }

    /// Hides what keys have shown to be secret in texts that stand under no such key.
    fn shown_anywhere(&self, trajectory: &mut Trajectory, said: &mut BTreeMap<usize, Step>) {
        let mut hide = |text: &mut String| self.shown_in(text);
        each_step(trajectory, said, |step| match step {
            Step::User { text } | Step::Assistant { text } => hide(text),
            Step::ToolCall(call) => each_text_mut(call, &mut hide),
        });
        if let Some(lane) = &mut trajectory.upstream {
            for it in &mut lane.calls {
                each_text_mut(&mut it.call, &mut hide);
                it.headers.iter_mut().for_each(|it| hide(&mut it.value));
            }
            lane.headers.iter_mut().for_each(|it| hide(&mut it.value));
        }
        if let Ending::Error {
            message, details, ..
        } = &mut trajectory.ending
        {
            std::iter::once(message).chain(details).for_each(hide);
        }
    }

    /// How a run ended, in words without secrets.
    pub fn ending(&self, mut ending: Ending) -> Redacted<Ending> {
        self.end(&mut ending);
        Redacted::vouch_for(ending)
    }

    fn end(&self, ending: &mut Ending) {
        match ending {
            Ending::Blocked { message }
            | Ending::LimitReached { message }
            | Ending::TimedOut { message } => self.words(message),
            Ending::Error {
                message, details, ..
            } => {
                self.words(message);
                for it in details {
                    self.words(it);
                }
            }
            Ending::Completed | Ending::Interrupted => {}
        }
    }

    fn pass(&self, trajectory: &mut Trajectory, said: &mut BTreeMap<usize, Step>) {
        let Trajectory {
            scenario: _,
            name,
            scenario_hash: _,
            stamp,
            duration_ms: _,
            repeated: _,
            as_said: _,
            // They are looked through below, in the order in which their secrets are counted.
            steps: _,
            catalogue: _,
            requests: _,
            ending: _,
            learned: _,
            bindings: _,
            upstream: _,
        } = trajectory;
        let Stamp {
            recorded_at: _,
            utc_offset: _,
            mcp_eval: _,
            // A kind, and hashes.
            agent: _,
            agent_hash: _,
            agent_parts: _,
            servers: _,
            model: _,
            scenarios,
            source,
            image,
        } = stamp;
        self.words(name);
        self.git(scenarios);
        if let Some(it) = source {
            self.git(it);
        }
        if let Some(it) = image {
            self.image(it);
        }
        each_step(trajectory, said, |step| match step {
            Step::User { text } | Step::Assistant { text } => self.words(text),
            Step::ToolCall(call) => self.called(call),
        });
        self.catalogue(&mut trajectory.catalogue);
        trajectory
            .stamp
            .model
            .iter_mut()
            .for_each(|it| self.string(it));
        for request in &mut trajectory.requests {
            let ModelRequest {
                after_steps: _,
                model,
                stop_reason,
                usage: _,
                cost: _,
                attempts,
            } = request;
            self.all_words(model.iter_mut().chain(stop_reason));
            self.all_words(attempts.iter_mut().flat_map(|it| &mut it.problem));
        }
        self.end(&mut trajectory.ending);
        self.learned(trajectory);
        // After all that the agent did and received, whose placeholders are called the same whether somebody listened behind or not.
        if let Some(lane) = &mut trajectory.upstream {
            self.upstream(lane);
        }
    }

    /// What was learned of its answers, which is there where it was stored.
    fn learned(&self, trajectory: &mut Trajectory) {
        for learned in &mut trajectory.learned {
            let Learned {
                call: _,
                takes: _,
                varies,
                odd,
                repeats,
                beside,
            } = learned;
            for it in beside.iter_mut().flatten() {
                self.name(it);
            }
            for Varying {
                path,
                by: _,
                parts,
                heard,
                seen,
                offsets: _,
                pads: _,
            } in varies
            {
                self.name(path);
                for it in heard {
                    self.words(it);
                }
                for it in seen {
                    self.any(it, Origin::Ours, None);
                }
                let texts = parts.iter_mut();
                let texts = texts.flat_map(|it| it.heard.iter_mut().chain(&mut it.seen));
                texts.for_each(|it| self.words(it));
            }
            for Odd {
                path,
                agreed: _,
                seen,
            } in odd
            {
                self.name(path);
                for value in seen {
                    self.any(value, Origin::Ours, None);
                }
            }
            for Repeat {
                path,
                call: _,
                from,
            } in repeats
            {
                self.name(path);
                self.name(from);
            }
        }
        for binding in &mut trajectory.bindings {
            let Binding {
                call: _,
                path,
                value,
                from,
            } = binding;
            self.name(path);
            self.name(&mut from.path);
            self.any(value, Origin::Ours, None);
        }
    }

    /// What reached the servers behind the one under test.
    fn upstream(&self, lane: &mut UpstreamLane) {
        let UpstreamLane {
            catalogue,
            calls,
            headers,
            varies,
            irregular,
            other_answers: _,
        } = lane;
        for it in calls {
            self.called(&mut it.call);
            for Header { name, value } in &mut it.headers {
                self.header(name, value);
            }
        }
        for it in headers {
            self.name(&mut it.server);
            self.header(&mut it.name, &mut it.value);
        }
        for it in varies {
            self.name(&mut it.path);
        }
        for it in irregular {
            self.name(&mut it.server);
            self.name(&mut it.tool);
        }
        self.catalogue(catalogue);
    }

    /// A header of a request. Where its name says that it holds a secret, all of its value is one, but for the scheme: `Bearer …`.
    fn header(&self, name: &mut String, value: &mut String) {
        let scheme = keys::scheme(value);
        let kind = keys::secret_header(name, &value[scheme..]);
        let shown = kind.map(|kind| Hit::context(scheme..value.len(), kind));
        if let Some(clean) = self.clean(value, shown, Origin::Outside) {
            *value = clean;
        }
        self.name(name);
    }

    fn catalogue(&self, catalogue: &mut Catalogue) {
        for tool in &mut catalogue.own {
            self.string(tool);
        }
        for it in &mut catalogue.servers {
            let ServerCatalogue {
                server,
                info,
                protocol_version,
                capabilities,
                instructions,
                tools,
                later,
                client,
                has_no_legacy: _,
            } = it;
            self.name(server);
            (info.iter_mut().chain(capabilities))
                .for_each(|it| self.any(it, Origin::Outside, None));
            let Client {
                capabilities,
                answers,
                wanted,
                spoke,
            } = client;
            let texts = instructions.iter_mut().chain(protocol_version);
            let texts = texts.chain(later).chain(wanted).chain(spoke);
            texts.for_each(|it| self.string(it));
            self.members(capabilities, Origin::Outside);
            for ClientAnswer {
                method,
                params,
                result,
                error,
            } in answers
            {
                self.string(method);
                let values = result.iter_mut().chain(error).chain([params]);
                values.for_each(|it| self.any(it, Origin::Outside, None));
            }
            for tool in tools {
                // Not by key: a schema may well describe a property named `token`.
                for value in tool.served.values_mut() {
                    texts::each_mut(value, &mut |text| self.string(text));
                    self.keys(value);
                }
            }
        }
    }

    /// A call and what became of it, as it will be stored.
    pub fn call(&self, mut call: ToolCall) -> Redacted<ToolCall> {
        self.called(&mut call);
        if !self.seen.lock().has_shown_nothing() {
            each_text_mut(&mut call, &mut |it| self.shown_in(it));
        }
        Redacted::vouch_for(call)
    }

    fn called(&self, call: &mut ToolCall) {
        let ToolCall {
            server,
            tool,
            arguments,
            digits,
            outcome,
            // Counted last, after all others.
            again: _,
            began: _,
            start_ms: _,
            duration_ms: _,
        } = call;
        self.name(tool);
        if let Some(it) = server {
            self.name(it);
        }
        // A secret may be a long number, too.
        digits::put_into(arguments, digits);
        self.members(arguments, Origin::Outside);
        if !digits.is_empty() {
            *digits = digits::take_from(arguments);
        }
        self.outcome(outcome);
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
        self.words(name);
        for label in [digest, revision, source, version].into_iter().flatten() {
            self.words(label);
        }
    }

    /// So was what a repository says of itself.
    pub(super) fn git(&self, stamp: &mut Git) {
        match stamp {
            Git::Known(commit) => {
                for text in [
                    &mut commit.commit,
                    &mut commit.short,
                    &mut commit.subject,
                    &mut commit.committed_at,
                ] {
                    self.words(text);
                }
                let optional = [&mut commit.branch, &mut commit.describe, &mut commit.remote];
                let optional = optional.into_iter().flatten();
                optional.for_each(|it| self.words(it));
            }
            Git::Unknown { reason } => self.words(reason),
        }
    }

    fn outcome(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Answer(answer) => {
                let Answer {
                    is_error: _,
                    content,
                    structured_content,
                    digits,
                    other,
                    breach,
                } = answer;
                for it in content {
                    self.any(it, Origin::Outside, None);
                }
                if let Some(structured) = structured_content {
                    digits::put(structured, digits);
                    self.any(structured, Origin::Outside, None);
                    if !digits.is_empty() {
                        *digits = digits::take(structured);
                    }
                }
                self.members(other, Origin::Outside);
                // It quotes the answer.
                self.all_words(breach);
            }
            Outcome::Failure(failure) => {
                let Failure {
                    kind: _,
                    message,
                    code: _,
                    data,
                } = failure;
                self.string(message);
                if let Some(it) = data {
                    self.any(it, Origin::Outside, None);
                }
            }
        }
    }
}

/// Changes every text of a call that came from outside, keys aside.
fn each_text_mut(call: &mut ToolCall, change: &mut dyn FnMut(&mut String)) {
    let arguments = call.arguments.values_mut();
    arguments.for_each(|it| texts::each_mut(it, change));
    for outcome in std::iter::once(&mut call.outcome).chain(&mut call.again) {
        outcome.each_text_mut(change);
    }
}

/// Changes the steps of a trajectory; keeps those that are others then as they were before their first change.
///
/// Meanwhile a step is kept as its JSON, which takes a quarter of the memory of its values.
fn each_step(
    trajectory: &mut Trajectory,
    said: &mut BTreeMap<usize, Step>,
    mut change: impl FnMut(&mut Step),
) {
    for (index, step) in trajectory.steps.iter_mut().enumerate() {
        if said.contains_key(&index) {
            change(step);
            continue;
        }
        let before = serde_json::to_vec(step).expect("a step has texts for keys");
        change(step);
        if serde_json::to_vec(step).is_ok_and(|after| after != before) {
            // Nested as deeply as answers and arguments may be.
            let before = json::read(&before).expect("what was written is a step");
            said.insert(index, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::Redactor;
    use model::{
        Answer, Git, Header, Learned, Odd, Outcome, PassedOn, Servers, Stamp, Step, ToolCall,
        Trajectory, UpstreamCall, UpstreamLane, Variation, Varying, VaryingArgument,
    };

    /// A trajectory of these steps.
    fn trajectory(steps: Vec<Step>) -> Trajectory {
        let stamp = Stamp {
            recorded_at: Timestamp::UNIX_EPOCH,
            utc_offset: None,
            mcp_eval: "0.0.0".to_owned(),
            agent: "scripted".to_owned(),
            agent_hash: None,
            agent_parts: std::collections::BTreeMap::new(),
            servers: Servers::Live,
            model: None,
            scenarios: Git::Unknown {
                reason: "no folder".to_owned(),
            },
            source: None,
            image: None,
        };
        Trajectory {
            scenario: "s".to_owned(),
            name: "s".to_owned(),
            ..Trajectory::new(stamp, steps)
        }
    }

    /// A call with these arguments and this structured answer.
    fn tool_call(arguments: &Value, answer: Value) -> ToolCall {
        let outcome = Outcome::Answer(Answer {
            structured_content: Some(answer),
            ..Answer::default()
        });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        ToolCall::new(None, "t".to_owned(), arguments, outcome)
    }

    #[test]
    fn a_header_whose_name_says_so_is_hidden_behind_a_proxy() {
        let lane = |headers: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| Header {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            };
            let headers: Vec<Header> = headers.iter().map(owned).collect();
            let passed_on = headers
                .iter()
                .cloned()
                .map(|Header { name, value }| PassedOn {
                    server: "s".to_owned(),
                    name,
                    value,
                });
            UpstreamLane {
                headers: passed_on.collect(),
                calls: vec![UpstreamCall {
                    cause: None,
                    call: tool_call(&json!({}), json!({})),
                    headers,
                }],
                ..UpstreamLane::default()
            }
        };
        let mut whole = trajectory(Vec::new());
        whole.upstream = Some(Box::new(lane(&[
            ("authorization", "Bearer open sesame"),
            ("cookie", "theme=dark"),
            ("deploy-key", "me"),
            ("mcp-session-id", "0123456789abcdef"),
            ("x-api-key", "secret"),
            ("x-sort-key", "name"),
            ("x-trace", "<secret:env.A>"),
        ])));
        let expected = lane(&[
            ("authorization", "Bearer <secret:token>"),
            ("cookie", "<secret:cookie>"),
            ("deploy-key", "<secret:secret>"),
            ("mcp-session-id", "0123456789abcdef"),
            ("x-api-key", "<secret:api-key>"),
            ("x-sort-key", "name"),
            ("x-trace", "<secret::env.A>"),
        ]);
        let hidden = Redactor::default().trajectory(whole);
        assert_eq!(hidden.upstream.as_deref(), Some(&expected));
    }

    #[test]
    fn what_one_lane_shows_is_hidden_in_both() {
        let secret = "tok_a4B9x2Qz";
        let said = format!("with {secret}");
        let mut whole = trajectory(vec![Step::ToolCall(Box::new(tool_call(
            &json!({ "text": said }),
            json!({}),
        )))]);
        whole.upstream = Some(Box::new(UpstreamLane {
            calls: vec![
                UpstreamCall {
                    cause: Some(1),
                    call: tool_call(&json!({ "text": said }), json!({ "said": said })),
                    headers: vec![Header {
                        name: "x-trace".to_owned(),
                        value: said.clone(),
                    }],
                },
                UpstreamCall {
                    cause: Some(1),
                    call: tool_call(&json!({ "access_token": secret }), json!({})),
                    headers: Vec::new(),
                },
            ],
            headers: vec![PassedOn {
                server: "s".to_owned(),
                name: "x-trace".to_owned(),
                value: said,
            }],
            ..UpstreamLane::default()
        }));
        let hidden = Redactor::default().trajectory(whole);
        let shown = format!("{hidden:?}");
        assert!(!shown.contains(secret), "{shown}");
        assert_eq!(shown.matches("with <secret:token>").count(), 5, "{shown}");
    }

    #[test]
    fn a_place_that_varies_keeps_the_name_of_its_argument() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let mut whole = trajectory(Vec::new());
        whole.upstream = Some(Box::new(UpstreamLane {
            calls: vec![UpstreamCall {
                cause: None,
                call: tool_call(&json!({ token.clone(): 1 }), json!({})),
                headers: Vec::new(),
            }],
            varies: vec![VaryingArgument {
                call: 1,
                path: format!("/{token}"),
                may_lack: false,
            }],
            ..UpstreamLane::default()
        }));
        let hidden = Redactor::default().trajectory(whole);
        let lane = hidden.upstream.as_deref().expect("the lane stays");
        let arguments = Value::Object(lane.calls[0].call.arguments.clone());
        assert_eq!(arguments.pointer(&lane.varies[0].path), Some(&json!(1)));
        assert!(!format!("{lane:?}").contains(&token), "{lane:?}");
    }

    #[test]
    fn a_place_that_was_learned_keeps_the_name_of_its_key() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let path = format!("/structured_content/{token}");
        let mut whole = trajectory(vec![Step::ToolCall(Box::new(tool_call(
            &json!({}),
            json!({ token.clone(): 1 }),
        )))]);
        whole.learned = vec![Learned {
            call: 1,
            takes: 3,
            varies: vec![Varying {
                heard: vec![format!("with {token}")],
                seen: vec![json!(format!("with {token}"))],
                ..Varying::new(path.clone(), Variation::SameType)
            }],
            odd: vec![Odd {
                path,
                agreed: 2,
                seen: Vec::new(),
            }],
            repeats: Vec::new(),
            beside: None,
        }];
        let hidden = Redactor::default().trajectory(whole);
        assert!(!format!("{hidden:?}").contains(&token), "{hidden:?}");
        let learned = &hidden.learned[0];
        assert_eq!(learned.odd[0].path, learned.varies[0].path);
    }

    #[test]
    fn a_secret_that_is_shown_late_is_hidden_from_the_start() {
        let call = |arguments: Value, answer: Value| {
            Step::ToolCall(Box::new(tool_call(&arguments, answer)))
        };
        let shown_late = trajectory(vec![
            call(json!({}), json!({ "access": "tok_a4B9x2Qz" })),
            call(json!({ "header": "Bearer tok_a4B9x2Qz" }), json!({})),
        ]);
        let shown_late = Redactor::default().trajectory(shown_late);
        let hidden = "<secret:token>";
        let header = format!("Bearer {hidden}");
        let expected = [
            call(json!({}), json!({ "access": hidden })),
            call(json!({ "header": header }), json!({})),
        ];
        assert_eq!(shown_late.steps, expected);
    }

    #[test]
    fn a_deep_step_with_a_secret_is_kept_as_it_was() {
        let secret = json!({ "api_key": "tok_a4B9x2Qz" });
        let deep = (0..200).fold(secret, |inner, _| json!({ "a": [inner] }));
        let step = Step::ToolCall(Box::new(tool_call(&deep, json!({}))));
        let (hidden, said) =
            Redactor::default().trajectory_and_said(trajectory(vec![step.clone()]));
        assert_ne!(hidden.steps[0], step);
        assert_eq!(said.get(&0), Some(&step));
    }
}
