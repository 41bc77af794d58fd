//! Tokens of a text by the numbers that are learned of them, which count pieces: an id is made of several.

use std::ops::Range;

use super::token::Token;
use model::VaryingToken;

/// The tokens of a text, with how many pieces come before each and in all.
pub(crate) struct Counted<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    edges: Vec<usize>,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(tokens: Vec<Token<'a>>) -> Self {
        let edges = std::iter::once(0).chain(tokens.iter().scan(0, |at, it| {
            *at += it.pieces;
            Some(*at)
        }));
        let edges = edges.collect();
        Self { tokens, edges }
    }

    /// Which tokens vary; `None` where it begins or ends within one, or beyond the text.
    pub(crate) fn span(&self, it: &VaryingToken) -> Option<Range<usize>> {
        let start = it.token.checked_sub(1)?;
        let edge = |at: usize| self.edges.binary_search(&at).ok();
        Some(edge(start)?..edge(start.checked_add(it.tokens)?)?)
    }

    /// Some tokens as the number of the first piece, counted from 1, and the number of pieces.
    pub(crate) fn counted(&self, span: Range<usize>) -> Option<(usize, usize)> {
        let (start, end) = (*self.edges.get(span.start)?, *self.edges.get(span.end)?);
        Some((start + 1, end.checked_sub(start)?))
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;
    use crate::text::token::tokens;
    use model::{TokenKind, VaryingToken};

    #[test]
    fn what_is_within_an_id_or_beyond_the_text_is_no_span_of_tokens() {
        let counted = Counted::new(tokens("of q7Zk0Pb2xW9a here"));
        let varying = |token, tokens| VaryingToken::one(token, tokens, TokenKind::Id);
        let (first, pieces) = counted.counted(1..2).expect("it is there");
        assert!(first == 2 && pieces > 1, "{first} {pieces}");
        assert_eq!(counted.span(&varying(first, pieces)), Some(1..2));
        assert_eq!(counted.span(&varying(first, 1)), None);
        assert_eq!(counted.span(&varying(first + pieces + 5, 2)), None);
    }
}
