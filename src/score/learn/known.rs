//! Known variation of an accepted trajectory, carried over to a later recording of the same scenario.
//!
//! Two takes of a new recording may happen to agree where earlier ones did not. Forgetting what these have shown would let the next
//! comparison fail for nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::by_hand::learned::{NOTHING, place_texts};
use crate::ids::binding::at;
use crate::response::beside;
use crate::text::counted::Counted;
use crate::text::key;
use crate::text::token::{LONG, Token, pieces, tokens};
use crate::text::variation::may_be;
use crate::values::kind::{is_of_kind, reduced};
use crate::values::path::{covers_path, value_at};
use model::{
    Answer, Comparison, Difference, Learned, Outcome, Pair, Row, TokenKind, ToolCall, Trajectory,
    Upstream, UpstreamLane, UpstreamRow, Variation, Varying, VaryingArgument, VaryingToken,
};

/// Adds to a new recording what the accepted trajectory knows to vary in answers to requests that have not changed. `comparison` is that of
/// the accepted trajectory with the recording.
pub fn carry_over(accepted: &Trajectory, recorded: &mut Trajectory, comparison: &Comparison) {
    let learned = {
        let (before, now) = (calls(accepted), calls(recorded));
        let known: BTreeMap<usize, &Learned> =
            accepted.learned.iter().map(|it| (it.call, it)).collect();
        let mut learned: BTreeMap<usize, Learned> = (recorded.learned.iter().cloned())
            .map(|it| (it.call, it))
            .collect();
        for pair in asked_the_same(comparison) {
            let sides = (
                before.get(pair.baseline.wrapping_sub(1)),
                now.get(pair.current.wrapping_sub(1)),
            );
            let (Some(known), (Some(was), Some(is))) = (known.get(&pair.baseline), sides) else {
                continue;
            };
            let (Outcome::Answer(was), Outcome::Answer(is)) = (&was.outcome, &is.outcome) else {
                continue;
            };
            let own = learned.remove(&pair.current);
            let differences = &pair.response.differences;
            let merged = merge(pair.current, (known, was), (own, is), differences);
            learned.extend(merged.map(|it| (it.call, it)));
        }
        learned.into_values().collect()
    };
    recorded.learned = learned;
    if let (Some(was), Some(is), Some(compared)) = (
        &accepted.upstream,
        &mut recorded.upstream,
        &comparison.upstream,
    ) {
        behind(was, is, compared);
    }
}

/// Keeps what is known of answers true of texts in which something was replaced since: `before` is the same trajectory, as it was learned of.
pub fn follow(before: &Trajectory, replaced: &mut Trajectory) {
    let mut learned = std::mem::take(&mut replaced.learned);
    let (was, is) = (calls(before), calls(replaced));
    for known in &mut learned {
        let at = known.call.wrapping_sub(1);
        let (Some(was), Some(is)) = (was.get(at), is.get(at)) else {
            continue;
        };
        if let (Outcome::Answer(was), Outcome::Answer(is)) = (&was.outcome, &is.outcome)
            && was != is
        {
            let moved = known.varies.iter().filter_map(|it| moved(it, was, is));
            known.varies = moved.collect();
        }
    }
    replaced.learned = learned;
}

/// The pairs whose request has not changed.
fn asked_the_same(comparison: &Comparison) -> impl Iterator<Item = &Pair> {
    let pairs = comparison.rows.iter().filter_map(Row::pair);
    pairs.filter(|it| it.request.similarity >= 1.0 && it.request.differences.is_empty())
}

fn calls(of: &Trajectory) -> Vec<&ToolCall> {
    of.calls().collect()
}

/// What is known of an answer after both; `None` where that is nothing.
fn merge(
    call: usize,
    (known, was): (&Learned, &Answer),
    (own, is): (Option<Learned>, &Answer),
    differences: &[Difference],
) -> Option<Learned> {
    let own = own.unwrap_or(Learned {
        call,
        takes: 1,
        ..Learned::default()
    });
    // Another answer than the known one has been received only as often as it was now.
    let takes = if differences.is_empty() {
        known.takes.max(own.takes)
    } else {
        own.takes
    };
    let mut varies: Vec<Varying> = (known.varies.iter())
        .filter_map(|it| moved(it, was, is))
        .filter_map(|it| renewed(it, is, differences))
        .collect();
    add(&mut varies, own.varies);
    (takes >= 2 || !varies.is_empty()).then_some(Learned {
        call,
        takes,
        varies,
        odd: own.odd,
        repeats: own.repeats,
        beside: beside::together([&known.beside, &own.beside]),
    })
}

