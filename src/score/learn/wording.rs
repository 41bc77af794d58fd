//! Variation in the wording of one text between takes, token by token.

use std::ops::Range;

use crate::lists::edits;
use crate::text::token::{LONG, Token, span, tokens};
use crate::text::{commas, excerpt, times, watch};
use crate::values::same;
use model::{TokenKind, Variation, VaryingToken};

/// The most texts of one place that are kept for people.
const EXAMPLES: usize = 3;
/// Longer tokens are not kept.
const LONG_TOKEN: usize = 200;

/// How several texts of one place vary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wording {
    pub(super) by: Variation,
    /// The tokens that vary, where it is by tokens.
    pub(super) parts: Vec<VaryingToken>,
    /// See [`Varying::pads`](model::Varying).
    pub(super) pads: bool,
}

/// How several texts of one place vary, given when each was answered, in seconds since 1970; `None` where they are equal apart from white
/// space.
pub(super) fn learn(texts: &[&str], at: &[f64]) -> Option<Wording> {
    let as_a_whole = |by| {
        Some(Wording {
            by,
            parts: Vec::new(),
            pads: false,
        })
    };
    if texts.iter().any(|it| it.len() > LONG) {
        let mut same = texts.iter().map(|it| it.split_whitespace());
        let first = same.next()?;
        let is_same = same.all(|it| it.eq(first.clone()));
        return if is_same {
            None
        } else {
            as_a_whole(Variation::SameType)
        };
    }
    let takes: Vec<Vec<Token<'_>>> = texts.iter().map(|it| tokens(it)).collect();
    let keys: Vec<Vec<u64>> = (takes.iter())
        .map(|it| it.iter().map(Token::key).collect())
        .collect();
    if keys.iter().all(|it| *it == keys[0]) {
        return None;
    }
    if let Some(by) = of_lines(texts) {
        return as_a_whole(by);
    }
    let takes = Takes { texts, at, takes };
    let ranges: Vec<Range<usize>> = takes.takes.iter().map(|it| 0..it.len()).collect();
    if takes.takes.iter().all(|it| it.len() == 1) {
        let column = takes.column(&ranges);
        return Some(Wording {
            by: column
                .as_ref()
                .map_or(Variation::SameType, |_| Variation::Tokens),
            parts: column.into_iter().collect(),
            pads: false,
        });
    }
    let first = &takes.takes[0];
    let mut partners: Vec<Vec<Option<usize>>> = (keys.iter())
        .map(|other| {
            let mut partner = vec![None; first.len()];
            if other.len() == first.len() {
                // As many tokens: each has its partner in its place, if it has one.
                for at in (0..first.len()).filter(|at| keys[0][*at] == other[*at]) {
                    partner[at] = Some(at);
                }
            } else {
                for (i, j) in edits::common(&keys[0], other) {
                    partner[i] = Some(j);
                }
            }
            partner
        })
        .collect();
    let mut stays: Vec<bool> = (0..first.len())
        .map(|at| partners.iter().all(|it| it[at].is_some()))
        .collect();
    let shuffled = takes.shuffled(&stays);
    for it in &shuffled {
        // All of it is there in all takes.
        stays[it.clone()].fill(true);
        for partner in &mut partners {
            it.clone().for_each(|at| partner[at] = Some(at));
        }
    }
    let common = stays.iter().filter(|it| **it).count();
    let longest = takes.takes.iter().map(Vec::len).max().unwrap_or(0);
    if 2 * common < longest {
        return as_a_whole(Variation::SameType);
    }
    let mut parts = takes.stretches(&partners, &stays);
    parts.extend(shuffled.into_iter().map(|it| takes.in_any_order(it)));
    parts.sort_by_key(|it| it.token);
    let pads = takes.pad(&partners, &stays);
    (!parts.is_empty()).then_some(Wording {
        by: Variation::Tokens,
        parts,
        pads,
    })
}

