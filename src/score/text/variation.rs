//! Comparing a text with a recorded one, where tokens may replace others and times may have moved with the clock.
//!
//! White space is data, and judged beside the tokens: see [`spaces`].

use std::ops::Range;

use model::{TokenKind, VaryingToken};

use super::clock::{Clock, Moved};
use super::lengths::length;
use super::spaces::{self, Aligned};
pub(crate) use super::spaces::{Found, What};
use super::times::seconds;
use super::token::{LONG, Token, may_have_wholes, pieces, position, span, tokens};
use super::watch::{self, Watched};
use super::{commas, key};

/// The most work that matching a text with one in which tokens vary may be, as a multiple of the texts' tokens.
const PASSES: usize = 32;

/// Numbers of so many digits with a point are compared to the noise of floating point.
const MANY_DIGITS: usize = 12;

/// What is known of two texts.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they say things that have nothing to do with each other"
)]
pub(crate) struct How<'a> {
    /// The recorded text's tokens that vary.
    pub(crate) varying: &'a [VaryingToken],
    /// It is padded, so that blanks vary with what varies.
    pub(crate) pads: bool,
    /// It is a value within JSON.
    pub(crate) is_leaf: bool,
    /// The innermost key that names it.
    pub(crate) key: &'a str,
    pub(crate) clock: &'a Clock,
    /// Ids are made by a server just now.
    pub(crate) is_live: bool,
    /// Later calls use what stands there.
    pub(crate) is_used: bool,
    /// What the run itself said, given text in the baseline's terms.
    pub(crate) said: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> How<'a> {
    /// Two texts of which nothing is known but when they were said.
    pub(crate) fn plain(clock: &'a Clock) -> Self {
        Self {
            varying: &[],
            pads: false,
            is_leaf: false,
            key: "",
            clock,
            is_live: true,
            is_used: false,
            said: &|_| None,
        }
    }
}

impl From<Watched> for What {
    fn from(it: Watched) -> Self {
        match it {
            Watched::Never(what) => Self::Never(what),
            Watched::Shown(what) => Self::Shown(what),
        }
    }
}

/// What stands at one place of the recorded text, and which tokens these are.
struct Element<'a> {
    varying: Option<&'a VaryingToken>,
    recorded: Range<usize>,
}

/// An element that is reached, and the last step that led there.
type Way = (usize, Option<usize>);

/// Adds a way; the first that leads to an element stays.
fn push(ways: &mut Vec<Way>, at: usize, step: Option<usize>) {
    if !ways.iter().any(|it| it.0 == at) {
        ways.push((at, step));
    }
}

/// An element, and the tokens of the current text that stand for it.
type Match = (usize, Range<usize>);

/// What two texts differ in; nothing where one says what the other said.
pub(crate) fn compare(b: &str, c: &str, how: &How<'_>) -> Vec<Found> {
    if how.varying.is_empty() && b == c {
        return Vec::new();
    }
    if b.len().max(c.len()) > LONG {
        return compare_long(b, c, how);
    }
    if how.varying.is_empty()
        && let Some(found) = other_word(b, c)
    {
        return vec![found];
    }
    let texts = Texts::new(b, c, how);
    match texts.matched() {
        Ok(matches) => texts.judge(&matches),
        Err(found) => vec![found],
    }
}

/// The first word that is another one, of texts of which a glance shows that nothing in them moves with the clock.
fn other_word(b: &str, c: &str) -> Option<Found> {
    // The name of a weekday may be all there is.
    let may_move = |it: &str| {
        !it.contains(' ') || it.bytes().any(|it| it.is_ascii_digit()) || may_have_wholes(it)
    };
    if may_move(b) || may_move(c) {
        return None;
    }
    let (mut of_b, mut of_c) = (b.split_whitespace(), c.split_whitespace());
    loop {
        match (of_b.next(), of_c.next()) {
            (Some(b), Some(c)) if b == c => {}
            (None, None) => return None,
            (was, is) => {
                let at =
                    |text: &str, it: Option<&str>| it.map_or(text.len(), |it| position(text, it));
                return Some(Found {
                    what: What::Changed,
                    b: at(b, was),
                    c: at(c, is),
                });
            }
        }
    }
}

