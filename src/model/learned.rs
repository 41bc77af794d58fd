//! What was learned, while recording, from several answers to one request: what of them varied.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was learned of the answer to one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// The number of the call, counted from 1 among the scored calls.
    pub call: usize,
    /// How many answers to this request were received. From 2 on, what is not listed here was the same in all of them and must stay so; 1
    /// says that places are known to vary, and nothing else of the answer is known to be stable.
    pub takes: usize,
    /// What varied; empty where nothing did.
    pub varies: Vec<Varying>,
    /// Where some of the takes had another kind of thing, and nothing was learned from those.
    pub odd: Vec<Odd>,
    /// Where it repeated what the server had made up just before.
    pub repeats: Vec<Repeat>,
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

/// A place in an answer that varied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varying {
    /// Where, as in reports: `/content/0/json/servers/3/id`, `/content/0/text`; `*` stands for any index.
    pub path: String,
    pub by: Variation,
    /// Values that the answers had there, shortened, for people.
    pub examples: Vec<String>,
    /// The values themselves, by which another one is judged: one for each take that had one, or, where `*` is in the path, for some of the
    /// elements. Lists and objects are only told apart from empty ones; of a list that varies as a whole, its lengths. Empty where they are
    /// not known, or too long to be kept.
    pub seen: Vec<Value>,
    /// Of times: how many seconds after its call each of them was.
    pub offsets: Vec<i64>,
    /// The text is padded with blanks, so that their number varies with what varies.
    pub pads: bool,
}

impl Varying {
    /// A place of which no more is known than how it varies.
    pub fn new(path: String, by: Variation) -> Self {
        Self {
            path,
            by,
            examples: Vec::new(),
            seen: Vec::new(),
            offsets: Vec::new(),
            pads: false,
        }
    }
}

/// How a place varies: what the recorded value stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variation {
    /// Any value of the JSON type that is recorded there.
    SameType,
    /// The recorded elements in any order; what varies in them is listed with `*` for the element.
    AnyOrder,
    /// Any list that has elements of the kinds that are recorded there. What its elements have in common is listed with `*` for the element.
    /// Of a text, any lines.
    AnyElements,
    /// A list that keeps its length and the order of what is in it; what varies in it is listed place by place.
    Row,
    /// The recorded elements, or lines of a text, in their order, and any others; what varies in them is listed beneath.
    Grew,
    /// The recorded number or a greater one; of a text, its numbers.
    AtLeast,
    /// The recorded text, in which some tokens stand for others.
    Tokens(Vec<VaryingToken>),
    /// Anything, also nothing: the place is not looked at.
    Anything,
}

/// Tokens of a text that stand for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaryingToken {
    /// The first of them, counted from 1 among the tokens of the recorded text, where an id counts as the words and numbers it is made of.
    pub token: usize,
    /// How many of the recorded text's tokens it is about; may be 0 where some take had something and the recorded one had nothing.
    pub tokens: usize,
    pub stands_for: StandsFor,
    /// What the answers had there, shortened, for people.
    pub examples: Vec<String>,
    /// What each take had there, by which another token is judged; empty where it is not known.
    pub seen: Vec<String>,
    /// Of times: how many seconds after its call each of them was.
    pub offsets: Vec<i64>,
}

/// What stands in the place of a varying token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandsFor {
    /// One token of this kind.
    One(TokenKind),
    /// Tokens of these kinds, as many as there are.
    Run {
        kinds: Vec<TokenKind>,
        /// No white space stands between them.
        joined: bool,
        /// There may be none at all.
        may_be_empty: bool,
    },
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

#[cfg(test)]
impl VaryingToken {
    /// Tokens of which no more is known than what stands for them.
    pub fn new(token: usize, tokens: usize, stands_for: StandsFor) -> Self {
        Self {
            token,
            tokens,
            stands_for,
            examples: Vec::new(),
            seen: Vec::new(),
            offsets: Vec::new(),
        }
    }
}

impl StandsFor {
    /// The kind, where just one token stands there.
    pub fn kind(&self) -> Option<TokenKind> {
        match self {
            Self::One(kind) => Some(*kind),
            Self::Run { .. } => None,
        }
    }
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
            Variation::Tokens(_)
            | Variation::AnyOrder
            | Variation::Row
            | Variation::Grew
            | Variation::AtLeast => false,
        }
    }
}

impl fmt::Display for Varying {
    /// `/content/0/json/took: any value of its type (heard 3, 5)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        match &self.by {
            Variation::SameType => f.write_str("any value of its type")?,
            Variation::AnyOrder => f.write_str("its elements in any order")?,
            Variation::AnyElements => f.write_str("any elements of their kinds")?,
            Variation::Row => f.write_str("as many elements of the same kinds")?,
            Variation::Grew => f.write_str("all that was recorded, and more")?,
            Variation::AtLeast => f.write_str("the recorded number or more")?,
            Variation::Anything => f.write_str("anything")?,
            Variation::Tokens(tokens) => {
                for (index, it) in tokens.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{it}")?;
                }
                return Ok(());
            }
        }
        let seen = self.seen.iter().map(ToString::to_string);
        let heard = distinct(seen.chain(self.examples.iter().cloned()));
        if !heard.is_empty() {
            write!(f, " (heard {heard})")?;
        }
        Ok(())
    }
}

impl fmt::Display for VaryingToken {
    /// `any number for 88.31, 97.02`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stands_for {
            StandsFor::One(kind) => write!(f, "any {}", kind.name())?,
            StandsFor::Run { kinds, .. } => {
                let kinds: Vec<String> = kinds.iter().map(|it| format!("{}s", it.name())).collect();
                write!(f, "any {}", kinds.join(" and "))?;
            }
        }
        let seen = self.seen.iter().chain(&self.examples);
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
