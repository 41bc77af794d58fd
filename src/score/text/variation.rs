//! Whether a text says what a recorded one said, where tokens of it stand for others.

use std::collections::HashMap;

use crate::model::learned::{StandsFor, TokenKind, VaryingToken};

use super::clock::Clock;
use super::counted::Counted;
use super::key;
use super::made_up;
use super::token::{LONG, Token, may_have_wholes, pieces, position, span, tokens};

/// The most work that matching a text with one in which tokens vary may be, as a multiple of the texts' tokens.
const PASSES: usize = 32;
/// Ids in several tokens are looked for up to this length.
const LONG_ID: usize = 128;

/// How many bytes around the difference of two long texts are looked at with it: white space stands in durations and times, and a word before
/// them says what they are.
const BESIDE: usize = 64;

/// How a text compares with one in which tokens vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::score) enum Likeness {
    Same,
    /// It differs only in how long something took, or how long ago it was.
    OtherDuration,
    /// It differs: where the two part, as byte positions in each.
    Other {
        b: usize,
        c: usize,
    },
}

/// What stands at one place of the recorded text.
enum Element<'a> {
    Fixed(Token<'a>),
    Varying(&'a StandsFor),
    /// An id, in whose place another of its sort may stand.
    Id(&'a str),
}

/// Where to go on: the element, and whether a duration was excused on the way there.
type Reached = (usize, bool);

/// Whether a text says what a recorded one said, apart from the tokens that vary and times that moved with the clock.
pub(in crate::score) fn compare(
    b: &str,
    c: &str,
    varying: &[VaryingToken],
    clock: &Clock,
) -> Likeness {
    if varying.is_empty() && b.split_whitespace().eq(c.split_whitespace()) {
        return Likeness::Same;
    }
    if b.len().max(c.len()) > LONG {
        return compare_long(b, c, varying, clock);
    }
    if varying.is_empty() {
        return compare_fixed(b, c, clock);
    }
    let (recorded, current) = cut(b, c, varying);
    let elements = elements(b, &recorded, varying);
    let mut work = PASSES * (elements.len() + current.len());
    // The elements that the next token may fall on, and those that a later one may, by its place.
    let mut reached: Vec<Reached> = Vec::new();
    let mut later: HashMap<usize, Vec<Reached>> = HashMap::new();
    let mut furthest = 0;
    reach(&mut reached, 0, false, &elements);
    for (place, token) in current.iter().enumerate() {
        let mut next = Vec::new();
        for &(at, excused) in &reached {
            work = work.saturating_sub(1);
            match elements.get(at) {
                None => {}
                Some(Element::Fixed(fixed)) => {
                    let same = same_token(fixed, token, clock);
                    let is_excused =
                        || is_excused(named(fixed_before(&elements[..at])), fixed, token, clock);
                    if let Some(excuse) = same.or_else(|| is_excused().then_some(true)) {
                        reach(&mut next, at + 1, excused || excuse, &elements);
                    }
                }
                Some(Element::Id(recorded)) => {
                    for end in ends_of_ids(c, &current[place..], recorded) {
                        let places = later.entry(place + end).or_default();
                        push(places, at + 1, excused);
                    }
                }
                Some(Element::Varying(stands_for)) if !may_be(stands_for, token.kind) => {}
                Some(Element::Varying(stands_for)) => {
                    reach(&mut next, at + 1, excused, &elements);
                    let is_joined = current.get(place + 1).is_some_and(|it| !it.spaced);
                    if stands_for.may_go_on(is_joined) {
                        push(&mut next, at, excused);
                    }
                }
            }
        }
        furthest = reached.iter().map(|it| it.0).max().unwrap_or(furthest);
        for (at, excused) in later.remove(&(place + 1)).unwrap_or_default() {
            reach(&mut next, at, excused, &elements);
        }
        if (next.is_empty() && later.is_empty()) || work == 0 {
            return parted(b, c, &recorded, &elements, furthest, Some(token));
        }
        reached = next;
    }
    furthest = reached.iter().map(|it| it.0).max().unwrap_or(furthest);
    let ends = |it: &&(usize, bool)| it.0 == elements.len();
    match reached.iter().filter(ends).map(|it| it.1).min() {
        Some(false) => Likeness::Same,
        Some(true) => Likeness::OtherDuration,
        None => parted(b, c, &recorded, &elements, furthest, None),
    }
}

/// The same where no token varies.
fn compare_fixed(b: &str, c: &str, clock: &Clock) -> Likeness {
    let (recorded, current) = (tokens(b), tokens(c));
    let mut excused = false;
    for at in 0..recorded.len().max(current.len()) {
        let (of_b, of_c) = (recorded.get(at), current.get(at));
        let likeness = match (of_b, of_c) {
            (Some(b), Some(c)) => same_token(b, c, clock).or_else(|| {
                let before = recorded[..at].iter().rev().map(|it| Some(*it));
                is_excused(named(before), b, c, clock).then_some(true)
            }),
            _ => None,
        };
        let Some(excuse) = likeness else {
            let begins = |text: &str, it: Option<&Token<'_>>| {
                it.map_or(text.len(), |it| position(text, it.text))
            };
            return Likeness::Other {
                b: begins(b, of_b),
                c: begins(c, of_c),
            };
        };
        excused |= excuse;
    }
    if excused {
        Likeness::OtherDuration
    } else {
        Likeness::Same
    }
}

/// Whether two texts in which no token varies surely differ, because one has a word where the other has another. It does not cut
/// them into tokens, so false does not mean that they are equal.
pub(in crate::score) fn differ_in_a_word(b: &str, c: &str) -> bool {
    if may_have_wholes(b) || may_have_wholes(c) {
        return false;
    }
    let (mut b, mut c) = (b.split_whitespace(), c.split_whitespace());
    let has_digit = |it: &str| it.bytes().any(|it| it.is_ascii_digit());
    let mut before = "";
    loop {
        match (b.next(), c.next()) {
            (Some(b), Some(c)) if b == c => before = b,
            // Two words with numbers surely differ only if nothing before the number can make it a duration, which may be excused.
            (Some(b), Some(c)) if has_digit(b) && has_digit(c) => {
                return begins_with_its_number(b)
                    && begins_with_its_number(c)
                    && !key::is_duration(before);
            }
            (b, c) => return b.is_some() || c.is_some(),
        }
    }
}

/// Whether a word has one number at most, with nothing before it: `15`, `15th`, `15,`.
fn begins_with_its_number(word: &str) -> bool {
    let rest = word.trim_start_matches(|it: char| it.is_ascii_digit());
    rest.len() < word.len() && !rest.contains(|it: char| it.is_numeric())
}

/// The tokens of both texts; cut in pieces where only a part of an id was learned to vary.
fn cut<'a>(b: &'a str, c: &'a str, varying: &[VaryingToken]) -> (Vec<Token<'a>>, Vec<Token<'a>>) {
    let recorded = Counted::new(tokens(b));
    if varying.iter().all(|it| recorded.is_whole(it)) {
        (recorded.tokens, tokens(c))
    } else {
        (pieces(b), pieces(c))
    }
}

