//! What was learned of answers, as trajectories say it: for people to read, and to correct.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::learned::{self, Odd, Repeat, StandsFor, TokenKind, Variation, VolatilePlaces};

use super::call::there_are;

/// What was learned of the answer to one call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Learned {
    /// The call, counted from 1 among the scored calls.
    call: usize,
    /// How many answers to this request were heard. From 2 on, whatever is not listed below must stay as it was.
    #[schemars(range(min = 1))]
    takes: usize,
    /// The places that varied; absent where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    varies: Vec<Varying>,
    /// The places where a few takes had another kind of thing, from which nothing was learned; absent where none had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    odd: Vec<Odd>,
    /// Where it repeated ids that the server had made up just before; absent where it did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<Repeat>,
}

/// A place in an answer that varied: take it away to have it held, or add one to have it let go.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Varying {
    /// Where, as reports write it: `/content/0/json/servers/3/id`, `/content/0/text`; `*` stands for any index.
    path: String,
    /// What may stand there; `tokens` unless given.
    #[serde(default, skip_serializing_if = "MayBe::is_tokens")]
    may_be: MayBe,
    /// Where only parts of a text varied: these. They were once `tokens`, which is what secrets are kept under.
    #[serde(default, alias = "tokens", skip_serializing_if = "Vec::is_empty")]
    parts: Vec<VaryingToken>,
    /// What was heard there, shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heard: Vec<String>,
    /// What the takes had there, by which another value is judged: lists and objects without what is in them, of a list its lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<Value>,
    /// Of times: how many seconds after its call each of them was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offsets: Vec<i64>,
    /// The text is padded with blanks, so that their number varies, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pads: bool,
}

/// What may stand in a place that varied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MayBe {
    /// The recorded text with other tokens where it says so.
    #[default]
    Tokens,
    /// Any value of the JSON type that is recorded there.
    SameType,
    /// The recorded elements in any order; what varies in them is listed with `*` for the element.
    AnyOrder,
    /// Any list that has elements of the kinds that are recorded there; what they have in common is listed with `*` for the element. Of a
    /// text, any lines.
    AnyElements,
    /// A list that keeps its length and the order of what is in it; what varies is listed place by place.
    Row,
    /// The recorded elements, or lines of a text, in their order, and any others; what varies in them is listed beneath.
    Grew,
    /// The recorded number or a greater one; of a text, its numbers.
    AtLeast,
    /// Anything, also nothing: nobody looks at it.
    Anything,
}

impl MayBe {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn is_tokens(&self) -> bool {
        *self == Self::Tokens
    }
}

/// Tokens of a text that stand for others. A token is a word, a number, a sign, or what people read as one thing: a time, an id, a duration.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VaryingToken {
    /// The first of them, counted from 1; an id of letters and digits counts as the words and numbers it is made of.
    #[schemars(range(min = 1))]
    token: usize,
    /// How many of the recorded text's tokens it is about; 1 unless given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    tokens: usize,
    /// The kinds of tokens that may stand there.
    may_be: Vec<TokenKind>,
    /// Whether as many as there are may stand there; exactly one otherwise.
    #[serde(default, skip_serializing_if = "is_false")]
    run: bool,
    /// Of a run: whether no white space may stand in it.
    #[serde(default, skip_serializing_if = "is_false")]
    joined: bool,
    /// Of a run: whether it may be empty.
    #[serde(default, skip_serializing_if = "is_false")]
    may_be_empty: bool,
    /// What was heard there, shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heard: Vec<String>,
    /// What the takes had there, by which another token is judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<String>,
    /// Of times: how many seconds after its call each of them was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    offsets: Vec<i64>,
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
const fn is_one(it: &usize) -> bool {
    *it == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
const fn is_false(it: &bool) -> bool {
    !*it
}

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
        it.check()
            .map_err(|problem| format!("`learned`, call {}{problem}", it.call))?;
    }
    match entries.into_iter().find(|(_, count)| *count > 1) {
        Some((call, count)) => Err(format!(
            "`learned` has {count} entries about call {call}: make one of them"
        )),
        None => Ok(()),
    }
}

impl Learned {
    fn check(&self) -> Result<(), String> {
        if self.takes == 0 {
            return Err(
                ": `takes` is 0, and an answer that was recorded was heard at least once"
                    .to_owned(),
            );
        }
        let mut entries = BTreeMap::new();
        for it in &self.varies {
            let path = &it.path;
            if !path.starts_with('/') {
                return Err(format!(
                    ": the path `{path}` does not begin with `/`: write it as reports do, as `/content/0/json/KEY`, `/content/0/text` \
                     or `/structuredContent/KEY`"
                ));
            }
            *entries.entry(path).or_insert(0) += 1;
            it.check()
                .map_err(|problem| format!(", `{path}`: {problem}"))?;
        }
        match entries.into_iter().find(|(_, count)| *count > 1) {
            Some((path, count)) => Err(format!(
                ": {count} entries are about `{path}`: make one of them"
            )),
            None => Ok(()),
        }
    }
}

