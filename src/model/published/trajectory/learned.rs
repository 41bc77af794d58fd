//! Checks of what people correct in published trajectories: what was learned of answers, and how long calls took.

use std::collections::BTreeMap;

use crate::{Learned, TokenKind, ToolCall, Variation, Varying, VaryingToken, VolatilePlaces};

/// Whether what people wrote can have been learned of so many calls.
///
/// # Errors
///
/// What is wrong where, and what may stand there instead.
pub(super) fn check(learned: &[Learned], calls: usize) -> Result<(), String> {
    let mut entries = BTreeMap::new();
    for it in learned {
        if !(1..=calls).contains(&it.call) {
            return Err(format!(
                "`learned` is about call {}, and {}",
                it.call,
                there_are(calls)
            ));
        }
        *entries.entry(it.call).or_insert(0) += 1;
        check_one(it).map_err(|problem| format!("`learned`, call {}{problem}", it.call))?;
    }
    match entries.into_iter().find(|(_, count)| *count > 1) {
        Some((call, count)) => Err(format!(
            "`learned` has {count} entries about call {call}: make one of them"
        )),
        None => Ok(()),
    }
}

fn check_one(learned: &Learned) -> Result<(), String> {
    if learned.takes == 0 {
        return Err(": `takes` is 0, but a recorded answer was received at least once".to_owned());
    }
    let mut entries = BTreeMap::new();
    for it in &learned.varies {
        let path = &it.path;
        if !path.starts_with('/') {
            return Err(format!(
                ": the path `{path}` does not begin with `/`: write it as reports do, as `/content/0/json/KEY`, `/content/0/text` \
                 or `/structuredContent/KEY`"
            ));
        }
        *entries.entry(path).or_insert(0) += 1;
        check_place(it).map_err(|problem| format!(", `{path}`: {problem}"))?;
    }
    match entries.into_iter().find(|(_, count)| *count > 1) {
        Some((path, count)) => Err(format!(
            ": {count} entries are about `{path}`: make one of them"
        )),
        None => Ok(()),
    }
}

fn check_place(varying: &Varying) -> Result<(), String> {
    match (varying.by == Variation::Tokens, varying.parts.is_empty()) {
        (true, true) => {
            return Err(
                "it says neither what `may_be` there (`same_type`, `any_order`, `any_elements`, `row`, `grew`, `at_least` or `anything`) nor which `parts` of a \
                 text vary"
                    .to_owned(),
            );
        }
        (false, false) => {
            return Err(
                "it says both what `may_be` there and which `parts` vary: take one of them out"
                    .to_owned(),
            );
        }
        (true, false) | (false, true) => {}
    }
    let mut tokens: Vec<&VaryingToken> = varying.parts.iter().collect();
    tokens.sort_by_key(|it| it.token);
    if let Some(it) = tokens.iter().find(|it| it.may_be.is_empty()) {
        let kinds: Vec<&str> = TokenKind::ALL.iter().map(|it| it.name()).collect();
        return Err(format!(
            "token {} `may_be` of no kind: name some of {}",
            it.token,
            kinds.join(", ")
        ));
    }
    let overlaps = |it: &&[&VaryingToken]| it[0].token.saturating_add(it[0].tokens) > it[1].token;
    match tokens.windows(2).find(overlaps) {
        Some(it) => Err(format!(
            "two entries are about token {}: make one of them",
            it[1].token
        )),
        None => Ok(()),
    }
}

impl From<VolatilePlaces> for Learned {
    /// Nothing of such an answer is known to have been stable, so it counts as received once.
    fn from(it: VolatilePlaces) -> Self {
        let varying = |path| Varying::new(path, Variation::Anything);
        Self {
            call: it.call,
            takes: 1,
            varies: it.paths.into_iter().map(varying).collect(),
            ..Self::default()
        }
    }
}

/// Nor does any of these calls, which are called so.
pub(super) fn check_call_durations<'c>(
    calls: impl Iterator<Item = &'c ToolCall>,
    name: &str,
) -> Result<(), String> {
    let is_negative = |it: &f64| *it < 0.0;
    let wrong = (1..)
        .zip(calls)
        .find_map(|(number, it)| Some((number, it.duration_ms.filter(is_negative)?)));
    match wrong {
        Some((number, it)) => Err(format!(
            "the `duration_ms` of {name} {number} is {it}, and no call takes less than 0 ms"
        )),
        None => Ok(()),
    }
}

/// Which calls there are, for a number that is none of them: `its calls are 1 to 3`.
pub(super) fn there_are(calls: usize) -> String {
    match calls {
        0 => "it has no calls".to_owned(),
        1 => "its only call is 1".to_owned(),
        last => format!("its calls are 1 to {last}"),
    }
}