/// Whether a token of this kind may stand there; where words and numbers may, one that is both may, too.
fn may_be(stands_for: &StandsFor, kind: TokenKind) -> bool {
    let mixes = || {
        [TokenKind::Word, TokenKind::Number]
            .iter()
            .all(|it| stands_for.may_be(*it))
    };
    stands_for.may_be(kind) || (kind == TokenKind::Id && mixes())
}

/// After how many tokens an id may end that could stand for a recorded one. Long ones are not looked for within a run.
fn ends_of_ids(text: &str, from: &[Token<'_>], recorded: &str) -> Vec<usize> {
    let more = from.iter().skip(1).take_while(|it| !it.spaced).count();
    let fits = |end: &usize| made_up::may_stand_for(recorded, span(text, &from[..*end]));
    if recorded.len() > LONG_ID {
        return [1, 1 + more].into_iter().filter(fits).collect();
    }
    (1..=1 + more.min(2 * recorded.len()))
        .filter(fits)
        .collect()
}

/// The same for texts too long to be cut into tokens: only what lies between the first and the last difference is.
fn compare_long(b: &str, c: &str, varying: &[VaryingToken], clock: &Clock) -> Likeness {
    let (b_bytes, c_bytes) = (b.as_bytes(), c.as_bytes());
    let is_same = |(b, c): &(&u8, &u8)| b == c;
    let start = b_bytes.iter().zip(c_bytes).take_while(is_same).count();
    let room = b.len().min(c.len()) - start;
    let ends = b_bytes.iter().rev().zip(c_bytes.iter().rev()).take(room);
    let end = ends.take_while(is_same).count();
    // Moved back to a position where no token is cut in two.
    let is_edge = |it: &u8| it.is_ascii_whitespace() || b",[]{}".contains(it);
    let start = b_bytes[..start.saturating_sub(BESIDE)]
        .iter()
        .rposition(is_edge)
        .map_or(0, |it| it + 1);
    let end = end.saturating_sub(BESIDE);
    let after = b_bytes[b.len() - end..]
        .iter()
        .position(is_edge)
        .unwrap_or(end);
    let end = end - after;
    let (of_b, of_c) = (&b[start..b.len() - end], &c[start..c.len() - end]);
    let other = Likeness::Other { b: start, c: start };
    // Varying tokens are numbered from the beginning of the text, so they need the whole text.
    if !varying.is_empty() || of_b.len().max(of_c.len()) > LONG {
        return other;
    }
    match compare(of_b, of_c, &[], clock) {
        Likeness::Other { b, c } => Likeness::Other {
            b: b + start,
            c: c + start,
        },
        likeness => likeness,
    }
}

/// Adds a place, and those that are reached from it without any token.
fn reach(places: &mut Vec<Reached>, at: usize, excused: bool, elements: &[Element<'_>]) {
    push(places, at, excused);
    if let Some(Element::Varying(StandsFor::Run {
        may_be_empty: true, ..
    })) = elements.get(at)
    {
        reach(places, at + 1, excused, elements);
    }
}

fn push(places: &mut Vec<Reached>, at: usize, excused: bool) {
    match places.iter_mut().rev().find(|it| it.0 == at) {
        Some(known) => known.1 &= excused,
        None => places.push((at, excused)),
    }
}

/// Where two texts part: after the elements that came furthest, and before the token that fits none of them.
fn parted(
    b: &str,
    c: &str,
    recorded: &[Token<'_>],
    elements: &[Element<'_>],
    furthest: usize,
    token: Option<&Token<'_>>,
) -> Likeness {
    let of_b = match elements.get(furthest) {
        Some(Element::Fixed(it)) => position(b, it.text),
        Some(Element::Varying(_) | Element::Id(_)) => {
            // What varies stands after the last fixed token before it.
            let before = elements[..furthest].iter().rev().find_map(|it| match it {
                Element::Fixed(it) => Some(position(b, it.text) + it.text.len()),
                Element::Varying(_) | Element::Id(_) => None,
            });
            before
                .or_else(|| recorded.first().map(|it| position(b, it.text)))
                .unwrap_or(0)
        }
        None => b.len(),
    };
    Likeness::Other {
        b: of_b,
        c: token.map_or(c.len(), |it| position(c, it.text)),
    }
}

/// Whether two tokens are the same: `Some(true)` where they differ only in a duration that is excused.
fn same_token(b: &Token<'_>, c: &Token<'_>, clock: &Clock) -> Option<bool> {
    if b.spaced != c.spaced {
        return None;
    }
    match (b.kind, c.kind) {
        _ if b.text == c.text => Some(false),
        (TokenKind::Time, TokenKind::Time) => clock.moved(b.text, c.text).then_some(false),
        (TokenKind::Duration, TokenKind::Duration) if is_brief(b.text) && is_brief(c.text) => {
            Some(true)
        }
        (TokenKind::Ago, TokenKind::Ago) => Some(true),
        _ => None,
    }
}

/// Words before a duration that say that something took so long.
const TAKING: [&str; 4] = ["in", "In", "after", "After"];

/// Whether a duration is one of seconds at most, as work of a server takes. Minutes and hours are also said of journeys and recipes.
fn is_brief(duration: &str) -> bool {
    let unit = duration.trim_start_matches(|it: char| !it.is_alphabetic());
    !unit.starts_with(['h', 'H']) && !unit.starts_with("min") && !duration.contains(['m', 'h'])
        || unit.starts_with("ms")
        || unit.starts_with("mil")
        || unit.starts_with("mic")
}

/// The tokens of some elements, last first; none where one varies.
fn fixed_before<'e, 'a>(
    elements: &'e [Element<'a>],
) -> impl Iterator<Item = Option<Token<'a>>> + use<'e, 'a> {
    elements.iter().rev().map(|it| match it {
        Element::Fixed(it) => Some(*it),
        Element::Varying(_) | Element::Id(_) => None,
    })
}

/// The word that names what comes after some tokens, given last first: `modified` in `modified: 2026-01-02` and in `modified 2026-01-02`.
fn named<'a>(mut before: impl Iterator<Item = Option<Token<'a>>>) -> Option<&'a str> {
    let last = before.next()??;
    let word = match (last.kind, last.text) {
        (TokenKind::Sign, ":" | "=") => before.next()??,
        _ => last,
    };
    (word.kind == TokenKind::Word).then_some(word.text)
}