/// The same for texts too long to be cut into tokens: only the lines between the first and the last difference are.
fn compare_long(b: &str, c: &str, how: &How<'_>) -> Vec<Found> {
    let is_same = |(b, c): &(&u8, &u8)| b == c;
    let (of_b, of_c) = (b.as_bytes(), c.as_bytes());
    let start = of_b.iter().zip(of_c).take_while(is_same).count();
    let room = b.len().min(c.len()) - start;
    let ends = of_b.iter().rev().zip(of_c.iter().rev()).take(room);
    let end = ends.take_while(is_same).count();
    let is_edge = |it: &u8| it.is_ascii_whitespace() || b",[]{}".contains(it);
    let start = of_b[..start]
        .iter()
        .rposition(|it| *it == b'\n')
        .map_or(0, |it| it + 1);
    let after = of_b[b.len() - end..]
        .iter()
        .position(is_edge)
        .unwrap_or(end);
    let end = end - after;
    let middle = (&b[start..b.len() - end], &c[start..c.len() - end]);
    // Varying tokens are numbered from the beginning of the text, so they need the whole text.
    if !how.varying.is_empty() || middle.0.len().max(middle.1.len()) > LONG {
        return vec![Found {
            what: What::Changed,
            b: start,
            c: start,
        }];
    }
    let mut found = compare(middle.0, middle.1, how);
    for it in &mut found {
        (it.b, it.c) = (it.b + start, it.c + start);
    }
    found
}

/// Two texts in tokens.
struct Texts<'a> {
    b: &'a str,
    c: &'a str,
    recorded: Vec<Token<'a>>,
    current: Vec<Token<'a>>,
    elements: Vec<Element<'a>>,
    how: &'a How<'a>,
}

impl<'a> Texts<'a> {
    fn new(b: &'a str, c: &'a str, how: &'a How<'a>) -> Self {
        let (mut recorded, mut current) = (tokens(b), tokens(c));
        if !are_whole(&recorded, how.varying) {
            // Only a part of an id was learned to vary.
            (recorded, current) = (pieces(b), pieces(c));
        }
        let elements = elements(&recorded, how.varying);
        if how.pads {
            return Self::padded(b, c, (recorded, current), (elements, how));
        }
        Self {
            b,
            c,
            recorded,
            current,
            elements,
            how,
        }
    }

    /// In a text that is padded, a rule has no length.
    fn padded(
        b: &'a str,
        c: &'a str,
        (recorded, current): (Vec<Token<'a>>, Vec<Token<'a>>),
        (elements, how): (Vec<Element<'a>>, &'a How<'a>),
    ) -> Self {
        let (kept, current_kept) = (rules_as_one(&recorded), rules_as_one(&current));
        let current = current.into_iter().zip(current_kept);
        let current = current
            .filter(|(_, is_kept)| *is_kept)
            .map(|it| it.0)
            .collect();
        let elements = elements.into_iter().filter(|it| {
            it.varying.is_some() || kept.get(it.recorded.start).copied().unwrap_or(true)
        });
        Self {
            b,
            c,
            current,
            elements: elements.collect(),
            recorded,
            how,
        }
    }

    /// The word that names a fixed element: `modified` in `modified: 2026-01-02` and in `modified 2026-01-02`; the key of the text for its
    /// first token.
    fn name(&self, element: usize) -> &'a str {
        let token = |at: usize| {
            let it = self.elements.get(at).filter(|it| it.varying.is_none())?;
            self.recorded.get(it.recorded.start)
        };
        // A key of JSON within a text stands in quotes.
        let is_quote = |it: Option<&Token<'_>>| it.is_some_and(|it| matches!(it.text, "\"" | "'"));
        let mut before = (0..element).rev().map(token).filter(|it| !is_quote(*it));
        let named = match before.next() {
            None => return self.how.key,
            Some(Some(it)) if matches!(it.text, ":" | "=") => before.next().flatten(),
            Some(it) => it,
        };
        let is_word = |it: &&Token<'_>| matches!(it.kind, TokenKind::Word | TokenKind::Id);
        named.filter(is_word).map_or("", |it| it.text)
    }

