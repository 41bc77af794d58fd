//! Checks that evaluators can judge what they are declared to judge.

use std::path::Path;

use crate::model::Role;
use crate::scenario_file::agent::{Agent, CommandFormat};
use crate::scenario_file::decode::{At, Plain as _};
use crate::scenario_file::evaluators::{
    Evaluator, EvaluatorKind, EvaluatorSection, FileRoot, SchemaSource, TextSource,
};
use crate::scenario_file::file::document::{Document, given, is_wrong};
use crate::scenario_file::servers::{Mount, ONLY_CONTAINER, Server, UNSEEN, place_in_memory};
use crate::scenario_file::yaml::{Findings, Mark, quoted};
use crate::text::nearest::did_you_mean;

impl Document {
    /// The evaluators, those among the success criteria last, each with its place.
    pub(in crate::scenario_file) fn evaluator_sections(&self) -> Vec<(Mark, &EvaluatorSection)> {
        let own = given(self.evaluators.as_ref()).into_iter().flatten();
        let own = own.map(|it| (it.at, &it.value));
        let criteria = given(self.success_criteria.as_ref()).into_iter().flatten();
        let criteria = criteria.filter_map(|it: &At<_>| Some((it.at, it.evaluator()?)));
        own.chain(criteria).collect()
    }

    /// The same as the scenario has them, whose own file is this one.
    pub(in crate::scenario_file) fn evaluators(
        &self,
        own: usize,
        agent: Option<&Agent>,
        findings: &mut Findings,
    ) -> Vec<(Mark, Evaluator)> {
        let sections = self.evaluator_sections();
        let mut evaluators = Vec::new();
        let mut without_role = Vec::new();
        for (at, it) in sections {
            if let Some(evaluator) = it.evaluator(at, own, findings) {
                without_role.push(it.leaves_role_open());
                evaluators.push((at, evaluator));
            }
        }
        // What is skipped in every run fails none.
        let is_idle = |it: &Evaluator| agent.is_some_and(|agent| is_idle(it, agent));
        let mut others = evaluators.iter().zip(&without_role);
        let has_others = others.any(|((_, it), judge)| !judge && it.gates() && !is_idle(it));
        if !has_others && !self.can_fail_without_evaluators(agent) {
            for ((_, evaluator), without_role) in evaluators.iter_mut().zip(without_role) {
                if without_role {
                    evaluator.role = Role::Gating;
                }
            }
        }
        evaluators
    }

    /// Whether anything in the scenario can fail besides evaluators. An empty list of calls forbids an agent to make some only where it
    /// decides for itself.
    fn can_fail_without_evaluators(&self, agent: Option<&Agent>) -> bool {
        let decides = agent.is_none_or(Agent::decides);
        let expected = given(self.expected_trajectory.as_ref());
        let expects = expected.is_some_and(|it| !it.is_empty() || (decides && it.forbid_calls()));
        let criteria = given(self.success_criteria.as_ref()).into_iter().flatten();
        let mut criteria = criteria.filter(|it: &&At<_>| it.evaluator().is_none());
        expects || criteria.any(|it| it.is_checked())
    }

    /// Says which evaluators look for a file in a container that the scenario has not, or where nobody can see one.
    fn check_containers(&self, evaluators: &[(Mark, Evaluator)], findings: &mut Findings) {
        let sections = self.container_sections();
        let names: Vec<&str> = (sections.iter())
            .map(|(name, _)| name.unwrap_or(ONLY_CONTAINER))
            .collect();
        for (at, evaluator) in evaluators {
            let evaluators = Evaluator::with_inner(std::slice::from_ref(evaluator));
            for it in evaluators.iter().filter_map(|it| it.kind.file()) {
                let FileRoot::Container(name) = &it.begins else {
                    continue;
                };
                if !names.contains(&name.as_str()) {
                    let message = format!("there is no container {}", quoted(name));
                    let hint = match &names[..] {
                        [] => "the scenario has neither `docker` nor `containers`".to_owned(),
                        names => format!("there is {}", names.join(", ")),
                    };
                    findings.error(*at, message, Some(&hint));
                    continue;
                }
                let own = (sections.iter())
                    .filter(|(it, _)| it.unwrap_or(ONLY_CONTAINER) == name.as_str());
                let mounts: Vec<Mount> = own
                    .filter_map(|(_, it)| it.mounts.plain(findings))
                    .flatten()
                    .collect();
                if let Some(place) = place_in_memory(Path::new(&it.written), &mounts) {
                    let message =
                        format!("{} is in {}: {UNSEEN}", quoted(&it.written), quoted(&place));
                    let hint = "let the server write to a folder of the image, a volume or a mounted folder";
                    findings.error(*at, message, Some(hint));
                }
            }
        }
    }