/// What is known of a place after an answer that had there what was not to be expected: what earlier takes had is past. `None` where it is a
/// value of another kind.
fn renewed(mut it: Varying, is: &Answer, differences: &[Difference]) -> Option<Varying> {
    let depth = |path: &str| path.split('/').count();
    let others: Vec<Value> = (differences.iter())
        .filter(|other| covers_path(&it.path, &other.path) && depth(&it.path) == depth(&other.path))
        .filter_map(|other| at(is, &other.path))
        .collect();
    if others.is_empty() {
        return Some(it);
    }
    if it.by == Variation::Tokens {
        let texts = place_texts(&it, is)?;
        if let [text] = texts.as_slice() {
            let now = Counted::new(tokens(text));
            for part in &mut it.parts {
                let span = now
                    .span(part)
                    .filter(|_| part.only() == Some(TokenKind::Id));
                if let Some(span) = span {
                    part.seen = now.tokens[span]
                        .iter()
                        .map(|it| it.text.to_owned())
                        .collect();
                }
            }
        }
        return Some(it);
    }
    // Of an element of a list, the others are as they were.
    if !it.path.contains('*') {
        let fits = |other: &Value| it.seen.iter().any(|seen| is_of_kind(seen, other));
        if !it.seen.is_empty() && !others.iter().any(fits) {
            return None;
        }
        it.seen.clear();
        it.offsets.clear();
    }
    it.seen.extend(others.iter().map(reduced));
    Some(it)
}

/// Adds places to those that are known, each place once and nothing beneath another.
pub(super) fn add(varies: &mut Vec<Varying>, others: Vec<Varying>) {
    for it in others {
        if let Some(known) = varies.iter_mut().find(|known| known.path == it.path) {
            widen(known, it);
        } else if !varies.iter().any(|known| is_beneath(&it.path, known)) {
            varies.push(it);
        }
    }
    let all = varies.clone();
    varies.retain(|it| {
        !all.iter()
            .any(|above| above.path != it.path && is_beneath(&it.path, above))
    });
    varies.sort_by(|a, b| a.path.cmp(&b.path));
}

/// Whether what varies at a place covers all beneath it, and the path leads there.
fn is_beneath(path: &str, above: &Varying) -> bool {
    let is_all = matches!(above.by, Variation::SameType | Variation::Anything);
    is_all && covers_path(&above.path, path)
}

/// Whether one trajectory's knowledge of an answer covers each place that another's has.
pub(crate) fn covers(known: &Learned, own: &Learned) -> bool {
    let grew = |it: &&Varying| it.by == Variation::Grew;
    own.varies.iter().all(|it| {
        let mut all = known.varies.iter();
        all.any(|known| known.path == it.path || is_beneath(&it.path, known))
            || known.varies.iter().filter(grew).any(|list| {
                let place = in_element(&it.path, list);
                let mut all = known.varies.iter();
                place.is_some() && all.any(|it| in_element(&it.path, list) == place)
            })
    })
}

/// A place within an element of a list, whichever it is: where a list grew, what was the last element is another one each time.
fn in_element<'p>(path: &'p str, list: &Varying) -> Option<&'p str> {
    let inner = path.strip_prefix(list.path.as_str())?.strip_prefix('/')?;
    Some(inner.split_once('/').map_or("", |it| it.1))
}

/// What of the words that vary in a text is not known to vary there; `None` where all of it is, or is said of more than words.
pub(super) fn news(own: &Varying, known: &Learned) -> Option<Varying> {
    let mut parts = own.parts.clone();
    for it in known.varies.iter().filter(|it| it.path == own.path) {
        if it.by != Variation::Tokens {
            return None;
        }
        parts.retain(|own| !it.parts.iter().any(|it| meet(it, own)));
    }
    (!parts.is_empty()).then(|| Varying {
        parts,
        ..own.clone()
    })
}

/// Whether two tokens of one text, or what stands between tokens, are at the same place.
fn meet(a: &VaryingToken, b: &VaryingToken) -> bool {
    let span = |it: &VaryingToken| it.token..it.token.saturating_add(it.tokens.max(1));
    span(a).start < span(b).end && span(b).start < span(a).end
}

