//! What varies in the wording of one text between takes, token by token.

use std::ops::Range;

use crate::model::learned::{StandsFor, TokenKind, Variation, VaryingToken};
use crate::score::lists::edits;
use crate::score::text::excerpt;
use crate::score::text::made_up;
use crate::score::text::token::{LONG, Token, tokens};

/// The most texts of one place that are kept for people.
const EXAMPLES: usize = 3;

/// How several texts of one place vary; `None` where they are equal apart from white space.
pub(super) fn learn(texts: &[&str]) -> Option<Variation> {
    if texts.iter().any(|it| it.len() > LONG) {
        let mut same = texts.iter().map(|it| it.split_whitespace());
        let first = same.next()?;
        let is_same = same.all(|it| it.eq(first.clone()));
        return (!is_same).then_some(Variation::SameType);
    }
    let takes: Vec<Vec<Token<'_>>> = texts.iter().map(|it| tokens(it)).collect();
    let first = takes.first()?;
    if let Some(kind) = only_kind(&takes) {
        let is_same = keys(&takes).windows(2).all(|it| it[0] == it[1]);
        return (!is_same).then(|| Variation::Tokens(vec![whole(&takes, kind)]));
    }
    let keys = keys(&takes);
    let partners: Vec<Vec<Option<usize>>> = (keys.iter())
        .map(|other| {
            let mut partner = vec![None; first.len()];
            for (i, j) in edits::common(&keys[0], other) {
                partner[i] = Some(j);
            }
            partner
        })
        .collect();
    let mut stays: Vec<bool> = (0..first.len())
        .map(|at| partners.iter().all(|it| it[at].is_some()))
        .collect();
    keep_generated_words_whole(&takes, &partners, &mut stays);
    let common = words(first)
        .filter(|it| stays[it.clone()].iter().all(|it| *it))
        .count();
    let longest = takes.iter().map(|it| words(it).count()).max().unwrap_or(0);
    if 2 * common < longest {
        return Some(Variation::SameType);
    }
    let varying = stretches(&takes, &partners, &stays);
    (!varying.is_empty()).then_some(Variation::Tokens(varying))
}

