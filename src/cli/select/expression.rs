//! Expressions for `-k`: words with `and`, `or`, `not` and parentheses, which pick scenarios.
//!
//! ```text
//! either = both ("or" both)*
//! both   = one ("and" one)*
//! one    = "not" one | "(" either ")" | word
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use unicode_width::UnicodeWidthStr;

use crate::text;

/// How deeply `not` and parentheses may be nested: more than anybody writes, and far less than a stack can hold.
const LEVELS: usize = 64;

/// Which scenarios are meant, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Expression {
    written: String,
    meaning: Meaning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    Word(Word),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
}

/// A word that scenarios are picked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Word {
    /// Without the quotes around it.
    pub(in crate::cli) text: String,
    /// The same where case makes no difference.
    folded: String,
    /// It is the whole id of a row or of a cell, which it means alone: `pay/p1` is no part of `pay/p10` then.
    is_whole: bool,
}

/// What a scenario is picked by, in small letters.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Subject {
    /// Of which a part is enough.
    pub(in crate::cli) names: Vec<String>,
    /// Of the row or the cell that it is.
    pub(in crate::cli) ids: Vec<String>,
    /// Of which a part is enough that holds a `/`.
    pub(in crate::cli) path: String,
    /// Of which one must be met as a whole.
    pub(in crate::cli) tags: Vec<String>,
}

/// Why an expression cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct ExpressionError {
    message: String,
    written: String,
    /// In bytes, where a character begins or the text ends.
    at: usize,
}

/// A piece of the text, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    at: usize,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Word(String),
    And,
    Or,
    Not,
    Open,
    Close,
}

impl Expression {
    /// Reads what was written.
    ///
    /// # Errors
    ///
    /// What is wrong, with its place.
    pub(in crate::cli) fn parse(written: &str) -> Result<Self, ExpressionError> {
        let failed = |(at, message)| ExpressionError {
            message,
            written: written.to_owned(),
            at,
        };
        let mut parser = Parser {
            tokens: tokens(written).map_err(failed)?,
            next: 0,
            end: written.trim_end().len(),
            level: 0,
        };
        let meaning = parser.either("the expression").map_err(failed)?;
        parser.ended().map_err(failed)?;
        Ok(Self {
            written: written.to_owned(),
            meaning,
        })
    }

    pub(in crate::cli) fn is_met_by(&self, subject: &Subject) -> bool {
        self.meaning.is_met_by(subject)
    }

    /// The same where those of its words that are one of these ids, which are in small letters, mean what has that id alone.
    pub(in crate::cli) fn with_whole(&self, ids: &HashSet<String>) -> Self {
        let mut whole = self.clone();
        whole.meaning.settle(ids);
        whole
    }

    /// Its words, in the order written.
    pub(in crate::cli) fn words(&self) -> Vec<&Word> {
        let mut words = Vec::new();
        self.meaning.collect(&mut words);
        words
    }
}

impl fmt::Display for Expression {
    /// As it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl Word {
    fn new(text: String) -> Self {
        Self {
            folded: text.to_lowercase(),
            text,
            is_whole: false,
        }
    }

    pub(in crate::cli) fn is_of(&self, subject: &Subject) -> bool {
        if self.is_whole {
            return subject.ids.contains(&self.folded);
        }
        let mut names = subject.names.iter();
        names.any(|it| it.contains(&self.folded))
            || subject.tags.contains(&self.folded)
            || (self.folded.contains('/') && subject.path.contains(&self.folded))
    }
}

impl Meaning {
    fn is_met_by(&self, subject: &Subject) -> bool {
        match self {
            Self::Word(word) => word.is_of(subject),
            Self::Not(inner) => !inner.is_met_by(subject),
            Self::And(parts) => parts.iter().all(|it| it.is_met_by(subject)),
            Self::Or(parts) => parts.iter().any(|it| it.is_met_by(subject)),
        }
    }

    fn settle(&mut self, ids: &HashSet<String>) {
        match self {
            Self::Word(word) => word.is_whole = ids.contains(&word.folded),
            Self::Not(inner) => inner.settle(ids),
            Self::And(parts) | Self::Or(parts) => parts.iter_mut().for_each(|it| it.settle(ids)),
        }
    }

    fn collect<'a>(&'a self, words: &mut Vec<&'a Word>) {
        match self {
            Self::Word(word) => words.push(word),
            Self::Not(inner) => inner.collect(words),
            Self::And(parts) | Self::Or(parts) => {
                for part in parts {
                    part.collect(words);
                }
            }
        }
    }
}

/// A place, and what is wrong there.
type Wrong = (usize, String);

