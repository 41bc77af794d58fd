//! Lists within a line of a text: `docs, cache, api`.

use std::ops::Range;

use super::token::{Token, position};

/// The list that a token is in: from the start of its line, or what opens the list, to the line's end, or what closes it. What is before
/// `first` was looked at.
pub(crate) fn around(text: &str, tokens: &[Token<'_>], at: usize, first: usize) -> Range<usize> {
    let end = |it: usize| position(text, tokens[it].text) + tokens[it].text.len();
    let is_new_line = |it: usize| text[end(it - 1)..position(text, tokens[it].text)].contains('\n');
    let is_last = |it: usize| tokens.get(it + 1).is_none_or(|it| it.spaced);
    let begins =
        |it: usize| is_new_line(it) || matches!(tokens[it - 1].text, ":" | "=" | "[" | "(" | "{");
    let ends = |it: usize| match tokens[it].text {
        "]" | ")" | "}" => true,
        "." | ";" => is_last(it),
        // What is said of the list as a whole.
        "(" if tokens[it].spaced => {
            let mut line = it + 1..tokens.len();
            line.find(|at| tokens[*at].text == "," || is_new_line(*at))
                .is_none_or(is_new_line)
        }
        _ => is_new_line(it),
    };
    let from = (first + 1..=at).rev().find(|it| begins(*it));
    let from = from.unwrap_or(first);
    let to = (at + 1..tokens.len()).find(|it| ends(*it));
    from..to.unwrap_or(tokens.len())
}

/// The elements of such a list, sorted: each as its tokens, and whether white space stands before them.
pub(crate) fn sorted<'a>(list: &[Token<'a>]) -> Vec<Vec<(&'a str, bool)>> {
    let elements = list.split(|it| it.text == ",").map(|element| {
        let tokens = element.iter().enumerate();
        tokens
            .map(|(at, it)| (it.text, at > 0 && it.spaced))
            .collect()
    });
    let mut elements: Vec<Vec<_>> = elements.collect();
    elements.sort_unstable();
    elements
}