fn keys(takes: &[Vec<Token<'_>>]) -> Vec<Vec<u64>> {
    let keys = takes.iter().map(|it| it.iter().map(Token::key));
    keys.map(Iterator::collect).collect()
}

/// The kind that all texts are one token of, where that is more specific than to say that the text varies: a generated id, a time, a number.
fn only_kind(takes: &[Vec<Token<'_>>]) -> Option<TokenKind> {
    let all: Vec<&[Token<'_>]> = takes.iter().map(Vec::as_slice).collect();
    // A text that is a single value counts as an id only if it looks like one.
    if takes.iter().any(|it| is_id(it)) && is_one_id(&all) {
        return Some(TokenKind::Id);
    }
    let kinds: Option<Vec<TokenKind>> = (takes.iter())
        .map(|it| match it.as_slice() {
            [only] => Some(only.kind),
            _ => None,
        })
        .collect();
    let kinds = kinds?;
    let first = *kinds.first()?;
    // Ids that are not all of one sort are learned like any other text.
    let is_specific = !matches!(first, TokenKind::Word | TokenKind::Sign | TokenKind::Id);
    (is_specific && kinds.iter().all(|it| *it == first)).then_some(first)
}

fn whole(takes: &[Vec<Token<'_>>], kind: TokenKind) -> VaryingToken {
    VaryingToken {
        token: 1,
        tokens: pieces(&takes[0]),
        stands_for: StandsFor::One(kind),
        examples: examples(takes.iter().map(|it| said(it))),
    }
}

/// Whether the tokens that vary are all that a text consists of.
pub(super) fn is_whole(text: &str, varying: &VaryingToken) -> bool {
    varying.token == 1 && varying.tokens == pieces(&tokens(text))
}

/// How many pieces some tokens are made of, as baselines count them.
fn pieces(tokens: &[Token<'_>]) -> usize {
    tokens.iter().map(|it| it.pieces).sum()
}

fn is_id(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [only] if only.kind == TokenKind::Id)
}

/// Whether all takes have an id of the same sort in one place, at least one of them unmistakably.
fn is_one_id(takes: &[&[Token<'_>]]) -> bool {
    let runs: Option<Vec<String>> = takes.iter().map(|it| run(it)).collect();
    let Some(runs) = runs else {
        return false;
    };
    let is_surely_id = takes.iter().any(|it| is_id(it))
        || (runs.iter().all(|it| made_up::mixes(it))
            && runs.iter().any(|it| made_up::alternates(it))
            && takes.iter().any(|it| it.len() > 1));
    is_surely_id && runs.iter().all(|it| made_up::may_stand_for(&runs[0], it))
}

/// Tokens without white space between as one text; `None` where there are none.
fn run(tokens: &[Token<'_>]) -> Option<String> {
    let (_, more) = tokens.split_first()?;
    let is_joined = more.iter().all(|it| !it.spaced);
    is_joined.then(|| tokens.iter().map(|it| it.text).collect())
}

/// The ranges of tokens that make one word each: letters and digits without anything between count as one, so that an id is one word.
fn words<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = Range<usize>> + 't {
    let mut start = 0;
    std::iter::from_fn(move || {
        let from = start;
        tokens.get(from)?;
        start += 1;
        while start < tokens.len() && tokens[start].continues(&tokens[start - 1]) {
            start += 1;
        }
        Some(from..start)
    })
}

/// Lets whole runs of letters and digits vary where both a word and a number vary in them. Such a run is generated, so parts that were
/// equal are so by chance.
fn keep_generated_words_whole(
    takes: &[Vec<Token<'_>>],
    partners: &[Vec<Option<usize>>],
    stays: &mut [bool],
) {
    let first = &takes[0];
    for Range { start, end } in words(first) {
        let end = end - 1;
        let of_kind = |kind| (start..=end).any(|it| !stays[it] && first[it].kind == kind);
        let is_generated = of_kind(TokenKind::Word) && of_kind(TokenKind::Number);
        // The same holds where another take has a different number of pieces there.
        let is_cut_otherwise = start < end && (start..=end).any(|it| !stays[it]) && {
            let (before, after) = (start.checked_sub(1), end + 1);
            takes.iter().zip(partners).any(|(take, partner)| {
                let from = before.and_then(|it| partner[it]).map_or(0, |it| it + 1);
                let to = partner.get(after).copied().flatten().unwrap_or(take.len());
                to.saturating_sub(from) != end + 1 - start
            })
        };
        if is_generated || is_cut_otherwise {
            stays[start..=end].fill(false);
        }
    }
}

/// What lies between the tokens that stay, where the takes differ there.
fn stretches(
    takes: &[Vec<Token<'_>>],
    partners: &[Vec<Option<usize>>],
    stays: &[bool],
) -> Vec<VaryingToken> {
    let first = &takes[0];
    let mut varying = Vec::new();
    let mut from = 0;
    let mut before: Vec<usize> = vec![0; takes.len()];
    let ends = (0..first.len())
        .filter(|it| stays[*it])
        .chain([first.len()]);
    for end in ends {
        let at: Vec<usize> = (takes.iter().zip(partners))
            .map(|(take, partner)| partner.get(end).copied().flatten().unwrap_or(take.len()))
            .collect();
        let ranges: Vec<Range<usize>> = (before.iter().zip(&at))
            .map(|(a, b)| *a..(*b).max(*a))
            .collect();
        stretch(takes, from..end, &ranges, &mut varying);
        from = end + 1;
        before = at.iter().map(|it| it + 1).collect();
    }
    varying
}

fn stretch(
    takes: &[Vec<Token<'_>>],
    of_first: Range<usize>,
    ranges: &[Range<usize>],
    varying: &mut Vec<VaryingToken>,
) {
    let pieces_there: Vec<&[Token<'_>]> = (takes.iter().zip(ranges))
        .map(|(take, range)| take.get(range.clone()).unwrap_or_default())
        .collect();
    let first = pieces_there[0];
    let token = pieces(&takes[0][..of_first.start]) + 1;
    if is_one_id(&pieces_there) {
        varying.push(VaryingToken {
            token,
            tokens: pieces(first),
            stands_for: StandsFor::One(TokenKind::Id),
            examples: examples(pieces_there.iter().map(|it| said(it))),
        });
        return;
    }
    let kinds = |piece: &[Token<'_>]| piece.iter().map(|it| it.kind).collect::<Vec<_>>();
    let is_broken = first.windows(2).any(|it| it[1].continues(&it[0]));
    if !is_broken && let Some(found) = one_by_one(&pieces_there, token) {
        varying.extend(found);
        return;
    }
    let mut all: Vec<TokenKind> = pieces_there.iter().flat_map(|it| kinds(it)).collect();
    all.sort_unstable();
    all.dedup();
    // A generated word may happen to have no digits, or no letters, in these takes.
    let joined = pieces_there
        .iter()
        .all(|it| it.windows(2).all(|it| !it[1].spaced));
    let has = |kind: &TokenKind| all.contains(kind);
    let parts = [TokenKind::Word, TokenKind::Number, TokenKind::Id];
    if joined && parts.iter().filter(|it| has(it)).count() > 1 {
        all.extend(parts);
        all.sort_unstable();
        all.dedup();
    }
    varying.push(VaryingToken {
        token,
        tokens: pieces(first),
        stands_for: StandsFor::Run {
            kinds: all,
            joined,
            may_be_empty: pieces_there.iter().any(|it| it.is_empty()),
        },
        examples: examples(pieces_there.iter().map(|it| said(it))),
    });
}

/// What varies token by token, where all takes have as many of the same kinds; ids of one sort may look like a number in one of them.
fn one_by_one(takes: &[&[Token<'_>]], start: usize) -> Option<Vec<VaryingToken>> {
    let first = takes[0];
    if takes.iter().any(|it| it.len() != first.len()) {
        return None;
    }
    let mut varying = Vec::new();
    let mut token = start;
    for (offset, of_first) in first.iter().enumerate() {
        let column: Vec<&[Token<'_>]> = takes.iter().map(|it| &it[offset..=offset]).collect();
        let is_id = is_one_id(&column);
        if !is_id && column.iter().any(|it| it[0].kind != of_first.kind) {
            return None;
        }
        if column.iter().any(|it| it[0].key() != of_first.key()) {
            varying.push(VaryingToken {
                token,
                tokens: of_first.pieces,
                stands_for: one(of_first.kind, is_id),
                examples: examples(column.iter().map(|it| it[0].text.to_owned())),
            });
        }
        token += of_first.pieces;
    }
    Some(varying)
}

/// One token of a kind. Ids that are not all of one sort are any ids.
fn one(kind: TokenKind, is_one_id: bool) -> StandsFor {
    match kind {
        _ if is_one_id => StandsFor::One(TokenKind::Id),
        TokenKind::Id => StandsFor::Run {
            kinds: vec![TokenKind::Id],
            joined: true,
            may_be_empty: false,
        },
        _ => StandsFor::One(kind),
    }
}

/// Tokens as a text.
fn said(piece: &[Token<'_>]) -> String {
    let mut text = String::new();
    for (index, it) in piece.iter().enumerate() {
        if index > 0 && it.spaced {
            text.push(' ');
        }
        text.push_str(it.text);
    }
    excerpt::shorten(&text)
}

fn examples(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    for it in texts {
        let it = if it.is_empty() {
            "nothing".to_owned()
        } else {
            it
        };
        if examples.len() < EXAMPLES && !examples.contains(&it) {
            examples.push(it);
        }
    }
    examples
}