    /// Which tokens of the current text stand for which element.
    fn matched(&self) -> Result<Vec<Match>, Found> {
        if self.how.varying.is_empty() {
            let all = self.elements.len().max(self.current.len());
            let parts = |at: usize| match (self.elements.get(at), self.current.get(at)) {
                (Some(it), Some(token)) => self
                    .fixed(at, &self.recorded[it.recorded.start], token)
                    .is_none(),
                _ => true,
            };
            return match (0..all).find(|at| parts(*at)) {
                Some(at) => Err(self.parted(at, at)),
                None => Ok((0..all).map(|it| (it, it..it + 1)).collect()),
            };
        }
        self.matched_with_varying()
    }

    /// The same where tokens vary: follows all ways at once in which the text can be read.
    fn matched_with_varying(&self) -> Result<Vec<Match>, Found> {
        /// A token that was read as an element, and the reading of the one before it.
        struct Step {
            element: usize,
            before: Option<usize>,
        }
        let mut steps: Vec<Step> = Vec::new();
        let mut work = PASSES * (self.elements.len() + self.current.len());
        // The elements that the next token may fall on, with the last step that led there.
        let mut reached: Vec<Way> = Vec::new();
        self.reach(&mut reached, 0, None);
        let mut next: Vec<Way> = Vec::new();
        for (place, token) in self.current.iter().enumerate() {
            reached.sort_unstable();
            let furthest = reached.last().map_or(0, |it| it.0);
            for (at, before) in reached.drain(..) {
                work = work.saturating_sub(1);
                let Some(element) = self.elements.get(at) else {
                    continue;
                };
                let fits = match element.varying {
                    None => self
                        .fixed(at, &self.recorded[element.recorded.start], token)
                        .is_some(),
                    Some(it) => may_be(it, token, element.recorded.len()),
                };
                if !fits {
                    continue;
                }
                steps.push(Step {
                    element: at,
                    before,
                });
                let step = Some(steps.len() - 1);
                self.reach(&mut next, at + 1, step);
                let is_joined = self.current.get(place + 1).is_some_and(|it| !it.spaced);
                if element
                    .varying
                    .is_some_and(|it| may_go_on(it, element.recorded.len(), is_joined))
                {
                    push(&mut next, at, step);
                }
            }
            if next.is_empty() || work == 0 {
                return Err(self.parted(furthest, place));
            }
            std::mem::swap(&mut reached, &mut next);
        }
        let furthest = reached.iter().map(|it| it.0).max().unwrap_or(0);
        let Some((_, last)) = reached.iter().find(|it| it.0 == self.elements.len()) else {
            return Err(self.parted(furthest, self.current.len()));
        };
        let mut of_tokens = Vec::with_capacity(self.current.len());
        let mut at = *last;
        while let Some(step) = at.and_then(|it| steps.get(it)) {
            of_tokens.push(step.element);
            at = step.before;
        }
        of_tokens.reverse();
        let mut matches = Vec::with_capacity(self.elements.len());
        let mut from = 0;
        for element in 0..self.elements.len() {
            let length = of_tokens[from..]
                .iter()
                .take_while(|it| **it == element)
                .count();
            matches.push((element, from..from + length));
            from += length;
        }
        Ok(matches)
    }

    /// Adds an element, and those that are reached from it without any token.
    fn reach(&self, ways: &mut Vec<Way>, at: usize, step: Option<usize>) {
        push(ways, at, step);
        let varying = self.elements.get(at).and_then(|it| it.varying);
        if varying.is_some_and(|it| it.may_be_empty) {
            self.reach(ways, at + 1, step);
        }
    }

