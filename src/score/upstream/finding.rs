//! A difference behind the server, in words.

use crate::pairing::call::Call;
use crate::text::excerpt;
use model::change::{Change, ChangeKind, What, When};
use model::comparison::{ArgumentDifference, UpstreamHeader};
use model::reason::{Reason, ReasonKind, Why};
use model::trajectory::ToolCall;

use super::moments::Moment;

/// Something that differs behind the server.
pub(crate) struct Finding {
    /// The agent's call: its number in the baseline, and in the run; its tool's full name.
    baseline: Option<usize>,
    current: Option<usize>,
    tool: Option<String>,
    /// The tool's bare name, where the agent's call is named with what happened.
    named: Option<String>,
    /// What happened, without the agent's call, and when.
    what: String,
    when: Option<When>,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
    /// Whether it is a condition that fails.
    pub(super) fails: bool,
    pub(super) standing: Standing,
    /// The rows that are concerned, by their positions.
    pub(super) rows: Vec<usize>,
}

/// How something that fails relates to what the agent's own calls fail for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The agent's call is the same on both sides: what else it fails for may follow from this.
    Cause,
    /// It may follow from what the agent's call fails for, and fails in any case.
    Consequence,
    /// It follows from the agent's call being there on one side only, and fails with that alone.
    Part,
}

impl Finding {
    /// Something that the servers behind received, such as `` `files` received `find` without `limit` ``.
    pub(super) fn received(moment: &Moment<'_, '_>, clause: &str) -> Self {
        let when = match moment.call() {
            Some(_) => When::Behind,
            None => When::BeforeFirst,
        };
        Self {
            when: Some(when),
            ..Self::said(moment, clause.to_owned())
        }
    }

    /// What is said of a call as a whole, such as `` `authorization` is passed on to `files` now ``.
    pub(super) fn said(moment: &Moment<'_, '_>, what: String) -> Self {
        let (baseline, current) = moment.numbers();
        Self {
            baseline,
            current,
            tool: moment.call().map(ToolCall::full_name),
            named: moment.call().map(|it| it.tool.clone()),
            what,
            when: None,
            was: None,
            now: None,
            fails: false,
            standing: Standing::Cause,
            rows: Vec::new(),
        }
    }

    /// A place where the arguments of a call differ, given `` `files` received `find` ``.
    pub(super) fn of_argument(
        moment: &Moment<'_, '_>,
        received: &str,
        difference: &ArgumentDifference,
    ) -> Self {
        let place = difference.path.trim_start_matches('/');
        let place = place.replace("~1", "/").replace("~0", "~");
        let clause = match (&difference.was, &difference.now) {
            (Some(_), None) => format!("{received} without `{place}`"),
            (None, Some(_)) => format!("{received} with a new `{place}`"),
            _ if difference.worded => format!("{received} with `{place}` reworded"),
            _ => format!("{received} with a different `{place}`"),
        };
        Self {
            was: difference.was.clone(),
            now: difference.now.clone(),
            ..Self::received(moment, &clause)
        }
    }

    /// A header that is passed on now, or was; it fails where it was not.
    pub(super) fn of_header(moment: &Moment<'_, '_>, header: &UpstreamHeader) -> Self {
        let UpstreamHeader { server, name, .. } = header;
        let what = match (&header.was, &header.now) {
            (None, _) => format!("`{name}` is passed on to `{server}` now"),
            (_, None) => format!("`{name}` is no longer passed on to `{server}`"),
            _ => format!("`{name}` is passed on to `{server}` with a different value"),
        };
        let shown = |it: &Option<String>| it.as_deref().map(excerpt::of_text);
        Self {
            was: shown(&header.was),
            now: shown(&header.now),
            fails: header.was.is_none(),
            ..Self::said(moment, what)
        }
    }

    /// Where it stands among the rows; what concerns none comes last.
    pub(super) fn first_row(&self) -> usize {
        self.rows.first().copied().unwrap_or(usize::MAX)
    }

    /// The agent's call: its number in the baseline, and in the run.
    pub(super) fn numbers(&self) -> (Option<usize>, Option<usize>) {
        (self.baseline, self.current)
    }

    pub(super) fn reason(&self) -> Reason {
        Reason {
            baseline: self.baseline,
            current: self.current,
            tool: self.tool.clone(),
            expected: self.was.clone(),
            got: self.now.clone(),
            ..Reason::new(
                ReasonKind::Upstream,
                Why::Heard {
                    tool: self.named.clone(),
                    when: self.when,
                    said: self.what.clone(),
                },
            )
        }
    }

    /// `fails` is whether the run failed for it.
    pub(super) fn change(&self, fails: bool) -> Change {
        Change {
            baseline: self.baseline,
            current: self.current,
            tool: self.tool.clone(),
            was: self.was.clone(),
            now: self.now.clone(),
            fails,
            ..Change::new(
                ChangeKind::Upstream,
                What::Heard {
                    when: self.when,
                    said: self.what.clone(),
                },
            )
        }
    }
}

/// `` `files` received `write` 2 times, 1 before ``: how often a tool was called, given one of its calls.
pub(super) fn received_times(call: &Call<'_>, before: usize, now: usize) -> String {
    let received = received(call);
    let times = |count: usize| match count {
        1 => String::new(),
        _ => format!(" {count} times"),
    };
    match (before, now) {
        (_, 0) => {
            let named = call.named();
            let (server, tool) = (named.server, named.tool);
            format!("`{server}` did not receive `{tool}`{}", times(before))
        }
        (0, _) => format!("{received}{}, and did not before", times(now)),
        (_, 1) => format!("{received} once, {before} times before"),
        _ => format!("{received} {now} times, {before} before"),
    }
}

/// `` `files` received `find` ``.
pub(super) fn received(call: &Call<'_>) -> String {
    let named = call.named();
    format!("`{}` received `{}`", named.server, named.tool)
}