impl Varying {
    fn check(&self) -> Result<(), String> {
        match (self.may_be.is_tokens(), self.parts.is_empty()) {
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
        let mut tokens: Vec<&VaryingToken> = self.parts.iter().collect();
        tokens.sort_by_key(|it| it.token);
        if let Some(it) = tokens.iter().find(|it| it.may_be.is_empty()) {
            let kinds: Vec<&str> = TokenKind::ALL.iter().map(|it| it.name()).collect();
            return Err(format!(
                "token {} `may_be` of no kind: name some of {}",
                it.token,
                kinds.join(", ")
            ));
        }
        let overlaps =
            |it: &&[&VaryingToken]| it[0].token.saturating_add(it[0].tokens) > it[1].token;
        match tokens.windows(2).find(overlaps) {
            Some(it) => Err(format!(
                "two entries are about token {}: make one of them",
                it[1].token
            )),
            None => Ok(()),
        }
    }
}

impl From<VolatilePlaces> for learned::Learned {
    /// Nothing of such an answer is known to have been stable, so it counts as heard once.
    fn from(it: VolatilePlaces) -> Self {
        let varying = |path| learned::Varying::new(path, Variation::Anything);
        Self {
            call: it.call,
            takes: 1,
            varies: it.paths.into_iter().map(varying).collect(),
            ..Self::default()
        }
    }
}

impl From<&learned::Learned> for Learned {
    fn from(it: &learned::Learned) -> Self {
        Self {
            call: it.call,
            takes: it.takes,
            varies: it.varies.iter().map(Into::into).collect(),
            odd: it.odd.clone(),
            repeats: it.repeats.clone(),
        }
    }
}

impl From<Learned> for learned::Learned {
    fn from(it: Learned) -> Self {
        Self {
            call: it.call,
            takes: it.takes,
            varies: it.varies.into_iter().map(Into::into).collect(),
            odd: it.odd,
            repeats: it.repeats,
        }
    }
}

impl From<&learned::Varying> for Varying {
    fn from(it: &learned::Varying) -> Self {
        let (may_be, tokens) = match &it.by {
            Variation::SameType => (MayBe::SameType, &[][..]),
            Variation::AnyOrder => (MayBe::AnyOrder, &[][..]),
            Variation::AnyElements => (MayBe::AnyElements, &[][..]),
            Variation::Row => (MayBe::Row, &[][..]),
            Variation::Grew => (MayBe::Grew, &[][..]),
            Variation::AtLeast => (MayBe::AtLeast, &[][..]),
            Variation::Anything => (MayBe::Anything, &[][..]),
            Variation::Tokens(tokens) => (MayBe::Tokens, tokens.as_slice()),
        };
        Self {
            path: it.path.clone(),
            may_be,
            parts: tokens.iter().map(Into::into).collect(),
            heard: it.examples.clone(),
            seen: it.seen.clone(),
            offsets: it.offsets.clone(),
            pads: it.pads,
        }
    }
}

impl From<Varying> for learned::Varying {
    fn from(it: Varying) -> Self {
        Self {
            path: it.path,
            by: match it.may_be {
                MayBe::SameType => Variation::SameType,
                MayBe::AnyOrder => Variation::AnyOrder,
                MayBe::AnyElements => Variation::AnyElements,
                MayBe::Row => Variation::Row,
                MayBe::Grew => Variation::Grew,
                MayBe::AtLeast => Variation::AtLeast,
                MayBe::Anything => Variation::Anything,
                MayBe::Tokens => Variation::Tokens(it.parts.into_iter().map(Into::into).collect()),
            },
            examples: it.heard,
            seen: it.seen,
            offsets: it.offsets,
            pads: it.pads,
        }
    }
}

impl From<&learned::VaryingToken> for VaryingToken {
    fn from(it: &learned::VaryingToken) -> Self {
        let (kinds, run, joined, may_be_empty) = match &it.stands_for {
            StandsFor::One(kind) => (vec![*kind], false, false, false),
            StandsFor::Run {
                kinds,
                joined,
                may_be_empty,
            } => (kinds.clone(), true, *joined, *may_be_empty),
        };
        Self {
            token: it.token,
            tokens: it.tokens,
            may_be: kinds,
            run,
            joined,
            may_be_empty,
            heard: it.examples.clone(),
            seen: it.seen.clone(),
            offsets: it.offsets.clone(),
        }
    }
}

impl From<VaryingToken> for learned::VaryingToken {
    fn from(it: VaryingToken) -> Self {
        Self {
            token: it.token,
            tokens: it.tokens,
            stands_for: match it.may_be.as_slice() {
                [only] if !it.run => StandsFor::One(*only),
                _ => StandsFor::Run {
                    kinds: it.may_be,
                    joined: it.joined,
                    may_be_empty: it.may_be_empty,
                },
            },
            examples: it.heard,
            seen: it.seen,
            offsets: it.offsets,
        }
    }
}
