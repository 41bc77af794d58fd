//! One change as a draft of a cause: what it says, and whose doing it is.

use std::collections::HashSet;

use model::published::result::{CauseKind, Row, Scenario, Whose};
use model::starred;
use model::{CauseCall, Change, ChangeKind, What};

use super::draft::{Draft, What as Said};
use super::key::Key;
use super::renamed::{Renamed, renamed};
use super::words::Verb;

/// The scenario that a change is of.
pub(super) struct Context<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) command: &'a str,
    /// The calls that the agent made with other arguments.
    pub(super) asked_otherwise: HashSet<CauseCall>,
    /// The members of answers that only have another name now.
    renamed: Vec<Renamed>,
}

impl<'a> Context<'a> {
    pub(super) fn new(scenario: &'a Scenario, command: &'a str) -> Self {
        let requests = scenario.changes().iter();
        let requests =
            requests.filter(|it| matches!(it.kind, ChangeKind::Request | ChangeKind::Effect));
        Self {
            scenario,
            command,
            asked_otherwise: requests.map(calls_of).collect(),
            renamed: renamed(scenario.changes()),
        }
    }

    /// A cause in this scenario, without a call.
    pub(super) fn draft(
        &self,
        kind: CauseKind,
        whose: impl Into<Option<Whose>>,
        said: String,
    ) -> Draft {
        Draft::new(&self.scenario.id, kind, whose, said)
    }

    /// The name that a member has now which the change at this place says went.
    pub(super) fn renamed(&self, at: usize) -> Option<&Renamed> {
        self.renamed.iter().find(|it| it.gone == at)
    }

    /// The place of the change that says what went, where the one at this place says what came for it.
    pub(super) fn old_name(&self, at: usize) -> Option<usize> {
        let known = self.renamed.iter().find(|it| it.came == at)?;
        Some(known.gone)
    }

    /// The change, as a cause may begin with it.
    pub(super) fn of_change(
        &self,
        change: &Change,
        row: Option<&Row>,
        renamed: Option<&Renamed>,
    ) -> Draft {
        let verb = Verb::new(change, self.command);
        let verb = match renamed {
            Some(it) => verb.renamed(&it.now, it.is_equal),
            None => verb,
        };
        let kind = kind_of(change.kind);
        let name = match &change.what {
            What::Catalogue(drift) => Some(drift.tool.clone()),
            _ => row.map(Row::tool_name).or_else(|| change.tool_name()),
        };
        let path = change.path.as_deref();
        let what = match &change.what {
            What::Catalogue(drift) => Said::Drift(drift.clone()),
            // Nothing more is known of results of earlier programs.
            it if matches!(change.kind, ChangeKind::Drift | ChangeKind::Tokens) => {
                Said::Said(it.to_string())
            }
            _ => Said::Place(Box::new(verb.clone())),
        };
        let key = if let What::Catalogue(drift) = &change.what {
            Key::drift(drift, (&change.was, &change.now))
        } else if let Said::Said(said) = &what {
            Key::said(kind, said)
        } else {
            // What is passed on behind all tools is one cause; a sentence about one tool names it.
            let tool = change.tool.as_deref();
            let tool = tool.filter(|_| change.kind != ChangeKind::Upstream);
            let path = path.map(starred);
            let said = verb.said(name.as_deref().unwrap_or_default(), path.as_deref());
            let new_name = renamed.map_or("", |it| it.now.as_str());
            Key::place(kind, tool, path.as_deref(), &format!("{said}{new_name}"))
        };
        let [was, now] = match renamed {
            Some(it) if it.is_equal => [Some(it.was.clone()), Some(it.now.clone())],
            Some(it) => [
                change.was.clone(),
                self.scenario.changes()[it.came].now.clone(),
            ],
            None => [change.was.clone(), change.now.clone()],
        };
        let mut draft = self.draft(kind, self.whose(change, row), String::new());
        draft.add_calls([calls_of(change)]);
        Draft {
            key,
            what,
            tools: name.into_iter().collect(),
            tool: change.tool.clone(),
            label: change.label.clone(),
            path: path.filter(|it| !it.is_empty()).map(str::to_owned),
            was,
            now,
            ..draft
        }
    }

    fn whose(&self, change: &Change, row: Option<&Row>) -> Whose {
        match change.kind {
            ChangeKind::Drift => Whose::Catalogue,
            ChangeKind::Upstream => Whose::Behind,
            ChangeKind::Call | ChangeKind::Request | ChangeKind::Effect | ChangeKind::Tokens => {
                Whose::Agent
            }
            ChangeKind::Answer | ChangeKind::Addition | ChangeKind::Error | ChangeKind::Slower => {
                let is_of_agent = self.scenario.has_recorded_servers()
                    || (change.kind != ChangeKind::Slower
                        && self.asked_otherwise.contains(&calls_of(change)));
                if is_of_agent {
                    Whose::Agent
                } else if row.is_some_and(|it| self.is_answered_otherwise_behind(it)) {
                    Whose::Behind
                } else {
                    Whose::Server
                }
            }
        }
    }

    fn is_answered_otherwise_behind(&self, row: &Row) -> bool {
        let upstream = self.scenario.comparison.as_ref();
        let Some(upstream) = upstream.and_then(|it| it.upstream.as_ref()) else {
            return false;
        };
        let behind = row.behind.iter();
        let mut behind = behind.filter_map(|it| upstream.rows.get(it.checked_sub(1)?));
        behind.any(|it| it.answered_otherwise)
    }
}

/// The calls that a change is of.
pub(super) fn calls_of(change: &Change) -> CauseCall {
    CauseCall::new(change.baseline, change.current)
}

fn kind_of(kind: ChangeKind) -> CauseKind {
    match kind {
        ChangeKind::Call => CauseKind::Call,
        ChangeKind::Request => CauseKind::Request,
        ChangeKind::Effect => CauseKind::Effect,
        ChangeKind::Answer => CauseKind::Answer,
        ChangeKind::Addition => CauseKind::Addition,
        ChangeKind::Error => CauseKind::Error,
        ChangeKind::Drift => CauseKind::Drift,
        ChangeKind::Slower => CauseKind::Slower,
        ChangeKind::Tokens => CauseKind::Tokens,
        ChangeKind::Upstream => CauseKind::Upstream,
    }
}