    /// Says which evaluators look for a file in the folder of a server that the scenario has not. Without any server, they come from
    /// elsewhere: from `--mcp-config`.
    fn check_servers_of_files(
        evaluators: &[(Mark, Evaluator)],
        servers: &[Server],
        findings: &mut Findings,
    ) {
        let names = || servers.iter().map(|it| it.name.as_str());
        if servers.is_empty() {
            return;
        }
        for (at, evaluator) in evaluators {
            let evaluators = Evaluator::with_inner(std::slice::from_ref(evaluator));
            for it in evaluators.iter().filter_map(|it| it.kind.file()) {
                let FileRoot::Server(name) = &it.begins else {
                    continue;
                };
                if !names().any(|it| it == name) {
                    let message = format!("no server is named {}", quoted(name));
                    let known = || format!("there is {}", names().collect::<Vec<_>>().join(", "));
                    let hint = did_you_mean(name, names()).unwrap_or_else(known);
                    findings.tool(*at, message, Some(hint));
                }
            }
        }
    }

    /// Says which names of tools are patterns: nothing is called so.
    fn check_patterns(&self, findings: &mut Findings) {
        let criteria = given(self.success_criteria.as_ref()).into_iter().flatten();
        let named = criteria.filter_map(|it| it.tool());
        let evaluators = self.evaluator_sections().into_iter();
        for (at, tool) in named.chain(evaluators.flat_map(|(_, it)| it.tools())) {
            if tool.contains('*') {
                let message = format!("{} is not the name of a tool", quoted(tool));
                let hint = "name each tool; `expected_trajectory: []` says that none is called";
                findings.error(at, message, Some(hint));
            }
        }
    }

    /// Says what of judges nobody can rely on.
    fn check_judges(
        &self,
        agent: &Agent,
        evaluators: &[(Mark, Evaluator)],
        findings: &mut Findings,
    ) {
        let is_judge = |it: &&Evaluator| matches!(it.kind, EvaluatorKind::LlmJudge(_));
        let asks = |it: &Evaluator| {
            let all = Evaluator::with_inner(std::slice::from_ref(it));
            all.iter().any(is_judge)
        };
        if let Some((at, _)) = evaluators.iter().find(|(_, it)| asks(it))
            && self.judge.is_none()
        {
            let message = "there is no judge to ask: the scenario has no `judge`";
            let hint = "give it a section `judge`, or name one with `--judge FILE`";
            findings.warning(*at, message, Some(hint));
        }
        let sections = self.evaluator_sections();
        let open = sections.iter().filter(|(_, it)| it.leaves_role_open());
        for (at, _) in open {
            let mut found = evaluators.iter().filter(|(mark, _)| mark == at);
            if found.any(|(_, it)| !is_judge(&it) && !it.gates()) {
                let message = "no run fails for this, because a judge decides in it";
                let hint = "`role: gating` lets runs fail for it, `role: advisory` says that it only shows something";
                findings.warning(*at, message, Some(hint));
            }
        }
        let mut gating = (evaluators.iter())
            .filter(|(_, it)| it.gates() && !is_idle(it, agent))
            .peekable();
        // Of those that cannot be read, nobody knows what they would fail for.
        let all_are_read = sections.len() == evaluators.len();
        if let Some((at, _)) = gating.peek().copied()
            && all_are_read
            && gating.all(|(_, it)| it.kind.fails_by_judge_alone())
            && !self.can_fail_without_evaluators(Some(agent))
        {
            let message = "only a judge can fail this scenario";
            let hint = "add something that is checked without one; `mcp-eval judge check` tells how good the judge is";
            findings.warning(*at, message, Some(hint));
        }
    }

