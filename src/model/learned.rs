//! Variation that was learned, while recording, from several answers to one request.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was learned of the answer to one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// The call, counted from 1 among the scored calls.
    pub call: usize,
    /// How many answers to this request were heard. From 2 on, whatever is not listed below must stay as it was.
    #[schemars(range(min = 1))]
    pub takes: usize,
    /// The places that varied; absent where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varies: Vec<Varying>,
    /// The places where a few takes had another kind of thing, from which nothing was learned; absent where none had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<Odd>,
    /// Where it repeated ids that the server had made up just before; absent where it did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// The places beside its content, in `_meta` and annotations, that varied; absent where it has nothing there, or nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Vec<String>>,
}

/// Ids that are made up in one answer and repeated in another place: they must be equal there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// Where they are repeated, as reports write it; `*` stands for any index.
    pub path: String,
    /// The call, counted from 1, that was answered with them first.
    pub call: usize,
    /// Where in that answer.
    pub from: String,
}

/// A place where most takes agreed in kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Odd {
    /// Where, as reports write it; empty for the whole answer.
    pub path: String,
    /// How many takes agreed.
    pub agreed: usize,
    /// What the others had there, which may stand there, too; null where they had nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Value>,
}

/// Places in the answer to one call that vary by nature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolatilePlaces {
    /// The number of the call, counted from 1 among the scored calls.
    pub call: usize,
    /// Paths into the response, such as `/content/0/json/servers/3/id`.
    pub paths: Vec<String>,
}

/// A place in an answer that varied: take it away to have it held, or add one to have it let go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Varying {
    /// Where, as reports write it: `/content/0/json/servers/3/id`, `/content/0/text`; `*` stands for any index.
    pub path: String,
    /// What may stand there; `tokens` unless given.
    #[serde(
        rename = "may_be",
        default,
        skip_serializing_if = "Variation::is_tokens"
    )]
    pub by: Variation,
    /// Where only parts of a text varied: these. They were once `tokens`, which is what secrets are kept under.
    #[serde(default, alias = "tokens", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<VaryingToken>,
    /// What was heard there, shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<String>,
    /// What the takes had there, by which another value is judged: lists and objects without what is in them, of a list its lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Value>,
    /// Of times: how many seconds after its call each of them was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<i64>,
    /// The text is padded with blanks, so that their number varies, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pads: bool,
}

impl Varying {
    /// A place of which no more is known than how it varies.
    pub fn new(path: String, by: Variation) -> Self {
        Self {
            path,
            by,
            ..Self::default()
        }
    }
}

/// What may stand in a place that varied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MayBe")]
pub enum Variation {
    /// The recorded text with other tokens where it says so.
    #[default]
    Tokens,
    /// Any value of the JSON type that is recorded there.
    SameType,
    /// The recorded elements in any order, those of an object under any keys; what varies in them is listed with `*` for the element.
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

impl Variation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn is_tokens(&self) -> bool {
        *self == Self::Tokens
    }
}

/// Tokens of a text that stand for others. A token is a word, a number, a sign, or what people read as one thing: a time, an id, a duration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "baselines are written and corrected so"
)]
pub struct VaryingToken {
    /// The first of them, counted from 1; an id of letters and digits counts as the words and numbers it is made of.
    #[schemars(range(min = 1))]
    pub token: usize,
    /// How many of the recorded text's tokens it is about; 1 unless given, and 0 where only another take had something.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub tokens: usize,
    /// The kinds of tokens that may stand there.
    pub may_be: Vec<TokenKind>,
    /// Whether as many as there are may stand there; exactly one otherwise.
    #[serde(default, skip_serializing_if = "is_false")]
    pub run: bool,
    /// Of a run: whether no white space may stand in it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub joined: bool,
    /// Of a run: whether it may be empty.
    #[serde(default, skip_serializing_if = "is_false")]
    pub may_be_empty: bool,
    /// Of a run: whether it is what was recorded, cut at its commas, in any order.
    #[serde(default, skip_serializing_if = "is_false")]
    pub any_order: bool,
    /// What was heard there, shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<String>,
    /// What the takes had there, by which another token is judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// Of times: how many seconds after its call each of them was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offsets: Vec<i64>,
}

/// The kinds of tokens.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Letters.
    Word,
    /// Digits, with sign, decimals, thousands separators and exponent.
    Number,
    /// Any other character.
    Sign,
    /// A date, a time of day, or both.
    Time,
    /// A UUID, a memory address, a hexadecimal run, or another mix of letters and digits that looks made up.
    Id,
    /// How long something took: `88 ms`.
    Duration,
    /// How long ago something was: `2 minutes ago`.
    Ago,
}