    /// Where two texts part.
    fn parted(&self, element: usize, token: usize) -> Found {
        let at = self
            .elements
            .get(element)
            .map_or(self.recorded.len(), |it| it.recorded.start);
        let place = |text: &str, it: Option<&Token<'_>>| {
            it.map_or(text.len(), |it| position(text, it.text))
        };
        Found {
            what: What::Changed,
            b: place(self.b, self.recorded.get(at)),
            c: place(self.c, self.current.get(token)),
        }
    }

    /// Whether a token stands where a fixed one was recorded; with what is to be shown of it.
    #[expect(
        clippy::option_option,
        reason = "whether it matches, and what to say of it then"
    )]
    fn fixed(&self, element: usize, b: &Token<'_>, c: &Token<'_>) -> Option<Option<What>> {
        if b.text == c.text {
            return Some(None);
        }
        let quiet = Some(None);
        let shown = |what| Some(Some(What::Moved(what)));
        let name = self.name(element);
        let clock = self.how.clock;
        // A value that is only a duration is excused only if its key says that it is one.
        let is_value = self.how.is_leaf && self.elements.len() == 1 && !self.how.key.is_empty();
        match (b.kind, c.kind) {
            (TokenKind::Time, TokenKind::Time) => match clock.judge(b.text, c.text, name) {
                Moved::Same | Moved::Quiet => quiet,
                Moved::WithTheClock => shown("moved with the clock"),
                Moved::Otherwise => shown("another moment"),
                Moved::No if key::is_age(name) && clock.is_after_recording(b.text, c.text) => {
                    shown("a time that went on")
                }
                Moved::No => None,
            },
            (TokenKind::Word, TokenKind::Word) if self.elements.len() == 1 => {
                match clock.judge(b.text, c.text, name) {
                    Moved::Same | Moved::Quiet => quiet,
                    Moved::WithTheClock => shown("moved with the clock"),
                    Moved::Otherwise | Moved::No => None,
                }
            }
            (TokenKind::Ago, TokenKind::Ago) if clock.is_as_long_ago(b.text, c.text) => quiet,
            (TokenKind::Ago, TokenKind::Ago) => {
                Some(Some(What::Shown("is another length of time")))
            }
            (
                TokenKind::Duration | TokenKind::Time | TokenKind::Number,
                TokenKind::Duration | TokenKind::Time | TokenKind::Number,
            ) if clock.grew(b.text, c.text)
                && (b.kind == TokenKind::Duration || key::is_duration(name)) =>
            {
                quiet
            }
            (TokenKind::Duration, TokenKind::Duration)
                if key::is_duration(name)
                    || !(is_value || key::is_limit(name))
                        && is_brief(b.text)
                        && is_brief(c.text) =>
            {
                Some(lasting(name, b.text, c.text, clock).map(What::from))
            }
            (TokenKind::Duration, TokenKind::Duration) if !is_value && TAKING.contains(&name) => {
                let (was, is) = (number(b.text)?, number(c.text)?);
                let unit = amount(b.text)? / was;
                let is_same_unit = (amount(c.text)? / is - unit).abs() < f64::EPSILON;
                if is_same_unit && clock.counted(was, is, unit) {
                    quiet
                } else {
                    Some(Some(What::Shown("is another length of time")))
                }
            }
            (TokenKind::Number, TokenKind::Number) => {
                let (was, is) = (number(b.text)?, number(c.text)?);
                if key::is_duration(name) {
                    Some(watch::lasting(name, (was, is), None, clock.passed()).map(What::from))
                } else if key::is_left(name) {
                    Some(Some(What::Shown("how long is left")))
                } else if has_many_digits(b.text) && has_many_digits(c.text) {
                    ((was - is).abs() <= 1e-12 * was.abs().max(is.abs())).then_some(None)
                } else {
                    match clock.judge_number(was, is, name) {
                        Moved::Same | Moved::No => None,
                        Moved::Quiet => quiet,
                        Moved::WithTheClock => shown("moved with the clock"),
                        Moved::Otherwise => shown("another moment"),
                    }
                }
            }
            _ => None,
        }
    }

    /// What is to be said of texts that match.
    fn judge(&self, matches: &[Match]) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        for (at, range) in matches {
            let element = &self.elements[*at];
            let now = self.current.get(range.clone()).unwrap_or_default();
            let recorded = self
                .recorded
                .get(element.recorded.clone())
                .unwrap_or_default();
            let what = match (element.varying, recorded, now) {
                (None, [b], [c]) => self.fixed(*at, b, c).flatten(),
                (Some(it), ..) if it.any_order => {
                    (commas::sorted(recorded) != commas::sorted(now)).then_some(What::Changed)
                }
                (Some(it), ..) => self.watched(it, now),
                _ => None,
            };
            if let Some(what) = what.filter(|it| !found.iter().any(|known| known.what == *it)) {
                let begins = |text: &str, of: &[Token<'_>]| {
                    of.first().map_or(0, |it| position(text, it.text))
                };
                found.push(Found {
                    what,
                    b: begins(self.b, recorded),
                    c: begins(self.c, now),
                });
            }
        }
        let aligned = Aligned {
            b: self.b,
            c: self.c,
            recorded: &self.recorded,
            current: &self.current,
            matches: matches
                .iter()
                .map(|(at, range)| {
                    let it = &self.elements[*at];
                    (it.recorded.clone(), range.clone(), it.varying.is_some())
                })
                .collect(),
        };
        let known = |what: &What| match what {
            What::Shown(_) => found.iter().all(|it| it.what != *what),
            What::Changed | What::Never(_) | What::Moved(_) => true,
        };
        let spaces = spaces::compare(&aligned, self.how.is_leaf, self.how.pads);
        let spaces: Vec<Found> = spaces.into_iter().filter(|it| known(&it.what)).collect();
        found.extend(spaces);
        found
    }

    /// What is wrong with what stands in the place of tokens that vary.
    fn watched(&self, varying: &VaryingToken, now: &[Token<'_>]) -> Option<What> {
        let text = span(self.c, now);
        let said = (self.how.said)(text);
        let now = said.as_deref().unwrap_or(text);
        watch_one(
            &varying.seen,
            &varying.offsets,
            varying.only()?,
            now,
            self.how,
        )
        .map(What::from)
    }
}