fn tokens(written: &str) -> Result<Vec<Token>, Wrong> {
    let mut tokens = Vec::new();
    let mut rest = written.char_indices().peekable();
    while let Some((at, first)) = rest.next() {
        let kind = match first {
            _ if first.is_whitespace() => continue,
            '(' => Kind::Open,
            ')' => Kind::Close,
            '"' | '\'' => {
                let mut word = String::new();
                loop {
                    match rest.next() {
                        None => return Err((at, "this quote is not closed".to_owned())),
                        Some((_, it)) if it == first => break,
                        Some((_, '\\')) if rest.peek().is_some_and(|it| it.1 == first) => {
                            word.push(first);
                            rest.next();
                        }
                        Some((_, it)) => word.push(it),
                    }
                }
                if word.trim().is_empty() {
                    return Err((at, "there is nothing between these quotes".to_owned()));
                }
                Kind::Word(word)
            }
            _ => {
                let mut end = at + first.len_utf8();
                let is_part = |it: &(usize, char)| !it.1.is_whitespace() && !"()".contains(it.1);
                while let Some((at, it)) = rest.next_if(is_part) {
                    end = at + it.len_utf8();
                }
                kind_of(&written[at..end])
            }
        };
        tokens.push(Token { at, kind });
    }
    Ok(tokens)
}

/// What stands there without quotes.
fn kind_of(bare: &str) -> Kind {
    match bare.to_lowercase().as_str() {
        "and" => Kind::And,
        "or" => Kind::Or,
        "not" => Kind::Not,
        _ => Kind::Word(bare.to_owned()),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// Where the text ends.
    end: usize,
    level: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.next).map(|it| &it.kind)
    }

    /// Where the next token begins.
    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |it| it.at)
    }

    fn take(&mut self, wanted: &Kind) -> bool {
        let is_wanted = self.peek() == Some(wanted);
        self.next += usize::from(is_wanted);
        is_wanted
    }

    /// `after` names what stands before it.
    fn either(&mut self, after: &str) -> Result<Meaning, Wrong> {
        let mut parts = vec![self.both(after)?];
        while self.take(&Kind::Or) {
            parts.push(self.both("`or`")?);
        }
        Ok(only_or(parts, Meaning::Or))
    }

    fn both(&mut self, after: &str) -> Result<Meaning, Wrong> {
        let mut parts = vec![self.one(after)?];
        while self.take(&Kind::And) {
            parts.push(self.one("`and`")?);
        }
        Ok(only_or(parts, Meaning::And))
    }

    fn one(&mut self, after: &str) -> Result<Meaning, Wrong> {
        let at = self.at();
        let Some(token) = self.tokens.get(self.next) else {
            let message = if self.tokens.is_empty() {
                "it says nothing: give a word".to_owned()
            } else {
                format!("a word is missing after {after}")
            };
            return Err((at, message));
        };
        let kind = token.kind.clone();
        self.next += 1;
        match kind {
            Kind::Word(word) => Ok(Meaning::Word(Word::new(word))),
            Kind::Not => self.deeper(at, |it| Ok(Meaning::Not(Box::new(it.one("`not`")?)))),
            Kind::Open => self.deeper(at, |it| {
                let inner = it.either("`(`")?;
                if it.take(&Kind::Close) {
                    Ok(inner)
                } else {
                    Err(match it.peek() {
                        None => (at, "this parenthesis is not closed".to_owned()),
                        Some(_) => it.side_by_side(),
                    })
                }
            }),
            Kind::Close if self.level > 0 => {
                Err((at, "a word is missing before this parenthesis".to_owned()))
            }
            Kind::Close => Err((at, "no parenthesis is open here".to_owned())),
            Kind::And | Kind::Or => {
                let name = if kind == Kind::And { "and" } else { "or" };
                let message = format!(
                    "a word is missing before `{name}`; quote it, `'{name}'`, to look for it"
                );
                Err((at, message))
            }
        }
    }

    fn deeper(
        &mut self,
        at: usize,
        read: impl FnOnce(&mut Self) -> Result<Meaning, Wrong>,
    ) -> Result<Meaning, Wrong> {
        if self.level == LEVELS {
            return Err((at, format!("this is nested more than {LEVELS} levels deep")));
        }
        self.level += 1;
        let read = read(self)?;
        self.level -= 1;
        Ok(read)
    }

    /// Nothing may follow the whole.
    fn ended(&self) -> Result<(), Wrong> {
        match self.peek() {
            None => Ok(()),
            Some(Kind::Close) => Err((self.at(), "no parenthesis is open here".to_owned())),
            Some(_) => Err(self.side_by_side()),
        }
    }

    fn side_by_side(&self) -> Wrong {
        let message =
            "`and` or `or` is missing before this; put words that belong together in quotes";
        (self.at(), message.to_owned())
    }
}

