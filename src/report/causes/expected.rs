//! The expectations of a scenario that are not met: a cause each, unless a cause is known that they follow from.

use model::published::result::{Asked, CauseCall, CauseKind, Check, Row, Whose};

use super::draft::{Draft, What};
use super::gather::Gather;
use super::key::Key;

impl Gather<'_> {
    /// First the calls that failed, because they may be what other expectations fail for.
    pub(super) fn expectations(&mut self) {
        let scenario = self.context.scenario;
        let failing = scenario.checks.iter().filter(|it| it.fails());
        let (of_calls, others): (Vec<&Check>, Vec<&Check>) =
            failing.partition(|it| it.call.is_some());
        for check in of_calls {
            self.call_that_failed(check);
        }
        for check in others {
            let said = sentence(check);
            let known = self.broken_by(check);
            if let Some(cause) = known.and_then(|at| self.found.drafts_mut().get_mut(at)) {
                cause.add_follows([said]);
                continue;
            }
            self.expectation(check, said);
        }
    }

    fn expectation(&mut self, check: &Check, said: String) {
        let draft = self.context.draft(CauseKind::Expectation, None, said);
        self.found.add(Draft {
            key: Key::Expectation {
                name: check.name.clone(),
                asked: check.asked.as_ref().and_then(|it| match it {
                    Asked::Answer(expected) => Some(expected.clone()),
                    Asked::Text(_) | Asked::Success(_) => None,
                }),
            },
            line: check.line,
            fails: !self.context.scenario.status.is_fine(),
            ..draft
        });
    }

    /// A call that did not succeed, or succeeded although it was meant to fail: the cause that is about it, or a new one.
    fn call_that_failed(&mut self, check: &Check) {
        let Some(number) = check.call else { return };
        let fails = !self.context.scenario.status.is_fine();
        let mut found = self.found.drafts_mut().iter_mut();
        let known = found.find(|it| it.kind == CauseKind::Error && it.is_of_call(number));
        if let Some(cause) = known {
            cause.fails |= fails;
            return;
        }
        let Some(tool) = check.failed_tool() else {
            return self.expectation(check, sentence(check));
        };
        let row = self.rows.iter().find(|(it, _)| it.current == Some(number));
        let call = row.map_or(CauseCall::new(None, Some(number)), |(call, _)| *call);
        let row = row.map(|(_, row)| *row);
        let server = row.and_then(|it| it.server.as_deref()).unwrap_or_default();
        let draft = self
            .context
            .draft(CauseKind::Error, Whose::Server, String::new());
        let mut draft = Draft {
            key: Key::failed(server, &check.message),
            what: What::Failed(check.message.clone()),
            tools: [row.map_or_else(|| bare(tool), Row::tool_name)].into(),
            tool: Some(tool.to_owned()),
            label: row.and_then(|it| it.label.clone()),
            fails,
            ..draft
        };
        draft.add_calls([call]);
        self.found.add(draft);
    }

    /// The cause that has taken away what an expectation asks for: an answer that had the text and no longer has it, or else a call that
    /// failed.
    fn broken_by(&self, check: &Check) -> Option<usize> {
        if !check.asks_for_more {
            return None;
        }
        let text = match &check.asked {
            Some(Asked::Text(text)) => text,
            _ => &check.name,
        };
        let text = text.to_lowercase();
        let has = |it: &Option<String>| {
            let it = it.as_deref().unwrap_or_default();
            it.to_lowercase().contains(&text)
        };
        let failing = || {
            let drafts = self.found.drafts().iter().enumerate();
            drafts.filter(|(_, it)| it.fails)
        };
        let lost = failing().find(|(_, it)| {
            let of_answer = matches!(it.kind, CauseKind::Answer | CauseKind::Error);
            of_answer && has(&it.was) && !has(&it.now)
        });
        let refuses = |it: &Draft| {
            it.kind == CauseKind::Drift && it.places.iter().any(|it| !it.calls.is_empty())
        };
        let failed = || failing().find(|(_, it)| matches!(it.what, What::Failed(_)) || refuses(it));
        lost.or_else(failed).map(|it| it.0)
    }
}

/// The name of a tool for people, where nothing but its full name is known.
fn bare(tool: &str) -> String {
    tool.rsplit("__").next().unwrap_or(tool).to_owned()
}

fn sentence(check: &Check) -> String {
    let (name, message) = (&check.name, &check.message);
    if matches!(check.asked, Some(Asked::Answer(_))) {
        return format!("{name} is not as expected: {message}");
    }
    // What names a tool in back quotes is a sentence already.
    if name.contains('`') {
        format!("the scenario expects that {name}: {message}")
    } else {
        format!("the scenario expects `{name}`: {message}")
    }
}