/// How the lines of texts vary where not all have their partners in all takes, in their order.
fn of_lines(texts: &[&str]) -> Option<Variation> {
    let lines: Vec<Vec<u64>> = (texts.iter())
        .map(|it| {
            let lines = it.lines().map(str::trim).filter(|it| !it.is_empty());
            lines.map(same::hash_of).collect()
        })
        .collect();
    let most = lines.iter().map(Vec::len).max()?;
    if most < 2 {
        return None;
    }
    let sorted = |it: &Vec<u64>| {
        let mut it = it.clone();
        it.sort_unstable();
        it
    };
    if lines.iter().all(|it| it.len() == most) {
        let first = sorted(&lines[0]);
        let are_shuffled = lines.iter().all(|it| sorted(it) == first);
        if are_shuffled {
            return Some(Variation::AnyOrder);
        }
        // The latest lines of a log: the first ones are gone, and others have come.
        let slides = lines.windows(2).all(|it| {
            let begins = it[0].iter().position(|line| *line == it[1][0]);
            begins.is_some_and(|at| at > 0 && it[0][at..] == it[1][..most - at])
        });
        return (slides && most > 2).then_some(Variation::AnyElements);
    }
    Some(Variation::AnyElements)
}

/// Whether the tokens that vary are all that a text consists of.
pub(super) fn is_whole(text: &str, varying: &VaryingToken) -> bool {
    varying.token == 1 && varying.tokens == pieces(&tokens(text))
}

/// How many pieces some tokens are made of, as baselines count them.
fn pieces(tokens: &[Token<'_>]) -> usize {
    tokens.iter().map(|it| it.pieces).sum()
}

/// The texts in tokens, and when they were answered.
#[expect(clippy::struct_field_names, reason = "they are the takes themselves")]
struct Takes<'a> {
    texts: &'a [&'a str],
    at: &'a [f64],
    takes: Vec<Vec<Token<'a>>>,
}