/// Whether prose says by a word before it that a token is how long something took, or when it was last touched, as the key of a value does.
fn is_excused(name: Option<&str>, b: &Token<'_>, c: &Token<'_>, clock: &Clock) -> bool {
    let Some(name) = name.filter(|_| b.spaced == c.spaced) else {
        return false;
    };
    match (b.kind, c.kind) {
        (TokenKind::Number, TokenKind::Number) => key::is_duration(name),
        (TokenKind::Duration, TokenKind::Duration) => {
            key::is_duration(name) || TAKING.contains(&name)
        }
        (TokenKind::Time, TokenKind::Time) => {
            key::is_age(name) && clock.is_after_recording(b.text, c.text)
        }
        _ => false,
    }
}

fn elements<'a>(
    text: &'a str,
    recorded: &[Token<'a>],
    varying: &'a [VaryingToken],
) -> Vec<Element<'a>> {
    let mut sorted: Vec<&VaryingToken> = varying.iter().collect();
    sorted.sort_by_key(|it| it.token);
    let mut elements = Vec::with_capacity(recorded.len());
    let mut rest = recorded.iter().copied();
    let mut at = 0;
    for it in sorted {
        let start = it.token.saturating_sub(1);
        let end = start.max(at).saturating_add(it.tokens);
        elements.extend(
            until(&mut rest, &mut at, start)
                .into_iter()
                .map(Element::Fixed),
        );
        let stretch = until(&mut rest, &mut at, end);
        elements.push(match &it.stands_for {
            StandsFor::One(TokenKind::Id) if !stretch.is_empty() => {
                Element::Id(span(text, &stretch))
            }
            stands_for => Element::Varying(stands_for),
        });
    }
    elements.extend(rest.map(Element::Fixed));
    elements
}