    /// Says what of the evaluators can never count.
    pub(in crate::scenario_file) fn check_evaluators(
        &self,
        agent: &Agent,
        servers: &[Server],
        evaluators: &[(Mark, Evaluator)],
        findings: &mut Findings,
    ) {
        self.check_containers(evaluators, findings);
        if !is_wrong(self.servers.as_ref()) {
            Self::check_servers_of_files(evaluators, servers, findings);
        }
        self.check_patterns(findings);
        if !findings.thorough {
            return;
        }
        self.check_judges(agent, evaluators, findings);
        let expected = given(self.expected_trajectory.as_ref());
        if agent.decides() && expected.is_some_and(|it| it.forbid_calls()) {
            for (at, it) in evaluators {
                let all = Evaluator::with_inner(std::slice::from_ref(it));
                if all.iter().any(|it| it.kind.forbids_empty_runs()) {
                    let message = "`allow_empty: false` fails a run that calls nothing, as `expected_trajectory: []` wants it";
                    let hint = "leave `allow_empty` out: an empty list then says that it may be so";
                    findings.warning(*at, message, Some(hint));
                }
            }
        }
        let gating = || evaluators.iter().filter(|(_, it)| it.gates());
        for (at, it) in gating() {
            let idle = |it: &Evaluator| never_passes(&it.kind, agent).filter(|it| !it.may_fail);
            let inner = Evaluator::with_inner(it.kind.inner()).into_iter();
            let mut inner = inner.filter_map(|it| Some((it, idle(it)?.why)));
            let (message, hint) = match (never_passes(&it.kind, agent), inner.next()) {
                (Some(_), Some((inner, why))) if matches!(it.kind, EvaluatorKind::AllOf(_)) => {
                    let what = quoted(&inner.title());
                    (
                        format!("never passes: {what} is skipped in every run: {why}"),
                        ONLY_SHOWS,
                    )
                }
                (Some(Never { why, may_fail }), _) if may_fail => (
                    format!("fails or is skipped, and never passes: {why}"),
                    ONLY_SHOWS,
                ),
                (Some(never), _) => (
                    format!("is skipped in every run: {}", never.why),
                    ONLY_SHOWS,
                ),
                (None, Some((inner, why))) => {
                    let what = quoted(&inner.title());
                    (
                        format!("{what} is skipped in every run: {why}"),
                        "the others decide without it",
                    )
                }
                (None, None) => continue,
            };
            findings.warning(*at, message, Some(hint));
        }
        if let Some((at, _)) = gating().next()
            && gating().all(|(_, it)| it.weight <= 0.0)
        {
            let message =
                "the weights of all gating evaluators are 0: there is no evaluation score";
            findings.warning(*at, message, Some("give one of them a weight above 0"));
        }
        if let Some(threshold) = given(self.evaluation_threshold.as_ref())
            && gating().next().is_none()
            && !is_wrong(self.evaluators.as_ref())
        {
            let message = "no gating evaluator is measured by this";
            findings.warning(threshold.at, message, Some("add one under `evaluators`"));
        }
        for (index, (at, it)) in evaluators.iter().enumerate() {
            let mut before = evaluators[..index].iter();
            let same = before.clone().any(|(_, other)| {
                other.kind == it.kind && other.role == it.role && other.name == it.name
            });
            if same {
                let message = "the same evaluator is already there";
                findings.warning(*at, message, Some("one of them is enough"));
            } else if let Some(name) = &it.name
                && before.any(|(_, other)| other.name.as_ref() == Some(name))
            {
                let message = format!("another evaluator is called {}, too", quoted(name));
                findings.warning(*at, message, Some("reports cannot tell them apart"));
            }
        }
    }
}