impl Takes<'_> {
    /// What lies between the tokens that stay, where the takes differ there.
    fn stretches(&self, partners: &[Vec<Option<usize>>], stays: &[bool]) -> Vec<VaryingToken> {
        let count = self.takes[0].len();
        let mut varying = Vec::new();
        let mut before: Vec<usize> = vec![0; self.takes.len()];
        let ends = (0..count).filter(|it| stays[*it]).chain([count]);
        for end in ends {
            let at: Vec<usize> = (self.takes.iter().zip(partners))
                .map(|(take, partner)| partner.get(end).copied().flatten().unwrap_or(take.len()))
                .collect();
            let ranges: Vec<Range<usize>> = (before.iter().zip(&at))
                .map(|(a, b)| *a..(*b).max(*a))
                .collect();
            self.stretch(&ranges, &mut varying);
            before = at.iter().map(|it| it + 1).collect();
        }
        varying
    }

    fn of<'t>(
        &'t self,
        ranges: &'t [Range<usize>],
    ) -> impl Iterator<Item = &'t [Token<'t>]> + Clone {
        self.takes
            .iter()
            .zip(ranges)
            .map(|(take, range)| &take[range.clone()])
    }

    fn stretch(&self, ranges: &[Range<usize>], varying: &mut Vec<VaryingToken>) {
        if self.of(ranges).all(<[Token<'_>]>::is_empty) {
            return;
        }
        let length = ranges[0].len();
        if ranges.iter().all(|it| it.len() == length) {
            let columns = (0..length).map(|offset| {
                let cells: Vec<Range<usize>> = ranges
                    .iter()
                    .map(|it| it.start + offset..it.start + offset + 1)
                    .collect();
                let keys: Vec<u64> = self.of(&cells).map(|it| it[0].key()).collect();
                let is_same = keys.iter().all(|it| *it == keys[0]);
                if is_same {
                    Some(None)
                } else {
                    self.column(&cells).map(Some)
                }
            });
            if let Some(columns) = columns.collect::<Option<Vec<_>>>() {
                varying.extend(columns.into_iter().flatten());
                return;
            }
        }
        let mut kinds: Vec<TokenKind> = self.of(ranges).flatten().map(|it| it.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let is_joined = |it: &[Token<'_>]| it.iter().skip(1).all(|it| !it.spaced);
        varying.push(VaryingToken {
            may_be: kinds,
            run: true,
            joined: self.of(ranges).all(is_joined),
            may_be_empty: self.of(ranges).any(<[Token<'_>]>::is_empty),
            ..self.token(ranges)
        });
    }

    /// Lists in a line, `docs, cache, api`, that hold the same in all takes, in another order.
    fn shuffled(&self, stays: &[bool]) -> Vec<Range<usize>> {
        let first = &self.takes[0];
        if self.takes.iter().any(|it| it.len() != first.len()) {
            return Vec::new();
        }
        let mut shuffled: Vec<Range<usize>> = Vec::new();
        let mut looked_at = 0;
        for at in (0..first.len()).filter(|at| !stays[*at]) {
            if at < looked_at {
                continue;
            }
            let range = commas::around(self.texts[0], first, at, looked_at);
            looked_at = range.end;
            let of_first = commas::sorted(&first[range.clone()]);
            let is_same = |it: &Vec<Token<'_>>| commas::sorted(&it[range.clone()]) == of_first;
            if of_first.len() > 2 && self.takes.iter().all(is_same) {
                shuffled.push(range);
            }
        }
        shuffled
    }

    fn in_any_order(&self, range: Range<usize>) -> VaryingToken {
        let mut kinds: Vec<TokenKind> = self.takes[0][range.clone()]
            .iter()
            .map(|it| it.kind)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let ranges = vec![range; self.takes.len()];
        VaryingToken {
            may_be: kinds,
            run: true,
            any_order: true,
            ..self.token(&ranges)
        }
    }

    /// One token of each take, if one kind of token stands for all of them.
    fn column(&self, cells: &[Range<usize>]) -> Option<VaryingToken> {
        let kinds: Vec<TokenKind> = self.of(cells).map(|it| it[0].kind).collect();
        let is_run = |text: &str| {
            text.bytes()
                .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
        };
        let kind = if kinds.iter().all(|it| *it == kinds[0]) {
            kinds[0]
        } else if kinds.contains(&TokenKind::Id) && self.of(cells).all(|it| is_run(it[0].text)) {
            TokenKind::Id
        } else {
            return None;
        };
        (kind != TokenKind::Sign).then(|| VaryingToken {
            may_be: vec![kind],
            ..self.token(cells)
        })
    }

    /// What the takes have in one place, with the number of its first token in the first take.
    fn token(&self, ranges: &[Range<usize>]) -> VaryingToken {
        let first = &self.takes[0];
        let texts: Vec<&str> = (self.texts.iter().zip(self.of(ranges)))
            .map(|(text, of)| span(text, of))
            .collect();
        let is_short = texts.iter().all(|it| it.len() <= LONG_TOKEN);
        let times = texts
            .iter()
            .zip(self.at)
            .map(|(text, at)| times::offsets(text, *at));
        let offsets: Vec<i64> = times
            .filter_map(|it| watch::whole(it).into_iter().min_by_key(|it| it.abs()))
            .collect();
        VaryingToken {
            token: pieces(&first[..ranges[0].start]) + 1,
            tokens: pieces(&first[ranges[0].clone()]),
            heard: if is_short {
                Vec::new()
            } else {
                examples(texts.iter().map(|it| excerpt::shorten(it)))
            },
            seen: if is_short {
                texts.iter().map(|it| (*it).to_owned()).collect()
            } else {
                Vec::new()
            },
            offsets: if offsets.len() == texts.len() {
                offsets
            } else {
                Vec::new()
            },
            ..VaryingToken::default()
        }
    }

    /// Whether blanks vary with what varies: several of them are beside it, or their number is another one.
    fn pad(&self, partners: &[Vec<Option<usize>>], stays: &[bool]) -> bool {
        let blanks = |take: usize, at: usize| -> &str {
            let (text, tokens) = (self.texts[take], &self.takes[take]);
            let Some([before, it]) = at.checked_sub(1).and_then(|from| tokens.get(from..=at))
            else {
                return "";
            };
            let gap = span(text, &[*before, *it]);
            gap.get(before.text.len()..gap.len() - it.text.len())
                .unwrap_or_default()
        };
        let is_wide = |gap: &str| gap.len() > 1 && !gap.contains('\n');
        (0..self.takes.len()).any(|take| {
            let mut kept = vec![false; self.takes[take].len()];
            for (at, partner) in partners[take].iter().enumerate() {
                if let Some(partner) = partner.filter(|_| stays[at]) {
                    kept[partner] = true;
                }
            }
            let varies = |at: usize| kept.get(at).is_some_and(|it| !it);
            let beside = (1..kept.len())
                .any(|at| (varies(at) || varies(at - 1)) && is_wide(blanks(take, at)));
            let is_even = self.takes[take].len() == self.takes[0].len();
            beside
                || (is_even
                    && (1..kept.len()).any(|at| {
                        let (was, is) = (blanks(0, at), blanks(take, at));
                        was != is && !was.contains('\n') && !is.contains('\n')
                    }))
        })
    }
}

pub(super) fn examples(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    for it in texts {
        if examples.len() < EXAMPLES && !examples.contains(&it) {
            examples.push(it);
        }
    }
    examples
}
