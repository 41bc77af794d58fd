//! What varies in the wording of one text between takes, token by token.

use std::ops::Range;

use crate::model::learned::{StandsFor, TokenKind, Variation, VaryingToken};

use super::edits;
use super::excerpt;
use super::token::{LONG, Token, tokens};

/// The most that is kept for people of what was heard in one place.
const HEARD: usize = 3;

/// How several texts that say the same vary; `None` where they do not, white space aside.
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
        let is_same = takes.iter().all(|it| it[0].text == first[0].text);
        return (!is_same).then(|| Variation::Tokens(vec![whole(&takes, kind)]));
    }
    let keys: Vec<Vec<u64>> = takes
        .iter()
        .map(|it| it.iter().map(Token::key).collect())
        .collect();
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

/// The kind that all texts are one token of, where that is more telling than to say that the text varies: a generated id, a time, a number.
fn only_kind(takes: &[Vec<Token<'_>>]) -> Option<TokenKind> {
    let kinds: Option<Vec<TokenKind>> = (takes.iter())
        .map(|it| match it.as_slice() {
            [only] => Some(only.kind),
            _ => None,
        })
        .collect();
    let kinds = kinds?;
    let first = *kinds.first()?;
    let telling = first != TokenKind::Word && first != TokenKind::Sign;
    (telling && kinds.iter().all(|it| *it == first)).then_some(first)
}

fn whole(takes: &[Vec<Token<'_>>], kind: TokenKind) -> VaryingToken {
    VaryingToken {
        token: 1,
        tokens: 1,
        stands_for: StandsFor::One(kind),
        heard: heard(takes.iter().map(|it| it[0].text.to_owned())),
    }
}

/// The tokens of a text, where those of letters and digits without anything between count as one: an id is no sentence.
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

/// Where both a word and a number vary in one run of letters and digits, that is generated: what of it was the same is so by chance.
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
        // Or another take has more pieces where this one has few.
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
    let pieces: Vec<&[Token<'_>]> = (takes.iter().zip(ranges))
        .map(|(take, range)| take.get(range.clone()).unwrap_or_default())
        .collect();
    let kinds = |piece: &[Token<'_>]| piece.iter().map(|it| it.kind).collect::<Vec<_>>();
    let same_shape = pieces.iter().all(|it| kinds(it) == kinds(pieces[0]));
    let is_broken = pieces[0].windows(2).any(|it| it[1].continues(&it[0]));
    if same_shape && !is_broken {
        for (offset, token) in pieces[0].iter().enumerate() {
            let differs = |it: &&[Token<'_>]| it[offset].key() != token.key();
            if pieces.iter().any(differs) {
                varying.push(VaryingToken {
                    token: of_first.start + offset + 1,
                    tokens: 1,
                    stands_for: StandsFor::One(token.kind),
                    heard: heard(pieces.iter().map(|it| it[offset].text.to_owned())),
                });
            }
        }
        return;
    }
    let mut all: Vec<TokenKind> = pieces.iter().flat_map(|it| kinds(it)).collect();
    all.sort_unstable();
    all.dedup();
    // A generated word may have come without digits, or without letters, by chance.
    let joined = pieces
        .iter()
        .all(|it| it.windows(2).all(|it| !it[1].spaced));
    let has = |kind: &TokenKind| all.contains(kind);
    if joined && (has(&TokenKind::Word) || has(&TokenKind::Id)) && has(&TokenKind::Number) {
        all.extend([TokenKind::Id, TokenKind::Word]);
        all.sort_unstable();
        all.dedup();
    }
    varying.push(VaryingToken {
        token: of_first.start + 1,
        tokens: of_first.len(),
        stands_for: StandsFor::Run {
            kinds: all,
            joined,
            may_be_empty: pieces.iter().any(|it| it.is_empty()),
        },
        heard: heard(pieces.iter().map(|it| said(it))),
    });
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

fn heard(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut heard: Vec<String> = Vec::new();
    for it in texts {
        let it = if it.is_empty() {
            "nothing".to_owned()
        } else {
            it
        };
        if heard.len() < HEARD && !heard.contains(&it) {
            heard.push(it);
        }
    }
    heard
}
