//! Tokens of a text by the numbers that are learned of them, which count pieces: an id is made of several.

use std::ops::Range;

use super::token::Token;
use crate::model::learned::VaryingToken;

/// The tokens of a text, with how many pieces come before each and in all.
pub(in crate::score) struct Counted<'a> {
    pub(in crate::score) tokens: Vec<Token<'a>>,
    edges: Vec<usize>,
}

impl<'a> Counted<'a> {
    pub(in crate::score) fn new(tokens: Vec<Token<'a>>) -> Self {
        let edges = std::iter::once(0).chain(tokens.iter().scan(0, |at, it| {
            *at += it.pieces;
            Some(*at)
        }));
        let edges = edges.collect();
        Self { tokens, edges }
    }

    /// Which tokens vary; `None` where it begins or ends within one, or beyond the text.
    pub(in crate::score) fn span(&self, it: &VaryingToken) -> Option<Range<usize>> {
        let start = it.token.checked_sub(1)?;
        let edge = |at: usize| self.edges.binary_search(&at).ok();
        Some(edge(start)?..edge(start.checked_add(it.tokens)?)?)
    }

    /// Some tokens as the number of the first piece, counted from 1, and the number of pieces.
    pub(in crate::score) fn counted(&self, span: Range<usize>) -> Option<(usize, usize)> {
        let (start, end) = (*self.edges.get(span.start)?, *self.edges.get(span.end)?);
        Some((start + 1, end.checked_sub(start)?))
    }

    /// Whether it begins and ends between tokens. What lies beyond the text cuts none of them.
    pub(super) fn is_whole(&self, it: &VaryingToken) -> bool {
        let end = self.edges.last().copied().unwrap_or_default();
        let is_edge = |at: usize| at >= end || self.edges.binary_search(&at).is_ok();
        let start = it.token.saturating_sub(1);
        is_edge(start) && is_edge(start.saturating_add(it.tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;
    use crate::model::learned::{StandsFor, TokenKind, VaryingToken};
    use crate::score::text::token::tokens;

    #[test]
    fn what_is_within_an_id_cuts_it_and_what_is_beyond_the_text_cuts_nothing() {
        let counted = Counted::new(tokens("of q7Zk0Pb2xW9a here"));
        let varying =
            |token, tokens| VaryingToken::new(token, tokens, StandsFor::One(TokenKind::Id));
        let (first, pieces) = counted.counted(1..2).expect("it is there");
        assert!(first == 2 && pieces > 1, "{first} {pieces}");
        let whole = varying(first, pieces);
        assert_eq!(
            (counted.is_whole(&whole), counted.span(&whole)),
            (true, Some(1..2))
        );
        let part = varying(first, 1);
        assert_eq!(
            (counted.is_whole(&part), counted.span(&part)),
            (false, None)
        );
        let beyond = varying(first + pieces + 5, 2);
        assert_eq!(
            (counted.is_whole(&beyond), counted.span(&beyond)),
            (true, None)
        );
    }
}
