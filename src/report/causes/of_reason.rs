//! The change that a reason of the verdict speaks of, and what the reason tells better than that.

use model::published::result::{
    Answered, CauseCall, Change, ChangeKind, Comparison, Reason, ReasonKind, Row, What, Why,
};

/// The change that a reason is about, and its place in the list: the one whose values it quotes, else the first of its calls that fails.
pub(super) fn change_of<'c>(
    comparison: &'c Comparison,
    reason: &Reason,
) -> Option<(usize, &'c Change)> {
    let numbers = (reason.baseline, reason.current);
    let fits = |(_, it): &(usize, &Change)| {
        let is_fit = match reason.kind {
            ReasonKind::ServerRegression => {
                matches!(
                    it.kind,
                    ChangeKind::Answer | ChangeKind::Error | ChangeKind::Addition
                )
            }
            ReasonKind::Upstream => match (&reason.why, &it.what) {
                (Why::Heard { said, .. }, What::Described(what)) => said == what,
                _ => false,
            },
            ReasonKind::Slower => it.kind == ChangeKind::Slower,
            ReasonKind::Tokens => it.kind == ChangeKind::Tokens,
            ReasonKind::EffectChange | ReasonKind::Expectation => !matches!(
                it.kind,
                ChangeKind::Drift | ChangeKind::Slower | ChangeKind::Tokens | ChangeKind::Upstream
            ),
            ReasonKind::Match | ReasonKind::Drift | ReasonKind::Threshold | ReasonKind::Strict => {
                false
            }
        };
        is_fit && (it.baseline, it.current) == numbers
    };
    let here = || comparison.changes.iter().enumerate().filter(fits);
    let quoted = here().find(|(_, it)| (&it.was, &it.now) == (&reason.expected, &reason.got));
    quoted.or_else(|| here().find(|(_, it)| it.fails))
}

/// The calls of the baseline that a change of the catalogue refuses.
pub(super) fn refused(comparison: &Comparison, reason: &Reason) -> Vec<CauseCall> {
    let (said, tools) = drifted(reason);
    let drift = comparison.drift.iter().filter(|it| {
        it.what == said
            || (it.breaking && tools.contains(&it.tool))
            || (it.breaking && comparison.reasons.len() == 1)
    });
    let numbers = drift.flat_map(|it| &it.refused);
    numbers
        .map(|number| {
            let mut rows = comparison.rows.iter();
            let row = rows.find(|it| it.baseline.as_ref().is_some_and(|it| it.number == *number));
            let current = row.and_then(|it| it.current.as_ref());
            CauseCall::new(Some(*number), current.map(|it| it.number))
        })
        .collect()
}

/// What the verdict says better than the change it quotes.
pub(super) enum Better {
    /// The message of a call that failed.
    Failed(String),
    /// Many places that changed in one way, and whether the sentence has what they were and are in it.
    Generalised(String, bool),
}

pub(super) fn said_better(reason: &Reason, row: Option<&Row>) -> Option<Better> {
    match &reason.why {
        Why::Failed(message) => Some(Better::Failed(message.clone())),
        Why::AnsweredOtherwise(Answered::Many {
            places,
            became,
            has_values,
        })
        | Why::OtherResult(Answered::Many {
            places,
            became,
            has_values,
        }) => {
            let tool = row.map(Row::tool_name).or_else(|| reason.tool.clone())?;
            let said = format!("{places} of `{tool}` {became}");
            Some(Better::Generalised(said, *has_values))
        }
        _ => None,
    }
}

/// What a reason says of the catalogue, and of which tools.
pub(super) fn drifted(reason: &Reason) -> (&str, &[String]) {
    match &reason.why {
        Why::Drifted { said, tools } => (said, tools),
        Why::Described(said) => (said, &[]),
        _ => ("", &[]),
    }
}
