//! The conversation with what did not change folded away.
//!
//! Keeps a page from becoming enormous by what was said and asked in very many calls. Answers have limits of their own.

use super::conversation::Block;
use super::track::MessageRow;

use crate::bytes;

use super::excerpt::Excerpt;

/// Fewer equal calls than this are not folded.
const FOLDED: usize = 3;

/// A stretch of the conversation.
#[derive(Debug)]
pub(super) enum Stretch<'a> {
    Shown(Block<'a>),
    /// Calls without a change, and what was said between them.
    Folded {
        /// `57 unchanged calls: 3–59`.
        words: String,
        blocks: Vec<Block<'a>>,
    },
}

/// Folds runs of calls without a change. Messages of the user are always shown.
pub(super) fn folded(blocks: Vec<Block<'_>>) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    let mut run: Vec<Block<'_>> = Vec::new();
    for block in blocks {
        if may_fold(&block) {
            run.push(block);
        } else {
            end_run(&mut run, &mut stretches);
            stretches.push(Stretch::Shown(block));
        }
    }
    end_run(&mut run, &mut stretches);
    stretches
}

fn may_fold(block: &Block<'_>) -> bool {
    match block {
        Block::Call(call) => call.is_line(),
        Block::Messages(rows) => {
            let is_quiet = |it: &MessageRow| matches!(it, MessageRow::Same(_)) && !it.is_of_user();
            rows.iter().all(is_quiet)
        }
        Block::Behind(..) => false,
    }
}

/// Folds the run, where it is long enough. Messages at its ends belong to what stands around it.
fn end_run<'a>(run: &mut Vec<Block<'a>>, stretches: &mut Vec<Stretch<'a>>) {
    let is_call = |it: &Block<'_>| matches!(it, Block::Call(_));
    let mut run = std::mem::take(run);
    let calls = run.iter().filter(|it| is_call(it)).count();
    if calls < FOLDED {
        stretches.extend(run.into_iter().map(Stretch::Shown));
        return;
    }
    let first = run.iter().position(is_call).unwrap_or(0);
    let last = run.iter().rposition(is_call).map_or(run.len(), |it| it + 1);
    let after = run.split_off(last);
    let inside = run.split_off(first);
    stretches.extend(run.into_iter().map(Stretch::Shown));
    stretches.push(Stretch::Folded {
        words: words(&inside, calls),
        blocks: inside,
    });
    stretches.extend(after.into_iter().map(Stretch::Shown));
}

fn words(blocks: &[Block<'_>], calls: usize) -> String {
    let of_call = |it: &'_ Block<'_>| match it {
        Block::Call(call) => Some((call.number.clone(), call.class)),
        _ => None,
    };
    let mut all = blocks.iter().filter_map(of_call);
    let (first, class) = all.next().unwrap_or_default();
    let last = all.next_back().map_or_else(String::new, |it| it.0);
    let what = if class == "again" {
        "more of the same call"
    } else {
        "unchanged calls"
    };
    format!("{calls} {what}: {first}–{last}")
}

/// How many bytes of messages and arguments a page shows whole, and how many characters of each text when that is used up.
const WHOLE: usize = 4_000_000;
const BEGINNING: usize = 160;

/// Leaves the beginning of each text of these blocks that comes when the page is full, and says where the whole is.
pub(super) fn bound(blocks: &mut [Block<'_>]) {
    bound_to(WHOLE, blocks.iter_mut().flat_map(texts));
}

fn bound_to<'e>(whole: usize, texts: impl Iterator<Item = &'e mut Excerpt>) {
    let mut left = whole;
    for text in texts {
        let size: usize = text.pieces.iter().map(|it| it.text.len()).sum();
        if size <= left {
            left -= size;
        } else if let Some(shown) = text.begin_with(BEGINNING) {
            text.cut = Some(format!(
                "The first {} of {}, because this page is long; the stored trajectory has the whole.",
                bytes::words(shown),
                bytes::words(size)
            ));
        }
    }
}

/// The texts of a block that stand there as they came.
fn texts<'b>(block: &'b mut Block<'_>) -> Vec<&'b mut Excerpt> {
    match block {
        Block::Messages(rows) => (rows.iter_mut())
            .flat_map(|row| match row {
                MessageRow::Same(it) => vec![&mut it.text],
                MessageRow::Beside { left, right } => {
                    let said = left.iter_mut().chain(right);
                    said.map(|it| &mut it.text).collect()
                }
            })
            .collect(),
        Block::Call(call) => call.arguments.equal.iter_mut().collect(),
        Block::Behind(..) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGINNING, bound_to};
    use crate::html::excerpt::Excerpt;

    #[test]
    fn what_comes_when_the_page_is_full_is_cut_to_its_beginning() {
        let long = "é".repeat(1000);
        let mut texts = [&*long, "short", &*long].map(|it| Excerpt::plain(it, None));
        bound_to(2500, texts.iter_mut());
        let shown = |it: &Excerpt| it.pieces.iter().map(|it| it.text.chars().count()).sum();
        let lengths: [usize; 3] = texts.each_ref().map(shown);
        assert_eq!(lengths, [1000, 5, BEGINNING]);
        let [first, second, third] = texts.map(|it| it.cut);
        assert_eq!((first, second), (None, None));
        let remark = third.unwrap_or_default();
        assert!(
            remark.starts_with("The first 320 bytes of 2.0 KB"),
            "{remark}"
        );
    }
}