/// Whether an evaluator is skipped in every run, so that none fails for it.
fn is_idle(it: &Evaluator, agent: &Agent) -> bool {
    !it.kind.can_fail() || never_passes(&it.kind, agent).is_some_and(|it| !it.may_fail)
}

/// What to do about a gating evaluator that never judges.
const ONLY_SHOWS: &str = "`role: advisory` says that it only shows something";

/// Why an evaluator never passes.
struct Never {
    why: String,
    /// It may fail all the same; else it is skipped in every run.
    may_fail: bool,
}

/// Why an evaluator passes with no run of this agent; `None` where it may.
fn never_passes(kind: &EvaluatorKind, agent: &Agent) -> Option<Never> {
    let skipped = |why: String| Never {
        why,
        may_fail: false,
    };
    let says_nothing = || {
        let is_mute = matches!(agent, Agent::Scripted { .. } | Agent::Replay { .. });
        is_mute.then(|| {
            skipped(format!(
                "an agent of kind `{}` says nothing in the end",
                agent.kind()
            ))
        })
    };
    match kind {
        EvaluatorKind::Text(it) if it.within == TextSource::FinalText => says_nothing(),
        EvaluatorKind::ExactMatch(it) if it.answer.is_none() => says_nothing(),
        EvaluatorKind::SchemaValidate(it) if it.source == SchemaSource::FinalText => says_nothing(),
        EvaluatorKind::Within(it) => {
            let format = agent.command().map(|it| it.format);
            let reports = format.is_none_or(CommandFormat::reports_usage);
            let counts = agent.decides() && reports;
            let priced = agent.price().is_some() || format.is_some_and(CommandFormat::reports_cost);
            let no_tokens = it.tokens.is_some() && !counts;
            let no_cost = it.cost.is_some() && !(counts && priced);
            let why = if no_tokens {
                "the tokens of this agent are not counted"
            } else if no_cost {
                "the cost of this agent is unknown"
            } else {
                return None;
            };
            let is_measured = it.steps.is_some()
                || it.duration.is_some()
                || it.call_duration.is_some()
                || (it.tokens.is_some() && !no_tokens)
                || (it.cost.is_some() && !no_cost);
            Some(Never {
                why: why.to_owned(),
                may_fail: is_measured,
            })
        }
        EvaluatorKind::AllOf(inner) => {
            let each: Vec<Option<Never>> =
                (inner.iter().map(|it| never_passes(&it.kind, agent))).collect();
            let may_fail = |it: &Option<Never>| it.as_ref().is_none_or(|it| it.may_fail);
            let may_fail = each.iter().any(may_fail);
            let first = each.into_iter().flatten().next()?;
            Some(Never { may_fail, ..first })
        }
        EvaluatorKind::AnyOf(inner) => {
            let each = inner.iter().map(|it| never_passes(&it.kind, agent));
            let each: Vec<Never> = each.collect::<Option<_>>()?;
            let may_fail = each.iter().all(|it| it.may_fail);
            let first = each.into_iter().next()?;
            Some(Never { may_fail, ..first })
        }
        // What fails within passes here.
        EvaluatorKind::Not(inner) => never_passes(&inner.kind, agent).filter(|it| !it.may_fail),
        EvaluatorKind::Text(_)
        | EvaluatorKind::ExactMatch(_)
        | EvaluatorKind::SchemaValidate(_)
        | EvaluatorKind::ToolCalls(_)
        | EvaluatorKind::TraceNoErrors(_)
        | EvaluatorKind::SqlValidate(_)
        | EvaluatorKind::File(_)
        | EvaluatorKind::Command(_)
        | EvaluatorKind::LlmJudge(_) => None,
    }
}
