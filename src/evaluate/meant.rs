//! Which call of a run stands for which that is meant to be made.

use std::collections::HashSet;

use super::tools::is_called;
use crate::model::Object;
use crate::model::trajectory::ToolCall;

/// A call that is meant to be made.
pub(super) struct Wanted<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Object,
}

/// For each meant call the index of the one that stands for it, each at most once: the first that is left with the same arguments, else the
/// first of the tool. Among several, the first that is preferred as the one of this position.
pub(super) fn standing(
    calls: &[&ToolCall],
    meant: &[Wanted<'_>],
    prefers: &dyn Fn(usize, &ToolCall) -> bool,
) -> Vec<Option<usize>> {
    let mut taken = HashSet::new();
    let mut stand = vec![None; meant.len()];
    let mut left = Vec::new();
    let first = |taken: &HashSet<usize>, position: usize, fits: &dyn Fn(&ToolCall) -> bool| {
        let free = calls.iter().enumerate();
        let free = free.filter(|(index, call)| !taken.contains(index) && fits(call));
        let mut any = None;
        for (index, call) in free {
            if prefers(position, call) {
                return Some(index);
            }
            any = any.or(Some(index));
        }
        any
    };
    for (position, it) in meant.iter().enumerate() {
        let fits = |call: &ToolCall| is_called(call, it.tool) && call.arguments == *it.arguments;
        // The same position is tried first, because most calls are made in the meant order.
        let there = calls.get(position);
        let there = there.is_some_and(|call| fits(call) && prefers(position, call));
        let found = (there && !taken.contains(&position)).then_some(position);
        match found.or_else(|| first(&taken, position, &fits)) {
            Some(index) => {
                taken.insert(index);
                stand[position] = Some(index);
            }
            None => left.push(position),
        }
    }
    for position in left {
        let tool = meant[position].tool;
        if let Some(index) = first(&taken, position, &|call| is_called(call, tool)) {
            taken.insert(index);
            stand[position] = Some(index);
        }
    }
    stand
}