/// Adds what else varies at the same place.
fn widen(known: &mut Varying, own: Varying) {
    if (known.by, own.by) == (Variation::Tokens, Variation::Tokens) {
        let (tokens, others) = (&mut known.parts, &own.parts);
        // What was learned of this very text is right about it. What is known of an earlier one is added where it says nothing.
        let mut all: Vec<VaryingToken> = (others.iter())
            .map(|it| {
                let same = tokens.iter().find(|known| {
                    (known.token, known.tokens) == (it.token, it.tokens) && known.may_be_as(it)
                });
                same.unwrap_or(it).clone()
            })
            .collect();
        all.extend(
            (tokens.iter())
                .filter(|it| !others.iter().any(|own| meet(it, own)))
                .cloned(),
        );
        all.sort_by_key(|it| it.token);
        *tokens = all;
    } else if width(own.by) > width(known.by) {
        *known = own;
    }
}

/// How much may stand in a place.
pub(super) fn width(by: Variation) -> u8 {
    match by {
        Variation::Tokens => 0,
        Variation::AtLeast => 1,
        Variation::Grew => 2,
        Variation::Row => 3,
        Variation::AnyOrder => 4,
        Variation::AnyElements => 5,
        Variation::SameType => 6,
        Variation::Anything => 7,
    }
}

/// Whether a place that varies in another version's answer is one of this answer too, and what varies there is more than time.
pub fn varies_beyond_time(varying: &Varying, answer: &Answer) -> bool {
    let key = varying.path.rsplit('/').next().unwrap_or_default();
    let is_time = match varying.by {
        Variation::Tokens => varying.parts.iter().all(|token| {
            let kind = token.only();
            let is_of_clock =
                |it| matches!(it, TokenKind::Time | TokenKind::Duration | TokenKind::Ago);
            !token.offsets.is_empty() || kind.is_some_and(is_of_clock)
        }),
        _ => !varying.offsets.is_empty() || key::is_duration(key) || key::is_age(key),
    };
    !is_time && place_texts(varying, answer).is_some()
}

/// A place of the accepted answer as a place of the new one; `None` where the new one has no such.
fn moved(it: &Varying, was: &Answer, is: &Answer) -> Option<Varying> {
    let comes_and_goes = it.heard.iter().any(|it| it == NOTHING);
    if it.by != Variation::Tokens {
        let is_there = comes_and_goes || place_texts(it, is).is_some();
        return is_there.then(|| it.clone());
    }
    let (before, now) = (place_texts(it, was)?, place_texts(it, is)?);
    let ([before], [now]) = (before.as_slice(), now.as_slice()) else {
        // Of several texts, the tokens are counted alike in all.
        return (!now.is_empty()).then(|| it.clone());
    };
    let parts = moved_tokens(&it.parts, before, now);
    (!parts.is_empty()).then(|| Varying {
        parts,
        ..it.clone()
    })
}

/// Tokens of a text as tokens of a later one: those before the first difference, and those after the last.
///
/// They are counted in pieces, of which an id has more or fewer each time: an id is looked for as a whole, unless only a part of one varies.
fn moved_tokens(varying: &[VaryingToken], before: &str, now: &str) -> Vec<VaryingToken> {
    if before == now {
        return varying.to_vec();
    }
    if before.len().max(now.len()) > LONG {
        return Vec::new();
    }
    let whole = Counted::new(tokens(before));
    let spans: Option<Vec<_>> = varying.iter().map(|it| whole.span(it)).collect();
    let (before, now, spans) = if let Some(spans) = spans {
        (whole, Counted::new(tokens(now)), spans)
    } else {
        let before = Counted::new(pieces(before));
        let spans: Vec<_> = varying.iter().filter_map(|it| before.span(it)).collect();
        (before, Counted::new(pieces(now)), spans)
    };
    if spans.len() != varying.len() {
        return Vec::new();
    }
    let may_stand = |at: usize, there: &Token<'_>| {
        varying.iter().zip(&spans).any(|(it, span)| {
            let is_one = it.only().is_some() && span.len() == 1;
            span.contains(&at) && (!is_one || may_be(it, there, 1))
        })
    };
    let fits = |at: usize, there: usize| {
        let there = &now.tokens[there];
        before.tokens[at].text == there.text || may_stand(at, there)
    };
    let (ends, now_ends) = (before.tokens.len(), now.tokens.len());
    let shorter = ends.min(now_ends);
    let same = (0..shorter).take_while(|at| fits(*at, *at)).count();
    let after = (0..shorter - same)
        .take_while(|back| fits(ends - 1 - back, now_ends - 1 - back))
        .count();
    let moved = varying.iter().zip(&spans).filter_map(|(it, span)| {
        let start = if span.end <= same {
            span.start
        } else if span.start >= ends - after {
            (span.start + now_ends).checked_sub(ends)?
        } else {
            return None;
        };
        let (token, tokens) = now.counted(start..start + span.len())?;
        Some(VaryingToken {
            token,
            tokens,
            ..it.clone()
        })
    });
    moved.collect()
}