/// What is wrong with a text that stands where one token of a kind varies.
fn watch_one(
    seen: &[String],
    offsets: &[i64],
    kind: TokenKind,
    now: &str,
    how: &How<'_>,
) -> Option<Watched> {
    if seen.is_empty() {
        return None;
    }
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    match kind {
        TokenKind::Id => watch::id(&seen, now, how.is_live, how.is_used),
        TokenKind::Number | TokenKind::Duration => {
            let known: Vec<f64> = seen.iter().filter_map(|it| amount(it)).collect();
            watch::number(&known, amount(now)?)
        }
        TokenKind::Time => watch::time_text(&seen, offsets, (now, how.clock.now())),
        TokenKind::Word | TokenKind::Sign | TokenKind::Ago => watch::words(&seen, now),
    }
}

/// What is to be said of a text that names another length of time than the recorded one, if both can be read.
pub(crate) fn lasting(key: &str, b: &str, c: &str, clock: &Clock) -> Option<Watched> {
    let (both, unit) = match length(b).zip(length(c)) {
        Some((b, c)) => {
            let unit = seconds(b.unit.max(c.unit));
            ((seconds(b.time) / unit, seconds(c.time) / unit), unit)
        }
        None => ((amount(b)?, amount(c)?), 1.0),
    };
    watch::lasting(key, both, Some(unit), clock.passed())
}

/// The number that a text begins with, thousands separators or not.
pub(crate) fn number(text: &str) -> Option<f64> {
    let end = text.find(|it: char| !it.is_ascii_digit() && !"+-.,eE".contains(it));
    let digits = text[..end.unwrap_or(text.len())].replace(',', "");
    digits.trim_end_matches(['e', 'E', '.']).parse().ok()
}

/// A number, or how many seconds a duration is.
pub(super) fn amount(text: &str) -> Option<f64> {
    let unit = text.trim_start_matches(|it: char| !it.is_alphabetic());
    let second = match unit.to_lowercase().as_str() {
        it if it.starts_with("ms") || it.starts_with("mil") => 1e-3,
        it if it.starts_with(['u', 'µ']) || it.starts_with("mic") => 1e-6,
        it if it.starts_with('n') => 1e-9,
        it if it.starts_with('m') => 60.0,
        it if it.starts_with('h') => 3600.0,
        it if it.starts_with('d') => 86_400.0,
        _ => 1.0,
    };
    number(text).map(|it| it * second)
}

fn has_many_digits(text: &str) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let digits = digits.trim_start_matches(['-', '+', '0', '.']);
    text.contains('.') && digits.bytes().filter(u8::is_ascii_digit).count() >= MANY_DIGITS
}

