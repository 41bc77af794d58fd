//! The conversation with what did not change folded away.

use super::conversation::Block;
use super::message::MessageRow;

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
