//! Texts whose numbers grew.

use super::token::{Token, tokens};

/// Whether a text is another one but for its numbers, which are at least those of the other.
pub(crate) fn is_at_least(least: &str, text: &str) -> bool {
    let (least, text) = (tokens(least), tokens(text));
    let number = |it: &Token<'_>| it.text.replace(',', "").parse::<f64>().ok();
    let mut pairs = least.iter().zip(&text);
    let grew = |(least, now): (&Token<'_>, &Token<'_>)| {
        let numbers = number(least).zip(number(now));
        least.text == now.text || numbers.is_some_and(|(least, now)| now >= least)
    };
    least.len() == text.len() && pairs.all(grew)
}