/// The tokens up to a place that is counted in pieces.
fn until<'a>(
    rest: &mut impl Iterator<Item = Token<'a>>,
    at: &mut usize,
    end: usize,
) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    while *at < end {
        let Some(token) = rest.next() else {
            break;
        };
        *at += token.pieces;
        found.push(token);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Clock, Likeness, compare, compare_long, differ_in_a_word};
    use crate::model::learned::{StandsFor, TokenKind, VaryingToken};

    #[test]
    fn no_duration_is_excused_that_may_be_the_recorded_one() {
        let any = |token, tokens| VaryingToken {
            token,
            tokens,
            stands_for: StandsFor::Run {
                kinds: vec![TokenKind::Word, TokenKind::Duration],
                joined: false,
                may_be_empty: true,
            },
            examples: Vec::new(),
        };
        let varying = [any(1, 1), any(3, 0)];
        let compared = |c: &str| compare("queued 3 ms", c, &varying, &Clock::still());
        assert_eq!(compared("queued 5 ms 3 ms"), Likeness::Same);
        assert_eq!(compared("queued 3 ms 5 ms"), Likeness::Same);
        assert_eq!(compared("queued 5 ms"), Likeness::OtherDuration);
    }

    const WORDS: [&str; 19] = [
        "rows", "Rows", "took", "took:", "in", "modified", "5", "7", "5.", "5th", "7took",
        "5took7", "took=5", "took=7", "ms", "minutes", "ago", "3:04", "ab12",
    ];

    fn texts() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..7)
    }

    #[test]
    fn a_number_that_may_be_a_duration_is_not_told_to_differ_at_a_glance() {
        for (b, c, differs) in [
            ("took 5", "took 7", false),
            ("took=5", "took=7", false),
            ("5took5", "5took7", false),
            ("rows 5", "rows 7", true),
            ("rows 5th,", "rows 7th,", true),
            ("took 5", "took ms", true),
            ("took 5", "took 5 rows", true),
            ("took 5", "took  5", false),
        ] {
            assert_eq!(differ_in_a_word(b, c), differs, "{b} → {c}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

        #[test]
        fn texts_that_differ_in_a_word_are_told_to_differ(b in texts(), c in texts()) {
            let (b, c) = (b.join(" "), c.join("  "));
            if differ_in_a_word(&b, &c) {
                let likeness = compare(&b, &c, &[], &Clock::still());
                prop_assert!(matches!(likeness, Likeness::Other { .. }), "{:?} → {:?}: {:?}", b, c, likeness);
            }
        }

        /// What varies beyond the end of the text is nowhere, and leaves the rest fixed.
        #[test]
        fn fixed_tokens_are_compared_as_among_varying_ones(b in texts(), c in texts()) {
            let (b, c) = (b.join(" "), c.join(" "));
            let beyond = VaryingToken {
                token: 1000,
                tokens: 0,
                stands_for: StandsFor::Run { kinds: Vec::new(), joined: false, may_be_empty: true },
                examples: Vec::new(),
            };
            let clock = Clock::still();
            let (fixed, varying) = (compare(&b, &c, &[], &clock), compare(&b, &c, &[beyond], &clock));
            match (fixed, varying) {
                (Likeness::Other { b: fixed, c: of_c }, Likeness::Other { b: varying, c }) => {
                    prop_assert_eq!(of_c, c);
                    // At the end of the text, the varying stretch stands right after its last token.
                    prop_assert!(fixed == varying || fixed == b.len(), "{} and {}", fixed, varying);
                }
                (fixed, varying) => prop_assert_eq!(fixed, varying),
            }
        }
    }

    #[test]
    fn a_long_text_is_compared_as_a_short_one() {
        let around = "many words\n".repeat(20);
        let long = |it: &str| format!("{around} {it} {around}");
        for (b, c, is_excused) in [
            ("It took 15 ms.", "It took 12 ms.", true),
            ("took: 15", "took: 19", true),
            ("done in 1.5 s", "done in 1.7 s", true),
            ("seen 3 minutes ago", "seen 4 minutes ago", true),
            ("It waits 15 ms.", "It waits 15 hours.", false),
            ("15 rows", "12 rows", false),
            ("15 rows", "15 rows, 3 words", false),
        ] {
            let clock = Clock::still();
            let short = compare(b, c, &[], &clock);
            assert_eq!(short == Likeness::OtherDuration, is_excused, "{b} → {c}");
            let found = compare_long(&long(b), &long(c), &[], &clock);
            assert_eq!(found == Likeness::OtherDuration, is_excused, "{b} → {c}");
            assert_ne!(found, Likeness::Same);
        }
    }
}