/// The same for what reached the servers behind the one under test.
fn behind(was: &UpstreamLane, is: &mut UpstreamLane, compared: &Upstream) {
    let same = compared.rows.iter().filter(|it| it.differences.is_empty());
    let pairs: BTreeMap<usize, usize> = same
        .map(UpstreamRow::calls)
        .filter_map(|(baseline, current)| baseline.zip(current))
        .collect();
    let varies = was.varies.iter().filter_map(|it| {
        let call = *pairs.get(&it.call)?;
        let arguments = &is.calls.get(call.checked_sub(1)?)?.call.arguments;
        let is_there = value_at(arguments, &it.path).is_some();
        (is_there || it.may_lack).then(|| VaryingArgument { call, ..it.clone() })
    });
    let varies: Vec<VaryingArgument> = varies.collect();
    for it in varies {
        let is_it = |known: &VaryingArgument| (known.call, &known.path) == (it.call, &it.path);
        match is.varies.iter_mut().find(|known| is_it(known)) {
            Some(known) => known.may_lack |= it.may_lack,
            None => is.varies.push(it),
        }
    }
    is.varies.sort();
    let answers = (was.other_answers.iter()).filter_map(|it| pairs.get(it).copied());
    let answers: BTreeSet<usize> = answers.chain(is.other_answers.iter().copied()).collect();
    is.other_answers = answers.into_iter().collect();
    is.add_irregular(&was.irregular);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Counted, covers, moved_tokens};
    use crate::text::clock::Clock;
    use crate::text::token::tokens;
    use crate::text::variation::{How, compare};
    use model::{Learned, TokenKind, Variation, Varying, VaryingToken};

    /// That the ids of a text vary.
    fn ids(text: &str) -> Vec<VaryingToken> {
        let counted = Counted::new(tokens(text));
        let ids = (0..counted.tokens.len()).filter(|it| counted.tokens[*it].kind == TokenKind::Id);
        let varying = ids.filter_map(|at| {
            let (token, tokens) = counted.counted(at..at + 1)?;
            Some(VaryingToken::one(token, tokens, TokenKind::Id))
        });
        varying.collect()
    }

    #[test]
    fn what_varies_in_the_last_element_of_a_list_that_grew_is_known_of_the_next() {
        let learned = |by: Variation, path: &str| Learned {
            varies: vec![
                Varying::new("/list".to_owned(), by),
                Varying::new(path.to_owned(), Variation::SameType),
            ],
            ..Learned::default()
        };
        for (by, known, own, is_covered) in [
            (Variation::Grew, "/list/3/id", "/list/5/id", true),
            (Variation::Grew, "/list/3", "/list/5", true),
            (Variation::Grew, "/list/3/id", "/list/5/name", false),
            (Variation::Grew, "/list/3/id", "/other/5/id", false),
            (Variation::AnyOrder, "/list/3/id", "/list/5/id", false),
        ] {
            let (known, own) = (learned(by, known), learned(by, own));
            assert_eq!(covers(&known, &own), is_covered, "{known:?}, {own:?}");
        }
    }

    proptest! {
        /// Letters and digits alternate in each id in another way, so that it has another number of pieces.
        #[test]
        fn what_is_known_of_an_id_holds_for_the_next_one(
            (was, is, then) in ("[0-9a-f]{10}", "[0-9a-f]{10}", "[0-9a-f]{10}"),
            (before, after) in ("(order |ord_|)", "( is open|, 3 left|)"),
        ) {
            let text = |id: &str| format!("{before}{id}{after}");
            let known = ids(&text(&was));
            prop_assume!(!known.is_empty());
            let moved = moved_tokens(&known, &text(&was), &text(&is));
            let clock = Clock::still();
            let how = How { varying: &moved, ..How::plain(&clock) };
            prop_assert_eq!(compare(&text(&is), &text(&then), &how), [], "{:?}", moved);
        }
    }
}