/// The only part by itself, or all of several.
fn only_or(mut parts: Vec<Meaning>, all: fn(Vec<Meaning>) -> Meaning) -> Meaning {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        all(parts)
    }
}

impl Error for ExpressionError {}

impl fmt::Display for ExpressionError {
    /// What is wrong, and below it the expression with a caret under the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self.written.split_at(self.at);
        let visible = |it: &str| text::line(&it.replace(['\t', '\n'], " ")).into_owned();
        let (before, after) = (visible(before), visible(after));
        let indent = " ".repeat(before.width());
        write!(f, "{}\n  {before}{after}\n  {indent}^", self.message)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::{Expression, Meaning, Subject, Word};

    fn weather() -> Subject {
        Subject {
            names: ["weather in a city", "outside/weather.yaml"]
                .map(str::to_owned)
                .into(),
            ids: Vec::new(),
            path: "scenarios/outside/weather.yaml".to_owned(),
            tags: ["slow", "forecast tools"].map(str::to_owned).into(),
        }
    }

    #[track_caller]
    fn is_met(written: &str) -> bool {
        Expression::parse(written).unwrap().is_met_by(&weather())
    }

    #[test]
    fn the_whole_id_of_a_row_or_a_cell_means_that_alone() {
        let ids = ["pay/p1", "pay/p1/model=a", "pay/p10"];
        let known = ids.map(str::to_owned).into();
        let subject = |ids: &[&str]| Subject {
            names: ids.iter().map(|it| format!("{it}.yaml")).collect(),
            ids: ids.iter().map(|it| (*it).to_owned()).collect(),
            ..Subject::default()
        };
        for (written, meant) in [
            ("pay/p1", [true, true, false]),
            ("PAY/P1", [true, true, false]),
            ("pay/p1/model=a", [false, true, false]),
            ("pay/p", [true, true, true]),
            ("not pay/p1", [false, false, true]),
        ] {
            let expression = Expression::parse(written).unwrap().with_whole(&known);
            let subjects = [&["pay/p1"][..], &["pay/p1", "pay/p1/model=a"], &["pay/p10"]];
            let found = subjects.map(|it| expression.is_met_by(&subject(it)));
            assert_eq!(found, meant, "{written}");
        }
    }

    #[test]
    fn words_match_parts_of_names_and_whole_tags_whatever_their_case() {
        for met in [
            "weather",
            "EATHER",
            "outside/wea",
            "Scenarios/outside",
            ".yaml",
            "'in a city'",
            "\"In A\"",
            "slow",
            "'forecast tools'",
            "not search",
            "search or slow",
            "city and slow",
            "not (search and slow)",
            "search and city or slow",
            "slow or city and search",
            "NOT search AND Slow",
            "not not weather",
            "((weather))",
        ] {
            assert!(is_met(met), "{met}");
        }
        for unmet in [
            "search",
            "slo",
            "forecast",
            "scenarios",
            "not weather",
            "city and search",
            "not search and search",
            "(search or slow) and search",
            "'not'",
            "'weather and slow'",
        ] {
            assert!(!is_met(unmet), "{unmet}");
        }
    }

