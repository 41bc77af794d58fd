//! What the sentence of a verdict's reason says: of which change it speaks, and what it tells better than that.

use model::comparison::{
    ANSWERED_OTHERWISE, ELEMENT_OF, ELEMENTS_OF, FAILED, HAD_ANOTHER_RESULT, INSTEAD_OF,
};
use model::published::result::{
    CauseCall, Change, ChangeKind, Comparison, Reason, ReasonKind, Row,
};

/// The change that a reason is about: the one whose values it quotes, else the first of its calls that fails.
pub(super) fn change_of<'c>(comparison: &'c Comparison, reason: &Reason) -> Option<&'c Change> {
    let numbers = (reason.baseline, reason.current);
    let fits = |it: &&Change| {
        let is_fit = match reason.kind {
            ReasonKind::ServerRegression => {
                matches!(
                    it.kind,
                    ChangeKind::Answer | ChangeKind::Error | ChangeKind::Addition
                )
            }
            ReasonKind::Upstream => {
                it.kind == ChangeKind::Upstream && reason.text.ends_with(&it.what.to_string())
            }
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
    let here = || comparison.changes.iter().filter(fits);
    let quoted = here().find(|it| (&it.was, &it.now) == (&reason.expected, &reason.got));
    quoted.or_else(|| here().find(|it| it.fails))
}

/// The calls of the baseline that a change of the catalogue refuses.
pub(super) fn refused(comparison: &Comparison, reason: &Reason) -> Vec<CauseCall> {
    let drift = comparison.drift.iter().filter(|it| {
        it.what == reason.text
            || (it.breaking && reason.text.contains(&format!("`{}`", it.tool)))
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
    if !matches!(
        reason.kind,
        ReasonKind::ServerRegression | ReasonKind::EffectChange
    ) {
        return None;
    }
    let (tool, what) = parts(&reason.text, row)?;
    if let Some(message) = what.strip_prefix(FAILED) {
        return Some(Better::Failed(message.to_owned()));
    }
    let change = what
        .strip_prefix(ANSWERED_OTHERWISE)
        .or_else(|| what.strip_prefix(HAD_ANOTHER_RESULT))?;
    // What a generalised change is about stands in back quotes after one word: "every `tools/*/name` …", "3 of 5 `name` …".
    let (end, _) = change.match_indices('`').nth(1)?;
    let (place, rest) = change.split_at(end + 1);
    is_generalised(change).then(|| {
        let said = format!("{place} of `{tool}`{rest}");
        Better::Generalised(said, rest.contains(INSTEAD_OF))
    })
}

fn is_generalised(change: &str) -> bool {
    let begins = change.split('`').next().unwrap_or_default().trim_end();
    let begins = begins.strip_prefix("at least ").unwrap_or(begins);
    let of_list = [ELEMENT_OF, ELEMENTS_OF];
    let begins = begins.strip_suffix(" the").unwrap_or(begins);
    let of_list = of_list.iter().find_map(|it| begins.strip_suffix(it));
    let begins = of_list.unwrap_or(begins).trim_end();
    begins == "every" || begins.split(" of ").all(|it| it.parse::<usize>().is_ok())
}

/// The tool and what is said of it, where the sentence begins with a call: `call 3 (now 4), mcp__p__t, …`.
fn parts<'r>(text: &'r str, row: Option<&Row>) -> Option<(String, &'r str)> {
    let (call, rest) = text.split_once(", ")?;
    let call = call.strip_prefix("new ").unwrap_or(call);
    let number = call.strip_prefix("call ")?;
    if !number.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let (named, what) = rest.split_once([',', ' '])?;
    let what = what.trim_start();
    let tool = row.map_or_else(|| named.to_owned(), Row::tool_name);
    // The label of the call goes with its tool's name.
    let label = row.and_then(|it| it.label.as_deref());
    let rest = label.and_then(|it| what.strip_prefix("→ ")?.strip_prefix(it));
    let what = rest.map_or(what, |it| it.trim_start_matches(',').trim_start());
    Some((tool, what))
}

/// The sentence without the number of its call, which differs between scenarios: ``` `search` was not made ```.
pub(super) fn without_number(text: &str, row: Option<&Row>) -> String {
    match parts(text, row) {
        Some((tool, what)) => format!("`{tool}` {what}"),
        None => text.to_owned(),
    }
}