impl TokenKind {
    pub const ALL: [Self; 7] = [
        Self::Word,
        Self::Number,
        Self::Sign,
        Self::Time,
        Self::Id,
        Self::Duration,
        Self::Ago,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Number => "number",
            Self::Sign => "sign",
            Self::Time => "time",
            Self::Id => "id",
            Self::Duration => "duration",
            Self::Ago => "ago",
        }
    }
}

impl VaryingToken {
    /// One token of a kind, of which no more is known.
    pub fn one(token: usize, tokens: usize, kind: TokenKind) -> Self {
        Self {
            token,
            tokens,
            may_be: vec![kind],
            ..Self::default()
        }
    }

    /// The kind, where just one token stands there.
    pub fn only(&self) -> Option<TokenKind> {
        match self.may_be.as_slice() {
            [kind] if !self.run => Some(*kind),
            _ => None,
        }
    }

    /// Whether the same may stand there as in another place.
    pub fn may_be_as(&self, other: &Self) -> bool {
        let said = |it: &Self| (it.run, it.joined, it.may_be_empty, it.any_order);
        self.may_be == other.may_be && said(self) == said(other)
    }
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

impl Learned {
    /// Whether what did not vary is known to be stable.
    pub fn is_stable(&self) -> bool {
        self.takes >= 2
    }

    /// Whether it grew because of what an earlier take left behind.
    pub fn grew(&self) -> bool {
        self.varies.iter().any(|it| it.by == Variation::Grew)
    }

    /// How many takes agreed in kind on a place: all of them, but where some were odd.
    pub fn agreed(&self, path: &str) -> usize {
        let is_within = |it: &&Odd| {
            let rest = path.strip_prefix(it.path.as_str());
            rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        let odd = self.odd.iter().filter(is_within);
        odd.map(|it| it.agreed).min().unwrap_or(self.takes)
    }

    /// The places that varied.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.varies.iter().map(|it| it.path.as_str())
    }
}

impl Varying {
    /// Whether nothing at all is looked at there: anything may stand there, or a text that is a whole answer has nothing that stayed.
    pub fn is_unseen(&self) -> bool {
        match self.by {
            Variation::Anything | Variation::AnyElements => true,
            Variation::SameType => {
                self.path.starts_with("/content/") && self.path.ends_with("/text")
            }
            Variation::Tokens
            | Variation::AnyOrder
            | Variation::Row
            | Variation::Grew
            | Variation::AtLeast => false,
        }
    }
}

impl fmt::Display for Varying {
    /// `/content/0/json/took: any value of its type (recorded 3, 5)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        match self.by {
            Variation::SameType => f.write_str("any value of its type")?,
            Variation::AnyOrder => f.write_str("its elements in any order")?,
            Variation::AnyElements => f.write_str("any elements of their kinds")?,
            Variation::Row => f.write_str("as many elements of the same kinds")?,
            Variation::Grew => f.write_str("all that was recorded, and more")?,
            Variation::AtLeast => f.write_str("the recorded number or more")?,
            Variation::Anything => f.write_str("anything")?,
            Variation::Tokens => {
                for (index, it) in self.parts.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{it}")?;
                }
                return Ok(());
            }
        }
        let seen = self.seen.iter().map(ToString::to_string);
        let examples = distinct(seen.chain(self.heard.iter().cloned()));
        if !examples.is_empty() {
            write!(f, " (recorded {examples})")?;
        }
        Ok(())
    }
}

impl fmt::Display for VaryingToken {
    /// `any number for 88.31, 97.02`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.only() {
            Some(kind) => write!(f, "any {}", kind.name())?,
            None if self.any_order => f.write_str("the same in any order")?,
            None => {
                let kinds = self.may_be.iter().map(|it| format!("{}s", it.name()));
                let kinds: Vec<String> = kinds.collect();
                write!(f, "any {}", kinds.join(" and "))?;
            }
        }
        let seen = self.seen.iter().chain(&self.heard);
        let seen = seen.map(|it| if it.is_empty() { "nothing" } else { it });
        write!(f, " for {}", distinct(seen.map(str::to_owned)))
    }
}

/// The first few of some values that differ.
fn distinct(values: impl Iterator<Item = String>) -> String {
    let mut first: Vec<String> = Vec::new();
    for it in values {
        if first.len() < 3 && !first.contains(&it) {
            first.push(it);
        }
    }
    first.join(", ")
}