/// Whether a token may stand there, for so many recorded ones.
pub(crate) fn may_be(varying: &VaryingToken, token: &Token<'_>, recorded: usize) -> bool {
    let kind = token.kind;
    let is_run = || {
        token
            .text
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
    };
    let kinds = &varying.may_be;
    match varying.only() {
        // Some hashes have digits alone, or letters.
        Some(TokenKind::Id) => {
            kind == TokenKind::Id
                || (is_run()
                    && (recorded > 1 || token.text.bytes().any(|it| it.is_ascii_alphanumeric())))
        }
        Some(only) => only == kind,
        None => {
            let mixes = || {
                [TokenKind::Word, TokenKind::Number]
                    .iter()
                    .all(|it| kinds.contains(it))
            };
            kinds.contains(&kind)
                || (kinds.contains(&TokenKind::Id) && is_run())
                || (kind == TokenKind::Id && mixes())
        }
    }
}

/// Whether another token may follow there; an id that is cut into pieces has as many as there are.
fn may_go_on(varying: &VaryingToken, recorded: usize, is_joined: bool) -> bool {
    match varying.only() {
        Some(TokenKind::Id) => recorded > 1 && is_joined,
        Some(_) => false,
        None => is_joined || !varying.joined,
    }
}

/// Words before a duration that say that something took so long.
const TAKING: [&str; 4] = ["in", "In", "after", "After"];

/// Whether a duration is one of seconds at most, as work of a server takes. Minutes and hours are also said of journeys and recipes.
fn is_brief(duration: &str) -> bool {
    let unit = duration.trim_start_matches(|it: char| !it.is_alphabetic());
    unit.starts_with(['n', 'u', 'µ', 's'])
        || unit.starts_with("ms")
        || unit.starts_with("mil")
        || unit.starts_with("mic")
}

/// Whether all that varies begins and ends between tokens. What lies beyond the text cuts none of them.
fn are_whole(tokens: &[Token<'_>], varying: &[VaryingToken]) -> bool {
    let edges = tokens.iter().scan(0, |at, it| {
        *at += it.pieces;
        Some(*at)
    });
    let edges: Vec<usize> = std::iter::once(0).chain(edges).collect();
    let last = edges.last().copied().unwrap_or_default();
    let is_edge = |at: usize| at >= last || edges.binary_search(&at).is_ok();
    varying.iter().all(|it| {
        let start = it.token.saturating_sub(1);
        is_edge(start) && is_edge(start.saturating_add(it.tokens))
    })
}

fn elements<'a>(recorded: &[Token<'_>], varying: &'a [VaryingToken]) -> Vec<Element<'a>> {
    let mut sorted: Vec<&VaryingToken> = varying.iter().collect();
    sorted.sort_by_key(|it| it.token);
    let mut elements = Vec::with_capacity(recorded.len());
    // The token, and how many pieces come before it.
    let (mut token, mut at) = (0, 0);
    let fixed = |token: usize| Element {
        varying: None,
        recorded: token..token + 1,
    };
    for it in sorted {
        let start = it.token.saturating_sub(1);
        while at < start && token < recorded.len() {
            elements.push(fixed(token));
            at += recorded[token].pieces;
            token += 1;
        }
        let (from, end) = (token, start.max(at).saturating_add(it.tokens));
        while at < end && token < recorded.len() {
            at += recorded[token].pieces;
            token += 1;
        }
        elements.push(Element {
            varying: Some(it),
            recorded: from..token,
        });
    }
    elements.extend((token..recorded.len()).map(fixed));
    elements
}

/// Which tokens are kept where a rule of one sign counts as one.
fn rules_as_one(tokens: &[Token<'_>]) -> Vec<bool> {
    let goes_on = |at: usize| {
        let (before, it) = (&tokens[at - 1], &tokens[at]);
        it.kind == TokenKind::Sign
            && !it.spaced
            && before.text == it.text
            && "-=_─━~*+".contains(it.text)
    };
    (0..tokens.len())
        .map(|at| at == 0 || !goes_on(at))
        .collect()
}