    #[test]
    fn quotes_hold_words_of_the_language_and_of_their_own_kind() {
        let words = |written: &str| -> Vec<String> {
            let expression = Expression::parse(written).unwrap();
            expression
                .words()
                .into_iter()
                .map(|it| it.text.clone())
                .collect()
        };
        assert_eq!(words("'and' or \"o'r\""), ["and", "o'r"]);
        assert_eq!(words(r"'it\'s' and it's"), ["it's", "it's"]);
        assert_eq!(words("'(' or wörter"), ["(", "wörter"]);
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (written, message, caret) in [
            ("", "it says nothing: give a word", 0),
            ("   ", "it says nothing: give a word", 0),
            ("a and", "a word is missing after `and`", 5),
            ("a or  ", "a word is missing after `or`", 4),
            ("not", "a word is missing after `not`", 3),
            ("a and (", "a word is missing after `(`", 7),
            (
                "a and or b",
                "a word is missing before `or`; quote it, `'or'`, to look for it",
                6,
            ),
            (
                "or b",
                "a word is missing before `or`; quote it, `'or'`, to look for it",
                0,
            ),
            ("a and (b or c", "this parenthesis is not closed", 6),
            ("(a or (b)", "this parenthesis is not closed", 0),
            ("a)", "no parenthesis is open here", 1),
            (")", "no parenthesis is open here", 0),
            ("()", "a word is missing before this parenthesis", 1),
            ("(a or )", "a word is missing before this parenthesis", 6),
            (
                "a b",
                "`and` or `or` is missing before this; put words that belong together in quotes",
                2,
            ),
            (
                "(a b)",
                "`and` or `or` is missing before this; put words that belong together in quotes",
                3,
            ),
            (
                "a not b",
                "`and` or `or` is missing before this; put words that belong together in quotes",
                2,
            ),
            ("ä and 'b", "this quote is not closed", 6),
            ("漢 or ''", "there is nothing between these quotes", 6),
            (
                "\u{1b} b",
                "`and` or `or` is missing before this; put words that belong together in quotes",
                7,
            ),
        ] {
            let error = Expression::parse(written).unwrap_err().to_string();
            let lines: Vec<&str> = error.lines().collect();
            assert_eq!(lines[0], message, "{written}");
            assert_eq!(lines[2].len() - 3, caret, "{written}:\n{error}");
            assert!(!error.contains('\u{1b}'));
        }
        for deep in ["(".repeat(9000), "not ".repeat(9000) + "a"] {
            let error = Expression::parse(&deep).unwrap_err().to_string();
            assert!(error.starts_with("this is nested more than 64 levels deep"));
        }
        // What is only long is no trouble.
        let long = vec!["a"; 50_000].join(" and ");
        assert_eq!(Expression::parse(&long).unwrap().words().len(), 50_000);
    }

    /// Any meaning over the words `a`, `b` and `c`.
    fn meanings() -> impl Strategy<Value = Meaning> {
        let word = "[abc]".prop_map(|it| Meaning::Word(Word::new(it)));
        word.prop_recursive(4, 24, 3, |inner| {
            let several = || prop::collection::vec(inner.clone(), 2..4);
            prop_oneof![
                inner.clone().prop_map(|it| Meaning::Not(Box::new(it))),
                several().prop_map(Meaning::And),
                several().prop_map(Meaning::Or),
            ]
        })
    }

    /// Writes a meaning with all its parentheses.
    fn written(meaning: &Meaning) -> String {
        let joined = |parts: &[Meaning], word: &str| {
            let parts: Vec<String> = parts.iter().map(written).collect();
            format!("({})", parts.join(word))
        };
        match meaning {
            Meaning::Word(word) => word.text.clone(),
            Meaning::Not(inner) => format!("not {}", written(inner)),
            Meaning::And(parts) => joined(parts, " and "),
            Meaning::Or(parts) => joined(parts, " or "),
        }
    }

    /// All subjects there are over three words.
    fn subjects() -> Vec<Subject> {
        let of = |bits: usize| {
            ["a", "b", "c"]
                .into_iter()
                .enumerate()
                .filter(move |it| bits >> it.0 & 1 == 1)
                .map(|it| it.1)
        };
        (0..8)
            .map(|bits| Subject {
                tags: of(bits).map(str::to_owned).collect(),
                ..Subject::default()
            })
            .collect()
    }

    fn truths(expression: &str) -> Vec<bool> {
        let expression = Expression::parse(expression).unwrap();
        subjects()
            .iter()
            .map(|it| expression.is_met_by(it))
            .collect()
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in r#"([abc()'" ]|and|or|not|\PC){0,40}"#) {
            if let Err(error) = Expression::parse(&text) {
                let mut shown = String::new();
                write!(shown, "{error}").unwrap();
                prop_assert_eq!(shown.lines().count(), 3);
            }
        }

        #[test]
        fn what_is_written_out_is_read_as_it_was_meant(meaning in meanings()) {
            let read = Expression::parse(&written(&meaning)).unwrap();
            for subject in subjects() {
                prop_assert_eq!(read.is_met_by(&subject), meaning.is_met_by(&subject));
            }
        }

        #[test]
        fn the_laws_of_logic_hold(one in meanings(), other in meanings(), third in meanings()) {
            let (a, b, c) = (written(&one), written(&other), written(&third));
            let same = [
                (format!("not ({a} or {b})"), format!("not {a} and not {b}")),
                (format!("not ({a} and {b})"), format!("not {a} or not {b}")),
                // `and` binds closer than `or`, and `not` closer than both.
                (format!("{a} or {b} and {c}"), format!("{a} or ({b} and {c})")),
                (format!("{a} and {b} or {c}"), format!("({a} and {b}) or {c}")),
                (format!("not {a} and {b}"), format!("(not {a}) and {b}")),
            ];
            for (left, right) in same {
                prop_assert_eq!(truths(&left), truths(&right), "{} and {}", left, right);
            }
        }
    }
}
